// Loops of reductions that round in every step (sums, products, means of floating-point numbers): the lanes of a row
// combine their elements in groups (kernel.h). Lanes are vectors, which stay in registers while elements are added.
#pragma once

#include <utility>

#include <catena/kernels/registry/define.h>

namespace catena {

namespace define {
// W numbers that bodies combine at once. A class, because g++ warns of functions that take vectors which not every
// processor has; not aligned, for the same reason.
template <class E, int W> struct LaneVector {
  typedef E Elements __attribute__((vector_size(W * sizeof(E)), aligned(alignof(E))));
  Elements v;
  friend ND_FN LaneVector operator+(LaneVector a, LaneVector b) { return {a.v + b.v}; }
  friend ND_FN LaneVector operator*(LaneVector a, LaneVector b) { return {a.v * b.v}; }
};
}  // namespace define
template <class E, int W> struct real_of<define::LaneVector<E, W>> { using type = E; };

namespace define {

// Where a body combines the parts of complex numbers each on its own, lanes of complex numbers are twice as many lanes
// of real ones.
template <class Body, class A> struct GroupFolds {
  static constexpr bool by_parts = is_complex<A> && requires { Body::is_light; };
  static constexpr bool has_vectors = by_parts || std::is_arithmetic_v<A>;
  using E = std::conditional_t<by_parts, real_of_t<A>, A>;
  static constexpr int kParts = sizeof(A) / sizeof(E), kElements = kLanes * kParts;
  static constexpr int kWidth = has_vectors ? 64 / sizeof(E) : 1, kVectors = kElements / kWidth;

  using V = std::conditional_t<has_vectors, LaneVector<E, kWidth>, A>;

  static ND_FN void begin(V* lane) {
    const E none = Body::template identity<E>();
    for (int k = 0; k < kVectors; ++k) {
      if constexpr (has_vectors) lane[k].v = typename V::Elements{} + none;
      else lane[k] = none;
    }
  }
  static ND_FN void join(V* lane, const V* other) {
    for (int k = 0; k < kVectors; ++k) lane[k] = Body::combine(lane[k], other[k]);
  }
  static constexpr std::size_t kAhead = 2048;  // bytes
  // An element for each of the first lanes.
  template <int Vectors> static ND_FN void add_round(V* lane, const E* x) {
    if constexpr (has_vectors) {
#pragma GCC unroll 8
      for (int k = 0; k < Vectors; ++k) {
        V element;
        memcpy(&element, x + k * kWidth, sizeof(V));
        lane[k] = Body::combine(lane[k], Body::template map<V>(element, 0));
      }
    } else {
#pragma GCC ivdep
      for (int l = 0; l < Vectors; ++l) lane[l] = Body::combine(lane[l], Body::template map<A>(x[l], 0));
    }
  }
  // `rounds` elements of each lane. Returns where the next ones are. (Unrolled all the way, sums of squares are
  // slower.)
  template <bool Ahead> static ND_FN const E* add(V* lane, const E* x, std::int64_t rounds) {
    if constexpr (!has_vectors) {
#pragma GCC unroll 1
      for (; rounds > 0; --rounds, x += kElements) add_round<kVectors>(lane, x);
      return x;
    }
#pragma GCC unroll 2
    for (; rounds > 0; --rounds, x += kElements) {
      if constexpr (Ahead)
        for (std::size_t line = 0; line < sizeof(E) * kElements; line += 64)
          __builtin_prefetch(reinterpret_cast<const char*>(x) + kAhead + line);
      add_round<kVectors>(lane, x);
    }
    return x;
  }
  // The last n elements, fewer than there are lanes: those of the first `Count` elements of a round.
  template <int Count> static ND_FN void add_last(V* lane, const E* x, int n) {
    using U = typename uint_of_size<sizeof(E)>::type;
    const U rest = U(n * kParts);
    const E none = Body::template identity<E>();
    alignas(64) E last[Count];
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int l = 0; l < Count; ++l) last[l] = U(l) < rest ? x[l] : none;  // masked vectors
    add_round<Count / kWidth>(lane, last);
  }
  static ND_FN void add_rest(V* lane, const E* x, int n) {
    if (n == 0) return;
    if constexpr (has_vectors) {
      if (n <= kLanes / 2) add_last<kElements / 2>(lane, x, n);
      else add_last<kElements>(lane, x, n);
    } else {
      for (int l = 0; l < n; ++l) lane[l] = Body::combine(lane[l], Body::template map<A>(x[l], 0));
    }
  }
  // The tree over the lanes.
  static ND_FN A combined(V* lane) {
    for (int half = kVectors / 2; half > 0; half /= 2)
      for (int k = 0; k < half; ++k) lane[k] = Body::combine(lane[k], lane[k + half]);
    if constexpr (has_vectors) return combined(lane[0], std::make_integer_sequence<int, kWidth / 2>{});
    else return lane[0];
  }
  template <int... I>
  static ND_FN A combined(LaneVector<E, int(2 * sizeof...(I))> v, std::integer_sequence<int, I...>) {
    constexpr int half = int(sizeof...(I));
    const LaneVector<E, half> low{__builtin_shufflevector(v.v, v.v, I...)},
        high{__builtin_shufflevector(v.v, v.v, half + I...)};
    const LaneVector<E, half> both = Body::combine(low, high);
    if constexpr (half > kParts) {
      return combined(both, std::make_integer_sequence<int, half / 2>{});
    } else {
      A result;
      memcpy(&result, &both, sizeof(A));
      return result;
    }
  }

