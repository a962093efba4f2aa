// Atomic additions of 16-bit floats by the instructions of GPUs, which add both elements of an aligned word at once
// (bfloat16 from compute capability 9.0 on). For one element alone, the driver generates a loop of compare-and-swaps,
// whose time grows with the square of the number of threads that add to the element.
#pragma once

#include <catena/kernels/bfloat16.h>
#include <catena/kernels/float16.h>

namespace catena::device {

// The addresses of an array whose elements are contiguous in some order of its axes; empty for other arrays, between
// whose elements may be other data.
struct DenseArray {
  uint64_t begin = 0, end = 0;
};

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
// Adds a word of two elements in global memory, without waiting for the previous value.
ND_FN void red_add_pair(uint64_t to, uint32_t pair, float16) {
  asm volatile("{ .reg .b64 g; cvta.to.global.u64 g, %0; red.global.add.noftz.f16x2 [g], %1; }"
               :
               : "l"(to), "r"(pair)
               : "memory");
}
ND_FN void red_add_pair(uint64_t to, uint32_t pair, bfloat16) {
  asm volatile("{ .reg .b64 g; cvta.to.global.u64 g, %0; red.global.add.noftz.bf16x2 [g], %1; }"
               :
               : "l"(to), "r"(pair)
               : "memory");
}
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

// The word that holds an element in global memory, and how to add to it. The other element of the word gets -0, which
// changes no number. The addition would change the bits of a NaN, which may be other data if the neighbour does not
// belong to the array; beside such a NaN, the element is therefore added alone.
template <class T> struct PairAddition {
  uint64_t address;
  uint32_t pair;
  bool high, beside_nan = false;
  ND_FN PairAddition(T* to, T v, DenseArray array) : address(reinterpret_cast<uint64_t>(to)), high((address & 2) != 0) {
    const uint64_t neighbour = address ^ 2;
    if (neighbour < array.begin || neighbour >= array.end) {
      const float other = float(T::from_bits(*reinterpret_cast<const volatile uint16_t*>(neighbour)));
      beside_nan = other != other;
    }
    pair = high ? 0x8000u | uint32_t(v.bits) << 16 : 0x80000000u | v.bits;
  }
  ND_FN uint64_t word() const { return address & ~uint64_t(3); }
};
// *to += v in global memory; the first one returns the previous element.
template <class T> ND_FN T add_in_pair(T* to, T v) {
  const PairAddition<T> add(to, v, {});
  if (add.beside_nan) return T::from_bits(atom_add(add.address, v));
  return T::from_bits(uint16_t(atom_add_pair(add.word(), add.pair, v) >> (add.high ? 16 : 0)));
}
template <class T> ND_FN void reduce_in_pair(T* to, T v, DenseArray array) {
  const PairAddition<T> add(to, v, array);
  if (add.beside_nan) atom_add(add.address, v);
  else red_add_pair(add.word(), add.pair, v);
}
#endif

}  // namespace catena::device
