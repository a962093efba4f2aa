#include <catena/tests/support/cuda_device/ptx/floating.h>

#include <cfenv>
#include <cmath>
#include <iterator>
#include <string>
#include <unordered_map>

namespace cuda_device::ptx {

// ---- formats --------------------------------------------------------------------------------------
double unpacked(const Format& f, std::uint64_t bits) {
  const bool negative = (bits & f.sign()) != 0;
  const std::uint64_t magnitude = bits & (f.sign() - 1);
  if (magnitude > f.infinity()) return std::bit_cast<double>(0x7ff8000000000000u | std::uint64_t(negative) << 63);
  double value = 0;
  if (magnitude == f.infinity()) {
    value = INFINITY;
  } else {
    const int exponent = static_cast<int>(magnitude >> f.mantissa);
    const std::uint64_t fraction = magnitude & ((std::uint64_t(1) << f.mantissa) - 1);
    const std::uint64_t whole = exponent != 0 ? fraction | std::uint64_t(1) << f.mantissa : fraction;
    value = std::ldexp(static_cast<double>(whole), (exponent != 0 ? exponent : 1) - f.bias - f.mantissa);
  }
  return negative ? -value : value;
}

std::uint64_t packed(const Format& f, Rounding rounding, bool negative, std::uint64_t mantissa, int exponent) {
  const std::uint64_t sign = negative ? f.sign() : 0;
  if (mantissa == 0) return sign;
  const int zeros = std::countl_zero(mantissa);
  mantissa <<= zeros;
  const int top = exponent - zeros + 63, least = 1 - f.bias;  // the value is in [2^top, 2^(top+1))
  const int kept = f.mantissa + 1 - (top < least ? least - top : 0);
  const std::uint64_t half = std::uint64_t(1) << 63;
  std::uint64_t quotient = 0, rest = 1;  // `rest`: the remainder is less than half a unit
  if (kept > 0) {
    quotient = mantissa >> (64 - kept);
    rest = mantissa << kept;
  } else if (kept == 0) {
    rest = mantissa;
  }
  bool up = false;
  switch (rounding) {
    case Rounding::nearest: up = rest > half || (rest == half && (quotient & 1) != 0); break;
    case Rounding::zero: break;
    case Rounding::down: up = negative && rest != 0; break;
    case Rounding::up: up = !negative && rest != 0; break;
  }
  quotient += up;
  // A carry out of the mantissa correctly increases the exponent.
  const std::int64_t biased = top < least ? 0 : std::int64_t(top) + f.bias - 1;
  const bool overflow =
      biased > 2 * f.bias || (static_cast<std::uint64_t>(biased) << f.mantissa) + quotient >= f.infinity();
  if (!overflow) return sign | ((static_cast<std::uint64_t>(biased) << f.mantissa) + quotient);
  const bool infinite = rounding == Rounding::nearest || (rounding == Rounding::up && !negative) ||
                        (rounding == Rounding::down && negative);
  return sign | (infinite ? f.infinity() : f.infinity() - 1);
}

std::uint64_t packed(const Format& f, Rounding rounding, double value) {
  if (value != value) return f.quiet_nan();
  const bool negative = std::signbit(value);
  if (std::isinf(value)) return (negative ? f.sign() : 0) | f.infinity();
  const auto bits = std::bit_cast<std::uint64_t>(value) & ~kFloat64.sign();
  const int exponent = static_cast<int>(bits >> 52);
  const std::uint64_t fraction = bits & ((std::uint64_t(1) << 52) - 1);
  const std::uint64_t whole = exponent != 0 ? fraction | std::uint64_t(1) << 52 : fraction;
  return packed(f, rounding, negative, whole, (exponent != 0 ? exponent : 1) - 1023 - 52);
}

unsigned modifiers_of(const Words& words) {
  unsigned m = 0;
  for (std::string_view word : words) {
    if (word == "rz" || word == "rzi") m |= unsigned(Rounding::zero);
    else if (word == "rm" || word == "rmi") m |= unsigned(Rounding::down);
    else if (word == "rp" || word == "rpi") m |= unsigned(Rounding::up);
    else if (word == "ftz") m |= kFtz;
    else if (word == "sat") m |= kSat;
    else if (word == "approx" || word == "full") m |= kApprox;
    else if (word == "NaN") m |= kPropagateNan;
  }
  return m;
}

namespace {

// ---- operations in float32 and float64 ------------------------------------------------------------
struct Add {
  template <class T> T operator()(T a, T b) const { return a + b; }
};
struct Sub {
  template <class T> T operator()(T a, T b) const { return a - b; }
};
struct Mul {
  template <class T> T operator()(T a, T b) const { return a * b; }
};
struct Div {
  template <class T> T operator()(T a, T b) const { return a / b; }
};
struct Fma {
  template <class T> T operator()(T a, T b, T c) const { return std::fma(a, b, c); }
};
struct Reciprocal {
  template <class T> T operator()(T a) const { return T(1) / a; }
};
struct Root {
  template <class T> T operator()(T a) const { return std::sqrt(a); }
};

class RoundingMode {
 public:
  explicit RoundingMode(unsigned extra) : before_(std::fegetround()) {
    constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(modes[extra & kRoundingMask]);
  }
  ~RoundingMode() { std::fesetround(before_); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  int before_;
};

template <class T> T adapted(T v, unsigned extra) {
  if constexpr (std::is_same_v<T, float>) return (extra & kFtz) != 0 ? flushed(v) : v;
  else return v;
}
template <class T> T finished(T v, unsigned extra) {
  v = adapted(v, extra);
  if ((extra & kSat) != 0) v = v > 0 ? (v < 1 ? v : T(1)) : T(0);  // NaN: 0
  return canonical(v);
}

// Performs the operation in the step's rounding mode. volatile hides the operands from the compiler, and makes it store
// the result before the mode changes back.
template <class F, class T> T rounded(T a) {
  volatile T x = a, r = F()(T(x));
  return r;
}
template <class F, class T> T rounded(T a, T b) {
  volatile T x = a, y = b, r = F()(T(x), T(y));
  return r;
}
template <class F, class T> T rounded(T a, T b, T c) {
  volatile T x = a, y = b, z = c, r = F()(T(x), T(y), T(z));
  return r;
}

template <class F, class T, int N> void operate(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]), *c = in(w, s.from[2]);
  std::uint64_t* d = out(w, s.to[0]);
  if ((s.extra & (kRoundingMask | kFtz | kSat)) == 0) {
    each_lane(lanes, [&](unsigned lane) {
      T r;
      if constexpr (N == 1) r = F()(as<T>(a[lane]));
      else if constexpr (N == 2) r = F()(as<T>(a[lane]), as<T>(b[lane]));
      else r = F()(as<T>(a[lane]), as<T>(b[lane]), as<T>(c[lane]));
      d[lane] = bits_of(canonical(r));
    });
    return;
  }
  const RoundingMode mode(s.extra);
  each_lane(lanes, [&](unsigned lane) {
    const T x = adapted(as<T>(a[lane]), s.extra);
    T r;
    if constexpr (N == 1) r = rounded<F, T>(x);
    else if constexpr (N == 2) r = rounded<F, T>(x, adapted(as<T>(b[lane]), s.extra));
    else r = rounded<F, T>(x, adapted(as<T>(b[lane]), s.extra), adapted(as<T>(c[lane]), s.extra));
    d[lane] = bits_of(finished(r, s.extra));
  });
}

// ---- signs, minima, tests -------------------------------------------------------------------------
template <class T> struct SignBit;
template <> struct SignBit<float> { static constexpr std::uint64_t value = std::uint64_t(1) << 31; };
template <> struct SignBit<double> { static constexpr std::uint64_t value = std::uint64_t(1) << 63; };

template <class T, bool Negates> void sign(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  constexpr std::uint64_t bit = SignBit<T>::value;
  each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t v = bits_of(adapted(as<T>(a[lane]), s.extra));
    d[lane] = Negates ? v ^ bit : v & ~bit;
  });
}
template <class T> void copy_sign(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]);
  std::uint64_t* d = out(w, s.to[0]);
  constexpr std::uint64_t bit = SignBit<T>::value;
  each_lane(lanes, [&](unsigned lane) { d[lane] = (bits_of(as<T>(b[lane])) & ~bit) | (a[lane] & bit); });
}

