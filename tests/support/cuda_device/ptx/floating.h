// Floating-point instructions by the rules of PTX: rounding modifiers, .ftz, .sat, canonical NaN for types up to 32
// bits, and the 16-bit formats. Approximate instructions are computed exactly and rounded; with
// CATENA_SOFTWARE_CUDA_PTX_PERTURB=1, results of float32 and float64 are moved by up to 2 units in the last place,
// within the bounds of the PTX ISA.
#pragma once

#include <cstdint>
#include <string_view>

#include <catena/tests/support/cuda_device/ptx/arithmetic.h>

namespace cuda_device::ptx {

// ---- formats --------------------------------------------------------------------------------------
struct Format {
  int bits, mantissa, bias;
  constexpr std::uint64_t sign() const { return std::uint64_t(1) << (bits - 1); }
  constexpr std::uint64_t infinity() const { return ((std::uint64_t(1) << (bits - 1 - mantissa)) - 1) << mantissa; }
  constexpr std::uint64_t quiet_nan() const { return sign() - 1; }  // the NaN that PTX calls canonical
};
inline constexpr Format kFloat16{16, 10, 15}, kBfloat16{16, 7, 127}, kFloat32{32, 23, 127}, kFloat64{64, 52, 1023};

enum class Rounding : std::uint8_t { nearest, zero, down, up };

// Returns the value of a bit pattern, exact for 16 and 32 bits.
double unpacked(const Format& format, std::uint64_t bits);
// Returns the bit pattern of sign * mantissa * 2^exponent, rounded once. The lowest bit of the mantissa may represent
// all further bits (sticky), if the mantissa has at least 2 bits more than the format.
std::uint64_t packed(const Format& format, Rounding rounding, bool negative, std::uint64_t mantissa, int exponent);
// Returns the bit pattern of any value; NaN gives the canonical NaN.
std::uint64_t packed(const Format& format, Rounding rounding, double value);

// Modifiers in Step::extra.
inline constexpr unsigned kRoundingMask = 3, kFtz = 4, kSat = 8, kApprox = 16, kPropagateNan = 32;
// Returns the modifiers among the words of an instruction.
unsigned modifiers_of(const Words& words);

inline float flushed(float v) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(v);
  return (bits & 0x7f800000u) == 0 ? std::bit_cast<float>(bits & 0x80000000u) : v;
}
inline float canonical(float v) { return v != v ? std::bit_cast<float>(0x7fffffffu) : v; }
inline double canonical(double v) { return v; }

// Returns the function of a form and sets its modifiers in step.extra; null if it is no floating-point instruction.
Run find_floating(const Words& words, Step& step);

// Finds approximate functions, for floating.cpp. Null if there is no such form.
Run find_approximation(const Words& words, Step& step);

}  // namespace cuda_device::ptx
