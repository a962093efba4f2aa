// Launch skeletons of elementwise and indexed programs. Program::run computes one element from the values of its slots;
// for an indexed program, the first argument is the position.
#pragma once

#include <catena/kernels/device/lane.h>

namespace catena::device {

template <class Program, int W, class... L> ND_FN void chunk(L&... lane) {
  (lane.template fetch<W>(), ...);
  ND_UNROLL
  for (int j = 0; j < W; ++j) Program::run(lane(j)...);
  (lane.template flush<W>(), ...);
}

// All operands are contiguous or scalars. Computes V elements at once if all pointers are aligned for it, and the tail
// one by one.
template <class Program, class Index, int V, class... L> ND_FN void run_contiguous(Index n, L... lane) {
  const Index first = Index(blockIdx.x) * blockDim.x + threadIdx.x, step = Index(gridDim.x) * blockDim.x;
  Index done = 0;
  if constexpr (V > 1) {
    if ((lane.template aligned<V>() && ...)) {
      const Index vectors = n / V;
      for (Index v = first; v < vectors; v += step) {
        (lane.move(int64_t(v) * V * L::size), ...);
        chunk<Program, V>(lane...);
      }
      done = vectors * V;
    }
  }
  for (Index i = done + first; i < n; i += step) {
    (lane.move(int64_t(i) * L::size), ...);
    chunk<Program, 1>(lane...);
  }
}

template <class Program, class Index, int V, class P, class... Tag, int... K>
ND_FN void contiguous_over(const P& p, Indices<K...>) {
  run_contiguous<Program, Index, V>(Index(p.n), typename Tag::template lane<V>(p, K)...);
}
template <class Program, class Index, int V, class... Tag, class P> ND_FN void contiguous(const P& p) {
  contiguous_over<Program, Index, V, P, Tag...>(p, make_indices<int(sizeof...(Tag))>{});
}

// Operands with any strides. Rank 0: the number of axes is known only at run time. V > 1: a thread computes V positions
// along the first axis, along which some operands are contiguous; the threads of a warp then use all bytes of the
// memory sectors that they access, for every operand.
template <class Program, class Index, int Rank, int V, class P, int... K, class... L>
ND_FN void run_strided(const P& p, Indices<K...>, L... lane) {
  using Offset = typename signed_of<Index>::type;
  const Index first_length = Index(p.length[0]), groups = (first_length + V - 1) / V;
  const Index n = V == 1 ? Index(p.n) : Index(p.n) / first_length * groups, step = Index(gridDim.x) * blockDim.x;
  for (Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    Offset offset[sizeof...(L)] = {};
    Index first = 0;
    for_each_axis<Rank>(i, p.length, p.rank, [&](int a, Index c) {
      if (V > 1 && a == 0) first = c = c * V;
      ((L::advances ? void(offset[K] += Offset(c) * Offset(p.stride[K][a])) : void()), ...);
    });
    if constexpr (V > 1) {
      if (first_length - first >= Index(V)) {
        (lane.move(offset[K]), ...);
        (lane.template fetch_along<V>(p.stride[K][0]), ...);
        ND_UNROLL
        for (int j = 0; j < V; ++j) Program::run(lane(j)...);
        (lane.template flush_along<V>(p.stride[K][0]), ...);
        continue;
      }
    }
    for (Index left = V == 1 ? 1 : first_length - first; left > 0; --left) {
      (lane.move(offset[K]), ...);
      chunk<Program, 1>(lane...);
      ((L::advances ? void(offset[K] += Offset(p.stride[K][0])) : void()), ...);
    }
  }
}
template <class Program, class Index, int Rank, int V, class P, class... Tag, int... K>
ND_FN void strided_over(const P& p, Indices<K...> all) {
  run_strided<Program, Index, Rank, V>(p, all, typename Tag::template lane<V>(p, K)...);
}
template <class Program, class Index, int Rank, int V, class... Tag, class P> ND_FN void strided(const P& p) {
  strided_over<Program, Index, Rank, V, P, Tag...>(p, make_indices<int(sizeof...(Tag))>{});
}

// The position in a loop whose number of axes is known only at run time. A coordinate is computed when the body uses
// it: an array of coordinates, indexed at run time, would be in local memory.
template <class Width> struct PositionOfAnyRank {
  int64_t position;
  const int64_t* length;
  int rank;

  ND_FN int64_t linear() const { return position; }
  ND_FN int64_t operator[](int k) const {
    Width rest = Width(position);
    for (int a = rank - 1; a > k; --a) rest /= Width(length[a]);
    return int64_t(k > 0 ? rest % Width(length[k]) : rest);
  }
};
template <int Rank, class Width, class P> ND_FN auto position_in(const P& p, Width i) {
  if constexpr (Rank == 0) {
    return PositionOfAnyRank<Width>{int64_t(i), p.length, int(p.rank)};
  } else {
    Index<Rank> index;
    index.position = int64_t(i);
    return index;
  }
}

// As run_strided, with the position as the first argument of the program. V > 1: V neighbouring positions at once; all
// operands that advance are then contiguous.
template <class Program, class Width, int Rank, int V, class P, int... K, class... L>
ND_FN void run_indexed(const P& p, Indices<K...>, L... lane) {
  using Offset = typename signed_of<Width>::type;
  const Width n = Width(p.n), step = Width(gridDim.x) * blockDim.x;
  const bool aligned = V > 1 && (lane.template aligned<V>() && ...);
  const auto compute = [&](Width i, int j, Offset(&offset)[sizeof...(L)]) {
    auto index = position_in<Rank>(p, i);
    for_each_axis<Rank>(i, p.length, p.rank, [&](int a, Width c) {
      if constexpr (Rank > 0) index.axis[a] = int64_t(c);
      if constexpr (V == 1) ((L::advances ? void(offset[K] += Offset(c) * Offset(p.stride[K][a])) : void()), ...);
    });
    if constexpr (V == 1) {
      (lane.move(offset[K]), ...);
      (lane.template fetch<1>(), ...);
    }
    Program::run(index, lane(j)...);
  };
  for (Width v = Width(blockIdx.x) * blockDim.x + threadIdx.x; v < n / V + (n % V != 0); v += step) {
    const Width first = v * V;
    if (aligned && n - first >= Width(V)) {
      Offset none[sizeof...(L)] = {};
      (lane.move(int64_t(first) * L::size), ...);
      (lane.template fetch<V>(), ...);
      // V is a power of two. In this form the compiler sees that neighbours share a block of random numbers.
      ND_UNROLL
      for (int j = 0; j < V; ++j) compute(first | Width(j), j, none);
      (lane.template flush<V>(), ...);
    } else {
      for (Width i = first; i < first + V && i < n; ++i) {
        Offset offset[sizeof...(L)] = {};
        if constexpr (V > 1) {
          (lane.move(int64_t(i) * L::size), ...);
          (lane.template fetch<1>(), ...);
        }
        compute(i, 0, offset);
        (lane.template flush<1>(), ...);
      }
    }
  }
}
template <class Program, class Width, int Rank, int V, class P, class... Tag, int... K>
ND_FN void indexed_over(const P& p, Indices<K...> all) {
  run_indexed<Program, Width, Rank, V>(p, all, typename Tag::template lane<V>(p, K)...);
}
template <class Program, class Width, int Rank, int V, class... Tag, class P> ND_FN void indexed(const P& p) {
  indexed_over<Program, Width, Rank, V, P, Tag...>(p, make_indices<int(sizeof...(Tag))>{});
}

}  // namespace catena::device
