// Turns a kernel body and its loop signatures into a registry row with compiled host loops. Included only by the
// kernels/rows/loops_<family>.cpp files; those with row kernels include define_row.h.
//
//   constexpr KernelDef add = elementwise<k::add, loops<"ff->f", "dd->d">>("add",
//   "catena/kernels/elementwise/arithmetic.h");
//
// Loops are compiled for the baseline, AVX2 and AVX-512 by target_clones; what they call must be ND_FN (always
// inlined): a lambda or an ordinary function would stay at the baseline.
#pragma once

#include <tuple>
#include <utility>

#include <catena/kernels/index.h>
#include <catena/kernels/random.h>
#include <catena/kernels/rows/kernel.h>
#include <catena/kernels/rows/multiarch.h>

namespace catena::define {

// ---- signatures at compile time -----------------------------------------------------------------
struct Signature {
  std::array<Dtype, kMaxOperands> type{};
  int count[4] = {0, 0, 0, 0};  // inputs, in-outs, outputs, per-row outputs
  std::uint16_t raw = 0, shared = 0;
  int n = 0;
};

constexpr Signature parse(std::string_view s) {
  Signature r;
  int group = 0;
  bool raw = false, shared = false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '*') {
      raw = true;
      continue;
    }
    if (c == '@') {
      shared = true;
      continue;
    }
    if (c == '&') {
      group = 1;
      continue;
    }
    if (c == '-') {
      group = 2;
      ++i;
      continue;
    }
    if (c == ';') {
      group = 3;
      continue;
    }
    const Dtype t = dtype_from_char(c);
    if (t == static_cast<Dtype>(0xff)) throw "unknown type character in a loop signature";
    if (raw) r.raw |= std::uint16_t(1u << r.n);
    if (shared) r.shared |= std::uint16_t(1u << r.n);
    raw = shared = false;
    r.type[std::size_t(r.n++)] = t;
    ++r.count[group];
  }
  return r;
}

template <fixed_string S>
inline constexpr Signature signature_of = parse(S.view());
// Type of operand K as it is stored, and as host loops see it.
template <fixed_string S, int K>
using stored_t = typename element_type<signature_of<S>.type[K]>::type;
template <fixed_string S, int K>
using computed_t = compute_t<stored_t<S, K>>;

// The signature of the host loop behind S: 16-bit floats reach elementwise, reduction, row and multi-tensor loops as
// float, so "ee->e", "EE->E" and "ff->f" are one loop.
template <std::size_t N>
constexpr fixed_string<N> compute_signature(fixed_string<N> s) {
  for (char& c : s.text)
    if (c == 'e' || c == 'E') c = 'f';
  return s;
}

template <fixed_string... S>
struct loops {};
template <class A, class B>
struct join_loops;
template <fixed_string... A, fixed_string... B>
struct join_loops<loops<A...>, loops<B...>> {
  using type = loops<A..., B...>;
};

// ---- elementwise
// --------------------------------------------------------------------------------------------------------- An operand
// inside a contiguous loop: a pointer, or one value kept in a register.
template <class T, bool kScalar>
struct Lane {
  T* p;
  ND_FN explicit Lane(std::byte* b) : p(reinterpret_cast<T*>(b)) {}
  ND_FN T& operator[](std::int64_t i) const { return p[i]; }
};
template <class T>
struct Lane<T, true> {
  T value;
  ND_FN explicit Lane(std::byte* b) : value(*reinterpret_cast<T*>(b)) {}
  ND_FN T operator[](std::int64_t) const { return value; }
};
// Loops that load a bool and a wider type do not vectorise; those that load a byte and compare it do.
struct BoolLane {
  const unsigned char* p;
  ND_FN explicit BoolLane(std::byte* b) : p(reinterpret_cast<const unsigned char*>(b)) {}
  ND_FN bool operator[](std::int64_t i) const { return p[i] != 0; }
};
template <class T, bool kScalar, bool kInput>
using lane_t = conditional_t<is_same<T, bool> && kInput && !kScalar, BoolLane, Lane<T, kScalar>>;

template <class Body, class... L>
ND_FN void run_contiguous(std::int64_t n, L... lane) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) Body::run(lane[i]...);
}

