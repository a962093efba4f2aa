// Loops of reductions that round in every step (sums, products, means of floating-point numbers): the lanes of a row
// combine their elements in groups (kernel.h). Lanes are vectors, which stay in registers while elements are added.
#pragma once

#include <utility>

#include <catena/kernels/registry/define.h>
#include <catena/kernels/registry/tuning.h>

namespace catena {

namespace define {
// W numbers that bodies combine at once. A class, because g++ warns of functions that take vectors which not every
// processor has; not aligned, for the same reason.
template <class E, int W> struct LaneVector {
  typedef E Elements __attribute__((vector_size(W * sizeof(E)), aligned(alignof(E))));
  Elements v;
  static ND_FN LaneVector all(E e) { return {Elements{} + e}; }
  static ND_FN LaneVector load(const E* x) {
    LaneVector elements;
    memcpy(&elements, x, sizeof(elements));
    return elements;
  }
  friend ND_FN LaneVector operator+(LaneVector a, LaneVector b) { return {a.v + b.v}; }
  friend ND_FN LaneVector operator*(LaneVector a, LaneVector b) { return {a.v * b.v}; }
};
// W complex numbers.
template <class E, int W> struct ComplexVector {
  using Parts = LaneVector<E, W>;
  Parts re, im;
  static ND_FN ComplexVector all(E e) { return {Parts::all(e), Parts::all(0)}; }
  static ND_FN ComplexVector load(const E* x) { return load(x, std::make_integer_sequence<int, W>{}); }
  template <int... I> static ND_FN ComplexVector load(const E* x, std::integer_sequence<int, I...>) {
    const Parts low = Parts::load(x), high = Parts::load(x + W);
    return {{__builtin_shufflevector(low.v, high.v, 2 * I...)},
            {__builtin_shufflevector(low.v, high.v, 2 * I + 1 ...)}};
  }
  friend ND_FN ComplexVector partial_product(ComplexVector a, ComplexVector b) {
    const Word a_lives = a.is_factor(), b_lives = b.is_factor();
    const Parts product_re = {a.re.v * b.re.v + a.im.v * -b.im.v}, product_im = {a.re.v * b.im.v + a.im.v * b.re.v};
    return {select(a_lives, select(b_lives, product_re, a.re), b.re),
            select(a_lives, select(b_lives, product_im, a.im), b.im)};
  }

 private:
  // By integers: comparisons would be made element by element in a function for several processors.
  using Word = LaneVector<std::conditional_t<sizeof(E) == 4, std::int32_t, std::int64_t>, W>;
  static ND_FN Word bits(Parts x) { return {(typename Word::Elements)x.v}; }
  static ND_FN Parts select(Word mask, Parts x, Parts y) {
    return {(typename Parts::Elements)((mask.v & bits(x).v) | (~mask.v & bits(y).v))};
  }
  // All bits of a lane are set if its number is not 1.
  ND_FN Word is_factor() const {
    const Word differs = {(bits(re).v ^ bits(Parts::all(1)).v) | bits(im).v << 1};
    return {(differs.v | -differs.v) >> (8 * sizeof(E) - 1)};
  }
};
template <int First, class E, int W, int... I>
ND_FN LaneVector<E, W / 2> half(LaneVector<E, W> x, std::integer_sequence<int, I...>) {
  return {__builtin_shufflevector(x.v, x.v, First + I...)};
}
template <int First, class E, int W, class Lanes>
ND_FN ComplexVector<E, W / 2> half(ComplexVector<E, W> z, Lanes lanes) {
  return {half<First>(z.re, lanes), half<First>(z.im, lanes)};
}
}  // namespace define
template <class E, int W> struct real_of<define::LaneVector<E, W>> { using type = E; };
template <class E, int W> struct real_of<define::ComplexVector<E, W>> { using type = E; };

namespace define {

// If a body maps and combines the parts of complex numbers separately (by_parts), lanes of complex numbers are twice as
// many lanes of real ones.
template <class Body, class A> struct GroupFolds {
  static constexpr bool by_parts = is_complex<A> && requires { Body::by_parts; };
  using E = real_of_t<A>;
  static constexpr int kWidth = 64 / sizeof(E);
  using V = std::conditional_t<is_complex<A> && !by_parts, ComplexVector<E, kWidth>, LaneVector<E, kWidth>>;
  static constexpr int kParts = sizeof(A) / sizeof(E), kElements = kLanes * kParts;
  static constexpr int kVectorElements = sizeof(V) / sizeof(E), kVectors = kElements / kVectorElements;

  // A product of complex vectors has so many instructions that its loops are not unrolled.
  static constexpr bool has_long_steps = is_complex<A> && !by_parts;

  static ND_FN void begin(V* lane) {
    for (int k = 0; k < kVectors; ++k) lane[k] = V::all(Body::template identity<E>());
  }
  static ND_FN void join(V* lane, const V* other, int n = kVectors) {
    if constexpr (has_long_steps) {
#pragma GCC unroll 1
      for (int k = 0; k < n; ++k) lane[k] = Body::combine(lane[k], other[k]);
    } else {
      for (int k = 0; k < n; ++k) lane[k] = Body::combine(lane[k], other[k]);
    }
  }
  static ND_FN void add_vector(V& lane, const E* x) {
    lane = Body::combine(lane, Body::template map<V>(V::load(x), 0));
  }
  // An element for each of the first lanes.
  template <int Vectors> static ND_FN void add_round(V* lane, const E* x) {
    if constexpr (has_long_steps) {
#pragma GCC unroll 1
      for (int k = 0; k < Vectors; ++k) add_vector(lane[k], x + k * kVectorElements);
    } else {
#pragma GCC unroll 8
      for (int k = 0; k < Vectors; ++k) add_vector(lane[k], x + k * kVectorElements);
    }
  }
  // `rounds` elements of each lane. Returns where the next ones are. (Unrolled all the way, sums of squares are
  // slower.)
  template <bool Ahead> static ND_FN const E* add(V* lane, const E* x, std::int64_t rounds) {
#pragma GCC unroll 2
    for (; rounds > 0; --rounds, x += kElements) {
      if constexpr (Ahead)
        for (std::size_t line = 0; line < sizeof(E) * kElements; line += 64)
          __builtin_prefetch(reinterpret_cast<const char*>(x) + kAhead + line);
      add_round<kVectors>(lane, x);
    }
    return x;
  }
  // The last n elements, fewer than there are lanes: those of the first `Vectors` vectors of a round.
  template <int Vectors> static ND_FN void add_last(V* lane, const E* x, int n) {
    using U = typename uint_of_size<sizeof(E)>::type;
    const U rest = U(n * kParts);
    const E none = Body::template identity<E>(), none_at_odd = by_parts ? none : E(0);
    alignas(64) E last[Vectors * kVectorElements];
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int l = 0; l < Vectors * kVectorElements; ++l)  // masked vectors
      last[l] = U(l) < rest ? x[l] : U(l) % kParts == 0 ? none : none_at_odd;
    add_round<Vectors>(lane, last);
  }
  static ND_FN void add_rest(V* lane, const E* x, int n) {
    if (n == 0) return;
    if (kVectors > 1 && n <= kLanes / 2) add_last<(kVectors + 1) / 2>(lane, x, n);
    else add_last<kVectors>(lane, x, n);
  }
  // The tree over the lanes.
  static ND_FN A combined(V* lane) {
    for (int half = kVectors / 2; half > 0; half /= 2) join(lane, lane + half, half);
    return combined(lane[0], std::make_integer_sequence<int, kWidth / 2>{});
  }
  template <class Lanes, int... I> static ND_FN A combined(Lanes lanes, std::integer_sequence<int, I...> halves) {
    constexpr int kHalf = sizeof...(I);
    const auto both = Body::combine(half<0>(lanes, halves), half<kHalf>(lanes, halves));
    if constexpr (sizeof(both) > sizeof(A)) {
      return combined(both, std::make_integer_sequence<int, kHalf / 2>{});
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
      join(total, lane);
      for (int k = 0; k < kVectors; ++k) lane[k] = total[k];
    }
    out = Body::combine(out, combined(lane));
  }
};

}  // namespace define
}  // namespace catena
