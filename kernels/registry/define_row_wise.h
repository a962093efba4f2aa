// Row-wise kernels. A body names its operands (kernels/nn/softmax.h is the shortest example):
//
//   struct layer_norm_fwd {
//     enum : int { phases = 2, shared = 1 << 2 | 1 << 3 };
//     template <class T> struct In { T x; PerRow<T> origin; T gamma, ...; };  // the inputs in their order
//     template <class T> struct Stats { T center, scale; };   // the results of phase 0 and of phase 1
//     template <class T> struct RowOut { T center, scale; };  // outputs of one element per row, if any
//     template <class T> struct Out { T y; };
//     identity0, map0(in), combine0(a, b), finish0(stats, count, first)           // `first`: the row's first element
//     identity1, map1(in, stats), combine1(a, b)                                  // with two phases
//     finish1(stats, count, first, row_out)
//     write(in, stats, out)
//     write_kept(stats, out)  // if the output can be computed from the result of map1, which `out` then holds
//     template <class T> struct Sums { T ggamma, gbeta; };    // sums over the other axes, if any; `sums`: their number
//     share(in, sums)  // sets the terms that an element adds to the sums
//   };
//
// A body whose map1 does not read `stats` may set `at_once = 1` beside `phases`: both phases are then computed in one
// pass over the row. `shared` is a bit mask of the inputs that are the same for all rows, such as gamma: a CUDA thread
// loads them where it uses them, because the caches hold them, and keeps only the others in registers.
//
// A phase combines the elements in any order, so combine0 and combine1 must be associative and commutative except for
// rounding. Combining with the identity must change nothing: it fills lanes that received no element. Outputs are
// structs of references, Out<T&>. A PerRow input has one element per row, which host loops keep in a register. The
// first parameter T of every template is the type in which all operands are computed.
#pragma once

#include <catena/kernels/registry/define.h>
#include <catena/kernels/registry/tiled_loop.h>
#include <catena/kernels/row_wise_operands.h>

namespace catena::define {

// A body with the same phases as another body declares `using same_phases = <the other>` and then uses the phase loops
// compiled for the other.
template <class Body> struct phases_of { using type = Body; };
template <class Body>
requires requires { typename Body::same_phases; }
struct phases_of<Body> {
  using type = typename Body::same_phases;
};

// True if member K of an aggregate is a PerRow<T>. Tests whether the member can be initialised from an object that
// converts to PerRow<T> and to no other type.
struct Anything {
  template <class U> operator U() const;
};
template <class T> struct OnlyPerRow { operator PerRow<T>() const; };
template <std::size_t> using AnythingAt = Anything;
template <class In, class T, std::size_t... Before> constexpr bool is_per_row(std::index_sequence<Before...>) {
  return requires { In{AnythingAt<Before>{}..., OnlyPerRow<T>{}}; };
}

template <class Body> constexpr int sums_of() {
  if constexpr (requires { Body::sums; }) return Body::sums;
  else return 0;
}

template <class Body, fixed_string S, class In, class Out, class RowOut> struct RowWise;
template <class Body, fixed_string S, std::size_t... I, std::size_t... O, std::size_t... P>
struct RowWise<Body, S, std::index_sequence<I...>, std::index_sequence<O...>, std::index_sequence<P...>> {
  using A = computed_t<S, 0>;
  static constexpr int nin = int(sizeof...(I)), nout = int(sizeof...(O)), nsums = sums_of<Body>();
  static_assert(((signature_of<S>.type[I] == signature_of<S>.type[0]) && ...));
  static_assert(((signature_of<S>.type[nin + O] == signature_of<S>.type[0]) && ...));
  using In = typename Body::template In<A>;
  using Out = typename Body::template Out<A&>;
  using Stats = typename Body::template Stats<A>;
  static constexpr bool at_once = requires { Body::at_once; };
  static constexpr int passes = at_once ? 1 : Body::phases;  // number of passes that fold
  static constexpr int kBoth = 2;                            // number of a phase that stands for both phases
  template <int Phase> using Lanes = A[Phase == kBoth ? 2 : 1][kLanes];
  // Rounding errors of a sum grow with the number of its terms. The lanes therefore add up at most kSpan elements; then
  // they are added to the lanes of level 0 and start anew. After kSpans such additions, a level is added to the next.
  static constexpr std::int64_t kSpan = 4096, kSpans = 64;
  static_assert(kSpan % kLanes == 0);
  static constexpr int kLevels = 3;
  struct alignas(64) Memory {
    RowProgress progress;
    Stats stats;
    alignas(64) Lanes<at_once ? kBoth : 0> lane;  // valid if position is not 0
    Lanes<at_once ? kBoth : 0> level[kLevels];    // valid where holds() returns true
  };