template <class Body, class... T>
ND_FN void run_strided(std::int64_t n, const std::int64_t* stride, T*... p) {
  for (std::int64_t i = 0; i < n; ++i) {
    Body::run(*p...);
    int k = 0;
    ((p = reinterpret_cast<T*>(reinterpret_cast<char*>(p) + stride[k++])), ...);
  }
}

inline constexpr int kVectorBlock =
    64;  // elements; a multiple of every vector length, so that a block has no scalar tail
template <class T>
struct alignas(64) Tile {
  T v[kVectorBlock];
};
// One tile per type, not initialised (a std::tuple would be).
template <std::size_t K, class T>
struct TileAt : Tile<T> {};
template <class Seq, class... T>
struct TileSet;
template <std::size_t... K, class... T>
struct TileSet<std::index_sequence<K...>, T...> : TileAt<K, T>... {};
template <class... T>
using Tiles = TileSet<std::index_sequence_for<T...>, T...>;
template <std::size_t K, class T>
ND_FN Tile<T>& tile(TileAt<K, T>& t) {
  return t;
}

template <class T>
ND_FN void gather_tile(Tile<T>& t, const std::byte* p, std::int64_t stride, int n) {
  if (stride == std::int64_t(sizeof(T))) memcpy(t.v, p, std::size_t(n) * sizeof(T));
  else
    for (int i = 0; i < n; ++i) t.v[i] = *reinterpret_cast<const T*>(p + i * stride);
  for (int i = n; i < kVectorBlock; ++i) t.v[i] = t.v[0];
}
template <class T>
ND_FN void scatter_tile(const Tile<T>& t, std::byte* p, std::int64_t stride, int n) {
  if (stride == std::int64_t(sizeof(T))) memcpy(p, t.v, std::size_t(n) * sizeof(T));
  else
    for (int i = 0; i < n; ++i) *reinterpret_cast<T*>(p + i * stride) = t.v[i];
}
template <class T>
ND_FN void fill_tile(Tile<T>& t, const std::byte* p) {
  const T value = *reinterpret_cast<const T*>(p);
  for (T& v : t.v) v = value;
}
// Elements i .. i + m of an input as a full block of `block` contiguous ones: where they lie, or gathered into the
// tile. The tile of a repeated operand was filled before.
template <class T>
ND_FN std::byte* input_block(Tile<T>& t, std::byte* p, std::int64_t stride, std::int64_t i, int m, int block) {
  if (stride == std::int64_t(sizeof(T)) && m == block) return p + i * stride;
  if (stride != 0) gather_tile(t, p + i * stride, stride, m);
  return reinterpret_cast<std::byte*>(t.v);
}
template <class T>
ND_FN std::byte* output_block(Tile<T>& t, std::byte* p, std::int64_t stride, std::int64_t i, int m) {
  if (stride == std::int64_t(sizeof(T)) && m == kVectorBlock) return p + i * stride;
  return reinterpret_cast<std::byte*>(t.v);
}

template <class Body, fixed_string S, class Seq>
struct Elementwise;
template <class Body, fixed_string S, std::size_t... K>
struct Elementwise<Body, S, std::index_sequence<K...>> {
  static constexpr Signature sig = signature_of<S>;
  static constexpr int nin = sig.count[0];
  static constexpr int first_out = sig.count[0] + sig.count[1];

  static ND_FN unsigned scalar_mask(const std::int64_t* s) {
    unsigned mask = 0;
    ((mask |= (s[K] == 0 ? 1u << K : 0u)), ...);
    return mask;
  }
  static ND_FN bool contiguous(const std::int64_t* s, unsigned scalars) {
    return ((((scalars >> K) & 1) || s[K] == std::int64_t(sizeof(computed_t<S, int(K)>))) && ...);
  }
  template <unsigned Mask>
  static ND_FN void masked(std::byte* const* p, std::int64_t n) {
    run_contiguous<Body>(n, lane_t<computed_t<S, int(K)>, ((Mask >> K) & 1) != 0, (int(K) < nin)>(p[K])...);
  }

