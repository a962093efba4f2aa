#include <catena/tests/support/cuda_device/ptx/arithmetic.h>

#include <algorithm>
#include <limits>

#include <string>
#include <unordered_map>

#include <catena/tests/support/cuda_device/ptx/compare.h>
#include <catena/tests/support/cuda_device/ptx/convert.h>
#include <catena/tests/support/cuda_device/ptx/floating.h>

namespace cuda_device::ptx {
namespace {

template <class T> using Unsigned = std::make_unsigned_t<T>;
template <class T> struct WiderOf;
template <> struct WiderOf<std::uint16_t> { using type = std::uint32_t; };
template <> struct WiderOf<std::int16_t> { using type = std::int32_t; };
template <> struct WiderOf<std::uint32_t> { using type = std::uint64_t; };
template <> struct WiderOf<std::int32_t> { using type = std::int64_t; };
template <> struct WiderOf<std::uint64_t> { using type = unsigned __int128; };
template <> struct WiderOf<std::int64_t> { using type = __int128; };
template <class T> using Wider = typename WiderOf<T>::type;
template <class T> constexpr int kBits = int(sizeof(T)) * 8;

// ---- operations -----------------------------------------------------------------------------------
struct Add {
  template <class T> T operator()(T a, T b) const { return T(Unsigned<T>(a) + Unsigned<T>(b)); }
};
struct Sub {
  template <class T> T operator()(T a, T b) const { return T(Unsigned<T>(a) - Unsigned<T>(b)); }
};
struct MulLow {
  template <class T> T operator()(T a, T b) const { return T(Wider<T>(a) * Wider<T>(b)); }
};
struct MulHigh {
  template <class T> T operator()(T a, T b) const { return T(Wider<T>(a) * Wider<T>(b) >> kBits<T>); }
};
struct MulWide {
  template <class T> Wider<T> operator()(T a, T b) const { return Wider<T>(a) * Wider<T>(b); }
};
struct MadLow {
  template <class T> T operator()(T a, T b, T c) const { return Add()(MulLow()(a, b), c); }
};
struct MadHigh {
  template <class T> T operator()(T a, T b, T c) const { return Add()(MulHigh()(a, b), c); }
};
struct AddSaturated {
  template <class T> T operator()(T a, T b) const {
    const Wider<T> sum = Wider<T>(a) + b, low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    return T(sum < low ? low : (sum > high ? high : sum));
  }
};
struct SubSaturated {
  template <class T> T operator()(T a, T b) const {
    const Wider<T> sum = Wider<T>(a) - b, low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    return T(sum < low ? low : (sum > high ? high : sum));
  }
};
struct Mul24 {
  template <class T> T operator()(T a, T b) const { return T(extended(a) * extended(b)); }
  template <class T> static Wider<T> extended(T v) { return Wider<T>(T(Unsigned<T>(v) << 8)) >> 8; }
};
// Division by zero gives the result of the hardware, because the ISA does not specify it.
struct Div {
  template <class T> T operator()(T a, T b) const {
    if (b == 0) return T(-1);
    return T(Wider<T>(a) / Wider<T>(b));
  }
};
struct Rem {
  template <class T> T operator()(T a, T b) const {
    if (b == 0) return a;
    return T(Wider<T>(a) % Wider<T>(b));
  }
};
struct Min {
  template <class T> T operator()(T a, T b) const { return b < a ? b : a; }
};
struct Max {
  template <class T> T operator()(T a, T b) const { return b > a ? b : a; }
};
struct Abs {
  template <class T> T operator()(T a) const { return a < 0 ? T(0 - Unsigned<T>(a)) : a; }
};
struct Neg {
  template <class T> T operator()(T a) const { return T(0 - Unsigned<T>(a)); }
};
struct Sad {
  template <class T> T operator()(T a, T b, T c) const {
    return T(Unsigned<T>(c) + (a < b ? Unsigned<T>(b) - Unsigned<T>(a) : Unsigned<T>(a) - Unsigned<T>(b)));
  }
};
struct And {
  template <class T> T operator()(T a, T b) const { return T(a & b); }
};
struct Or {
  template <class T> T operator()(T a, T b) const { return T(a | b); }
};
struct Xor {
  template <class T> T operator()(T a, T b) const { return T(a ^ b); }
};
struct Not {
  template <class T> T operator()(T a) const { return T(~a); }
};
struct LogicalNot {
  template <class T> T operator()(T a) const { return T(a == 0); }
};
struct Popc {
  template <class T> std::uint32_t operator()(T a) const { return std::uint32_t(std::popcount(a)); }
};
struct Clz {
  template <class T> std::uint32_t operator()(T a) const { return std::uint32_t(std::countl_zero(a)); }
};
struct Brev {
  template <class T> T operator()(T a) const {
    T r = 0;
    for (int k = 0; k < kBits<T>; ++k) r |= T((a >> k & 1) << (kBits<T> - 1 - k));
    return r;
  }
};
// Returns the most significant bit that differs from the sign; all ones if there is none.
template <bool Amount> struct Bfind {
  template <class T> std::uint32_t operator()(T a) const {
    const auto u = Unsigned<T>(a < 0 ? ~a : a);
    if (u == 0) return 0xffffffffu;
    const int at = kBits<T> - 1 - std::countl_zero(u);
    return std::uint32_t(Amount ? kBits<T> - 1 - at : at);
  }
};
struct Fns {
  std::uint32_t operator()(std::uint32_t mask, std::uint32_t base, std::uint32_t count) const {
    const auto n = std::int32_t(count);
    int at = int(base & 31), left = n < 0 ? -n : n;
    if (n == 0) return (mask >> at & 1) != 0 ? std::uint32_t(at) : 0xffffffffu;
    for (; at >= 0 && at<32; at += n> 0 ? 1 : -1)
      if ((mask >> at & 1) != 0 && --left == 0) return std::uint32_t(at);
    return 0xffffffffu;
  }
};
struct Prmt {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t selector) const {
    const std::uint64_t both = std::uint64_t(b) << 32 | a;
    std::uint32_t r = 0;
    for (int k = 0; k < 4; ++k) {
      const std::uint32_t pick = selector >> 4 * k & 15;
      std::uint32_t byte = std::uint32_t(both >> 8 * (pick & 7)) & 255;
      if ((pick & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
      r |= byte << 8 * k;
    }
    return r;
  }
};
// The shift amount has 32 bits in every form.
struct Shl {
  template <class T> T operator()(T a, std::uint32_t n) const {
    return n >= unsigned(kBits<T>) ? T(0) : T(Unsigned<T>(a) << n);
  }
};
struct Shr {
  template <class T> T operator()(T a, std::uint32_t n) const {
    if (n >= unsigned(kBits<T>)) return a < 0 ? T(-1) : T(0);
    return T(a >> n);
  }
};
template <class F, class T> void shift(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = bits_of(F()(as<T>(a[lane]), std::uint32_t(b[lane]))); });
}
template <bool Left, bool Clamp> struct Funnel {
  std::uint32_t operator()(std::uint32_t low, std::uint32_t high, std::uint32_t n) const {
    n = Clamp ? (n < 32 ? n : 32) : n & 31;
    const std::uint64_t both = std::uint64_t(high) << 32 | low;
    return std::uint32_t(Left ? (n == 0 ? high : std::uint32_t(both >> (32 - n))) : both >> n);
  }
};

// Bit fields: position and length have 8 bits.
template <class T> void extract(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]), *c = in(w, s.from[2]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) {
    constexpr auto bits = unsigned(kBits<T>);
    const auto v = Unsigned<T>(a[lane]);
    const unsigned at = std::min(unsigned(b[lane] & 255), bits), length = unsigned(c[lane] & 255);
    const unsigned kept = std::min(length, bits - at), last = std::min(at + length, bits) - 1;
    const auto mask = Unsigned<T>(kept >= bits ? ~Unsigned<T>(0) : (Unsigned<T>(1) << kept) - 1);
    auto r = Unsigned<T>(at >= bits ? 0 : v >> at & mask);
    if (std::is_signed_v<T> && length != 0 && (v >> last & 1) != 0) r |= Unsigned<T>(~mask);
    d[lane] = bits_of(r);
  });
}
template <class T> void insert(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]), *c = in(w, s.from[2]), *n = in(w, s.from[3]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) {
    const auto at = unsigned(c[lane] & 255), length = unsigned(n[lane] & 255);
    const T field = length >= unsigned(kBits<T>) ? T(~T(0)) : T((T(1) << length) - 1);
    const T mask = at >= unsigned(kBits<T>) ? T(0) : T(field << at);
    const T moved = at >= unsigned(kBits<T>) ? T(0) : T(as<T>(a[lane]) << at);
    d[lane] = bits_of(T((as<T>(b[lane]) & ~mask) | (moved & mask)));
  });
}
void lop3(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]), *c = in(w, s.from[2]), *table = in(w, s.from[3]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) {
    std::uint32_t r = 0;
    for (unsigned k = 0; k < 8; ++k)
      if ((table[lane] >> k & 1) != 0)
        r |= std::uint32_t(((k & 4) != 0 ? a[lane] : ~a[lane]) & ((k & 2) != 0 ? b[lane] : ~b[lane]) &
                           ((k & 1) != 0 ? c[lane] : ~c[lane]));
    d[lane] = r;
  });
}
template <class T> void mad_wide(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]), *c = in(w, s.from[2]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) {
    d[lane] = bits_of(Add()(MulWide()(as<T>(a[lane]), as<T>(b[lane])), as<Wider<T>>(c[lane])));
  });
}

