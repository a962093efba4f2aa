// Launch skeletons of gather and scatter by index arrays. Several positions of a scatter may have the same destination:
// if values are set, any one of them stays, as in NumPy; if they are added, the order of the additions is undefined.
#pragma once

#include <catena/kernels/device/atomic.h>
#include <catena/kernels/device/lane.h>

namespace catena::device {

// Returns the element number for an index: modulo the length, as on the host.
template <class I> ND_FN int64_t wrapped(I v, int64_t length) {
  if constexpr (is_unsigned_int<I> && sizeof(I) == 8) {
    return int64_t(v < uint64_t(length) ? v : v % uint64_t(length));
  } else {
    int64_t at = int64_t(v);
    if (at < 0) at += length;
    if (at < 0 || at >= length) {
      at %= length;
      if (at < 0) at += length;
    }
    return at;
  }
}

// I: element types of the index arrays.
template <class Index, int Rank, class... I> struct Indexed {
  // The addresses of position i in the base and in the other operand.
  struct Place {
    char *base, *other;
    unsigned number;  // along the last indexed axis, of fewer than 2^32 elements
  };
  template <class P, int... K> static ND_FN Place place_of(const P& p, Indices<K...>, Index i) {
    using Offset = typename signed_of<Index>::type;
    Offset base = 0, other = 0, index[sizeof...(I) + 1] = {};  // + 1: arrays of length 0 are not allowed
    for_each_axis<Rank>(i, p.length, p.rank, [&](int a, Index c) {
      base += Offset(c) * Offset(p.base_stride[a]);
      other += Offset(c) * Offset(p.other_stride[a]);
      ((index[K] += Offset(c) * Offset(p.index_stride[K][a])), ...);
    });
    int64_t at = 0;
    ((at = wrapped(*reinterpret_cast<const I*>(static_cast<const char*>(p.index[K]) + index[K]), p.axis_length[K]),
      base += Offset(at) * Offset(p.axis_stride[K])),
     ...);
    return {static_cast<char*>(p.base) + base, static_cast<char*>(p.other) + other, unsigned(at)};
  }
  template <class P> static ND_FN Place place_of(const P& p, Index i) {
    return place_of(p, make_indices<int(sizeof...(I))>{}, i);
  }

  // Calls act(address in the base, address in the other operand) for every position.
  template <class P, class Act> static ND_FN void each(const P& p, Act act) {
    const Index n = Index(p.n), step = Index(gridDim.x) * blockDim.x;
    for (Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
      const Place at = place_of(p, i);
      act(at.base, at.other);
    }
  }

  // Elements are only moved, so they are copied as words of their size.
  template <int Bytes, class P> static ND_FN void gather(const P& p) {
    each(p, [](const char* base, char* other) {
      *reinterpret_cast<Word<Bytes>*>(other) = *reinterpret_cast<const Word<Bytes>*>(base);
    });
  }
  template <int Bytes, class P> static ND_FN void scatter(const P& p) {
    each(p, [](char* base, const char* other) {
      *reinterpret_cast<Word<Bytes>*>(base) = *reinterpret_cast<const Word<Bytes>*>(other);
    });
  }
  // A warp whose first targets are different adds to memory directly; the others sum in a table of the block first.
  template <class T, class P> static ND_FN void add(const P& p) {
    if constexpr (is_complex<T>) {
      each(p, [](char* base, const char* other) { atomic_add(reinterpret_cast<T*>(base), element<T>(other)); });
    } else {
      __shared__ unsigned long long targets[kTargets];
      __shared__ SharedSum<typename Addend<T>::Sum> sums[kTargets];
      const TargetTable<T> table{targets, sums};
      table.clear();
      __syncthreads();
      // Warps stay complete: lanes behind the last position also call the exchanges.
      const Index n = Index(p.n), step = Index(gridDim.x) * blockDim.x, lane = threadIdx.x % unsigned(kWarp);
      const DenseArray array{reinterpret_cast<uint64_t>(p.base), reinterpret_cast<uint64_t>(p.dense_end)};
      bool sampled = false, repeat = false;
      for (Index first = Index(blockIdx.x) * blockDim.x + threadIdx.x - lane; first < n; first += step) {
        const bool takes_part = n - first > lane;
        const Place at = place_of(p, takes_part ? Index(first + lane) : Index(n - 1));
        const auto target = static_cast<unsigned long long>(reinterpret_cast<uint64_t>(at.base));
        T* const to = reinterpret_cast<T*>(at.base);
        const T v = element<T>(at.other);
        if (!sampled) repeat = targets_repeat(target, takes_part);
        sampled = true;
        if (repeat) {
          typename Addend<T>::Sum sum = Addend<T>::of(v);
          if (sum_by_target<T>(target, takes_part, sum)) table.add(to, sum);
        } else if constexpr (adds_in_one_step<T>) {
          if (takes_part) atomic_add(to, v, array);
        } else {
          atomic_add_by_warp(to, v, takes_part);
        }
      }
      __syncthreads();
      table.write();
    }
  }

  // The same for one index array over an axis of few targets, without other axes in the base: each target has a place
  // in the table.
  template <class T, class P> static ND_FN void add_few(const P& p) {
    using Sum = typename Addend<T>::Sum;
    __shared__ SharedSum<Sum> sums[kTableBytes / int(sizeof(SharedSum<Sum>))];
    const unsigned targets = unsigned(p.axis_length[0]);
    for (unsigned k = threadIdx.x; k < targets; k += blockDim.x) sums[k].clear();
    __syncthreads();
    const Index n = Index(p.n), tile = Index(kTogether) * blockDim.x;
    for (Index first = Index(blockIdx.x) * tile + threadIdx.x; first - threadIdx.x < n; first += gridDim.x * tile) {
      unsigned target[kTogether];
      Sum v[kTogether];
      ND_UNROLL
      for (int j = 0; j < kTogether; ++j) {
        const Index i = first + Index(j) * blockDim.x;
        target[j] = 0;
        v[j] = Addend<T>::nothing();
        if (i >= n) continue;
        const Place at = place_of(p, i);
        target[j] = at.number;
        v[j] = Addend<T>::of(element<T>(at.other));
      }
      ND_UNROLL
      for (int j = 0; j < kTogether; ++j) {
        const bool takes_part = first + Index(j) * blockDim.x < n;
        if constexpr (is_float<Sum>) {
          if (!sum_by_target<T>(target[j], takes_part, v[j])) continue;
        } else if (!takes_part) {
          continue;
        }
        sums[target[j]].add(v[j]);
      }
    }
    __syncthreads();
    for (unsigned k = threadIdx.x; k < targets; k += blockDim.x) {
      const Sum sum = sums[k].value();
      if (bit_cast<unsigned_of<Sum>>(sum) == bit_cast<unsigned_of<Sum>>(Addend<T>::nothing())) continue;
      atomic_add(reinterpret_cast<T*>(static_cast<char*>(p.base) + int64_t(k) * p.axis_stride[0]), T(sum));
    }
  }

 private:
  enum : int { kTogether = 4 };  // elements that a thread of add_few loads at once
};

}  // namespace catena::device