  // Always whole blocks of kVectorBlock elements: operands that are not contiguous, and the end of those that are, pass
  // through tiles.
  static ND_FN void blocks(std::byte* const* p, const std::int64_t* s, std::int64_t n) {
    Tiles<computed_t<S, int(K)>...> tiles;
    ((int(K) < first_out && s[K] == 0 ? fill_tile(tile<K>(tiles), p[K]) : void()), ...);
    for (std::int64_t i = 0; i < n; i += kVectorBlock) {
      const int m = int(n - i < kVectorBlock ? n - i : kVectorBlock);
      std::byte* const q[] = {(int(K) < first_out ? input_block(tile<K>(tiles), p[K], s[K], i, m, kVectorBlock)
                                                  : output_block(tile<K>(tiles), p[K], s[K], i, m))...};
      run_contiguous<Body>(kVectorBlock, lane_t<computed_t<S, int(K)>, false, (int(K) < nin)>(q[K])...);
      ((int(K) >= nin && q[K] == reinterpret_cast<std::byte*>(tile<K>(tiles).v)
            ? scatter_tile(tile<K>(tiles), p[K] + i * s[K], s[K], m)
            : void()),
       ...);
    }
  }

  CATENA_MULTIARCH static void run(std::byte* const* p, const std::int64_t* s, std::int64_t n) {
    const unsigned scalars = n == 1 ? 0 : scalar_mask(s);
    if (n == 1 || contiguous(s, scalars)) {
      if (scalars == 0) return masked<0>(p, n);
      if constexpr (nin == 2) {
        if (scalars == 1) return masked<1>(p, n);
        if (scalars == 2) return masked<2>(p, n);
      } else if constexpr (nin > 2) {
        constexpr unsigned all_but_first = ((1u << nin) - 1) & ~1u;
        if (scalars == all_but_first) return masked<all_but_first>(p, n);
        return blocks(p, s, n);
      }
    }
    run_strided<Body>(n, s, reinterpret_cast<computed_t<S, int(K)>*>(p[K])...);
  }

  // The same function for bodies that call vector mathematics: always whole blocks.
  CATENA_MULTIARCH static void run_blocks(std::byte* const* p, const std::int64_t* s, std::int64_t n) {
    std::int64_t i = 0;
    if (contiguous(s, 0))
      for (; i + kVectorBlock <= n; i += kVectorBlock)
        run_contiguous<Body>(kVectorBlock, lane_t<computed_t<S, int(K)>, false, (int(K) < nin)>(p[K] + i * s[K])...);
    if (i == n) return;
    std::byte* const rest[] = {(p[K] + i * s[K])...};
    blocks(rest, s, n - i);
  }

  // Integers have no vector mathematics, whatever the row is.
  static constexpr bool exact = ((!is_float<computed_t<S, int(K)>>)&&...);
  static constexpr ElementwiseFn position_independent() { return exact ? &run : &run_blocks; }
};

// ---- indexed ------------------------------------------------------------------------------------
enum class Role { in, inout, out, raw };

template <class T, Role R>
struct Argument;
template <class T>
struct Argument<T, Role::in> {
  compute_t<T> value;
  ND_FN Argument(std::byte* p, const IndexedCall&, int) : value(load(*reinterpret_cast<T*>(p))) {}
  ND_FN compute_t<T> get() { return value; }
  ND_FN void done(std::byte*) const {}
};
template <class T>
struct Argument<T, Role::inout> : Argument<T, Role::in> {
  using Argument<T, Role::in>::Argument;
  ND_FN compute_t<T>& get() { return this->value; }
  ND_FN void done(std::byte* p) const { store(*reinterpret_cast<T*>(p), this->value); }
};
template <class T>
struct Argument<T, Role::out> {
  compute_t<T> value{};
  ND_FN Argument(std::byte*, const IndexedCall&, int) {}
  ND_FN compute_t<T>& get() { return value; }
  ND_FN void done(std::byte* p) const { store(*reinterpret_cast<T*>(p), value); }
};
template <class T>
struct Argument<T, Role::raw> {
  View<T> view;
  ND_FN Argument(std::byte*, const IndexedCall& c, int k)
      : view{reinterpret_cast<T*>(c.data[k]), c.shape[k]->data(), c.strides[k]->data()} {}
  ND_FN const View<T>& get() const { return view; }
  ND_FN void done(std::byte*) const {}
};

template <class Body, class I, class... A>
ND_FN void run_indexed(const I& index, std::byte* const* p, A... argument) {
  Body::run(index, argument.get()...);
  int k = 0;
  (argument.done(p[k++]), ...);
}

