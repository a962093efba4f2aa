// Atomic additions to memory shared by threads. float additions may flush subnormal numbers to zero.
//
// GPUs add 32- and 64-bit elements by one instruction each, and 16-bit floats in pairs (atomic_pair.h). Other elements
// narrower than a word need a loop of compare-and-swaps, in which one thread succeeds per round: if many threads add to
// one element, the time grows with the square of their number. A warp therefore first sums the values that its lanes
// add to the same element.
//
// The memory adds to one element one value after the other. Where targets repeat, the threads of a block therefore
// first sum in shared memory, and add each sum once.
#pragma once

#include <catena/kernels/device/atomic_pair.h>
#include <catena/kernels/device/parameters.h>
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

// *to += v in global memory, for an element of `array`. Complex numbers: each part separately. bool: logical or.
// Integers wrap.
template <class T> ND_FN void atomic_add(T* to, T v, DenseArray array = {}) {
#if CATENA_DEVICE
  __builtin_assume(__isGlobal(to));
  if constexpr (has_pair_addition<T>) {
    reduce_in_pair(to, v, array);
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

// Combines the values that several threads add to one element. 16-bit floats are added up in float32 and rounded once;
// integers wrap.
template <class T> struct Addend {
  using Sum = conditional_t<is_float<compute_t<T>>, compute_t<T>, conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;
  // Changes no sum: -0 for floats.
  static ND_FN Sum nothing() { return -Sum(0); }
  static ND_FN Sum of(T v) { return Sum(v); }
  static ND_FN Sum combine(Sum a, Sum b) { return is_same<T, bool> ? Sum(a != Sum(0) || b != Sum(0)) : Sum(a + b); }
};

// Sums the values of the lanes of a warp that have the same target and take part. Returns true in one lane per target,
// in which `sum` is then the sum. All lanes must call it.
template <class T, class Target>
ND_FN bool sum_by_target(Target target, bool takes_part, typename Addend<T>::Sum& sum) {
  constexpr unsigned all = 0xffffffffu;
  const unsigned lane = threadIdx.x % 32, present = __ballot_sync(all, takes_part);
  const unsigned same = __match_any_sync(all, target);
  const unsigned peers = takes_part ? same & present : 0, before = (1u << lane) - 1;
  // In every round a lane adds the sum of its next peer, and every second of the remaining peers drops out.
  unsigned behind = peers & ~(before << 1 | 1u), rank = unsigned(__popc(peers & before));
  while (__any_sync(all, behind != 0)) {
    const int next = __ffs(int(behind)) - 1;
    const typename Addend<T>::Sum other = __shfl_sync(all, sum, next < 0 ? int(lane) : next);
    if (next >= 0) sum = Addend<T>::combine(sum, other);
    behind &= __ballot_sync(all, (rank & 1u) == 0);
    rank >>= 1;
  }
  return takes_part && (peers & before) == 0;
}

// *to += v for every lane of the warp with takes_part, by one addition per element. All lanes must call it.
template <class T> ND_FN void atomic_add_by_warp(T* to, T v, bool takes_part) {
  typename Addend<T>::Sum sum = Addend<T>::of(v);
  if (sum_by_target<T>(static_cast<unsigned long long>(reinterpret_cast<uint64_t>(to)), takes_part, sum))
    atomic_add(to, T(sum));
}

// True if at least two of the lanes that take part have the target of a lower lane. All lanes must call it.
ND_FN bool targets_repeat(unsigned long long target, bool takes_part) {
  constexpr unsigned all = 0xffffffffu;
  const unsigned present = __ballot_sync(all, takes_part), same = __match_any_sync(all, target);
  const bool again = takes_part && (same & present & ((1u << (threadIdx.x % 32)) - 1)) != 0;
  return __popc(__ballot_sync(all, again)) >= 2;
}

// A sum in shared memory, where GPUs add 32-bit integers by one instruction, but 64-bit integers by a loop.
template <class Sum> struct SharedSum {
  Sum sum;
  ND_FN void clear() { sum = -Sum(0); }
  ND_FN void add(Sum v) { atomicAdd(&sum, v); }
  ND_FN Sum value() const { return sum; }
};
template <> struct SharedSum<uint64_t> {
  uint32_t low, high;
  ND_FN void clear() { low = high = 0; }
  ND_FN void add(uint64_t v) {
    const uint32_t added = uint32_t(v), before = atomicAdd(&low, added);
    const uint32_t more = uint32_t(v >> 32) + (uint32_t(before + added) < added ? 1u : 0u);
    if (more != 0) atomicAdd(&high, more);
  }
  ND_FN uint64_t value() const { return uint64_t(high) << 32 | low; }
};

// Sums of a block for up to kTargets targets, in shared memory. A target has one place; if another target took it
// first, the value is added to memory at once.
template <class T> struct TargetTable {
  using Sum = typename Addend<T>::Sum;
  unsigned long long* target;  // addresses; 0: none
  SharedSum<Sum>* sum;

  ND_FN void clear() const {
    for (unsigned k = threadIdx.x; k < kTargets; k += blockDim.x) {
      target[k] = 0;
      sum[k].clear();
    }
  }
  ND_FN void add(T* to, Sum v) const {
    const auto address = static_cast<unsigned long long>(reinterpret_cast<uint64_t>(to));
    const unsigned place = unsigned(address / sizeof(T)) % unsigned(kTargets);
    const unsigned long long found = atomicCAS(&target[place], 0ull, address);
    if (found == 0 || found == address) sum[place].add(v);
    else atomic_add(to, T(v));
  }
  ND_FN void write() const {
    for (unsigned k = threadIdx.x; k < kTargets; k += blockDim.x)
      if (target[k] != 0) atomic_add(reinterpret_cast<T*>(uint64_t(target[k])), T(sum[k].value()));
  }
};

}  // namespace catena::device
