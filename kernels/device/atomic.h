// Atomic additions to memory shared by threads. float additions may flush subnormal numbers to zero.
//
// GPUs add 32- and 64-bit elements by one instruction each, and 16-bit floats in pairs (atomic_pair.h). Other elements
// narrower than a word need a loop of compare-and-swaps, in which one thread succeeds per round: if many threads add to
// one element, the time grows with the square of their number. A warp therefore first sums the values that its lanes
// add to the same element.
#pragma once

#include <catena/kernels/device/atomic_pair.h>
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

// True if additions of all threads to one element take a time proportional to their number. (On the CPU, which stands
// for a GPU of capability 9.0, 16-bit floats are added as there: one after the other.)
template <class T>
concept adds_in_one_step = sizeof(T) >= 4 || has_pair_addition<T> ||
                           (!CATENA_DEVICE && (is_same<T, float16> || is_same<T, bfloat16>));

// *to += v. Complex numbers: each part separately. bool: logical or. Integers wrap.
template <class T> ND_FN void atomic_add(T* to, T v) {
#if CATENA_DEVICE
  if constexpr (has_pair_addition<T>) {
    add_in_pair(to, v);
    return;
  }
#endif
  if constexpr (is_complex<T>) {
    atomicAdd(&to->re, v.re);
    atomicAdd(&to->im, v.im);
  } else if constexpr (is_same<T, bool>) {
    // The sum is 1 even if the byte is neither 0 nor 1.
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

// Combines the values that a warp adds to one element.
template <class T> struct Addend {
  using Sum = uint32_t;
  static ND_FN Sum of(T v) { return Sum(v); }
  static ND_FN Sum combine(Sum a, Sum b) { return is_same<T, bool> ? a | b : a + b; }
};
template <> struct Addend<bfloat16> {
  using Sum = float;
  static ND_FN Sum of(bfloat16 v) { return float(v); }
  static ND_FN Sum combine(Sum a, Sum b) { return a + b; }
};

// *to += v for every lane of the warp with takes_part, by one addition per element. All lanes must call it.
template <class T> ND_FN void atomic_add_by_warp(T* to, T v, bool takes_part) {
  using A = Addend<T>;
  constexpr unsigned all = 0xffffffffu;
  const unsigned lane = threadIdx.x % 32, present = __ballot_sync(all, takes_part);
  const unsigned same = __match_any_sync(all, static_cast<unsigned long long>(reinterpret_cast<uint64_t>(to)));
  const unsigned peers = takes_part ? same & present : 0, before = (1u << lane) - 1;
  // In every round a lane adds the sum of its next peer, and every second of the remaining peers drops out.
  typename A::Sum sum = A::of(v);
  unsigned behind = peers & ~(before << 1 | 1u), rank = unsigned(__popc(int(peers & before)));
  while (__any_sync(all, behind != 0)) {
    const int next = __ffs(int(behind)) - 1;
    const typename A::Sum other = __shfl_sync(all, sum, next < 0 ? int(lane) : next);
    if (next >= 0) sum = A::combine(sum, other);
    behind &= __ballot_sync(all, (rank & 1u) == 0);
    rank >>= 1;
  }
  if (takes_part && (peers & before) == 0) atomic_add(to, T(sum));
}

}  // namespace catena::device
