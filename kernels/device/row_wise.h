// Launch skeleton of row-wise kernels: a group of threads reduces a row once or twice and then writes every element of
// it. A thread processes runs of V neighbouring elements (of one element if one thread has the whole row, or if the row
// extends over more than kMaxExactRank axes). If the runs can be loaded and stored as a whole and the row is short,
// they stay in registers; otherwise the elements are loaded again in every phase. A kernel assigns elements to threads
// in the same way in both cases, so the order in which it combines them depends only on the lengths; for other strides
// or dtypes, the plan may choose another kernel. In kernels that keep no row in registers, the threads add up in levels
// (Accumulator).
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
// are added up in levels: after kSteps runs, or kSteps sums of the level below, a level is combined with the next one
// and is reset to the identity.
template <class Phase, class A, bool Long> struct Accumulator {
  enum : int { kSteps = 32 };
  A level0 = Phase::template identity<A>(), level1 = level0, level2 = level0;
  int runs = 0;

  ND_FN void add(A v) { level0 = Phase::combine(level0, v); }
  ND_FN void end_of_run() {
    if constexpr (Long) {
      if (++runs % kSteps != 0) return;
      level1 = Phase::combine(level1, level0);
      level0 = Phase::template identity<A>();
      if (runs % (kSteps * kSteps) != 0) return;
      level2 = Phase::combine(level2, level1);
      level1 = level0;
    }
  }
  ND_FN A result() const {
    if constexpr (Long) return Phase::combine(level2, Phase::combine(level1, level0));
    else return level0;
  }
};

template <bool B> struct Bool {
  enum : bool { value = B };
};

// Elements: the number of elements of a row that a thread keeps in registers, per input; 0 if the row is loaded in
// every phase. Bytes: of one element of each input, 0 for inputs that do not advance along a row.
template <class Body, int Elements, int Width, int Operands, class Bytes> struct RowResources;
template <class Body, int Elements, int Width, int Operands, int... Bytes>
struct RowResources<Body, Elements, Width, Operands, Indices<Bytes...>> {
  static ND_FN constexpr int kept_bytes() {
    int bytes = 0, k = 0;
    ((bytes += ((shared_inputs<Body>() >> k++) & 1) != 0 ? 0 : Bytes), ...);
    return bytes;
  }
  static ND_FN constexpr int fixed_inputs() { return ((Bytes == 0 ? 1 : 0) + ... + 0); }
  // registers: an estimate for a thread: the elements that it keeps, 22 for loops and sums, 4 for the address of each
  // operand, half of them for one that does not advance, and the buffers of wide runs or addresses of narrow ones.
  // (plans/row_wise.cpp decides with a higher estimate whether a thread can keep elements at all.) blocks: for which a
  // multiprocessor then has registers; 0: as many as the assembler chooses.
  enum : int {
    registers = Elements * kept_bytes() / 4 + 22 + 4 * Operands - 2 * fixed_inputs() +
                (Width > 4 ? 4 * Width : (Width < 4 ? 32 / Width : 0)),
    of_block = 65536 / kBlock / registers,
    most = 5,  // leaves 48 registers to a thread
    blocks = Elements == 0 ? 3 : (of_block > most ? most : (of_block > 1 ? of_block : 0))
  };
};

// Each row is processed by `Lanes` threads of a warp.
template <int Lanes> struct PartGroup {
  enum : int { size = Lanes };
  static ND_FN int rank() { return int(threadIdx.x % Lanes); }
  // Returns the first row of the warp; this thread works on item() + part(). All threads of a warp make the same
  // number of steps, because they exchange values.
  static ND_FN int64_t item() { return (int64_t(blockIdx.x) * kBlock + threadIdx.x / kWarp * kWarp) / Lanes; }
  static ND_FN int part() { return int(threadIdx.x % kWarp / Lanes); }
  static ND_FN int64_t items() { return int64_t(gridDim.x) * (kBlock / Lanes); }
  template <class Combine, class A> static ND_FN A reduce(A v) {
    ND_UNROLL
    for (int distance = Lanes / 2; distance > 0; distance /= 2) v = Combine::combine(v, shuffle_down(v, distance));
    return shuffle_from(v, part() * Lanes);
  }
};
template <class Group> ND_FN constexpr bool has_parts() {
  return requires { Group::part(); };
}
template <class Group> ND_FN int part_of() {
  if constexpr (has_parts<Group>()) return Group::part();
  else return 0;
}