  template <bool Ahead> static ND_FN void fold(A& out, const A* elements, std::int64_t n) {
    const E* x = reinterpret_cast<const E*>(elements);
    std::int64_t rounds = n / kLanes;
    V lane[kVectors];
    begin(lane);
    if (rounds < kGroup) {
      x = add<false>(lane, x, rounds);
      add_rest(lane, x, int(n % kLanes));
    } else {
      V total[kVectors];
      begin(total);
      x = add<Ahead>(total, x, kGroup);
      for (rounds -= kGroup; rounds >= kGroup; rounds -= kGroup) {
        V group[kVectors];
        begin(group);
        x = add<Ahead>(group, x, kGroup);
        join(total, group);
      }
      x = add<Ahead>(lane, x, rounds);
      add_rest(lane, x, int(n % kLanes));
      for (int k = 0; k < kVectors; ++k) lane[k] = Body::combine(total[k], lane[k]);
    }
    out = Body::combine(out, combined(lane));
  }

  // Of a row that comes in parts: the group that each lane combines, and its earlier groups. `rounds`: elements of each
  // that the group holds.
  struct alignas(64) State {
    V group[kVectors], total[kVectors];
    std::int64_t rounds;
  };
  static ND_FN void fold_part(A& out, std::byte* lanes, const A* elements, std::int64_t n, bool first, bool last) {
    static_assert(sizeof(State) <= kLanes * kMaxLaneBytes);
    State& state = *reinterpret_cast<State*>(lanes);
    const E* x = reinterpret_cast<const E*>(elements);
    V lane[kVectors];
    begin(lane);
    if (first) begin(state.total), state.rounds = 0;
    if (state.rounds > 0)
      for (int k = 0; k < kVectors; ++k) lane[k] = state.group[k];
    for (std::int64_t rounds = n / kLanes; rounds > 0;) {
      const std::int64_t more = rounds < kGroup - state.rounds ? rounds : kGroup - state.rounds;
      x = add<false>(lane, x, more);
      rounds -= more, state.rounds += more;
      if (state.rounds < kGroup) break;
      join(state.total, lane);
      begin(lane);
      state.rounds = 0;
    }
    if (!last) {
      for (int k = 0; k < kVectors; ++k) state.group[k] = lane[k];
      return;
    }
    add_rest(lane, x, int(n % kLanes));
    for (int k = 0; k < kVectors; ++k) lane[k] = Body::combine(state.total[k], lane[k]);
    out = Body::combine(out, combined(lane));
  }
};

}  // namespace define
}  // namespace catena