template <class Body, fixed_string S, class Seq>
struct Indexed;
template <class Body, fixed_string S, std::size_t... K>
struct Indexed<Body, S, std::index_sequence<K...>> {
  static constexpr Signature sig = signature_of<S>;
  static constexpr Role role(int k) {
    if ((sig.raw >> k) & 1) return Role::raw;
    return k < sig.count[0] ? Role::in : (k < sig.count[0] + sig.count[1] ? Role::inout : Role::out);
  }

  static void run(const IndexedCall& c, std::int64_t begin, std::int64_t end) {
    const Shape& loop = *c.loop;
    const int rank = loop.size();
    Index<kMaxIndexRank> index;
    index.position = begin;
    std::int64_t rest = begin;
    for (int a = rank - 1; a >= 0; --a) {
      index.axis[a] = rest % loop[a];
      rest /= loop[a];
    }
    std::byte* p[sizeof...(K)];
    while (index.position < end) {
      for (std::size_t k = 0; k < sizeof...(K); ++k) {
        p[k] = c.data[k];
        if (!((sig.raw >> k) & 1))
          for (int a = 0; a < rank; ++a) p[k] += index.axis[a] * (*c.strides[k])[a];
      }
      const std::int64_t in_row = rank == 0 ? 1 : loop[rank - 1] - index.axis[rank - 1];
      const std::int64_t n = in_row < end - index.position ? in_row : end - index.position;
      for (std::int64_t j = 0; j < n; ++j) {
        run_indexed<Body>(index, p, Argument<stored_t<S, int(K)>, role(int(K))>(p[K], c, int(K))...);
        ++index.position;
        if (rank == 0) break;
        ++index.axis[rank - 1];
        ((((sig.raw >> K) & 1) ? void() : void(p[K] += (*c.strides[K])[rank - 1])), ...);
      }
      for (int a = rank - 1; a > 0 && index.axis[a] == loop[a]; --a) {
        index.axis[a] = 0;
        ++index.axis[a - 1];
      }
    }
  }
};

// Bodies with from_words (kernels/random.h) over a flat loop: the words of many elements are made at once, in vectors,
// and nothing depends on where a tile starts. Their first two scalar inputs are seed and offset.
inline constexpr int kRandomTile = 256;
template <int Streams, bool Pairs>
struct alignas(64) WordTile {
  uint32_t word[Streams][kRandomTile];
  uint32_t pair[2][Streams][Pairs ? kRandomTile : 1];  // the even and the odd word of a pair, at both its places

  ND_FN uint32_t at(int s, int j) const { return word[s][j]; }
  ND_FN uint32_t even(int s, int j) const { return pair[0][s][j]; }
  ND_FN uint32_t odd(int s, int j) const { return pair[1][s][j]; }
  ND_FN void fill(uint64_t seed, uint64_t counter) {
    for (int s = 0; s < Streams; ++s) {
      for (int b = 0; b < kRandomTile / 4; ++b) {
        const philox_block block = philox4x32(seed, counter + uint64_t(b), uint32_t(s));
        for (int l = 0; l < 4; ++l) word[s][4 * b + l] = block.lane[l];
      }
      if constexpr (Pairs)
        for (int j = 0; j < kRandomTile; j += 2)
          for (int k = 0; k < 2; ++k) pair[0][s][j + k] = word[s][j], pair[1][s][j + k] = word[s][j + 1];
    }
  }
};

template <class Body, fixed_string S, class Seq>
struct RandomIndexed;
template <class Body, fixed_string S, std::size_t... K>
struct RandomIndexed<Body, S, std::index_sequence<K...>> {
  static constexpr Signature sig = signature_of<S>;
  static constexpr int nin = sig.count[0], seed_at = Body::arrays & 1 ? 1 : 0;
  template <int N>
  static constexpr bool is_array = N >= nin || ((Body::arrays >> N) & 1);
  template <int N>
  struct alignas(64) Part {
    computed_t<S, N> v[is_array<N> ? kRandomTile : 1];
    ND_FN computed_t<S, N>& operator[](int j) { return v[is_array<N> ? j : 0]; }
  };
  template <int N>
  static ND_FN void fetch_scalar(Part<N>& part, const std::byte* p) {
    if constexpr (!is_array<N>) part.v[0] = load(*reinterpret_cast<const stored_t<S, N>*>(p));
  }
  template <int N>
  static ND_FN void fetch(Part<N>& part, const std::byte* p, std::int64_t stride, int first, int n) {
    if constexpr (is_array<N> && N < nin) {
      for (int j = 0; j < kRandomTile; ++j) part.v[j] = computed_t<S, N>(0);
      for (int j = 0; j < n; ++j) part.v[first + j] = load(*reinterpret_cast<const stored_t<S, N>*>(p + j * stride));
    }
  }
  template <int N>
  static ND_FN void flush(const Part<N>& part, std::byte* p, std::int64_t stride, int first, int n) {
    if constexpr (N >= nin)
      for (int j = 0; j < n; ++j) store(*reinterpret_cast<stored_t<S, N>*>(p + j * stride), part.v[first + j]);
  }

