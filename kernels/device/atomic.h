// Atomic additions to memory shared by threads. float additions may flush subnormal numbers to zero.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::device {

// The aligned 32-bit word that contains an element of 1 or 2 bytes, and the position of the element in it. Allocations
// consist of whole words, so the neighbouring bytes may be accessed.
struct SharedWord {
  uint32_t* word;
  int shift;
  ND_FN explicit SharedWord(void* element) {
    const uint64_t address = reinterpret_cast<uint64_t>(element);
    word = reinterpret_cast<uint32_t*>(address & ~uint64_t(3));
    shift = int(address & 3) * 8;
  }
};

// *to += v. Complex: each part by itself. bool: logical or. Bools and elements of 1 and 2 bytes: compare-and-swap of
// the word that contains them; integers wrap.
template <class T> ND_FN void atomic_add(T* to, T v) {
  if constexpr (is_complex<T>) {
    atomicAdd(&to->re, v.re);
    atomicAdd(&to->im, v.im);
  } else if constexpr (is_same<T, bool>) {
    // The sum is 1 also where the byte is another one than 0 and 1.
    const SharedWord at(to);
    uint32_t seen = *static_cast<volatile uint32_t*>(at.word), expected;
    do {
      expected = seen;
      const uint32_t byte = (expected >> at.shift) & 0xffu, sum = v || byte != 0 ? 1u : 0u;
      if (byte == sum) return;
      seen = atomicCAS(at.word, expected, (expected & ~(0xffu << at.shift)) | (sum << at.shift));
    } while (seen != expected);
  } else if constexpr (sizeof(T) < 4) {
    using Bits = unsigned_of<T>;
    const SharedWord at(to);
    uint32_t seen = *static_cast<volatile uint32_t*>(at.word), expected;
    do {
      expected = seen;
      T sum;
      store(sum, wrap_add(load(bit_cast<T>(Bits(expected >> at.shift))), load(v)));
      const uint32_t mask = uint32_t(Bits(~Bits(0))) << at.shift;
      seen = atomicCAS(at.word, expected, (expected & ~mask) | (uint32_t(bit_cast<Bits>(sum)) << at.shift));
    } while (seen != expected);
  } else if constexpr (is_float<T>) {
    atomicAdd(to, v);
  } else if constexpr (sizeof(T) == 4) {
    atomicAdd(reinterpret_cast<uint32_t*>(to), uint32_t(v));
  } else {
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(v));
  }
}

}  // namespace catena::device
