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
  };
  template <class P, int... K> static ND_FN Place place_of(const P& p, Indices<K...>, Index i) {
    using Offset = typename signed_of<Index>::type;
    Offset base = 0, other = 0, index[sizeof...(I) + 1] = {};  // + 1: arrays of length 0 are not allowed
    for_each_axis<Rank>(i, p.length, p.rank, [&](int a, Index c) {
      base += Offset(c) * Offset(p.base_stride[a]);
      other += Offset(c) * Offset(p.other_stride[a]);
      ((index[K] += Offset(c) * Offset(p.index_stride[K][a])), ...);
    });
    ((base +=
      Offset(wrapped(*reinterpret_cast<const I*>(static_cast<const char*>(p.index[K]) + index[K]), p.axis_length[K])) *
      Offset(p.axis_stride[K])),
     ...);
    return {static_cast<char*>(p.base) + base, static_cast<char*>(p.other) + other};
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
  template <class T, class P> static ND_FN void add(const P& p) {
    if constexpr (adds_in_one_step<T>) {
      each(p, [](char* base, const char* other) { atomic_add(reinterpret_cast<T*>(base), element<T>(other)); });
    } else {
      // Warps stay complete: lanes behind the last position also call the exchanges.
      const Index n = Index(p.n), step = Index(gridDim.x) * blockDim.x, lane = threadIdx.x % unsigned(kWarp);
      for (Index first = Index(blockIdx.x) * blockDim.x + threadIdx.x - lane; first < n; first += step) {
        const bool takes_part = n - first > lane;
        const Place at = takes_part ? place_of(p, Index(first + lane)) : Place{};
        atomic_add_by_warp(reinterpret_cast<T*>(at.base), takes_part ? element<T>(at.other) : T(), takes_part);
      }
    }
  }
};

}  // namespace catena::device