  CATENA_MULTIARCH static void tiles(const IndexedCall& c, const std::int64_t* stride, std::int64_t begin,
                                     std::int64_t end) {
    std::tuple<Part<int(K)>...> part;
    (fetch_scalar<int(K)>(std::get<K>(part), c.data[K]), ...);
    const uint64_t seed = std::get<std::size_t(seed_at)>(part).v[0],
                   offset = std::get<std::size_t(seed_at + 1)>(part).v[0];
    WordTile < Body::template streams<computed_t<S, nin>>, requires { Body::pairs; }
    > words;
    while (begin < end) {
      const int first = int(begin & 3), room = kRandomTile - first, n = int(end - begin < room ? end - begin : room);
      const std::int64_t start = begin - first;
      words.fill(seed, offset + (uint64_t(start) >> 2));
      (fetch<int(K)>(std::get<K>(part), c.data[K] + begin * stride[K], stride[K], first, n), ...);
#pragma GCC ivdep
      for (int j = 0; j < kRandomTile; ++j) Body::from_words(words, j, start + j, std::get<K>(part)[j]...);
      (flush<int(K)>(std::get<K>(part), c.data[K] + begin * stride[K], stride[K], first, n), ...);
      begin += n;
    }
  }
  static void run(const IndexedCall& c, std::int64_t begin, std::int64_t end) {
    const int rank = c.loop->size();
    const std::int64_t stride[] = {(rank == 1 ? (*c.strides[K])[0] : 0)...};
    const bool scalars = ((is_array<int(K)> || stride[K] == 0) && ...);
    if (rank == 1 && scalars) tiles(c, stride, begin, end);
    else Indexed<Body, S, std::index_sequence<K...>>::run(c, begin, end);
  }
};
template <class Body, fixed_string S, class Seq>
constexpr IndexedFn indexed_run() {
  if constexpr (requires { Body::arrays; }) return &RandomIndexed<Body, S, Seq>::run;
  else return &Indexed<Body, S, Seq>::run;
}

// ---- reduction ----------------------------------------------------------------------------------
template <class Body, int Width = kLanes / 2, class A>
ND_FN A combine_lanes(A* lane) {
  for (int l = 0; l < Width; ++l) lane[l] = Body::combine(lane[l], lane[l + Width]);
  if constexpr (Width == 1) return lane[0];
  else return combine_lanes<Body, Width / 2>(lane);
}

template <class Body, fixed_string S>
struct Reduction {
  using T = computed_t<S, 0>;
  using R = computed_t<S, 1>;
  using A = typename Body::template accumulator<T, R>;