  // ---- operands ----
  template <std::size_t K> static constexpr bool per_row = is_per_row<In, A>(std::make_index_sequence<K>());
  template <std::size_t K> using Input = Operand<A, per_row<K>>;
  template <int N> struct alignas(64) Block { A v[N]; };
  // Returns the last N of n elements of an input. If n < N, copies the elements to `t` and fills it with the first
  // element.
  template <std::size_t K, int N> static ND_FN Input<K> last_block(Block<N>& t, std::byte* p, std::int64_t n) {
    if constexpr (!per_row<K>) {
      const A* from = reinterpret_cast<const A*>(p);
      if (n < N) {
        for (int j = 0; j < N; ++j) t.v[j] = from[0];
        memcpy(t.v, from, std::size_t(n) * sizeof(A));
        p = reinterpret_cast<std::byte*>(t.v);
      } else {
        p += (n - N) * std::int64_t(sizeof(A));
      }
    }
    return Input<K>(p);
  }

  // Stores the end of an output of n elements from a whole block of N elements. If n >= N, elements before the end are
  // written twice: a copy of constant size takes few instructions.
  template <int N> static ND_FN void put_end(A* y, const A* block, std::int64_t n) {
    if (n >= N) memcpy(y + n - N, block, N * sizeof(A));
    else memcpy(y, block, std::size_t(n) * sizeof(A));
  }

