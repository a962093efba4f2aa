// Loops of reductions whose accumulators are sums of distances from a pivot (kernels/reduction/statistics.h). The
// pivots, sums and sums of squares of several lanes are stored as separate vectors, and all lanes have the same number
// of elements. The results have the same bits as those of Body::add and Body::combine.
#pragma once

#include <catena/kernels/registry/define.h>
#include <catena/kernels/registry/tuning.h>

namespace catena::define {

inline constexpr int kMomentLanes = 8;

template <class Body, class A, class T>
concept folds_moments = requires(A a, T x) {
  Body::add(a, x);
};

template <class Body, class A, class T> struct MomentFolds {
  // A vector of W numbers. Plain loops over W numbers would be unrolled before they are vectorised, and stay scalar.
  template <int W> struct Vector {
    typedef double Wide __attribute__((vector_size(W * sizeof(double))));
    typedef T Elements __attribute__((vector_size(W * sizeof(T))));
    Wide v;
    static ND_FN Vector load(const T* x) {
      Elements e;
      memcpy(&e, x, sizeof(e));
      return {__builtin_convertvector(e, Wide)};
    }
  };
  // The accumulators of N vectors of W lanes.
  template <int W, int N> struct Sums {
    Vector<W> pivot[N], sum[N], squares[N];
    // Adds `rounds` elements, `step` bytes apart, to each lane. `first`: the accumulators are uninitialised.
    ND_FN void add(const std::byte* in, std::int64_t step, std::int64_t rounds, bool first) {
      if (first)
        for (int k = 0; k < N; ++k) {
          pivot[k] = Vector<W>::load(reinterpret_cast<const T*>(in) + k * W);
          sum[k] = squares[k] = Vector<W>{};
        }
      for (std::int64_t r = 0; r < rounds; ++r) {
        const T* x = reinterpret_cast<const T*>(in + r * step);
        // N > 1 only for columns, which the hardware does not prefetch in time.
        if constexpr (N > 1) __builtin_prefetch(reinterpret_cast<const char*>(x) + kAheadOfMoments);
#pragma GCC unroll 2
        for (int k = 0; k < N; ++k) {
          const auto distance = Vector<W>::load(x + k * W).v - pivot[k].v;
          sum[k].v += distance;
          squares[k].v += distance * distance;
        }
      }
    }
  };

  static ND_FN void fold(A& out, const T* x, std::int64_t n) {
    const std::int64_t rounds = n / kMomentLanes;
    Sums<kMomentLanes, 1> sums{};
    if (rounds > 0) sums.add(reinterpret_cast<const std::byte*>(x), kMomentLanes * sizeof(T), rounds, true);
    out = Body::combine(out, finish(sums, rounds, x + rounds * kMomentLanes, int(n - rounds * kMomentLanes)));
  }
  // Adds the last elements, which are fewer than the lanes, and combines the lanes.
  static ND_FN A finish(const Sums<kMomentLanes, 1>& s, std::int64_t rounds, const T* x, int rest) {
    A lane[kMomentLanes];
    for (int l = 0; l < kMomentLanes; ++l)
      lane[l] = rounds > 0 ? A{double(rounds), s.pivot[0].v[l], s.sum[0].v[l], s.squares[0].v[l]}
                           : Body::template identity<A>();
    for (int l = 0; l < rest; ++l) lane[l] = Body::add(lane[l], x[l]);
    for (int half = kMomentLanes / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) lane[l] = Body::combine(lane[l], lane[l + half]);
    return lane[0];
  }

  // As `fold` for the W columns from column j on, each with its own accumulator.
  template <int Columns> static ND_FN void fold_strip(A* acc, const ReductionBlock& b, std::int64_t j, bool first) {
    constexpr int W = Columns < kMomentLanes ? Columns : kMomentLanes, N = Columns / W;
    Sums<W, N> s{};
    acc += j;
    if (!first)
      for (int k = 0; k < N; ++k)
        for (int l = 0; l < W; ++l) {
          s.pivot[k].v[l] = acc[k * W + l].pivot;
          s.sum[k].v[l] = acc[k * W + l].sum;
          s.squares[k].v[l] = acc[k * W + l].squares;
        }
    s.add(b.in + j * std::int64_t(sizeof(T)), b.row_step, b.rows, first);
    for (int k = 0; k < N; ++k)
      for (int l = 0; l < W; ++l) {
        const double before = first ? 0 : acc[k * W + l].n;
        acc[k * W + l] = {before + double(b.rows), s.pivot[k].v[l], s.sum[k].v[l], s.squares[k].v[l]};
      }
  }
};

}  // namespace catena::define