  static void init(std::byte* acc, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) reinterpret_cast<A*>(acc)[j] = Body::template identity<A>();
  }
  // The order of combination by definition: see kernel.h.
  static ND_FN A reduce_lanes(const std::byte* p, std::int64_t stride, std::int64_t index, std::int64_t n) {
    A lane[kLanes];
    for (int l = 0; l < kLanes; ++l) lane[l] = Body::template identity<A>();
    std::int64_t i = 0;
    if (stride == std::int64_t(sizeof(T))) {
      const T* x = reinterpret_cast<const T*>(p);
      for (; i + kLanes <= n; i += kLanes)
        for (int l = 0; l < kLanes; ++l)
          lane[l] = Body::combine(lane[l], Body::template map<A>(x[i + l], index + i + l));
    } else {
      for (; i + kLanes <= n; i += kLanes)
        for (int l = 0; l < kLanes; ++l)
          lane[l] = Body::combine(
              lane[l], Body::template map<A>(*reinterpret_cast<const T*>(p + (i + l) * stride), index + i + l));
    }
    for (int l = 0; i < n; ++i, ++l)
      lane[l] = Body::combine(lane[l], Body::template map<A>(*reinterpret_cast<const T*>(p + i * stride), index + i));
    return combine_lanes<Body>(lane);
  }
  // The same for the place of an extremum, whose result does not depend on the order: values are compared without their
  // places, and only the block that held the best one is searched.
  using V = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;  // loops over bool do not vectorise
  static constexpr std::int64_t kWindow = 256 / sizeof(V);  // a comparison takes long to end: several vectors at once
  static ND_FN A find_extremum(const V* x, std::int64_t index, std::int64_t n) {
    constexpr std::int64_t kBlock = 16 * kWindow;
    std::int64_t i = 0, place = 0;
    V value = x[0];
    for (std::int64_t m; n - i >= kWindow && !is_nan(value); i += m) {
      m = n - i < kBlock ? (n - i) / kWindow * kWindow : kBlock;
      if (find_better(x + i, m, value)) place = i;
    }
    if (i > 0) place += find_value(x + place, value);
    A best = Body::template map<A>(T(x[place]), index + place);
    for (; i < n; ++i) best = Body::combine(best, Body::template map<A>(T(x[i]), index + i));
    return best;
  }
  // Whether the extremum of n values, whole windows of them, is better than `value`, which then becomes it. `value` is
  // no NaN.
  static ND_FN bool find_better(const V* x, std::int64_t n, V& value) {
    using E = typename Body::extremum;
    V lane[kWindow];
    for (int l = 0; l < kWindow; ++l) lane[l] = x[l];
    for (std::int64_t i = kWindow; i < n; i += kWindow)
      for (int l = 0; l < kWindow; ++l) lane[l] = E::combine(lane[l], x[i + l]);
    for (int l = 0; l < kWindow; ++l) lane[l] = E::combine(value, lane[l]);
    unsigned better = 0;
    for (int l = 0; l < kWindow; ++l) better |= lane[l] != value;
    if (better) value = combine_lanes<E, kWindow / 2>(lane);
    return better != 0;
  }
  // The first place of a value that is among those of `x`.
  static ND_FN std::int64_t find_value(const V* x, V value) {
    const bool nan = is_nan(value);
    std::int64_t i = 0;
    for (;; i += kWindow) {
      unsigned found = 0;
      for (int l = 0; l < kWindow; ++l) found |= (x[i + l] == value) | (nan & is_nan(x[i + l]));
      if (found) break;
    }
    while (!(x[i] == value || (nan && is_nan(x[i])))) ++i;
    return i;
  }
  CATENA_MULTIARCH static void reduce(std::byte* acc, const std::byte* p, std::int64_t stride, std::int64_t index,
                                      std::int64_t n) {
    A& out = *reinterpret_cast<A*>(acc);
    if constexpr (requires { typename Body::extremum; }) {
      if (stride == std::int64_t(sizeof(T))) {
        if (n > 0) out = Body::combine(out, find_extremum(reinterpret_cast<const V*>(p), index, n));
        return;
      }
    }
    out = Body::combine(out, reduce_lanes(p, stride, index, n));
  }
  CATENA_MULTIARCH static void accumulate(std::byte* acc, const std::byte* p, std::int64_t stride, std::int64_t index,
                                          std::int64_t n) {
    A* a = reinterpret_cast<A*>(acc);
    if (stride == std::int64_t(sizeof(T))) {
      const T* x = reinterpret_cast<const T*>(p);
#pragma GCC ivdep
      for (std::int64_t j = 0; j < n; ++j) a[j] = Body::combine(a[j], Body::template map<A>(x[j], index));
    } else {
      for (std::int64_t j = 0; j < n; ++j)
        a[j] = Body::combine(a[j], Body::template map<A>(*reinterpret_cast<const T*>(p + j * stride), index));
    }
  }
  CATENA_MULTIARCH static void combine(std::byte* acc, const std::byte* other, std::int64_t n) {
    A* a = reinterpret_cast<A*>(acc);
    const A* b = reinterpret_cast<const A*>(other);
#pragma GCC ivdep
    for (std::int64_t j = 0; j < n; ++j) a[j] = Body::combine(a[j], b[j]);
  }
  static void finish(const std::byte* acc, std::int64_t count, std::byte* out, std::int64_t stride, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j)
      *reinterpret_cast<R*>(out + j * stride) = Body::template finish<R>(reinterpret_cast<const A*>(acc)[j], count);
  }
  static ND_FN A scan_element(A a, const ScanBlock& b, std::int64_t i, std::int64_t j) {
    const A x = Body::template map<A>(*reinterpret_cast<const T*>(b.in + i * b.in_step + j * b.in_stride), b.index + i);
    const A next = b.index + i == 0 ? x : Body::combine(a, x);
    *reinterpret_cast<R*>(b.out + i * b.out_step + j * b.out_stride) = Body::template finish<R>(next, b.index + i + 1);
    return next;
  }
  // A few rows at once hide the time that one combination takes to end.
  template <int Rows>
  static ND_FN void scan_rows(A* acc, const ScanBlock& b, std::int64_t j) {
    A a[Rows];
    for (int k = 0; k < Rows; ++k) a[k] = acc[j + k];
    for (std::int64_t i = 0; i < b.n; ++i)
      for (int k = 0; k < Rows; ++k) a[k] = scan_element(a[k], b, i, j + k);
    for (int k = 0; k < Rows; ++k) acc[j + k] = a[k];
  }
  static void scan(std::byte* cells, const ScanBlock& b) {
    A* acc = reinterpret_cast<A*>(cells);
    if (b.width > 1 && b.in_stride == std::int64_t(sizeof(T)) && b.out_stride == std::int64_t(sizeof(R))) {
      for (std::int64_t i = 0; i < b.n; ++i) {
        const T* x = reinterpret_cast<const T*>(b.in + i * b.in_step);
        R* y = reinterpret_cast<R*>(b.out + i * b.out_step);
        const bool first = b.index + i == 0;
#pragma GCC ivdep
        for (std::int64_t j = 0; j < b.width; ++j) {
          const A value = Body::template map<A>(x[j], b.index + i);
          acc[j] = first ? value : Body::combine(acc[j], value);
          y[j] = Body::template finish<R>(acc[j], b.index + i + 1);
        }
      }
      return;
    }
    std::int64_t j = 0;
    for (; j + 4 <= b.width; j += 4) scan_rows<4>(acc, b, j);
    for (; j < b.width; ++j) scan_rows<1>(acc, b, j);
  }
  static constexpr ReductionLoop table = {sizeof(A), &init, &reduce, &accumulate, &combine, &finish, &scan};
};

