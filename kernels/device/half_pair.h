// Pairs of 16-bit floats in a word, the element with the lower index in the lower half. GPUs convert two numbers to 16
// bits by one instruction, and to 32 bits without moving the halves apart.
#pragma once

#include <catena/kernels/bfloat16.h>
#include <catena/kernels/float16.h>

namespace catena::device {

template <class T>
concept sixteen_bit_float = is_same<T, float16> || is_same<T, bfloat16>;

// Returns both values rounded to nearest even. A NaN may lose its sign.
template <sixteen_bit_float T> ND_FN uint32_t pair_of(float low, float high) {
#if CATENA_DEVICE && __CUDA_ARCH__ >= 800
  uint32_t pair;
  if constexpr (is_same<T, float16>) asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  else asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return uint32_t(T(low).bits) | uint32_t(T(high).bits) << 16;
#endif
}

// The same bits as two conversions to T.
template <sixteen_bit_float T> ND_FN uint32_t exact_pair_of(float low, float high) {
#if CATENA_DEVICE && __CUDA_ARCH__ >= 800
  const uint32_t pair = pair_of<T>(low, high);
  if constexpr (is_same<T, float16>) {
    uint32_t signs;
    asm("prmt.b32 %0, %1, %2, 0x7632;" : "=r"(signs) : "f"(low), "f"(high));
    return pair | (signs & 0x80008000u);
  } else if (low == low && high == high) {
    return pair;
  }
#endif
  return uint32_t(T(low).bits) | uint32_t(T(high).bits) << 16;
}

// The values of the two elements, with the bits of a conversion to float.
template <sixteen_bit_float T> ND_FN float low_of(uint32_t pair) {
  if constexpr (is_same<T, bfloat16>) return bit_cast<float>(pair << 16);
  else {
#if CATENA_DEVICE
    float f;
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l; }" : "=f"(f) : "r"(pair));
    return bit_cast<float>(bit_cast<uint32_t>(f) | (pair << 16 & 0x80000000u));
#else
    return float(float16::from_bits(uint16_t(pair)));
#endif
  }
}
template <sixteen_bit_float T> ND_FN float high_of(uint32_t pair) {
  if constexpr (is_same<T, bfloat16>) return bit_cast<float>(pair & 0xffff0000u);
  else {
#if CATENA_DEVICE
    float f;
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, h; }" : "=f"(f) : "r"(pair));
    return bit_cast<float>(bit_cast<uint32_t>(f) | (pair & 0x80000000u));
#else
    return float(float16::from_bits(uint16_t(pair >> 16)));
#endif
  }
}

}  // namespace catena::device
