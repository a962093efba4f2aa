// Launch skeleton of row-wise kernels: a group of threads reduces a row once or twice and then writes every element of
// it. A thread processes runs of V neighbouring elements (of one element if the row extends over more than
// kMaxExactRank axes). The elements of short rows stay in registers; those of longer rows are loaded again in every
// phase. The assignment of elements to threads is the same in both cases and for all strides, so the order of
// combination depends only on the lengths. For rows that are loaded again, the threads add up in levels (Accumulator).
#pragma once

#include <catena/kernels/device/group.h>
#include <catena/kernels/row_wise_operands.h>

namespace catena::device {

template <class Body> struct Phase0 {
  template <class A> static ND_FN A identity() { return Body::template identity0<A>(); }
  template <class A> static ND_FN A combine(A a, A b) { return Body::combine0(a, b); }
};
template <class Body> struct Phase1 {
  template <class A> static ND_FN A identity() { return Body::template identity1<A>(); }
  template <class A> static ND_FN A combine(A a, A b) { return Body::combine1(a, b); }
};

// The accumulator of a thread. Rounding errors of a sum grow with the number of its terms, so the terms of a long row
// are added up in levels: after kSteps runs, or kSteps sums of the level below, a level is joined to the next one and
// starts anew.
template <class Phase, class A, bool Long> struct Accumulator {
  enum : int { kSteps = 32 };
  A sum = Phase::template identity<A>(), many = sum, all = sum;
  int runs = 0;

  ND_FN void add(A v) { sum = Phase::combine(sum, v); }
  ND_FN void end_of_run() {
    if constexpr (Long) {
      if (++runs % kSteps != 0) return;
      many = Phase::combine(many, sum);
      sum = Phase::template identity<A>();
      if (runs % (kSteps * kSteps) != 0) return;
      all = Phase::combine(all, many);
      many = sum;
    }
  }
  ND_FN A result() const {
    if constexpr (Long) return Phase::combine(all, Phase::combine(many, sum));
    else return sum;
  }
};

// True for inputs, whose lanes hold all runs of a thread; the lanes of outputs hold one run.
template <class Tag> struct keeps_runs {
  enum : bool { value = false };
};
template <class Stored, class Slot> struct keeps_runs<In<Stored, Slot>> {
  enum : bool { value = true };
};

// Runs: number of runs that a thread keeps in registers; 0: it loads them in every phase.
template <class Group, class Index, int Kept, int Reduced, int V, int Runs> struct RowWiseLoop {
  enum : int { kRuns = Runs > 0 ? Runs : 1 };
  template <class Tag> using lane = typename Tag::template lane<keeps_runs<Tag>::value ? V * kRuns : V>;

  // Calls f(number of the kept run, first element) for the runs of this thread.
  template <class F> static ND_FN void each_run(Index count, F f) {
    if constexpr (Runs > 0) {
      ND_UNROLL
      for (int r = 0; r < Runs; ++r) {
        if (Index(r * Group::size * V) >= count) break;
        f(r, Index((r * Group::size + Group::rank()) * V));
      }
    } else {
      for (Index first = Index(Group::rank() * V); first < count; first += Index(Group::size * V)) f(0, first);
    }
  }
  // True if wide accesses can be used for operand k in the row that begins at `row`: each run is contiguous, aligned
  // and within the innermost axis.
  template <class P, class L> static ND_FN bool whole_runs(const P& p, const L& lane, int k, int64_t row) {
    if constexpr (!L::advances) return true;
    else if constexpr (Reduced == 0) return false;
    bool whole = p.reduced_stride[k][Reduced - 1] == L::size && lane.template aligned<V>(row);
    if constexpr (Reduced > 1) whole = whole && p.reduced_length[Reduced - 1] % V == 0;
    ND_UNROLL
    for (int a = 0; a + 1 < Reduced; ++a) whole = whole && p.reduced_stride[k][a] % (V * L::size) == 0;
    return whole;
  }
  template <class P, class L> static ND_FN void move(const P& p, L& lane, int k, int64_t row, Index i) {
    if constexpr (L::advances)
      lane.move(row + offset_of<Reduced>(i, p.reduced_length, p.reduced_stride[k], p.reduced_rank));
  }
  template <class P, class L>
  static ND_FN void fetch(const P& p, L& lane, int k, int64_t row, bool whole, Index first, int at) {
    if constexpr (L::advances) {
      if (whole && first + V <= Index(p.count)) {
        move(p, lane, k, row, first);
        lane.template fetch<V>(at);
        return;
      }
      ND_UNROLL
      for (int j = 0; j < V; ++j) {
        if (first + j >= Index(p.count)) break;
        move(p, lane, k, row, first + j);
        lane.template fetch<1>(at + j);
      }
    }
  }
  template <class P, class L>
  static ND_FN void flush(const P& p, L& lane, int k, int64_t row, bool whole, Index first) {
    if (whole && first + V <= Index(p.count)) {
      move(p, lane, k, row, first);
      lane.template flush<V>();
      return;
    }
    ND_UNROLL
    for (int j = 0; j < V; ++j) {
      if (first + j >= Index(p.count)) break;
      move(p, lane, k, row, first + j);
      lane.template flush<1>(j);
    }
  }
};

// A: accumulator types. Operand numbers: inputs I, outputs O, per-row outputs Q.
template <class Body, class A, class Group, class Index, int Kept, class Loop, int V, bool Again, class P, class Lanes,
          int... K, int... I, int... O, int... Q>
ND_FN void run_rows(const P& p, Lanes lanes, Indices<K...>, Indices<I...>, Indices<O...>, Indices<Q...>) {
  const Index count = Index(p.count);
  for (int64_t item = Group::item(); item < p.rows; item += Group::items()) {
    int64_t row[sizeof...(K)];
    ((row[K] = offset_of<Kept>(Index(item), p.kept_length, p.kept_stride[K], p.kept_rank)), ...);
    (get<I>(lanes).begin_row(row[I]), ...);
    const bool whole = ((Loop::whole_runs(p, get<I>(lanes), I, row[I]) && ...) &&
                        (Loop::whole_runs(p, get<O>(lanes), O, row[O]) && ...));
    Lanes first_of_row = lanes;  // the first element of the row, loaded before the first store
    (get<K>(first_of_row).move(row[K]), ...);
    (get<I>(first_of_row).template fetch<1>(), ...);
    const auto fetch = [&](int run, Index first) {
      (Loop::fetch(p, get<I>(lanes), I, row[I], whole, first, run * V), ...);
    };
    // Calls act(index in the lanes, index in the run) for every element of this thread.
    const auto each = [&](bool read, auto act, auto end_of_run) {
      Loop::each_run(count, [&](int run, Index first) {
        if (read) fetch(run, first);
        ND_UNROLL
        for (int j = 0; j < V; ++j)
          if (first + j < count) act(run * V + j, j);
        end_of_run(first);
      });
    };

    using In = typename Body::template In<A>;
    const In first{get<I>(first_of_row)(0)...};
    typename Body::template Stats<A> stats{};
    Accumulator<Phase0<Body>, A, Again> first_phase;
    each(
        true, [&](int at, int) { first_phase.add(Body::template map0<A>(In{get<I>(lanes)(at)...})); },
        [&](Index) { first_phase.end_of_run(); });
    set_first(stats, Group::template reduce<Phase0<Body>>(first_phase.result()));
    Body::template finish0<A>(stats, p.count, first);
    if constexpr (Body::phases == 2) {
      Accumulator<Phase1<Body>, A, Again> second_phase;
      each(
          Again, [&](int at, int) { second_phase.add(Body::template map1<A>(In{get<I>(lanes)(at)...}, stats)); },
          [&](Index) { second_phase.end_of_run(); });
      set_second(stats, Group::template reduce<Phase1<Body>>(second_phase.result()));
    }
    if constexpr (sizeof...(Q) == 0) Body::template finish1<A>(stats, p.count, first);
    else
      Body::template finish1<A>(stats, p.count, first, typename Body::template RowOut<A&>{get<Q>(first_of_row)(0)...});
    if (Group::rank() == 0) (get<Q>(first_of_row).template flush<1>(), ...);
    using Out = typename Body::template Out<A&>;
    each(
        Again,
        [&](int at, int j) { Body::template write<A>(In{get<I>(lanes)(at)...}, stats, Out{get<O>(lanes)(j)...}); },
        [&](Index first) { (Loop::flush(p, get<O>(lanes), O, row[O], whole, first), ...); });
  }
}

template <class Body, class A, class Group, class Index, int Kept, int Reduced, int V, int Runs, class P, class... Tag,
          int... K, class I, class O, class Q>
ND_FN void rows_over(const P& p, Indices<K...> all, I in, O out, Q per_row) {
  using Loop = RowWiseLoop<Group, Index, Kept, Reduced, V, Runs>;
  using Lanes = LaneSet<Indices<K...>, typename Loop::template lane<Tag>...>;
  run_rows<Body, A, Group, Index, Kept, Loop, V, Runs == 0>(p, Lanes(typename Loop::template lane<Tag>(p, K)...), all,
                                                            in, out, per_row);
}
template <class Body, class A, class Group, class Index, int Kept, int Reduced, int V, int Runs, class I, class O,
          class Q, class... Tag, class P>
ND_FN void row_wise(const P& p) {
  rows_over<Body, A, Group, Index, Kept, Reduced, V, Runs, P, Tag...>(p, make_indices<int(sizeof...(Tag))>{}, I{}, O{},
                                                                      Q{});
}

}  // namespace catena::device