  // ---- phases ----
  template <int Phase> static ND_FN A identity() {
    if constexpr (Phase == 0) return Body::template identity0<A>();
    else return Body::template identity1<A>();
  }
  template <int Phase> static ND_FN A map(const Stats& stats, const In& in) {
    if constexpr (Phase == 0) return Body::template map0<A>(in);
    else return Body::template map1<A>(in, stats);
  }
  template <int Phase> static ND_FN A join(A a, A b) {
    if constexpr (Phase == 0) return Body::template combine0<A>(a, b);
    else return Body::template combine1<A>(a, b);
  }
  // The first phase that a pass folds.
  static constexpr int first_of(int phase) { return phase == kBoth ? 0 : phase; }
  template <int Phase, bool Keeps>
  static ND_FN void fold_block(Lanes<Phase>& lane, const Stats& stats, std::int64_t i, A* kept, const Input<I>&... x) {
#pragma GCC ivdep
    for (int l = 0; l < kLanes; ++l) {
      const In in{x[i + l]...};
      const A mapped = map<first_of(Phase)>(stats, in);
      if constexpr (Keeps) kept[i + l] = mapped;
      lane[0][l] = join<first_of(Phase)>(lane[0][l], mapped);
      if constexpr (Phase == kBoth) lane[1][l] = join<1>(lane[1][l], map<1>(stats, in));
    }
  }
  // Folds several blocks at a time, so that the lanes stay in registers.
  template <int Phase, bool Keeps>
  static ND_FN void fold_blocks(Lanes<Phase>& lane, const Stats& stats, std::int64_t i, std::int64_t n, A* kept,
                                const Input<I>&... x) {
    constexpr int kTogether = 32 / int(sizeof(A));
    for (; i + kTogether * kLanes <= n; i += kTogether * kLanes)
#pragma GCC unroll 8
      for (int b = 0; b < kTogether; ++b) fold_block<Phase, Keeps>(lane, stats, i + b * kLanes, kept, x...);
    for (; i + kLanes <= n; i += kLanes) fold_block<Phase, Keeps>(lane, stats, i, kept, x...);
  }
  // True if a level holds values after `joined` elements have left the lanes.
  static ND_FN bool holds(int level, std::int64_t joined) {
    std::int64_t units = joined / kSpan;
    for (int i = 0; i < level; ++i) units /= kSpans;
    return level + 1 == kLevels ? units > 0 : units % kSpans != 0;
  }
  template <int Phase> static ND_FN void join_lanes(A* to, const A* from, bool holds) {
    for (int l = 0; l < kLanes; ++l) to[l] = holds ? join<Phase>(to[l], from[l]) : from[l];
  }
  // Called when level 0 is full after `position` elements: adds it, and every further level that is full, to the next
  // level.
  template <int Phase> [[gnu::noinline]] static void raise_levels(Memory& row, int set, std::int64_t position) {
    for (int i = 0; i + 1 < kLevels && !holds(i, position); ++i)
      join_lanes<Phase>(row.level[i + 1][set], row.level[i][set], holds(i + 1, position - kSpan));
  }
  template <int Phase> static ND_FN void raise(Memory& row, A* lane, int set, std::int64_t position) {
    join_lanes<Phase>(row.level[0][set], lane, holds(0, position - kSpan));
    for (int l = 0; l < kLanes; ++l) lane[l] = identity<Phase>();
    if (!holds(0, position)) raise_levels<Phase>(row, set, position);
  }
  // Adds the lanes to level 0 if they are full after `position` elements.
  template <int Phase> static ND_FN void raise_full(Memory& row, Lanes<Phase>& lane, std::int64_t position) {
    if (position == 0 || position % kSpan != 0) return;
    raise<first_of(Phase)>(row, lane[0], 0, position);
    if constexpr (Phase == kBoth) raise<1>(row, lane[1], 1, position);
  }
  // Maps the last kLanes elements at once: a vectorised map must not give results that depend on the position. Element
  // j of the m last elements is at 2 * kLanes - m + j, or at kLanes + j if the segment is shorter than kLanes.
  struct alignas(64) End {
    A mapped[3 * kLanes];
  };
  template <int Phase> static ND_FN void map_end(End& end, const Stats& stats, const Input<I>&... x) {
    for (int l = 0; l < kLanes; ++l) end.mapped[kLanes + l] = map<Phase>(stats, In{x[l]...});
    for (int l = 0; l < kLanes; ++l) end.mapped[l] = end.mapped[2 * kLanes + l] = A(0);
  }
  template <int Phase> static ND_FN void begin_lanes(A* lane, const A* before, std::int64_t position) {
    if (position == 0)
      for (int l = 0; l < kLanes; ++l) lane[l] = identity<Phase>();
    else
      for (int l = 0; l < kLanes; ++l) lane[l] = before[l];
  }
  // Joins m mapped elements to the lanes from lane `at` on.
  template <int Phase> static ND_FN void fold_end(A* lane, const A* mapped, int at, int m) {
    for (int l = 0; l < kLanes; ++l) {
      const A joined = join<Phase>(lane[l], mapped[l - at]);
      lane[l] = l >= at && l < at + m ? joined : lane[l];
    }
  }
  template <int Phase, bool Keeps> static ND_FN void fold_any(std::byte* memory, std::byte* const* p, std::int64_t n) {
    constexpr int first = first_of(Phase);
    Memory& row = *reinterpret_cast<Memory*>(memory);
    const Stats stats = row.stats;
    alignas(64) Lanes<Phase> lane;
    begin_lanes<first>(lane[0], row.lane[0], row.progress.position);
    if constexpr (Phase == kBoth) begin_lanes<1>(lane[1], row.lane[1], row.progress.position);
    const int at = int(row.progress.position % kLanes), m = int(n % kLanes);
    std::int64_t position = row.progress.position;
    row.progress.position += n;
    A* kept = Keeps ? reinterpret_cast<A*>(p[nin]) : nullptr;
    // The end is mapped first, because the kept values may overwrite an input.
    End end[Phase == kBoth ? 2 : 1];
    if (m > 0) {
      Block<kLanes> tiles[nin];
      map_end<first>(end[0], stats, last_block<I, kLanes>(tiles[I], p[I], n)...);
      if constexpr (Phase == kBoth) map_end<1>(end[1], stats, last_block<I, kLanes>(tiles[I], p[I], n)...);
    }
    for (std::int64_t i = 0, part; i < n - m; i += part, position += part) {
      raise_full<Phase>(row, lane, position);
      part = kSpan - position % kSpan;
      part = part < n - m - i ? part : n - m - i;
      fold_blocks<Phase, Keeps>(lane, stats, i, i + part, kept, Input<I>(p[I])...);
    }
    if (m > 0) {
      raise_full<Phase>(row, lane, position);
      const int from = n < kLanes ? kLanes : 2 * kLanes - m;
      fold_end<first>(lane[0], end[0].mapped + from, at, m);
      if constexpr (Phase == kBoth) fold_end<1>(lane[1], end[1].mapped + from, at, m);
      if constexpr (Keeps) put_end<kLanes>(kept, end[0].mapped + kLanes, n);
    }
    for (int l = 0; l < kLanes; ++l) row.lane[0][l] = lane[0][l];
    if constexpr (Phase == kBoth)
      for (int l = 0; l < kLanes; ++l) row.lane[1][l] = lane[1][l];
  }
  // As combine_lanes; the loops must stay loops until they are vectorised.
  template <int Phase, int Half = kLanes / 2> static ND_FN A tree(A* lane) {
#pragma GCC unroll 1
    for (int l = 0; l < Half; ++l) lane[l] = join<Phase>(lane[l], lane[l + Half]);
    if constexpr (Half == 1) return lane[0];
    else return tree<Phase, Half / 2>(lane);
  }
  template <int Phase> static ND_FN A combined(Memory& row) {
    if (row.progress.position == 0) return identity<Phase>();
    constexpr int set = at_once ? Phase : 0;
    const std::int64_t joined = (row.progress.position - 1) / kSpan * kSpan;
    for (int i = 0; i < kLevels && joined > 0; ++i)
      if (holds(i, joined)) join_lanes<Phase>(row.lane[set], row.level[i][set], true);
    if constexpr (!at_once) row.progress.position = 0;  // for the next phase
    return tree<Phase>(row.lane[set]);
  }

