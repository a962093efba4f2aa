#include <catena/tests/support/cuda_device/ptx/convert.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <catena/tests/support/cuda_device/ptx/arithmetic.h>
#include <catena/tests/support/cuda_device/ptx/floating.h>

namespace cuda_device::ptx {
namespace {

// ---- types ----------------------------------------------------------------------------------------
struct Number {
  enum class Kind { unsigned_integer, signed_integer, floating } kind;
  int bits;
  Format format;  // of floating types
};

Number type_of(std::string_view name) {
  constexpr Format none{0, 0, 0};
  if (name == "f16") return {Number::Kind::floating, 16, kFloat16};
  if (name == "bf16") return {Number::Kind::floating, 16, kBfloat16};
  if (name == "f32") return {Number::Kind::floating, 32, kFloat32};
  if (name == "f64") return {Number::Kind::floating, 64, kFloat64};
  const int bits = name.size() > 1 ? std::atoi(std::string(name.substr(1)).c_str()) : 0;
  if ((name[0] != 'u' && name[0] != 's') || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
    throw Fault{"unknown type"};
  return {name[0] == 'u' ? Number::Kind::unsigned_integer : Number::Kind::signed_integer, bits, none};
}

std::uint64_t narrowed(std::uint64_t v, int bits, bool is_signed) {
  if (bits == 64) return v;
  const int unused = 64 - bits;
  return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(v << unused) >> unused)
                   : v << unused >> unused;
}

// extra: modifiers (floating.h), and these.
constexpr unsigned kToIntegral = 64, kRelu = 128;
Rounding rounding_of(unsigned extra) { return static_cast<Rounding>(extra & kRoundingMask); }

double integral(double v, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest: return std::nearbyint(v);
    case Rounding::zero: return std::trunc(v);
    case Rounding::down: return std::floor(v);
    case Rounding::up: return std::ceil(v);
  }
  return v;
}

// ---- conversions of one value ---------------------------------------------------------------------
std::uint64_t integer_to_integer(const Number& to, const Number& from, unsigned extra, std::uint64_t v) {
  const bool from_signed = from.kind == Number::Kind::signed_integer,
             to_signed = to.kind == Number::Kind::signed_integer;
  v = narrowed(v, from.bits, from_signed);
  if ((extra & kSat) != 0) {
    const std::uint64_t most = ~std::uint64_t(0) >> (64 - to.bits + int(to_signed));
    const bool negative = from_signed && static_cast<std::int64_t>(v) < 0;
    if (!negative) v = std::min(v, most);
    else if (!to_signed) v = 0;
    else v = static_cast<std::uint64_t>(std::max(static_cast<std::int64_t>(v), -static_cast<std::int64_t>(most) - 1));
  }
  return narrowed(v, to.bits, to_signed);
}

std::uint64_t integer_to_float(const Number& to, const Number& from, unsigned extra, std::uint64_t v) {
  const bool from_signed = from.kind == Number::Kind::signed_integer;
  v = narrowed(v, from.bits, from_signed);
  const bool negative = from_signed && static_cast<std::int64_t>(v) < 0;
  if (to.bits >= 32 && rounding_of(extra) == Rounding::nearest && (extra & kSat) == 0) {
    if (to.bits == 64) return bits_of(negative ? double(static_cast<std::int64_t>(v)) : double(v));
    return bits_of(negative ? float(static_cast<std::int64_t>(v)) : float(v));
  }
  const std::uint64_t r = packed(to.format, rounding_of(extra), negative, negative ? 0 - v : v, 0);
  if ((extra & kSat) == 0) return r;
  return packed(to.format, Rounding::nearest, negative ? 0.0 : std::min(unpacked(to.format, r), 1.0));
}

// A value out of range gives the nearest integer of the type; NaN gives 0, or only the most significant bit for
// conversions with 64 bits.
std::uint64_t float_to_integer(const Number& to, const Number& from, unsigned extra, std::uint64_t bits) {
  double v = unpacked(from.format, bits);
  if (from.bits == 32 && (extra & kFtz) != 0) v = flushed(as<float>(bits));
  const bool to_signed = to.kind == Number::Kind::signed_integer;
  if (v != v) return from.bits == 64 || to.bits == 64 ? std::uint64_t(1) << (to.bits - 1) : 0;
  v = integral(v, rounding_of(extra));
  const int value_bits = to.bits - int(to_signed);
  const double limit = std::ldexp(1.0, value_bits);
  const std::uint64_t most = ~std::uint64_t(0) >> (64 - value_bits);
  if (v >= limit) return most;
  if (!to_signed) return v <= 0 ? 0 : static_cast<std::uint64_t>(v);
  if (v <= -limit) return ~most;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(v));
}