// The elements of a thread in the compute type, or their mapped values of phase 1.
template <class A, int N> struct KeptValues { A value[N]; };
template <class A> struct KeptValues<A, 0> {};

// True for outputs.
template <class Tag> struct is_written {
  enum : bool { value = false };
};
template <class Stored, class Slot> struct is_written<Out<Stored, Slot>> {
  enum : bool { value = true };
};

// The runs of a thread. Runs: their number, if they are whole and stay in registers; 0: they are loaded in every phase.
template <class Body, class Group, class Index, int Reduced, int V, int Runs> struct RowWiseLoop {
  enum : int { width = V, runs = Runs };
  enum : bool { in_registers = Runs > 0 };
  // True if a thread keeps the values of the second phase in the place of its elements, and computes the results from
  // them.
  static ND_FN constexpr bool keeps_mapped() {
    if constexpr (in_registers && Body::phases == 2)
      return requires(const typename Body::template Stats<float>& stats, typename Body::template Out<float&> out) {
        Body::template write_kept<float>(stats, out);
      };
    else return false;
  }
  static ND_FN constexpr bool keeps_input(int k) { return in_registers && ((shared_inputs<Body>() >> k) & 1) == 0; }
  // Returns the index of element j of a run in the buffer of input k.
  static ND_FN constexpr int in_input(int k, int run, int j) { return keeps_input(k) ? run * V + j : j; }
  template <class Tag, int K> struct lane_of {
    enum : bool { keeps = !is_written<Tag>::value && keeps_input(K) };
    using type = typename Tag::template lane<(keeps ? V * Runs : V)>;
  };

  struct Run {
    int number;   // among those in registers
    Index first;  // element
  };
  // Calls f(Run) for the runs of this thread.
  template <class F> static ND_FN void each_run(Index count, F f) {
    if constexpr (in_registers) {
      ND_UNROLL
      for (int r = 0; r < Runs; ++r) {
        const Index first = Index((r * Group::size + Group::rank()) * V);
        if (first < count) f(Run{r, first});
      }
    } else {
      for (Index first = Index(Group::rank() * V); first < count; first += Index(Group::size * V)) f(Run{0, first});
    }
  }
  // True for an element of the row; runs in registers are whole.
  static ND_FN bool exists(Index i, Index count) { return in_registers || i < count; }

  // Moves the lane and calls f(width, number of an element in the run): once for a whole run, else for every element.
  template <class P, class L, class F>
  static ND_FN void access(const P& p, L& lane, int k, int64_t row, bool whole, Run run, F f) {
    if constexpr (L::advances) {
      const auto move = [&](Index i) {
        lane.move(row + offset_of<Reduced>(i, p.reduced_length, p.reduced_stride[k], p.reduced_rank));
      };
      if constexpr (in_registers) {
        // One address for all runs of a row, from which they have constant distances
        constexpr int bytes = V * L::size;
        if constexpr (Reduced == 1)
          lane.move(row + int64_t(Group::rank()) * bytes + run.number * (Group::size * bytes));
        else move(run.first);
        f(width_of<V>{}, 0);
      } else if (whole && run.first + V <= Index(p.count)) {
        move(run.first);
        f(width_of<V>{}, 0);
      } else {
        ND_UNROLL
        for (int j = 0; j < V; ++j) {
          if (run.first + j >= Index(p.count)) break;
          move(run.first + j);
          f(width_of<1>{}, j);
        }
      }
    }
  }
  template <int W> struct width_of {
    template <class L> static ND_FN void fetch(L& lane, int at) { lane.template fetch<W>(at); }
    template <class L> static ND_FN void flush(L& lane, int at) { lane.template flush<W>(at); }
  };
  // Loads a run of input K. Kept: only if the input stays in registers; else only if it does not.
  template <int K, bool Kept, class P, class L>
  static ND_FN void load(const P& p, L& lane, int64_t row, bool whole, Run run) {
    if constexpr (keeps_input(K) == Kept)
      access(p, lane, K, row, whole, run, [&](auto w, int j) { w.fetch(lane, in_input(K, run.number, j)); });
  }
  template <class P, class L> static ND_FN void save(const P& p, L& lane, int k, int64_t row, bool whole, Run run) {
    access(p, lane, k, row, whole, run, [&](auto w, int j) { w.flush(lane, j); });
  }
};