// Adds the products of the bytes of two words to a third value.
template <class A, class B> void dot_bytes(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]), *c = in(w, s.from[2]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) {
    auto sum = std::uint32_t(c[lane]);
    for (int k = 0; k < 32; k += 8) sum += std::uint32_t(int(A(a[lane] >> k)) * int(B(b[lane] >> k)));
    d[lane] = sum;
  });
}

// The same for two halves of a word and the lower or upper two bytes of another.
template <class A, class B, bool Upper> void dot_halves(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]), *c = in(w, s.from[2]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) {
    auto sum = std::uint32_t(c[lane]);
    for (int k = 0; k < 2; ++k)
      sum += std::uint32_t(int(A(a[lane] >> 16 * k)) * int(B(b[lane] >> (8 * k + (Upper ? 16 : 0)))));
    d[lane] = sum;
  });
}
template <class A, class B> void add_dots(std::unordered_map<std::string, Run>& t, const std::string& types) {
  using Half = std::conditional_t<std::is_signed_v<A>, std::int16_t, std::uint16_t>;
  t["dp4a" + types] = &dot_bytes<A, B>;
  t["dp2a.lo" + types] = &dot_halves<Half, B, false>;
  t["dp2a.hi" + types] = &dot_halves<Half, B, true>;
}