// ---- multi-tensor -------------------------------------------------------------------------------
template <class Body, class... L>
ND_FN void run_update(const double* hyper, std::int64_t n, L... lane) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) Body::run(hyper, lane[i]...);
}

template <class Body, fixed_string S, class Seq>
struct MultiTensor;
template <class Body, fixed_string S, std::size_t... K>
struct MultiTensor<Body, S, std::index_sequence<K...>> {
  CATENA_MULTIARCH static void run(const double* hyper, std::byte* const* p, std::int64_t n) {
    double h[8];  // a local copy: the compiler then knows that no store to a tensor changes it
    for (int k = 0; k < 8; ++k) h[k] = hyper[k];
    run_update<Body>(h, n, Lane<computed_t<S, int(K)>, ((signature_of<S>.shared >> K) & 1) != 0>(p[K])...);
  }
};

// ---- rows of the registry -----------------------------------------------------------------------
template <fixed_string S>
using operand_sequence = std::make_index_sequence<std::size_t(signature_of<S>.n)>;

template <class Loops>
struct LoopTable;
template <fixed_string... S>
struct LoopTable<loops<S...>> {
  static constexpr int size = int(sizeof...(S));
  static constexpr Signature first = []<fixed_string F, fixed_string... Rest>(loops<F, Rest...>) {
    return signature_of<F>;
  }
  (loops<S...>{});

  template <class Body>
  static constexpr Loop elementwise[] = {{signature_of<S>.type,
                                          &Elementwise<Body, compute_signature(S), operand_sequence<S>>::run, nullptr,
                                          nullptr, nullptr, nullptr}...};
  template <class Body>
  static constexpr Loop transcendental[] = {
      {signature_of<S>.type, Elementwise<Body, compute_signature(S), operand_sequence<S>>::position_independent(),
       nullptr, nullptr, nullptr, nullptr}...};
  template <class Body>
  static constexpr Loop indexed[] = {
      {signature_of<S>.type, nullptr, indexed_run<Body, S, operand_sequence<S>>(), nullptr, nullptr, nullptr}...};
  template <class Body>
  static constexpr Loop reduction[] = {
      {signature_of<S>.type, nullptr, nullptr, &Reduction<Body, compute_signature(S)>::table, nullptr, nullptr}...};
  template <class Body>
  static constexpr Loop multi_tensor[] = {{signature_of<S>.type, nullptr, nullptr, nullptr, nullptr,
                                           &MultiTensor<Body, compute_signature(S), operand_sequence<S>>::run}...};