// -0 is less than +0. Between a number and NaN, the result is the number, unless .NaN.
template <class T> T extreme(T a, T b, bool greatest, bool propagates) {
  if (a != a || b != b) {
    const T nan = a != a ? a : b;
    if (propagates || (a != a && b != b)) return nan;
    return a != a ? b : a;
  }
  const bool a_first = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return a_first != greatest ? a : b;
}
template <class T, bool Greatest> void minmax(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) {
    const T x = adapted(as<T>(a[lane]), s.extra), y = adapted(as<T>(b[lane]), s.extra);
    d[lane] = bits_of(canonical(extreme(x, y, Greatest, (s.extra & kPropagateNan) != 0)));
  });
}

template <class T> void test_property(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t* a = in(w, s.from[0]);
  Mask result = 0;
  each_lane(lanes, [&](unsigned lane) {
    const T v = as<T>(a[lane]);
    const int kind = std::fpclassify(v);
    const bool holds[] = {std::isfinite(v), std::isinf(v),     !std::isnan(v),
                          std::isnan(v),    kind == FP_NORMAL, kind == FP_SUBNORMAL};
    result |= Mask(holds[s.extra]) << lane;
  });
  set_predicate(w, s.to[0], lanes, result);
}

// ---- 16-bit formats -------------------------------------------------------------------------------
// Returns a + b rounded to odd. A second rounding of such a sum to a format with far fewer bits gives the correct
// result.
double sum_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double from_b = sum - a, error = (a - (sum - from_b)) + (b - from_b);
  auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  const bool away = (error > 0) == (sum > 0);
  bits += away ? 1 : ~std::uint64_t(0);
  return std::bit_cast<double>(bits);
}