// ---- carries --------------------------------------------------------------------------------------
// a + b (+ carry), a - b (- borrow), or half of a product + c (+ carry). Forms with .cc write the flag.
enum class Carry { add, sub, mad_low, mad_high };
template <class T, Carry Op, bool Reads, bool Writes> void carry(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]), *c = in(w, s.from[2]);
  std::uint64_t* d = out(w, s.to[0]);
  Mask flags = 0;
  each_lane(lanes, [&](unsigned lane) {
    const unsigned incoming = Reads ? w.carry >> lane & 1 : 0;
    const T x = as<T>(a[lane]), y = as<T>(b[lane]);
    Wider<T> sum;
    if constexpr (Op == Carry::add) sum = Wider<T>(x) + y + incoming;
    else if constexpr (Op == Carry::sub) sum = Wider<T>(x) - y - incoming;
    else sum = Wider<T>(Op == Carry::mad_low ? MulLow()(x, y) : MulHigh()(x, y)) + as<T>(c[lane]) + incoming;
    d[lane] = bits_of(T(sum));
    flags |= Mask((sum >> kBits<T> & 1) != 0) << lane;
  });
  if (Writes) w.carry = (w.carry & ~lanes) | flags;
}

// ---- the table ------------------------------------------------------------------------------------
using Table = std::unordered_map<std::string, Run>;