  static constexpr KernelDef def(const char* name, const char* header, KernelKind kind, const Loop* table) {
    return {kernel_id(name),
            name,
            header,
            kind,
            std::uint8_t(first.count[0]),
            std::uint8_t(first.count[1]),
            std::uint8_t(first.count[2]),
            std::uint8_t(first.count[3]),
            first.raw,
            first.shared,
            no_traits,
            false,
            false,
            table,
            std::uint16_t(size)};
  }
};

template <class Body, class L>
constexpr KernelDef elementwise(const char* name, const char* header) {
  return LoopTable<L>::def(name, header, KernelKind::elementwise, LoopTable<L>::template elementwise<Body>);
}
// For bodies that call catena::m functions: see KernelDef::transcendental.
template <class Body, class L>
constexpr KernelDef transcendental(const char* name, const char* header) {
  KernelDef d = LoopTable<L>::def(name, header, KernelKind::elementwise, LoopTable<L>::template transcendental<Body>);
  d.transcendental = true;
  return d;
}
template <class Body, class L>
constexpr KernelDef indexed(const char* name, const char* header) {
  return LoopTable<L>::def(name, header, KernelKind::indexed, LoopTable<L>::template indexed<Body>);
}
template <class Body, class L>
constexpr KernelDef reduction(const char* name, const char* header, bool has_identity) {
  KernelDef d = LoopTable<L>::def(name, header, KernelKind::reduction, LoopTable<L>::template reduction<Body>);
  d.has_identity = has_identity;
  return d;
}
template <class Body, class L>
constexpr KernelDef multi_tensor(const char* name, const char* header) {
  return LoopTable<L>::def(name, header, KernelKind::multi_tensor, LoopTable<L>::template multi_tensor<Body>);
}

// The usual signature sets (spec/ndarray.md 7.2 names). The first loop that holds the inputs wins, so bfloat16 stands
// before float32, which would hold it too, and the exact comparisons of int64 with uint64 before float64.
using Floats1 = loops<"e->e", "E->E", "f->f", "d->d">;
using Floats2 = loops<"ee->e", "EE->E", "ff->f", "dd->d">;
using Floats3 = loops<"eee->e", "EEE->E", "fff->f", "ddd->d">;
using Floats4 = loops<"eeee->e", "EEEE->E", "ffff->f", "dddd->d">;
using Ints1 = loops<"b->b", "B->B", "h->h", "H->H", "i->i", "I->I", "l->l", "L->L">;
using Ints2 = loops<"bb->b", "BB->B", "hh->h", "HH->H", "ii->i", "II->I", "ll->l", "LL->L">;
using Bool1 = loops<"?->?">;
using Bool2 = loops<"??->?">;
using Numbers1 = join_loops<Ints1, Floats1>::type;
using Numbers2 = join_loops<Ints2, Floats2>::type;
using All1 = join_loops<Bool1, Numbers1>::type;
using All2 = join_loops<Bool2, Numbers2>::type;
using FloatPredicates1 = loops<"e->?", "E->?", "f->?", "d->?">;
using Predicates1 =
    loops<"?->?", "b->?", "B->?", "h->?", "H->?", "i->?", "I->?", "l->?", "L->?", "e->?", "E->?", "f->?", "d->?">;
using Predicates2 = loops<"??->?", "bb->?", "BB->?", "hh->?", "HH->?", "ii->?", "II->?", "ll->?", "LL->?", "ee->?",
                          "EE->?", "ff->?", "dd->?">;
using Comparisons = loops<"??->?", "bb->?", "BB->?", "hh->?", "HH->?", "ii->?", "II->?", "ll->?", "LL->?", "lL->?",
                          "Ll->?", "ee->?", "EE->?", "ff->?", "dd->?">;

}  // namespace catena::define
