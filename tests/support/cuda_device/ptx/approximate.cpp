// Approximate instructions: the exact value, rounded; with CATENA_SOFTWARE_CUDA_PTX_PERTURB=1, up to two units away
// from that, within the error bounds of the PTX ISA.
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

enum class Function { ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt, div };
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
    case Function::div: break;  // it has two operands
  }
  return v;
}

// ---- errors ---------------------------------------------------------------------------------------
// Returns the error bound of a result by instruction: PTX ISA 9.0, section 9.7.3. `unit` is one unit in the last place
// of the rounded result, `digits` the number of bits of its fraction: 23, or 20 for the upper half of a float64. For
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 the ISA defines the format but no bound; the bounds used here are those
// of the float32 forms in this format, with which libdevice's single refinement (of third order) keeps its own
// documented bounds. The bound of rsqrt.approx.f64 is that of rsqrt(double) in the CUDA C++ Programming Guide.
template <Function F> double bound(double operand, double exact, double unit, int digits) {
  const double magnitude = std::fabs(exact);
  switch (F) {
    case Function::ex2: return 2.5 * unit;  // 2 units from the rounded result
    case Function::div: return 2 * unit;
    case Function::rcp: return unit;
    case Function::sqrt: return std::ldexp(magnitude, -digits);
    case Function::rsqrt: return std::ldexp(magnitude * std::exp2(0.1), -digits);  // 2^-22.9
    case Function::lg2: return operand > 0.5 && operand < 2 ? 0x1p-22 : magnitude * 0x1p-22;
    case Function::sin:
    case Function::cos: return std::exp2(-20.5);
    case Function::tanh: return magnitude * 0x1p-11;
  }
  return 0;
}

// Moves the result by two units, or by one if two exceed the bound; the operand's bits select the direction, which is
// reversed if necessary. Zeros, infinities, NaN and the largest and smallest values are not moved.
template <class Bits> struct Limits;
template <> struct Limits<std::uint32_t> {
  static constexpr std::uint32_t smallest = 0x00900000u, largest = 0x7f700000u;
};
template <> struct Limits<std::uint64_t> {
  static constexpr std::uint64_t smallest = 0x0020000000000000u, largest = 0x7fe0000000000000u;
};
template <class Bits, class Near> Bits moved(Bits result, std::uint64_t operand, Bits unit, Near is_near) {
  const Bits magnitude = result & (~Bits(0) >> 1);
  if (magnitude <= Limits<Bits>::smallest || magnitude >= Limits<Bits>::largest) return result;
  const bool up = (operand * 0x9e3779b97f4a7c15u >> 63) != 0;
  for (const bool away : {up, !up})
    for (const Bits units : {Bits(2), Bits(1)}) {
      const Bits candidate = away ? Bits(result + units * unit) : Bits(result - units * unit);
      if (is_near(candidate)) return candidate;
    }
  return result;
}

double last_place(double v, int digits) { return std::ldexp(1.0, std::ilogb(v) - digits); }

// libdevice computes 2^n of float64 (tanh, erf) by ex2.approx of a whole number, so these results must be exact.
template <Function F> bool has_exact_result(float v) { return F == Function::ex2 && v == std::floor(v); }

template <Function F> float result_of(float v, double exact, std::uint64_t operand) {
  const auto rounded = static_cast<float>(exact);
  if (!perturbs() || has_exact_result<F>(v) || !std::isfinite(rounded) || rounded == 0) return rounded;
  const double allowed = bound<F>(v, exact, last_place(rounded, 23), 23);
  return std::bit_cast<float>(moved<std::uint32_t>(
      std::bit_cast<std::uint32_t>(rounded), operand, 1,
      [&](std::uint32_t bits) { return std::fabs(double(std::bit_cast<float>(bits)) - exact) <= allowed; }));
}

