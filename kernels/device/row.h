// Launch skeleton of row kernels: a group of threads per row reduces it once or twice and then writes every element, reading the
// inputs again each time.
#pragma once

#include "kernels/device/group.h"

namespace catena::device {

template <class Body> struct Phase0 {
  template <class A> static ND_FN A combine(A a, A b) { return Body::combine0(a, b); }
};
template <class Body> struct Phase1 {
  template <class A> static ND_FN A combine(A a, A b) { return Body::combine1(a, b); }
};

template <int Kept, int Reduced, class Index, class P, class Lanes, int... K>
ND_FN void row_loop(const P& p, Lanes lanes, const int64_t (&row)[sizeof...(K)], int begin, int step, Indices<K...>, auto&& each) {
  using Offset = typename signed_of<Index>::type;
  for (Index i = Index(begin); i < Index(p.count); i += Index(step)) {
    Offset offset[sizeof...(K)] = {};
    for_each_axis<Reduced>(i, p.reduced_length, p.reduced_rank,
                           [&](int a, Index c) { ((offset[K] += Offset(c) * Offset(p.reduced_stride[K][a])), ...); });
    (get<K>(lanes).move(row[K] + offset[K]), ...);
    each(lanes);
  }
}

// A: the type of the accumulators. Operands by position: inputs I, outputs O, per-row outputs Q.
template <class Body, class A, class Group, class Index, int Kept, int Reduced, class P, class Lanes, int... K, int... I, int... O,
          int... Q>
ND_FN void run_rows(const P& p, Lanes lanes, Indices<K...> all, Indices<I...>, Indices<O...>, Indices<Q...>) {
  for (int64_t item = Group::item(); item < p.rows; item += Group::items()) {
    int64_t row[sizeof...(K)];
    ((row[K] = offset_of<Kept>(Index(item), p.kept_length, p.kept_stride[K], p.kept_rank)), ...);
    Lanes first = lanes;  // the first element of the row, read before anything is written
    (get<K>(first).move(row[K]), ...);
    (get<I>(first).template fetch<1>(), ...);

    A a0 = Body::template identity0<A>(), a1 = A(0);
    row_loop<Kept, Reduced, Index>(p, lanes, row, Group::rank(), Group::size, all, [&](Lanes& at) {
      (get<I>(at).template fetch<1>(), ...);
      a0 = Body::combine0(a0, Body::template map0<A>(get<I>(at)(0)...));
    });
    a0 = Group::template reduce<Phase0<Body>>(a0);
    Body::finish0(a0, p.count, get<I>(first)(0)...);
    if constexpr (Body::phases == 2) {
      a1 = Body::template identity1<A>();
      row_loop<Kept, Reduced, Index>(p, lanes, row, Group::rank(), Group::size, all, [&](Lanes& at) {
        (get<I>(at).template fetch<1>(), ...);
        a1 = Body::combine1(a1, Body::template map1<A>(get<I>(at)(0)..., a0));
      });
      a1 = Group::template reduce<Phase1<Body>>(a1);
    }
    Body::finish1(a0, a1, p.count, get<I>(first)(0)..., get<Q>(first)(0)...);
    if (Group::rank() == 0) (get<Q>(first).template flush<1>(), ...);
    row_loop<Kept, Reduced, Index>(p, lanes, row, Group::rank(), Group::size, all, [&](Lanes& at) {
      (get<I>(at).template fetch<1>(), ...);
      Body::write(get<I>(at)(0)..., a0, a1, get<O>(at)(0)...);
      (get<O>(at).template flush<1>(), ...);
    });
  }
}

template <class Body, class A, class Group, class Index, int Kept, int Reduced, class P, class... Tag, int... K, class I, class O, class Q>
ND_FN void rows_over(const P& p, Indices<K...> all, I in, O out, Q per_row) {
  using Lanes = LaneSet<Indices<K...>, typename Tag::template lane<1>...>;
  run_rows<Body, A, Group, Index, Kept, Reduced>(p, Lanes(typename Tag::template lane<1>(p, K)...), all, in, out, per_row);
}
template <class Body, class A, class Group, class Index, int Kept, int Reduced, class In, class Out, class PerRow, class... Tag, class P>
ND_FN void rows(const P& p) {
  rows_over<Body, A, Group, Index, Kept, Reduced, P, Tag...>(p, make_indices<int(sizeof...(Tag))>{}, In{}, Out{}, PerRow{});
}

}  // namespace catena::device
