// Instructions on registers. This header: integers, bits, comparisons and selections; floating.h: floating point;
// convert.h: conversions.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <catena/tests/support/cuda_device/ptx/decode.h>
#include <catena/tests/support/cuda_device/ptx/warp.h>

namespace cuda_device::ptx {

// Returns false if the opcode belongs to another group. Throws Fault for an unsupported form.
bool decode_arithmetic(const Words& words, const std::vector<Operand>& operands, Operands& context, Step& step);

// Convert a register to a value of a type, and back.
template <class T> inline T as(std::uint64_t v) {
  if constexpr (std::is_same_v<T, float>) return std::bit_cast<float>(static_cast<std::uint32_t>(v));
  else if constexpr (std::is_same_v<T, double>) return std::bit_cast<double>(v);
  else return static_cast<T>(v);
}
template <class T> inline std::uint64_t bits_of(T v) {
  if constexpr (std::is_same_v<T, float>) return std::bit_cast<std::uint32_t>(v);
  else if constexpr (std::is_same_v<T, double>) return std::bit_cast<std::uint64_t>(v);
  else return static_cast<std::uint64_t>(v);
}

// Applies the function F of a form: F()(values of the type T...).
template <class F, class T> void unary(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t* a = in(w, s.from[0]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = bits_of(F()(as<T>(a[lane]))); });
}
template <class F, class T> void binary(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = bits_of(F()(as<T>(a[lane]), as<T>(b[lane]))); });
}
template <class F, class T> void ternary(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]), *c = in(w, s.from[2]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = bits_of(F()(as<T>(a[lane]), as<T>(b[lane]), as<T>(c[lane]))); });
}

}  // namespace cuda_device::ptx
