// Approximate instructions: the exact value, rounded.
#include <cmath>
#include <cstdlib>
#include <string>

#include <catena/tests/support/cuda_device/ptx/floating.h>

namespace cuda_device::ptx {
namespace {

bool perturbs() {
  static const bool on = [] {
    const char* chosen = std::getenv("CATENA_SOFTWARE_CUDA_PTX_PERTURB");
    return chosen != nullptr && std::string(chosen) == "1";
  }();
  return on;
}

// Two units away, up or down by the operand's bits; zeros, infinities, NaN and the largest and smallest values stay.
template <class Bits> Bits moved(Bits result, std::uint64_t operand, Bits unit, Bits largest, Bits smallest) {
  const Bits magnitude = result & (~Bits(0) >> 1);
  if (magnitude <= smallest || magnitude >= largest) return result;
  const bool up = (operand * 0x9e3779b97f4a7c15u >> 63) != 0;
  return up ? Bits(result + 2 * unit) : Bits(result - 2 * unit);
}

float result_of(double exact, std::uint64_t operand, unsigned extra) {
  float r = static_cast<float>(exact);
  if (perturbs())
    r = std::bit_cast<float>(
        moved<std::uint32_t>(std::bit_cast<std::uint32_t>(r), operand, 1, 0x7f700000u, 0x00900000u));
  return canonical((extra & kFtz) != 0 ? flushed(r) : r);
}

enum class Function { ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt };
template <Function F> double exact(double v) {
  switch (F) {
    case Function::ex2: return std::exp2(v);
    case Function::lg2: return std::log2(v);
    case Function::sin: return std::sin(v);
    case Function::cos: return std::cos(v);
    case Function::tanh: return std::tanh(v);
    case Function::rcp: return 1 / v;
    case Function::rsqrt: return 1 / std::sqrt(v);
    case Function::sqrt: return std::sqrt(v);
  }
  return v;
}

template <Function F> void of_float(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) {
    float v = as<float>(a[lane]);
    if ((s.extra & kFtz) != 0) v = flushed(v);
    // Of a few operands the documentation states the exact result.
    const bool plain = v != 0 && std::isfinite(v) && !(F == Function::lg2 && v == 1);
    const double r = exact<F>(v);
    d[lane] = plain ? bits_of(result_of(r, a[lane], s.extra)) : bits_of(canonical(static_cast<float>(r)));
  });
}

template <Function F, bool Brain> void of_half(Warp& w, const Step& s, Mask lanes) {
  constexpr Format f = Brain ? kBfloat16 : kFloat16;
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes,
            [&](unsigned lane) { d[lane] = packed(f, Rounding::nearest, exact<F>(unpacked(f, a[lane] & 0xffff))); });
}

// The upper half of a float64: 20 bits of the operand's fraction are read and as many of the result's are written.
// Subnormal operands are zero, subnormal results become zero.
template <Function F> void of_double(Warp& w, const Step& s, Mask lanes) {
  constexpr std::uint64_t high = 0xffffffff00000000u, exponent = 0x7ff0000000000000u, sign = std::uint64_t(1) << 63;
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) {
    std::uint64_t v = a[lane];
    if ((v & exponent) == 0) v &= sign;
    else if (as<double>(v) == as<double>(v)) v &= high;
    std::uint64_t r = bits_of(exact<F>(as<double>(v)));
    const bool special = (r & exponent) == exponent || (v & ~sign) == 0 || (v & exponent) == exponent;
    if ((r & exponent) == 0) r &= sign;
    else if (!special) r = (r + (std::uint64_t(1) << 31)) & high;
    if (!special && perturbs())
      r = moved<std::uint64_t>(r, v, std::uint64_t(1) << 32, 0x7fe0000000000000u, 0x0020000000000000u);
    d[lane] = r;
  });
}

// rsqrt.approx.f64, without .ftz: subnormal numbers count, and the result has all bits.
void reciprocal_root(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) {
    const double v = as<double>(a[lane]);
    const auto exact = static_cast<double>(1 / std::sqrt(static_cast<long double>(v)));
    std::uint64_t r = bits_of(exact);
    if (perturbs() && v > 0 && std::isfinite(v))
      r = moved<std::uint64_t>(r, a[lane], 1, 0x7fe0000000000000u, 0x0020000000000000u);
    d[lane] = r;
  });
}

void divide(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]);
  std::uint64_t* d = out(w, s.to[0]);
  const bool full = (s.extra & kRoundingMask) != 0;
  each_lane(lanes, [&](unsigned lane) {
    float x = as<float>(a[lane]), y = as<float>(b[lane]);
    if ((s.extra & kFtz) != 0) x = flushed(x), y = flushed(y);
    // div.approx multiplies by a reciprocal that underflows for divisors above 2^126.
    double r = double(x) / y;
    if (!full && std::fabs(y) > 0x1p126f && std::isfinite(y)) r = std::isinf(x) ? NAN : x * 0.0f;
    const bool plain = x != 0 && y != 0 && std::isfinite(x) && std::isfinite(y);
    const unsigned extra = s.extra & ~kRoundingMask;
    d[lane] = plain ? bits_of(result_of(r, a[lane] ^ b[lane] << 32, extra)) : bits_of(canonical(static_cast<float>(r)));
  });
}

template <Function F> Run form(std::string_view type) {
  if (type == "f32") return &of_float<F>;
  if (type == "f64" && (F == Function::rcp || F == Function::rsqrt)) return &of_double<F>;
  if (type == "f16" && (F == Function::ex2 || F == Function::tanh)) return &of_half<F, false>;
  if (type == "bf16" && (F == Function::ex2 || F == Function::tanh)) return &of_half<F, true>;
  return nullptr;
}

}  // namespace

Run find_approximation(const Words& words, Step& s) {
  if ((s.extra & kApprox) == 0) return nullptr;
  const std::string_view op = words[0], type = words.back();
  if (op == "div" && type == "f32") {
    if (has(words, "full")) s.extra |= kRoundingMask;
    return &divide;
  }
  if (op == "ex2") return form<Function::ex2>(type);
  if (op == "lg2") return form<Function::lg2>(type);
  if (op == "sin") return form<Function::sin>(type);
  if (op == "cos") return form<Function::cos>(type);
  if (op == "tanh") return form<Function::tanh>(type);
  if (op == "rcp") return form<Function::rcp>(type);
  if (op == "rsqrt" && type == "f64" && (s.extra & kFtz) == 0) return &reciprocal_root;
  if (op == "rsqrt") return form<Function::rsqrt>(type);
  if (op == "sqrt") return form<Function::sqrt>(type);
  return nullptr;
}

}  // namespace cuda_device::ptx