// ---- instructions ---------------------------------------------------------------------------------
template <Function F> void of_float(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  const bool flushes = (s.extra & kFtz) != 0;
  each_lane(lanes, [&](unsigned lane) {
    float v = as<float>(a[lane]);
    if (flushes) v = flushed(v);
    // For some operands, the documentation requires the exact result.
    const bool plain = v != 0 && std::isfinite(v) && !(F == Function::lg2 && v == 1);
    const double r = exact<F>(v);
    const float y = plain ? result_of<F>(v, r, a[lane]) : static_cast<float>(r);
    d[lane] = bits_of(canonical(flushes ? flushed(y) : y));
  });
}

template <Function F, bool Brain> void of_half(Warp& w, const Step& s, Mask lanes) {
  constexpr Format f = Brain ? kBfloat16 : kFloat16;
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes,
            [&](unsigned lane) { d[lane] = packed(f, Rounding::nearest, exact<F>(unpacked(f, a[lane] & 0xffff))); });
}

// Uses the upper half of a float64: reads 20 bits of the operand's fraction and writes 20 bits of the result's.
// Subnormal operands and results are replaced by zero; NaN results are canonical.
template <Function F> void of_double(Warp& w, const Step& s, Mask lanes) {
  constexpr std::uint64_t high = 0xffffffff00000000u, exponent = 0x7ff0000000000000u, sign = std::uint64_t(1) << 63;
  constexpr std::uint64_t unit = std::uint64_t(1) << 32, nan = 0x7fffffff00000000u;
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) {
    std::uint64_t v = a[lane];
    if ((v & exponent) == 0) v &= sign;
    else if (as<double>(v) == as<double>(v)) v &= high;
    const double result = exact<F>(as<double>(v));
    std::uint64_t r = bits_of(result);
    const bool special = (r & exponent) == exponent || (v & ~sign) == 0 || (v & exponent) == exponent;
    if (result != result) r = nan;
    else if ((r & exponent) == 0) r &= sign;
    else if (!special) r = (r + unit / 2) & high;
    if (perturbs() && !special && (r & exponent) != 0) {
      const double allowed = bound<F>(as<double>(v), result, last_place(as<double>(r), 20), 20);
      r = moved<std::uint64_t>(r, v, unit,
                               [&](std::uint64_t bits) { return std::fabs(as<double>(bits) - result) <= allowed; });
    }
    d[lane] = r;
  });
}

// rsqrt.approx.f64, without .ftz: subnormal numbers are not flushed, and the result has all bits.
void reciprocal_root(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) {
    const double v = as<double>(a[lane]);
    const long double result = 1 / std::sqrt(static_cast<long double>(v));
    std::uint64_t r = bits_of(static_cast<double>(result));
    if (perturbs() && v > 0 && std::isfinite(v)) {
      const double unit = last_place(as<double>(r), 52);
      r = moved<std::uint64_t>(r, a[lane], 1, [&](std::uint64_t bits) {
        return std::fabs(static_cast<long double>(as<double>(bits)) - result) <= unit;
      });
    }
    d[lane] = r;
  });
}

void divide(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]);
  std::uint64_t* d = out(w, s.to[0]);
  const bool full = (s.extra & kRoundingMask) != 0, flushes = (s.extra & kFtz) != 0;
  each_lane(lanes, [&](unsigned lane) {
    float x = as<float>(a[lane]), y = as<float>(b[lane]);
    if (flushes) x = flushed(x), y = flushed(y);
    // div.approx multiplies by the reciprocal, which underflows for divisors above 2^126.
    double r = double(x) / y;
    if (!full && std::fabs(y) > 0x1p126f && std::isfinite(y)) r = std::isinf(x) ? NAN : x * 0.0f;
    const bool plain = x != 0 && y != 0 && std::isfinite(x) && std::isfinite(y);
    const float q = plain ? result_of<Function::div>(x, r, a[lane] ^ b[lane] << 32) : static_cast<float>(r);
    d[lane] = bits_of(canonical(flushes ? flushed(q) : q));
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