enum class Half { add, sub, mul, fma, neg, abs, min, max };
template <Half Op> std::uint64_t half_operation(const Format& f, unsigned extra, const std::uint64_t* v) {
  const double a = unpacked(f, v[0]), b = unpacked(f, v[1]), c = unpacked(f, v[2]);
  double r = 0;
  if constexpr (Op == Half::neg) return v[0] ^ f.sign();
  if constexpr (Op == Half::abs) return v[0] & (f.sign() - 1);
  if constexpr (Op == Half::add) r = sum_to_odd(a, b);
  if constexpr (Op == Half::sub) r = sum_to_odd(a, -b);
  if constexpr (Op == Half::mul) r = a * b;
  if constexpr (Op == Half::fma) r = sum_to_odd(a * b, c);
  if constexpr (Op == Half::min) r = extreme(a, b, false, (extra & kPropagateNan) != 0);
  if constexpr (Op == Half::max) r = extreme(a, b, true, (extra & kPropagateNan) != 0);
  if ((extra & kSat) != 0) r = r > 0 ? (r < 1 ? r : 1.0) : 0.0;
  return packed(f, static_cast<Rounding>(extra & kRoundingMask), r);
}
// Width 2: two values in the halves of 32 bits.
template <Half Op, bool Brain, int Width> void half(Warp& w, const Step& s, Mask lanes) {
  constexpr Format f = Brain ? kBfloat16 : kFloat16;
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]), *c = in(w, s.from[2]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) {
    std::uint64_t result = 0;
    for (int k = 0; k < Width; ++k) {
      const std::uint64_t v[] = {a[lane] >> 16 * k & 0xffff, b[lane] >> 16 * k & 0xffff, c[lane] >> 16 * k & 0xffff};
      result |= half_operation<Op>(f, s.extra, v) << 16 * k;
    }
    d[lane] = result;
  });
}

// ---- the table ------------------------------------------------------------------------------------
using Table = std::unordered_map<std::string, Run>;

template <class T> void add_forms(Table& t, const std::string& type) {
  t["add" + type] = &operate<Add, T, 2>;
  t["sub" + type] = &operate<Sub, T, 2>;
  t["mul" + type] = &operate<Mul, T, 2>;
  t["div" + type] = &operate<Div, T, 2>;
  t["fma" + type] = t["mad" + type] = &operate<Fma, T, 3>;
  t["rcp" + type] = &operate<Reciprocal, T, 1>;
  t["sqrt" + type] = &operate<Root, T, 1>;
  t["neg" + type] = &sign<T, true>;
  t["abs" + type] = &sign<T, false>;
  t["copysign" + type] = &copy_sign<T>;
  t["min" + type] = &minmax<T, false>;
  t["max" + type] = &minmax<T, true>;
}
template <bool Brain, int Width> void add_halves(Table& t, const std::string& type) {
  t["add" + type] = &half<Half::add, Brain, Width>;
  t["sub" + type] = &half<Half::sub, Brain, Width>;
  t["mul" + type] = &half<Half::mul, Brain, Width>;
  t["fma" + type] = &half<Half::fma, Brain, Width>;
  t["neg" + type] = &half<Half::neg, Brain, Width>;
  t["abs" + type] = &half<Half::abs, Brain, Width>;
  t["min" + type] = &half<Half::min, Brain, Width>;
  t["max" + type] = &half<Half::max, Brain, Width>;
}

const Table& table() {
  static const Table& all = *[] {
    auto* t = new Table;
    add_forms<float>(*t, ".f32");
    add_forms<double>(*t, ".f64");
    add_halves<false, 1>(*t, ".f16");
    add_halves<false, 2>(*t, ".f16x2");
    add_halves<true, 1>(*t, ".bf16");
    add_halves<true, 2>(*t, ".bf16x2");
    return t;
  }();
  return all;
}

bool is_modifier(std::string_view word) {
  for (std::string_view known : {"rn", "rz", "rm", "rp", "ftz", "sat", "NaN"})
    if (word == known) return true;
  return false;
}

}  // namespace

Run find_floating(const Words& words, Step& s) {
  const std::string_view type = words.back();
  if (type.empty() || (type[0] != 'f' && !type.starts_with("bf"))) return nullptr;
  s.extra = modifiers_of(words);
  if (words[0] == "testp") {
    constexpr std::string_view names[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
    for (unsigned k = 0; k < std::size(names); ++k)
      if (words.at(1) == names[k]) s.extra = k;
    return type == "f64" ? &test_property<double> : &test_property<float>;
  }
  if (const Run approximation = find_approximation(words, s); approximation != nullptr) return approximation;
  for (std::size_t k = 1; k + 1 < words.size(); ++k)
    if (!is_modifier(words[k])) return nullptr;
  const auto found = table().find(std::string(words[0]) + "." + std::string(type));
  return found == table().end() ? nullptr : found->second;
}

}  // namespace cuda_device::ptx