template <class T> std::string type_name() { return (std::is_signed_v<T> ? "s" : "u") + std::to_string(kBits<T>); }

template <class T> void add_integer(Table& t) {
  const std::string type = "." + type_name<T>();
  t["add" + type] = &binary<Add, T>;
  t["sub" + type] = &binary<Sub, T>;
  t["mul.lo" + type] = &binary<MulLow, T>;
  t["mul.hi" + type] = &binary<MulHigh, T>;
  t["mad.lo" + type] = &ternary<MadLow, T>;
  t["mad.hi" + type] = &ternary<MadHigh, T>;
  t["div" + type] = &binary<Div, T>;
  t["rem" + type] = &binary<Rem, T>;
  t["min" + type] = &binary<Min, T>;
  t["max" + type] = &binary<Max, T>;
  t["sad" + type] = &ternary<Sad, T>;
  t["shr" + type] = &shift<Shr, T>;
  if constexpr (std::is_signed_v<T>) {
    t["abs" + type] = &unary<Abs, T>;
    t["neg" + type] = &unary<Neg, T>;
  }
  if constexpr (sizeof(T) < 8) {
    t["mul.wide" + type] = &binary<MulWide, T>;
    t["mad.wide" + type] = &mad_wide<T>;
  }
  if constexpr (sizeof(T) > 2) {
    t["bfind" + type] = &unary<Bfind<false>, T>;
    t["bfind.shiftamt" + type] = &unary<Bfind<true>, T>;
    t["bfe" + type] = &extract<T>;
  }
}

template <class T> void add_bits(Table& t) {
  const std::string type = ".b" + std::to_string(kBits<T>);
  t["and" + type] = &binary<And, T>;
  t["or" + type] = &binary<Or, T>;
  t["xor" + type] = &binary<Xor, T>;
  t["not" + type] = &unary<Not, T>;
  t["cnot" + type] = &unary<LogicalNot, T>;
  t["shl" + type] = &shift<Shl, T>;
  t["shr" + type] = &shift<Shr, T>;
  if constexpr (sizeof(T) > 2) {
    t["popc" + type] = &unary<Popc, T>;
    t["clz" + type] = &unary<Clz, T>;
    t["brev" + type] = &unary<Brev, T>;
    t["bfi" + type] = &insert<T>;
  }
}

template <class T, Carry Op> void add_carry(Table& t, const std::string& first, const std::string& next) {
  for (const char* sign : {".u", ".s"}) {
    const std::string type = sign + std::to_string(kBits<T>);
    t[first + ".cc" + type] = &carry<T, Op, false, true>;
    t[next + type] = &carry<T, Op, true, false>;
    t[next + ".cc" + type] = &carry<T, Op, true, true>;
  }
}
template <class T> void add_carries(Table& t) {
  add_carry<T, Carry::add>(t, "add", "addc");
  add_carry<T, Carry::sub>(t, "sub", "subc");
  add_carry<T, Carry::mad_low>(t, "mad.lo", "madc.lo");
  add_carry<T, Carry::mad_high>(t, "mad.hi", "madc.hi");
}