// True if wide accesses can be used for operand k in all rows: each run is contiguous, aligned and within the innermost
// axis.
template <int Kept, int Reduced, int V, class P, class L> ND_FN bool whole_runs(const P& p, const L& lane, int k) {
  if constexpr (!L::advances) {
    return true;
  } else if constexpr (Reduced == 0) {
    return false;
  } else {
    bool whole = p.reduced_stride[k][Reduced - 1] == L::size && lane.template aligned<V>();
    if constexpr (Reduced > 1) whole = whole && p.reduced_length[Reduced - 1] % V == 0;
    ND_UNROLL
    for (int a = 0; a + 1 < Reduced; ++a) whole = whole && p.reduced_stride[k][a] % (V * L::size) == 0;
    for (int a = 0; a < (Kept > 0 ? Kept : int(p.kept_rank)); ++a)
      whole = whole && p.kept_stride[k][a] % (V * L::size) == 0;
    return whole;
  }
}

// One row of `count` elements; 0 for threads without a row, which only take part in the exchange of values. row(k): the
// offset of the row in operand k.
// `firsts` has the first element of each input and the outputs of one element per row. Operand numbers: inputs I,
// outputs O, per-row outputs Q.
template <class Body, class A, class Group, class Index, class Loop, bool Long, class P, class Row, class Firsts,
          class Lanes, int... I, int... O, int... Q>
ND_FN void run_row(const P& p, Row row, Index count, bool whole, Firsts& firsts, Lanes lanes, Indices<I...>,
                   Indices<O...>, Indices<Q...>) {
  using Run = typename Loop::Run;
  using In = typename Body::template In<A>;
  (get<I>(lanes).begin_row(row(I)), ...);
  const auto load = [&](auto kept, Run run) {
    (Loop::template load<I, decltype(kept)::value>(p, get<I>(lanes), row(I), whole, run), ...);
  };
  if constexpr (Loop::in_registers) Loop::each_run(count, [&](Run run) { load(Bool<true>{}, run); });
  KeptValues<A, Loop::keeps_mapped() ? Loop::runs * Loop::width : 0> kept;
  if constexpr (Loop::keeps_mapped()) {
    Loop::each_run(count, [&](Run run) {
      ND_UNROLL
      for (int j = 0; j < Loop::width; ++j) {
        const int k = run.number * Loop::width + j;
        kept.value[k] = (get<I>(lanes)(k), ...);
      }
    });
  }
  const auto in = [&](int run, int j) {
    if constexpr (Loop::keeps_mapped()) return In{kept.value[run * Loop::width + j]};
    else return In{get<I>(lanes)(Loop::in_input(I, run, j))...};
  };
  // Calls act(number of the kept run, element of the run) for every element of this thread.
  const auto each = [&](auto act, auto end_of_run) {
    Loop::each_run(count, [&](Run run) {
      load(Bool<false>{}, run);
      ND_UNROLL
      for (int j = 0; j < Loop::width; ++j)
        if (Loop::exists(run.first + j, count)) act(run.number, j);
      end_of_run(run);
    });
  };

  const In first{get<I>(firsts)(0)...};
  typename Body::template Stats<A> stats{};
  Accumulator<Phase0<Body>, A, Long> first_phase;
  if constexpr (Body::phases == 2) {
    Accumulator<Phase1<Body>, A, Long> second_phase;
    if constexpr (requires { Body::at_once; }) {
      each(
          [&](int run, int j) {
            first_phase.add(Body::template map0<A>(in(run, j)));
            second_phase.add(Body::template map1<A>(in(run, j), stats));
          },
          [&](Run) { first_phase.end_of_run(), second_phase.end_of_run(); });
    } else {
      each([&](int run, int j) { first_phase.add(Body::template map0<A>(in(run, j))); },
           [&](Run) { first_phase.end_of_run(); });
    }
    set_first(stats, Group::template reduce<Phase0<Body>>(first_phase.result()));
    Body::template finish0<A>(stats, p.count, first);
    if constexpr (!requires { Body::at_once; }) {
      each(
          [&](int run, int j) {
            const A mapped = Body::template map1<A>(in(run, j), stats);
            second_phase.add(mapped);
            if constexpr (Loop::keeps_mapped()) kept.value[run * Loop::width + j] = mapped;
          },
          [&](Run) { second_phase.end_of_run(); });
    }
    set_second(stats, Group::template reduce<Phase1<Body>>(second_phase.result()));
  } else {
    each([&](int run, int j) { first_phase.add(Body::template map0<A>(in(run, j))); },
         [&](Run) { first_phase.end_of_run(); });
    set_first(stats, Group::template reduce<Phase0<Body>>(first_phase.result()));
    Body::template finish0<A>(stats, p.count, first);
  }
  if constexpr (sizeof...(Q) == 0) Body::template finish1<A>(stats, p.count, first);
  else Body::template finish1<A>(stats, p.count, first, typename Body::template RowOut<A&>{get<Q>(firsts)(0)...});
  if (Group::rank() == 0 && (!has_parts<Group>() || count > 0))
    ((get<Q>(firsts).move(row(Q)), get<Q>(firsts).template flush<1>()), ...);
  if constexpr (sizeof...(O) > 0) {
    using Out = typename Body::template Out<A&>;
    each(
        [&](int run, int j) {
          const Out out{get<O>(lanes)(j)...};
          if constexpr (Loop::keeps_mapped()) {
            ((get<O>(lanes)(j) = kept.value[run * Loop::width + j]), ...);
            Body::template write_kept<A>(stats, out);
          } else {
            Body::template write<A>(in(run, j), stats, out);
          }
        },
        [&](Run run) { (Loop::save(p, get<O>(lanes), O, row(O), whole, run), ...); });
  }
}

