// Row kernels: what define.h is for the other kinds.
#pragma once

#include <catena/kernels/rows/define.h>

namespace catena::define {

// Combine functions of the two phases under one name, so that both use combine_lanes.
template <class Body>
struct Phase0 {
  template <class A>
  static ND_FN A combine(A a, A b) {
    return Body::combine0(a, b);
  }
};
template <class Body>
struct Phase1 {
  template <class A>
  static ND_FN A combine(A a, A b) {
    return Body::combine1(a, b);
  }
};

template <class Body, fixed_string S, class In, class Out, class PerRow>
struct Row;
template <class Body, fixed_string S, std::size_t... I, std::size_t... O, std::size_t... P>
struct Row<Body, S, std::index_sequence<I...>, std::index_sequence<O...>, std::index_sequence<P...>> {
  using A = computed_t<S, 0>;
  static constexpr int nin = int(sizeof...(I)), nout = int(sizeof...(O));
  struct alignas(64) Stats {
    A lane[kLanes];  // once position is not 0
    A a0, a1;
    std::int64_t position;  // elements of the current phase seen so far: element i always goes to lane i % kLanes
  };
  template <std::size_t K>
  using Type = computed_t<S, int(K)>;
  using Inputs = Tiles<Type<I>...>;
  using Outputs = Tiles<Type<nin + O>...>;
  template <std::size_t K>
  static ND_FN Type<K>& first(std::byte* const* p) {
    return *reinterpret_cast<Type<K>*>(p[K]);
  }

  // ---- layouts ----
  // The usual one: inputs that the body calls per_row (bit k: input k) have stride 0, and all others are contiguous.
  // Blocks of it are read where they lie, blocks of other layouts pass through tiles.
  static constexpr unsigned per_row() {
    if constexpr (requires { Body::per_row; }) return Body::per_row;
    else return 0;
  }
  template <std::size_t K>
  static constexpr bool is_per_row = ((per_row() >> K) & 1) != 0;
  template <std::size_t K>
  using Input = Lane<Type<K>, is_per_row<K>>;
  static ND_FN bool usual_inputs(const std::int64_t* s) {
    return ((s[I] == (is_per_row<I> ? 0 : std::int64_t(sizeof(Type<I>)))) && ...);
  }
  static ND_FN bool contiguous_outputs(const std::int64_t* s) {
    return ((s[nin + O] == std::int64_t(sizeof(Type<nin + O>))) && ...);
  }
  // A row of m < N elements in the usual layout, as a block of N.
  template <std::size_t K, int N>
  static ND_FN Input<K> padded(Tile<Type<K>>& t, std::byte* p, int m) {
    if constexpr (!is_per_row<K>) {
      const Type<K>* from = reinterpret_cast<const Type<K>*>(p);
      for (int j = 0; j < N; ++j) t.v[j] = from[0];
      memcpy(t.v, from, std::size_t(m) * sizeof(Type<K>));
      p = reinterpret_cast<std::byte*>(t.v);
    }
    return Input<K>(p);
  }
  template <std::size_t K>
  static ND_FN Input<K> block_at(std::byte* p, std::int64_t i) {
    return Input<K>(is_per_row<K> ? p : p + i * std::int64_t(sizeof(Type<K>)));
  }
  static ND_FN void fill_repeated(Inputs& tiles, std::byte* const* p, const std::int64_t* s) {
    ((s[I] == 0 ? fill_tile(tile<I>(tiles), p[I]) : void()), ...);
  }