const Table& table() {
  static const Table& all = *[] {
    auto* t = new Table;
    add_integer<std::uint16_t>(*t);
    add_integer<std::uint32_t>(*t);
    add_integer<std::uint64_t>(*t);
    add_integer<std::int16_t>(*t);
    add_integer<std::int32_t>(*t);
    add_integer<std::int64_t>(*t);
    add_bits<std::uint16_t>(*t);
    add_bits<std::uint32_t>(*t);
    add_bits<std::uint64_t>(*t);
    add_carries<std::uint32_t>(*t);
    add_carries<std::uint64_t>(*t);
    (*t)["add.sat.s32"] = &binary<AddSaturated, std::int32_t>;
    (*t)["sub.sat.s32"] = &binary<SubSaturated, std::int32_t>;
    (*t)["mul24.lo.s32"] = &binary<Mul24, std::int32_t>;
    (*t)["mul24.lo.u32"] = &binary<Mul24, std::uint32_t>;
    (*t)["fns.b32"] = &ternary<Fns, std::uint32_t>;
    (*t)["prmt.b32"] = &ternary<Prmt, std::uint32_t>;
    (*t)["shf.l.wrap.b32"] = &ternary<Funnel<true, false>, std::uint32_t>;
    (*t)["shf.l.clamp.b32"] = &ternary<Funnel<true, true>, std::uint32_t>;
    (*t)["shf.r.wrap.b32"] = &ternary<Funnel<false, false>, std::uint32_t>;
    (*t)["shf.r.clamp.b32"] = &ternary<Funnel<false, true>, std::uint32_t>;
    (*t)["lop3.b32"] = &lop3;
    add_dots<std::int8_t, std::int8_t>(*t, ".s32.s32");
    add_dots<std::int8_t, std::uint8_t>(*t, ".s32.u32");
    add_dots<std::uint8_t, std::int8_t>(*t, ".u32.s32");
    add_dots<std::uint8_t, std::uint8_t>(*t, ".u32.u32");
    return t;
  }();
  return all;
}

// ---- moves ----------------------------------------------------------------------------------------
void copy(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = a[lane]; });
}
// Packs elements of `bytes` bytes into one value, the first in the low bits.
void pack(Warp& w, const Step& s, Mask lanes) {
  const int bits = s.bytes * 8;
  each_lane(lanes, [&](unsigned lane) {
    std::uint64_t v = 0;
    for (int k = 0; k < s.count; ++k) {
      const std::uint64_t part = in(w, s.from[std::size_t(k)])[lane] & ((std::uint64_t(1) << bits) - 1);
      v |= part << k * bits;
    }
    out(w, s.to[0])[lane] = v;
  });
}
void unpack(Warp& w, const Step& s, Mask lanes) {
  const int bits = s.bytes * 8;
  each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t v = in(w, s.from[0])[lane];
    for (int k = 0; k < s.count; ++k)
      out(w, s.to[std::size_t(k)])[lane] = v >> k * bits & ((std::uint64_t(1) << bits) - 1);
  });
}

void decode_move(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  const std::size_t bytes = std::size_t(std::atoi(std::string(words.back().substr(1)).c_str())) / 8;
  const auto elements = [&](const Operand& vector) {
    s.count = static_cast<std::uint8_t>(vector.elements.size());
    if (s.count == 0 || s.count > 4 || bytes % s.count != 0) throw Fault{"a vector of another length"};
    s.bytes = static_cast<std::uint8_t>(bytes / s.count);
  };
  if (o.at(0).kind == Operand::Kind::vector) {
    elements(o[0]);
    s.run = &unpack;
    s.from[0] = context.source(o.at(1));
    for (std::size_t k = 0; k < s.count; ++k) s.to[k] = context.destination(o[0].elements[k]);
    return;
  }
  s.to[0] = context.destination(o[0]);
  if (o.at(1).kind == Operand::Kind::vector) {
    elements(o[1]);
    s.run = &pack;
    for (std::size_t k = 0; k < s.count; ++k) s.from[k] = context.source(o[1].elements[k]);
    return;
  }
  s.run = &copy;
  s.from[0] = context.source(o[1]);
}

}  // namespace

bool decode_arithmetic(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  if (decode_compare(words, o, context, s) || decode_convert(words, o, context, s)) return true;
  if (words[0] == "mov") {
    decode_move(words, o, context, s);
    return true;
  }
  s.run = find_floating(words, s);
  if (s.run == nullptr) {
    std::string name;
    for (std::string_view word : words) name += (name.empty() ? "" : ".") + std::string(word);
    const auto found = table().find(name);
    if (found == table().end()) return false;
    s.run = found->second;
  }
  s.to[0] = context.destination(o.at(0));
  if (o.size() > s.from.size()) return false;
  for (std::size_t k = 1; k < o.size(); ++k) s.from[k - 1] = context.source(o[k]);
  return true;
}

}  // namespace cuda_device::ptx
