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

// All operands are contiguous or scalars. Computes V elements at once, and the tail one by one. If not all pointers are
// aligned for V elements, a thread loads elements that are blockDim.x apart, so that the accesses of a warp lie
// together and as many of them are under way.
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
    } else {
      enum : int { kLoads = V < 8 ? V : 8 };  // as many addresses as there are registers for
      const Index tile = Index(kLoads) * blockDim.x, tiles = n / tile;
      for (Index t = blockIdx.x; t < tiles; t += gridDim.x) {
        const Index start = t * tile + threadIdx.x;
        ND_UNROLL
        for (int j = 0; j < kLoads; ++j) {
          (lane.move(int64_t(start + Index(j) * blockDim.x) * L::size), ...);
          (lane.template fetch<1>(j), ...);
        }
        ND_UNROLL
        for (int j = 0; j < kLoads; ++j) Program::run(lane(j)...);
        ND_UNROLL
        for (int j = 0; j < kLoads; ++j) {
          (lane.move(int64_t(start + Index(j) * blockDim.x) * L::size), ...);
          (lane.template flush<1>(j), ...);
        }
      }
      done = tiles * tile;
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

// Positions have `integer`: a type for positions in the raw operands, if they need not be of 64 bits (see NearView).
//
// The position in a loop whose number of axes is known only at run time. A coordinate is computed when the body uses
// it: an array of coordinates, indexed at run time, would be in local memory.
template <class Width> struct PositionOfAnyRank {
  using integer = typename signed_of<Width>::type;
  int64_t position;
  const int64_t* length;
  int rank;

  ND_FN int64_t linear() const { return position; }
  ND_FN int64_t operator[](int k) const {
    Width rest = Width(position);
    for (int a = rank - 1; a > k; --a) rest /= Width(length[a]);
    return int64_t(k > 0 ? rest % Width(length[k]) : rest);
  }
  template <int Step> ND_FN void advance() { position += Step; }
};
template <int Rank, class Width> struct PositionOfRank : Index<Rank> {
  using integer = typename signed_of<Width>::type;
  const int64_t* length;

  // Divides only if an axis is shorter than the step.
  template <int Step> ND_FN void advance() {
    this->position += Step;
    Width carry = Width(Step);
    ND_UNROLL
    for (int a = Rank - 1; a > 0; --a) {
      const Width n = Width(length[a]);
      Width next = Width(this->axis[a]) + carry;
      carry = next < n ? 0 : 1;
      if (carry != 0) {
        next -= n;
        if constexpr (Step > 1) {
          if (next >= n) {
            carry += next / n;
            next %= n;
          }
        }
      }
      this->axis[a] = int64_t(next);
      if (carry == 0) return;
    }
    this->axis[0] += int64_t(carry);
  }
};
// Position i. Calls each(axis, coordinate).
template <int Rank, class Width, class P, class F> ND_FN auto position_in(const P& p, Width i, F each) {
  if constexpr (Rank == 0) {
    for_each_axis<Rank>(i, p.length, p.rank, each);
    return PositionOfAnyRank<Width>{int64_t(i), p.length, int(p.rank)};
  } else {
    PositionOfRank<Rank, Width> index;
    index.length = p.length;
    index.position = int64_t(i);
    for_each_axis<Rank>(i, p.length, p.rank, [&](int a, Width c) {
      index.axis[a] = int64_t(c);
      each(a, c);
    });
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
  for (Width v = Width(blockIdx.x) * blockDim.x + threadIdx.x; v < n / V + (n % V != 0); v += step) {
    const Width first = v * V;
    Offset offset[sizeof...(L)] = {};
    auto index = position_in<Rank>(p, first, [&](int a, Width c) {
      if constexpr (V == 1) ((L::advances ? void(offset[K] += Offset(c) * Offset(p.stride[K][a])) : void()), ...);
    });
    if (aligned && n - first >= Width(V)) {
      (lane.move(int64_t(first) * L::size), ...);
      (lane.template fetch<V>(), ...);
      // V is a power of two. In this form the compiler sees that neighbours share a block of random numbers.
      ND_UNROLL
      for (int j = 0; j < V; ++j) {
        index.position = int64_t(first | Width(j));
        Program::run(index, lane(j)...);
        index.template advance<1>();
      }
      (lane.template flush<V>(), ...);
    } else {
      for (Width i = first; i < first + V && i < n; ++i) {
        if constexpr (V > 1) (lane.move(int64_t(i) * L::size), ...);
        else (lane.move(offset[K]), ...);
        (lane.template fetch<1>(), ...);
        Program::run(index, lane(0)...);
        index.template advance<1>();
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

// As run_indexed, for contiguous operands: the positions of a thread are a warp apart, so that the lanes of a warp,
// which compute neighbouring positions, also read elements of the raw operands that are close together.
template <class Program, class Width, int Rank, int V, class P, class... L>
ND_FN void run_indexed_apart(const P& p, L... lane) {
  constexpr Width tile = Width(V * kWarp);
  const Width n = Width(p.n), thread = Width(blockIdx.x) * blockDim.x + threadIdx.x;
  const Width step = Width(gridDim.x) * blockDim.x * Width(V);
  for (Width first = thread / Width(kWarp) * tile + thread % Width(kWarp); first < n; first += step) {
    auto index = position_in<Rank>(p, first, [](int, Width) {});
    ND_UNROLL
    for (int j = 0; j < V; ++j) {
      const Width i = first + Width(j * kWarp);
      if (i >= n) break;
      if (j > 0) index.template advance<kWarp>();
      (lane.move(int64_t(i) * L::size), ...);
      (lane.template fetch<1>(), ...);
      Program::run(index, lane(0)...);
      (lane.template flush<1>(), ...);
    }
  }
}
template <class Program, class Width, int Rank, int V, class P, class... Tag, int... K>
ND_FN void indexed_apart_over(const P& p, Indices<K...>) {
  run_indexed_apart<Program, Width, Rank, V>(p, typename Tag::template lane<1>(p, K)...);
}
template <class Program, class Width, int Rank, int V, class... Tag, class P> ND_FN void indexed_apart(const P& p) {
  indexed_apart_over<Program, Width, Rank, V, P, Tag...>(p, make_indices<int(sizeof...(Tag))>{});
}

}  // namespace catena::device
