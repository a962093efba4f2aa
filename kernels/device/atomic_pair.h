// Atomic additions of 16-bit floats by the instructions of GPUs, which add both elements of an aligned word at once
// (bfloat16 from compute capability 9.0 on). For one element alone, the driver generates a loop of compare-and-swaps,
// whose time grows with the square of the number of threads that add to the element.
#pragma once

#include <catena/kernels/bfloat16.h>
#include <catena/kernels/float16.h>

namespace catena::device {

#if CATENA_DEVICE && __CUDA_ARCH__ >= 900
template <class T>
concept has_pair_addition = is_same<T, float16> || is_same<T, bfloat16>;
#elif CATENA_DEVICE
template <class T>
concept has_pair_addition = is_same<T, float16>;
#else
template <class T>
concept has_pair_addition = false;
#endif

#if CATENA_DEVICE
// Add one element, or a word of two elements, in global memory. Return the previous value.
ND_FN uint16_t atom_add(uint64_t to, float16 v) {
  uint16_t old;
  asm volatile("{ .reg .b64 g; cvta.to.global.u64 g, %1; atom.global.add.noftz.f16 %0, [g], %2; }"
               : "=h"(old)
               : "l"(to), "h"(v.bits)
               : "memory");
  return old;
}
ND_FN uint16_t atom_add(uint64_t to, bfloat16 v) {
  uint16_t old;
  asm volatile("{ .reg .b64 g; cvta.to.global.u64 g, %1; atom.global.add.noftz.bf16 %0, [g], %2; }"
               : "=h"(old)
               : "l"(to), "h"(v.bits)
               : "memory");
  return old;
}
ND_FN uint32_t atom_add_pair(uint64_t to, uint32_t pair, float16) {
  uint32_t old;
  asm volatile("{ .reg .b64 g; cvta.to.global.u64 g, %1; atom.global.add.noftz.f16x2 %0, [g], %2; }"
               : "=r"(old)
               : "l"(to), "r"(pair)
               : "memory");
  return old;
}
ND_FN uint32_t atom_add_pair(uint64_t to, uint32_t pair, bfloat16) {
  uint32_t old;
  asm volatile("{ .reg .b64 g; cvta.to.global.u64 g, %1; atom.global.add.noftz.bf16x2 %0, [g], %2; }"
               : "=r"(old)
               : "l"(to), "r"(pair)
               : "memory");
  return old;
}

// *to += v in global memory; returns the previous element. The other element of the word gets -0, which changes no
// number. The addition would change the bits of a NaN, which may be other data if the neighbour does not belong to the
// array; beside a NaN, the element is therefore added alone.
template <class T> ND_FN T add_in_pair(T* to, T v) {
  const uint64_t address = reinterpret_cast<uint64_t>(to);
  const float other = float(T::from_bits(*reinterpret_cast<const volatile uint16_t*>(address ^ 2)));
  if (other != other) return T::from_bits(atom_add(address, v));
  const bool high = (address & 2) != 0;
  const uint32_t pair = high ? 0x8000u | uint32_t(v.bits) << 16 : 0x80000000u | v.bits;
  return T::from_bits(uint16_t(atom_add_pair(address & ~uint64_t(3), pair, v) >> (high ? 16 : 0)));
}
#endif

}  // namespace catena::device