  // ---- phases ----
  template <int Phase>
  static ND_FN A identity() {
    if constexpr (Phase == 0) return Body::template identity0<A>();
    else return Body::template identity1<A>();
  }
  template <int Phase>
  static ND_FN A map(A a0, const Type<I>&... x) {
    if constexpr (Phase == 0) return Body::template map0<A>(x...);
    else return Body::template map1<A>(x..., a0);
  }
  template <int Phase>
  static ND_FN A fold(A a, A b) {
    if constexpr (Phase == 0) return Body::combine0(a, b);
    else return Body::combine1(a, b);
  }
  // Where a phase leaves what it has mapped.
  struct Nowhere {
    ND_FN void put(std::int64_t, A) const {}
  };
  struct Strided {
    std::byte* p;
    std::int64_t stride;
    ND_FN void put(std::int64_t i, A value) const { *reinterpret_cast<A*>(p + i * stride) = value; }
  };
  struct Contiguous {
    A* p;
    ND_FN void put(std::int64_t i, A value) const { p[i] = value; }
  };
  template <int Phase, class Kept>
  static ND_FN void fold_block(A* lane, A a0, std::int64_t i, const Kept& kept, const Input<I>&... x) {
#pragma GCC ivdep
    for (int l = 0; l < kLanes; ++l) {
      const A mapped = map<Phase>(a0, x[i + l]...);
      kept.put(i + l, mapped);
      lane[l] = fold<Phase>(lane[l], mapped);
    }
  }
  // Several blocks in one go, so that the lanes stay in registers meanwhile.
  template <int Phase, class Kept, int... B>
  static ND_FN void fold_blocks(A* lane, A a0, std::int64_t i, const Kept& kept, std::integer_sequence<int, B...>,
                                const Input<I>&... x) {
    (fold_block<Phase>(lane, a0, i + B * kLanes, kept, x...), ...);
  }
  template <int Phase, class Kept>
  static ND_FN std::int64_t fold_whole_blocks(A* lane, A a0, std::int64_t n, const Kept& kept, const Input<I>&... x) {
    constexpr int kTogether = 8;
    std::int64_t i = 0;
    for (; i + kTogether * kLanes <= n; i += kTogether * kLanes)
      fold_blocks<Phase>(lane, a0, i, kept, std::make_integer_sequence<int, kTogether>(), x...);
    for (; i + kLanes <= n; i += kLanes) fold_block<Phase>(lane, a0, i, kept, x...);
    return i;
  }
  // All lanes are mapped at once: what a vectorised map gives must not depend on the position. Then m of them, from
  // `first` on, go to the lanes from 0 on.
  struct alignas(64) End {
    A mapped[2 * kLanes];
  };
  template <int Phase>
  static ND_FN void map_end(End& end, A a0, const Input<I>&... x) {
    for (int l = 0; l < kLanes; ++l) end.mapped[l] = map<Phase>(a0, x[l]...);
    for (int l = kLanes; l < 2 * kLanes; ++l) end.mapped[l] = A(0);
  }
  template <int Phase, class Kept>
  static ND_FN void fold_end(A* lane, const End& end, int first, std::int64_t i, int m, const Kept& kept) {
    const A* mapped = end.mapped + first;
    for (int l = 0; l < kLanes; ++l) {
      const A folded = fold<Phase>(lane[l], mapped[l]);
      lane[l] = l < m ? folded : lane[l];
    }
    for (int l = 0; l < m; ++l) kept.put(i + l, mapped[l]);
  }
  // A row, or a segment of one, in the usual layout. Its last elements are those of a whole block that ends with them;
  // it is mapped first, because what is kept may take the place of an input.
  template <int Phase, class Kept>
  static ND_FN void fold_usual(A* lane, A a0, std::byte* const* p, std::int64_t n, const Kept& kept) {
    const int m = int(n % kLanes), first = n < kLanes ? 0 : kLanes - m;
    End end;
    if (m > 0) {
      Inputs tiles;
      if (n < kLanes) map_end<Phase>(end, a0, padded<I, kLanes>(tile<I>(tiles), p[I], m)...);
      else map_end<Phase>(end, a0, block_at<I>(p[I], n - kLanes)...);
    }
    const std::int64_t i = fold_whole_blocks<Phase>(lane, a0, n, kept, Input<I>(p[I])...);
    if (m > 0) fold_end<Phase>(lane, end, first, i, m, kept);
  }
  template <int Phase>
  static ND_FN void map_lanes(A* mapped, A a0, const Type<I>*... x) {
    for (int l = 0; l < kLanes; ++l) mapped[l] = map<Phase>(a0, x[l]...);
  }
  template <int Phase, class Kept>
  static ND_FN void fold_by_tiles(A* lane, A a0, int at, std::byte* const* p, const std::int64_t* s, std::int64_t n,
                                  const Kept& kept) {
    Inputs tiles;
    fill_repeated(tiles, p, s);
    for (std::int64_t i = 0; i < n;) {
      const int m = int(n - i < kLanes - at ? n - i : kLanes - at);
      alignas(64) A mapped[kLanes];
      map_lanes<Phase>(mapped, a0,
                       reinterpret_cast<const Type<I>*>(input_block(tile<I>(tiles), p[I], s[I], i, m, kLanes))...);
      if (m == kLanes) {
        for (int l = 0; l < kLanes; ++l) lane[l] = fold<Phase>(lane[l], mapped[l]);
      } else {
        for (int l = 0; l < m; ++l) lane[at + l] = fold<Phase>(lane[at + l], mapped[l]);
      }
      for (int l = 0; l < m; ++l) kept.put(i + l, mapped[l]);
      i += m;
      at = (at + m) % kLanes;
    }
  }
  // `usual` is where the mapped values go when the layout is the usual one, `other` when it is not.
  template <int Phase, class Usual, class Other>
  static ND_FN void phase(std::byte* stats, std::byte* const* p, const std::int64_t* s, std::int64_t n, bool is_usual,
                          const Usual& usual, const Other& other) {
    Stats& st = *reinterpret_cast<Stats*>(stats);
    const A a0 = st.a0;
    alignas(64) A lane[kLanes];
    if (st.position == 0)
      for (int l = 0; l < kLanes; ++l) lane[l] = identity<Phase>();
    else
      for (int l = 0; l < kLanes; ++l) lane[l] = st.lane[l];
    const int at = int(st.position % kLanes);
    st.position += n;
    if (at == 0 && is_usual) {
      fold_usual<Phase>(lane, a0, p, n, usual);
    } else {
      fold_by_tiles<Phase>(lane, a0, at, p, s, n, other);
    }
    for (int l = 0; l < kLanes; ++l) st.lane[l] = lane[l];
  }
  template <int Phase, template <class> class Combine>
  static ND_FN A combined(Stats& st) {
    if (st.position == 0) return identity<Phase>();
    st.position = 0;
    A lane[kLanes];
    for (int l = 0; l < kLanes; ++l) lane[l] = st.lane[l];
    return combine_lanes<Combine<Body>>(lane);
  }