  // ---- neighbouring rows: a vector holds one number of each row ----
  // Loops over a vector must not be unrolled before they are vectorised: they would call exp() and log() for single
  // elements.
  static constexpr int kWidth = kColumnBytes / int(sizeof(A));
  template <std::size_t> using Pointer = const A*;
  struct alignas(64) Vector {
    A v[kWidth];
  };
  struct Statistics {
    Vector first, second;
    static constexpr bool has_second = sizeof(Stats) > sizeof(A);
    ND_FN Stats at(int w) const {
      Stats s{};
      set_first(s, first.v[w]);
      if constexpr (has_second) set_second(s, second.v[w]);
      return s;
    }
    ND_FN void set(int w, const Stats& s) {
      if constexpr (has_second) {
        const auto& [a, b] = s;
        first.v[w] = a;
        second.v[w] = b;
      } else {
        const auto& [a] = s;
        first.v[w] = a;
      }
    }
  };
  template <int Phase>
  static ND_FN void finish_columns(Statistics& stats, std::int64_t count, A* const* row_out, const Pointer<I>... x) {
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int w = 0; w < kWidth; ++w) {
      Stats s = stats.at(w);
      const In in{x[w]...};
      if constexpr (Phase == 0) Body::template finish0<A>(s, count, in);
      else if constexpr (sizeof...(P) == 0) Body::template finish1<A>(s, count, in);
      else Body::template finish1<A>(s, count, in, typename Body::template RowOut<A&>{row_out[P][w]...});
      stats.set(w, s);
    }
    (void)row_out;
  }
  template <int Phase, bool Keeps>
  static ND_FN void fold_column(Vector& lane, const Statistics& stats, A* kept, const Pointer<I>... x) {
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int w = 0; w < kWidth; ++w) {
      const A mapped = map<Phase>(Phase == 0 ? Stats{} : stats.at(w), In{x[w]...});
      if constexpr (Keeps) kept[w] = mapped;
      lane.v[w] = join<Phase>(lane.v[w], mapped);
    }
  }
  // Address of element i of the first row in operand k.
  static ND_FN A* element_at(std::byte* const* p, const std::int64_t* step, int k, std::int64_t i) {
    return reinterpret_cast<A*>(p[k] + i * step[k]);
  }
  template <int Phase, bool Keeps>
  static ND_FN void fold_columns(Statistics& stats, std::byte* const* p, const std::int64_t* step, std::int64_t count) {
    Vector lane[kLanes];
    int live = count < kLanes ? int(count) : kLanes;
    for (int l = 0; l < live; ++l)
      for (int w = 0; w < kWidth; ++w) lane[l].v[w] = identity<Phase>();
    for (std::int64_t i = 0; i < count; ++i)
      fold_column<Phase, Keeps>(lane[i % kLanes], stats, Keeps ? element_at(p, step, nin, i) : nullptr,
                                element_at(p, step, I, i)...);
    for (int half = kLanes / 2; half > 0; live = live < half ? live : half, half /= 2)
      for (int l = 0; l + half < live; ++l)
        for (int w = 0; w < kWidth; ++w) lane[l].v[w] = join<Phase>(lane[l].v[w], lane[l + half].v[w]);
    (Phase == 0 ? stats.first : stats.second) = lane[0];
  }
  template <bool Keeps> static ND_FN void write_column(const Statistics& stats, A* const* y, const Pointer<I>... x) {
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int w = 0; w < kWidth; ++w) {
      if constexpr (Keeps) Body::template write_kept<A>(stats.at(w), Out{y[O][w]...});
      else Body::template write<A>(In{x[w]...}, stats.at(w), Out{y[O][w]...});
    }
  }
  // Adds the contributions of element i of kWidth rows to the sums; only the first `live` rows count.
  template <std::size_t... Q>
  static ND_FN void share_column(std::index_sequence<Q...>, std::int64_t live, A* const* sums, const Pointer<I>... x) {
    Vector share[nsums];
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int w = 0; w < kWidth; ++w)
      Body::template share<A>(In{x[w]...}, typename Body::template Sums<A&>{share[Q].v[w]...});
    for (int k = 0; k < nsums; ++k)
      if (live >= kWidth)
        for (int w = 0; w < kWidth; ++w) sums[k][w] += share[k].v[w];
      else
        for (int w = 0; w < live; ++w) sums[k][w] += share[k].v[w];
  }
  static ND_FN void share_columns(std::int64_t count, std::byte* const* p, const std::int64_t* step,
                                  std::byte* const* sums, std::int64_t live) {
    for (std::int64_t i = 0; i < count; ++i) {
      A* at[nsums];
      for (int k = 0; k < nsums; ++k) at[k] = reinterpret_cast<A*>(sums[k]) + i * kWidth;
      share_column(std::make_index_sequence<nsums>(), live, at, element_at(p, step, I, i)...);
    }
  }
  template <bool Keeps>
  static ND_FN void write_columns(const Statistics& stats, std::int64_t count, std::byte* const* p,
                                  const std::int64_t* step) {
    for (std::int64_t i = 0; i < count; ++i) {
      A* const y[nout + 1] = {element_at(p, step, nin + O, i)...};
      write_column<Keeps>(stats, y, element_at(p, step, I, i)...);
    }
  }

  static ND_FN void fill(Vector& x, A value) {
#pragma GCC unroll 1
    for (int w = 0; w < kWidth; ++w) x.v[w] = value;
  }
  // Finishes a phase of `rows` rows in one vector. Unused elements of the vector repeat the first row.
  template <int Phase>
  static ND_FN void finish_rows(Memory* row, std::byte* const* p, std::int64_t rows, std::int64_t count) {
    for (std::int64_t r = 0; r < rows; ++r) {
      if constexpr (Phase == 0) set_first(row[r].stats, combined<0>(row[r]));
      else if constexpr (Body::phases == 2) set_second(row[r].stats, combined<1>(row[r]));
    }
    Statistics stats;
    Vector first[nin], results[sizeof...(P) + 1];
    stats.set(0, row[0].stats);
    fill(stats.first, stats.first.v[0]);
    if constexpr (Statistics::has_second) fill(stats.second, stats.second.v[0]);
    (fill(first[I], *reinterpret_cast<const A*>(p[I])), ...);
    for (std::int64_t r = 1; r < rows; ++r) {
      stats.set(int(r), row[r].stats);
      ((first[I].v[r] = *reinterpret_cast<const A*>(p[r * kMaxOperands + std::int64_t(I)])), ...);
    }
    A* const row_out[sizeof...(P) + 1] = {results[P].v...};
    finish_columns<Phase>(stats, count, row_out, first[I].v...);
    for (std::int64_t r = 0; r < rows; ++r) {
      row[r].stats = stats.at(int(r));
      if constexpr (Phase == 1)
        ((*reinterpret_cast<A*>(p[r * kMaxOperands + std::int64_t(nin + nout + P)]) = results[P].v[r]), ...);
    }
  }

  // ---- the functions of RowWiseLoop ----
  static void init(std::byte* memory) {
    Memory& row = *reinterpret_cast<Memory*>(memory);
    row.stats = Stats{};
    row.progress.position = 0;
  }
  CATENA_MULTIARCH static void fold0(std::byte* memory, std::byte* const* p, std::int64_t n) {
    fold_any<at_once ? kBoth : 0, false>(memory, p, n);
  }
  CATENA_MULTIARCH static void fold1(std::byte* memory, std::byte* const* p, std::int64_t n) {
    if constexpr (passes == 2) fold_any<1, false>(memory, p, n);
    else (void)memory, (void)p, (void)n;
  }
  CATENA_MULTIARCH static void finish0(std::byte* memory, std::byte* const* p, std::int64_t rows, std::int64_t count) {
    finish_rows<0>(reinterpret_cast<Memory*>(memory), p, rows, count);
  }
  CATENA_MULTIARCH static void finish1(std::byte* memory, std::byte* const* p, std::int64_t rows, std::int64_t count) {
    finish_rows<1>(reinterpret_cast<Memory*>(memory), p, rows, count);
  }
  // Writes n elements, and adds what they contribute to the sums if there are any.
  template <std::size_t... Q>
  static ND_FN void write_block(std::index_sequence<Q...>, const Stats& stats, std::int64_t n, A* const* y,
                                A* const* sums, const Input<I>&... x) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) {
      const In in{x[i]...};
      A share[sizeof...(Q) + 1];
      if constexpr (sizeof...(Q) > 0) Body::template share<A>(in, typename Body::template Sums<A&>{share[Q]...});
      Body::template write<A>(in, stats, Out{y[O][i]...});
      ((sums[Q][i] += share[Q]), ...);
    }
    (void)sums;
  }
  // Adds the elements from `first` on of the last block to the end of an array of n elements.
  static ND_FN void add_end(A* to, const A* block, std::int64_t n, std::int64_t first) {
    if (n >= kVectorBlock)
      for (int j = 0; j < kVectorBlock; ++j) to[n - kVectorBlock + j] += j >= first ? block[j] : A(0);
    else
      for (std::int64_t j = 0; j < n; ++j) to[j] += block[j];
  }
  // Computes the last elements as part of a whole block, before all others, because an output may overwrite an input.
  template <int Sums>
  static ND_FN void store_any(const std::byte* memory, std::byte* const* p, std::byte* const* sums, std::int64_t n) {
    constexpr std::make_index_sequence<Sums> all;
    const Stats stats = reinterpret_cast<const Memory*>(memory)->stats;
    const std::int64_t m = n % kVectorBlock, first = n < kVectorBlock ? 0 : kVectorBlock - m;
    Block<kVectorBlock> ends[nout > 0 ? nout : 1], shares[Sums + 1];
    A *to[Sums + 1], *share[Sums + 1];
    for (int k = 0; k < Sums; ++k) to[k] = reinterpret_cast<A*>(sums[k]), share[k] = shares[k].v;
    if (m > 0) {
      Block<kVectorBlock> tiles[nin];
      A* const y[nout + 1] = {ends[O].v...};
      for (int k = 0; k < Sums; ++k)
        for (A& a : shares[k].v) a = A(0);
      write_block(all, stats, kVectorBlock, y, share, last_block<I, kVectorBlock>(tiles[I], p[I], n)...);
    }
    A* const y[nout + 1] = {reinterpret_cast<A*>(p[nin + O])...};
    write_block(all, stats, n - m, y, to, Input<I>(p[I])...);
    if (m == 0) return;
    (put_end<kVectorBlock>(y[O], ends[O].v, n), ...);
    for (int k = 0; k < Sums; ++k) add_end(to[k], shares[k].v, n, first);
  }
  CATENA_MULTIARCH static void store(const std::byte* memory, std::byte* const* p, std::int64_t n) {
    store_any<0>(memory, p, nullptr, n);
  }
  CATENA_MULTIARCH static void store_sums(const std::byte* memory, std::byte* const* p, std::byte* const* sums,
                                          std::int64_t n) {
    store_any<nsums>(memory, p, sums, n);
  }
  static constexpr int kKeptBlock = 64 / int(sizeof(A));  // one vector at most, because write_kept computes little
  static ND_FN void write_kept_block(const Stats& stats, std::int64_t n, A* y) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) Body::template write_kept<A>(stats, Out{y[i]});
  }
  static constexpr bool keeps = requires { &Body::template write_kept<A>; };
  CATENA_MULTIARCH static void fold_kept(std::byte* memory, std::byte* const* p, std::int64_t n) {
    if constexpr (keeps) fold_any<1, true>(memory, p, n);
    else (void)memory, (void)p, (void)n;
  }
  CATENA_MULTIARCH static void store_kept(const std::byte* memory, std::byte* const* p, std::int64_t n) {
    if constexpr (keeps) {
      const Stats stats = reinterpret_cast<const Memory*>(memory)->stats;
      A* const y = reinterpret_cast<A*>(p[nin]);
      const std::int64_t m = n % kKeptBlock;
      Block<kKeptBlock> end;
      if (m > 0) {
        const auto last = last_block<0>(end, p[nin], n);
        for (int j = 0; j < kKeptBlock; ++j) end.v[j] = last[j];
        write_kept_block(stats, kKeptBlock, end.v);
      }
      write_kept_block(stats, n - m, y);
      if (m > 0) put_end<kKeptBlock>(y, end.v, n);
    } else {
      (void)memory, (void)p, (void)n;
    }
  }
  template <bool Sums>
  static ND_FN void any_columns(std::byte* const* p, const std::int64_t* step, std::int64_t count, std::int64_t width,
                                std::byte* const* sums, std::int64_t live) {
    constexpr bool kept = keeps && Body::phases == 2;
    for (std::int64_t j = 0; j < width; j += kWidth) {
      std::byte* const at[] = {p[I] + j * std::int64_t(sizeof(A))..., p[nin + O] + j * std::int64_t(sizeof(A))...};
      A* const row_out[sizeof...(P) + 1] = {reinterpret_cast<A*>(p[nin + nout + P]) + j...};
      Statistics stats{};
      fold_columns<0, false>(stats, at, step, count);
      finish_columns<0>(stats, count, row_out, reinterpret_cast<const A*>(at[I])...);
      if constexpr (Body::phases == 2) fold_columns<1, kept>(stats, at, step, count);
      finish_columns<1>(stats, count, row_out, reinterpret_cast<const A*>(at[I])...);
      if constexpr (Sums) share_columns(count, at, step, sums, live - j);
      write_columns<kept>(stats, count, at, step);
    }
    (void)sums, (void)live;
  }
  CATENA_MULTIARCH static void columns(std::byte* const* p, const std::int64_t* step, std::int64_t count,
                                       std::int64_t width) {
    any_columns<false>(p, step, count, width, nullptr, 0);
  }
  CATENA_MULTIARCH static void columns_sums(std::byte* const* p, const std::int64_t* step, std::int64_t count,
                                            std::int64_t width, std::byte* const* sums, std::int64_t live) {
    if constexpr (nsums > 0) any_columns<true>(p, step, count, width, sums, live);
    else (void)p, (void)step, (void)count, (void)width, (void)sums, (void)live;
  }
  using Phases = RowWise<typename phases_of<Body>::type, S, std::index_sequence<I...>, std::index_sequence<O...>,
                         std::index_sequence<P...>>;
  static constexpr RowWiseLoop table = {.stats_bytes = sizeof(Memory),
                                        .type = dtype_of<A>,
                                        .phases = passes,
                                        .nin = nin,
                                        .nout = nout,
                                        .nsums = nsums,
                                        .per_row = std::uint16_t(((per_row<I> ? 1u << I : 0u) | ... | 0u)),
                                        .shared = std::uint16_t(shared_inputs<Body>()),
                                        .init = &init,
                                        .fold = {&Phases::fold0, passes == 2 ? &Phases::fold1 : nullptr},
                                        .finish = {&Phases::finish0, &finish1},
                                        .store = &store,
                                        .fold_kept = keeps ? &fold_kept : nullptr,
                                        .store_kept = keeps ? &store_kept : nullptr,
                                        .columns = &columns,
                                        .store_sums = nsums > 0 ? &store_sums : nullptr,
                                        .columns_sums = nsums > 0 ? &columns_sums : nullptr};
};

template <class Body, class L> struct RowWiseLoops;
template <class Body, fixed_string... S> struct RowWiseLoops<Body, loops<S...>> {
  static constexpr const Signature& first = first_signature(loops<S...>{});
  static constexpr Loop table[] = {
      {.type = signature_of<S>.type,
       .row_wise = &RowWise<Body, compute_signature<S>, std::make_index_sequence<std::size_t(first.count[0])>,
                            std::make_index_sequence<std::size_t(first.count[2])>,
                            std::make_index_sequence<std::size_t(first.count[3])>>::table}...};
};
template <class Body, class L> constexpr KernelDef row_wise(const char* name, const char* header) {
  return make_row(name, header, KernelKind::row_wise, RowWiseLoops<Body, L>::table, L{});
}

}  // namespace catena::define