std::uint64_t float_to_float(const Number& to, const Number& from, unsigned extra, std::uint64_t bits) {
  double v = from.bits == 64 ? as<double>(bits) : unpacked(from.format, bits & ((std::uint64_t(1) << from.bits) - 1));
  if (from.bits == 32 && (extra & kFtz) != 0) v = flushed(as<float>(bits));
  const Rounding rounding = rounding_of(extra);
  if ((extra & kToIntegral) != 0) v = integral(v, rounding);
  if ((extra & kSat) != 0) v = v > 0 ? std::min(v, 1.0) : 0.0;
  if ((extra & kRelu) != 0 && v < 0) v = 0;
  if (to.bits == 64) return bits_of(v);
  std::uint64_t r = packed(to.format, (extra & kToIntegral) != 0 ? Rounding::nearest : rounding, v);
  if (to.bits == 32 && (extra & kFtz) != 0) r = bits_of(flushed(as<float>(r)));
  return r;
}

// ---- forms ----------------------------------------------------------------------------------------
constexpr std::string_view kNames[] = {"u8",  "u16", "u32", "u64",  "s8",  "s16",
                                       "s32", "s64", "f16", "bf16", "f32", "f64"};
const Number& number(std::size_t k) {
  static const std::vector<Number> all = [] {
    std::vector<Number> made;
    for (std::string_view name : kNames) made.push_back(type_of(name));
    return made;
  }();
  return all[k];
}

using One = std::uint64_t (*)(const Number&, const Number&, unsigned, std::uint64_t);
template <One F> void convert(Warp& w, const Step& s, Mask lanes) {
  const Number &to = number(s.bytes), &from = number(s.count);
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = F(to, from, s.extra, a[lane]); });
}
// cvt.rn.f16x2.f32 d, a, b puts a in the upper half.
void convert_pair(Warp& w, const Step& s, Mask lanes) {
  const Number &to = number(s.bytes), &from = number(s.count);
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) {
    d[lane] = float_to_float(to, from, s.extra, a[lane]) << 16 | float_to_float(to, from, s.extra, b[lane]);
  });
}

// Fast paths for the most frequent conversions of kernels.
void half_to_float(Warp& w, const Step& s, Mask lanes) {
  static const std::vector<std::uint32_t> values = [] {
    std::vector<std::uint32_t> all(65536);
    for (std::uint32_t k = 0; k < 65536; ++k)
      all[k] = static_cast<std::uint32_t>(packed(kFloat32, Rounding::nearest, unpacked(kFloat16, k)));
    return all;
  }();
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = values[a[lane] & 0xffff]; });
}
// Between integers without .sat.
template <bool FromSigned, bool ToSigned> void resize(Warp& w, const Step& s, Mask lanes) {
  const int from_bits = number(s.count).bits, to_bits = number(s.bytes).bits;
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes,
            [&](unsigned lane) { d[lane] = narrowed(narrowed(a[lane], from_bits, FromSigned), to_bits, ToSigned); });
}
Run find_resize(bool from_signed, bool to_signed) {
  if (from_signed) return to_signed ? &resize<true, true> : &resize<true, false>;
  return to_signed ? &resize<false, true> : &resize<false, false>;
}
void widen_float(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = bits_of(double(as<float>(a[lane]))); });
}

std::uint8_t index_of(std::string_view name) {
  for (std::size_t k = 0; k < std::size(kNames); ++k)
    if (kNames[k] == name) return static_cast<std::uint8_t>(k);
  throw Fault{"unknown instruction"};
}

}  // namespace

bool decode_convert(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  if (words[0] != "cvt" || words.size() < 3) return false;
  constexpr std::string_view known[] = {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "relu"};
  for (std::size_t k = 1; k + 2 < words.size(); ++k)
    if (std::find(std::begin(known), std::end(known), words[k]) == std::end(known)) return false;
  s.extra = modifiers_of(words);
  for (std::string_view word : {"rni", "rzi", "rmi", "rpi"})
    if (has(words, word)) s.extra |= kToIntegral;
  if (has(words, "relu")) s.extra |= kRelu;
  std::string_view to_name = words[words.size() - 2];
  const std::string_view from_name = words.back();
  const bool pair = to_name.ends_with("x2");
  if (pair) to_name.remove_suffix(2);
  s.bytes = index_of(to_name);
  s.count = index_of(from_name);
  const Number &to = number(s.bytes), &from = number(s.count);
  const bool to_float = to.kind == Number::Kind::floating, from_float = from.kind == Number::Kind::floating;
  if (pair) s.run = &convert_pair;
  else if (!to_float && !from_float) s.run = &convert<integer_to_integer>;
  else if (!from_float) s.run = &convert<integer_to_float>;
  else if (!to_float) s.run = &convert<float_to_integer>;
  else s.run = &convert<float_to_float>;
  if (!pair && !to_float && !from_float && (s.extra & kSat) == 0)
    s.run = find_resize(from.kind == Number::Kind::signed_integer, to.kind == Number::Kind::signed_integer);
  if (to_name == "f32" && from_name == "f16" && s.extra == 0) s.run = &half_to_float;
  if (to_name == "f64" && from_name == "f32" && s.extra == 0) s.run = &widen_float;
  s.to[0] = context.destination(o.at(0));
  s.from[0] = context.source(o.at(1));
  if (pair) s.from[1] = context.source(o.at(2));
  return true;
}

}  // namespace cuda_device::ptx