  // ---- write ----
  template <class... X>
  static ND_FN void write_block(A a0, A a1, Type<nin + O>*... y, const X&... x) {
#pragma GCC ivdep
    for (int i = 0; i < kVectorBlock; ++i) Body::write(x[i]..., a0, a1, y[i]...);
  }
  static ND_FN std::int64_t write_whole_blocks(A a0, A a1, std::int64_t n, Type<nin + O>*... y, const Input<I>&... x) {
    const std::int64_t whole = n / kVectorBlock * kVectorBlock;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < whole; ++i) Body::write(x[i]..., a0, a1, y[i]...);
    return whole;
  }
  // The last elements as those of a whole block that ends with them, made first: an output may take the place of an
  // input.
  static ND_FN void write_usual(A a0, A a1, std::byte* const* p, std::int64_t n) {
    const int m = int(n % kVectorBlock), first = n < kVectorBlock ? 0 : kVectorBlock - m;
    Outputs out;
    if (m > 0) {
      Inputs tiles;
      if (n < kVectorBlock) write_block(a0, a1, tile<O>(out).v..., padded<I, kVectorBlock>(tile<I>(tiles), p[I], m)...);
      else write_block(a0, a1, tile<O>(out).v..., block_at<I>(p[I], n - kVectorBlock)...);
    }
    const std::int64_t i =
        write_whole_blocks(a0, a1, n, reinterpret_cast<Type<nin + O>*>(p[nin + O])..., Input<I>(p[I])...);
    if (m > 0)
      (memcpy(p[nin + O] + i * std::int64_t(sizeof(Type<nin + O>)), tile<O>(out).v + first,
              std::size_t(m) * sizeof(Type<nin + O>)),
       ...);
  }
  static ND_FN void write_by_tiles(A a0, A a1, std::byte* const* p, const std::int64_t* s, std::int64_t n) {
    Inputs tiles;
    Outputs out;
    fill_repeated(tiles, p, s);
    for (std::int64_t i = 0; i < n; i += kVectorBlock) {
      const int m = int(n - i < kVectorBlock ? n - i : kVectorBlock);
      std::byte* const q[] = {input_block(tile<I>(tiles), p[I], s[I], i, m, kVectorBlock)...,
                              output_block(tile<O>(out), p[nin + O], s[nin + O], i, m)...};
      write_block(a0, a1, reinterpret_cast<Type<nin + O>*>(q[nin + O])..., reinterpret_cast<const Type<I>*>(q[I])...);
      ((q[nin + O] == reinterpret_cast<std::byte*>(tile<O>(out).v)
            ? scatter_tile(tile<O>(out), p[nin + O] + i * s[nin + O], s[nin + O], m)
            : void()),
       ...);
    }
  }