template <class Loop, class... Tag, class P, int... K> ND_FN auto lanes_of(const P& p, Indices<K...>) {
  using Lanes = LaneSet<Indices<K...>, typename Loop::template lane_of<Tag, K>::type...>;
  return Lanes(typename Loop::template lane_of<Tag, K>::type(p, K)...);
}

// A: the type of the accumulators.
template <class Body, class A, class Group, class Index, int Kept, int Reduced, int V, int Runs, class P, class... Tag,
          int... K, int... I, int... O, class Q>
ND_FN void rows_over(const P& p, Indices<K...> all, Indices<I...> in, Indices<O...> out, Q per_row) {
  using InMemory = RowWiseLoop<Body, Group, Index, Reduced, V, 0>;
  LaneSet<Indices<K...>, typename Tag::template lane<1>...> firsts(typename Tag::template lane<1>(p, K)...);
  const bool whole = ((whole_runs<Kept, Reduced, V>(p, get<I>(firsts), I) && ...) &&
                      (whole_runs<Kept, Reduced, V>(p, get<O>(firsts), O) && ...));
  for (int64_t base = Group::item(); base < p.rows; base += Group::items()) {
    const bool present = !has_parts<Group>() || base + part_of<Group>() < p.rows;
    const int64_t item = has_parts<Group>() && present ? base + part_of<Group>() : base;
    const Index count = present ? Index(p.count) : 0;
    const auto offset = [&](int k) {
      return offset_of<Kept>(Index(item), p.kept_length, p.kept_stride[k], p.kept_rank);
    };
    // Along one axis an offset is a product. It is computed where it is used, because a value that is kept takes two
    // registers. Along several axes, an offset takes divisions.
    int64_t offsets[sizeof...(K)];
    if constexpr (Kept != 1) ((offsets[K] = offset(K)), ...);
    const auto row = [&](int k) {
      if constexpr (Kept == 1) return offset(k);
      else return offsets[k];
    };
    (get<I>(firsts).move(row(I)), ...);
    (get<I>(firsts).begin_row(row(I)), ...);
    if (present) (get<I>(firsts).template fetch<1>(), ...);  // before an output overwrites it
    if constexpr (Runs > 0) {
      if (whole) {
        using InRegisters = RowWiseLoop<Body, Group, Index, Reduced, V, Runs>;
        run_row<Body, A, Group, Index, InRegisters, false>(p, row, count, true, firsts,
                                                           lanes_of<InRegisters, Tag...>(p, all), in, out, per_row);
        continue;
      }
    }
    run_row<Body, A, Group, Index, InMemory, Runs == 0>(p, row, count, whole, firsts,
                                                        lanes_of<InMemory, Tag...>(p, all), in, out, per_row);
  }
}
template <class Body, class A, class Group, class Index, int Kept, int Reduced, int V, int Runs, class I, class O,
          class Q, class... Tag, class P>
ND_FN void row_wise(const P& p) {
  rows_over<Body, A, Group, Index, Kept, Reduced, V, Runs, P, Tag...>(p, make_indices<int(sizeof...(Tag))>{}, I{}, O{},
                                                                      Q{});
}

}  // namespace catena::device