  // ---- the functions of the table ----
  static void init(std::byte* stats) {
    Stats& st = *reinterpret_cast<Stats*>(stats);
    st.a0 = st.a1 = A(0);
    st.position = 0;
  }
  CATENA_MULTIARCH static void phase0(std::byte* stats, std::byte* const* p, const std::int64_t* s, std::int64_t n) {
    phase<0>(stats, p, s, n, usual_inputs(s), Nowhere(), Nowhere());
  }
  CATENA_MULTIARCH static void finish0(std::byte* stats, std::byte* const* p, std::int64_t count) {
    Stats& st = *reinterpret_cast<Stats*>(stats);
    st.a0 = combined<0, Phase0>(st);
    Body::finish0(st.a0, count, static_cast<const Type<I>&>(first<I>(p))...);
  }
  CATENA_MULTIARCH static void phase1(std::byte* stats, std::byte* const* p, const std::int64_t* s, std::int64_t n) {
    if constexpr (Body::phases == 2) phase<1>(stats, p, s, n, usual_inputs(s), Nowhere(), Nowhere());
    else (void)stats, (void)p, (void)s, (void)n;
  }
  CATENA_MULTIARCH static void finish1(std::byte* stats, std::byte* const* p, std::int64_t count) {
    Stats& st = *reinterpret_cast<Stats*>(stats);
    if constexpr (Body::phases == 2) st.a1 = combined<1, Phase1>(st);
    Body::finish1(st.a0, st.a1, count, static_cast<const Type<I>&>(first<I>(p))..., first<nin + nout + P>(p)...);
  }
  CATENA_MULTIARCH static void write(const std::byte* stats, std::byte* const* p, const std::int64_t* s,
                                     std::int64_t n) {
    const Stats& st = *reinterpret_cast<const Stats*>(stats);
    if (usual_inputs(s) && contiguous_outputs(s)) write_usual(st.a0, st.a1, p, n);
    else write_by_tiles(st.a0, st.a1, p, s, n);
  }
  // Bodies with write_kept(a0, a1, y) make their output from what phase 1 has mapped.
  static constexpr bool keeps = requires { &Body::template write_kept<A>; };
  CATENA_MULTIARCH static void phase1_kept(std::byte* stats, std::byte* const* p, const std::int64_t* s,
                                           std::int64_t n) {
    if constexpr (keeps)
      phase<1>(stats, p, s, n, usual_inputs(s) && contiguous_outputs(s), Contiguous{reinterpret_cast<A*>(p[nin])},
               Strided{p[nin], s[nin]});
    else (void)stats, (void)p, (void)s, (void)n;
  }
  CATENA_MULTIARCH static void write_kept(const std::byte* stats, std::byte* const* p, const std::int64_t* s,
                                          std::int64_t n) {
    if constexpr (keeps) {
      const A a0 = reinterpret_cast<const Stats*>(stats)->a0, a1 = reinterpret_cast<const Stats*>(stats)->a1;
      A* y = reinterpret_cast<A*>(p[nin]);
      if (contiguous_outputs(s))
        for (std::int64_t i = 0; i < n; ++i) Body::write_kept(a0, a1, y[i]);
      else
        for (std::int64_t i = 0; i < n; ++i) Body::write_kept(a0, a1, *reinterpret_cast<A*>(p[nin] + i * s[nin]));
    } else {
      (void)stats, (void)p, (void)s, (void)n;
    }
  }
  static constexpr RowLoop table = {sizeof(Stats),
                                    Body::phases,
                                    &init,
                                    &phase0,
                                    &finish0,
                                    &phase1,
                                    &finish1,
                                    &write,
                                    keeps ? &phase1_kept : nullptr,
                                    keeps ? &write_kept : nullptr};
};

template <class Body, class L>
struct RowLoops;
template <class Body, fixed_string... S>
struct RowLoops<Body, loops<S...>> {
  static constexpr const Signature& first = LoopTable<loops<S...>>::first;
  static constexpr Loop table[] = {
      {signature_of<S>.type, nullptr, nullptr, nullptr,
       &Row<Body, compute_signature(S), std::make_index_sequence<std::size_t(first.count[0])>,
            std::make_index_sequence<std::size_t(first.count[2])>,
            std::make_index_sequence<std::size_t(first.count[3])>>::table,
       nullptr}...};
};
template <class Body, class L>
constexpr KernelDef row(const char* name, const char* header) {
  return LoopTable<L>::def(name, header, KernelKind::row, RowLoops<Body, L>::table);
}

}  // namespace catena::define
