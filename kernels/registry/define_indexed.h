// Indexed kernels, including random numbers.
#pragma once

#include <algorithm>
#include <tuple>

#include <catena/kernels/index.h>
#include <catena/kernels/random.h>
#include <catena/kernels/registry/define.h>

namespace catena::define {

enum class Role { in, inout, out, raw };

template <class T, Role R> struct Argument;
template <class T> struct Argument<T, Role::in> {
  compute_t<T> value;
  ND_FN Argument(std::byte* p, const IndexedCall&, int) : value(load(element<T>(p))) {}
  ND_FN compute_t<T> get() { return value; }
  ND_FN void done(std::byte*) const {}
};
template <class T> struct Argument<T, Role::inout> : Argument<T, Role::in> {
  using Argument<T, Role::in>::Argument;
  ND_FN compute_t<T>& get() { return this->value; }
  ND_FN void done(std::byte* p) const { store(*reinterpret_cast<T*>(p), this->value); }
};
template <class T> struct Argument<T, Role::out> {
  compute_t<T> value{};
  ND_FN Argument(std::byte*, const IndexedCall&, int) {}
  ND_FN compute_t<T>& get() { return value; }
  ND_FN void done(std::byte* p) const { store(*reinterpret_cast<T*>(p), value); }
};
template <class T> struct Argument<T, Role::raw> {
  View<T> view;
  ND_FN Argument(std::byte*, const IndexedCall& c, int k)
      : view{reinterpret_cast<T*>(c.data[k]), c.shape[k]->data(), c.strides[k]->data()} {}
  ND_FN const View<T>& get() const { return view; }
  ND_FN void done(std::byte*) const {}
};

template <class Body, class I, class... A> ND_FN void run_indexed(const I& index, std::byte* const* p, A... argument) {
  Body::run(index, argument.get()...);
  int k = 0;
  (argument.done(p[k++]), ...);
}

// Calls each(index, operands, axis, n) for lines of n elements along the last axis that is longer than 1 (-1: a loop
// without axes). `each` must advance the position and the index along the axis.
template <fixed_string S, std::size_t... K, class F>
void walk_lines(const IndexedCall& c, std::int64_t begin, std::int64_t end, F&& each) {
  constexpr auto raw = signature_of<S>.raw;
  const Shape& loop = *c.loop;
  const int rank = loop.size();
  int axis = rank - 1;
  while (axis > 0 && loop[axis] == 1) --axis;
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
      if (!((raw >> k) & 1))
        for (int a = 0; a < rank; ++a) p[k] += index.axis[a] * (*c.strides[k])[a];
    }
    const std::int64_t in_line = axis < 0 ? 1 : loop[axis] - index.axis[axis];
    each(index, p, axis, std::min(in_line, end - index.position));
    for (int a = axis; a > 0 && index.axis[a] == loop[a]; --a) {
      index.axis[a] = 0;
      ++index.axis[a - 1];
    }
  }
}

template <class Body, fixed_string S, class Seq> struct Indexed;
template <class Body, fixed_string S, std::size_t... K> struct Indexed<Body, S, std::index_sequence<K...>> {
  static constexpr Signature sig = signature_of<S>;
  static constexpr Role role(int k) {
    if ((sig.raw >> k) & 1) return Role::raw;
    return k < sig.count[0] ? Role::in : (k < sig.count[0] + sig.count[1] ? Role::inout : Role::out);
  }

  static void run(const IndexedCall& c, std::int64_t begin, std::int64_t end) {
    walk_lines<S, K...>(c, begin, end, [&](Index<kMaxIndexRank>& index, std::byte** p, int axis, std::int64_t n) {
      for (std::int64_t j = 0; j < n; ++j) {
        run_indexed<Body>(index, p, Argument<stored_t<S, int(K)>, role(int(K))>(p[K], c, int(K))...);
        ++index.position;
        if (axis < 0) break;
        ++index.axis[axis];
        ((((sig.raw >> K) & 1) ? void() : void(p[K] += (*c.strides[K])[axis])), ...);
      }
    });
  }
};

// For bodies with from_words (kernels/random.h) over a one-dimensional loop: the random words of a whole tile are
// computed at once, in vectors. Results do not depend on where a tile starts. The first two scalar inputs are seed and
// offset.
inline constexpr int kRandomTile = 256;
template <int Streams, bool Pairs> struct alignas(64) WordTile {
  uint32_t word[Streams][kRandomTile];
  uint32_t pair[2][Streams][Pairs ? kRandomTile : 1];  // even and odd word, at both positions of a pair

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

// Computes a tile of results in the types of H.
template <class Body, fixed_string H, class Seq> struct RandomTile;
template <class Body, fixed_string H, std::size_t... K> struct RandomTile<Body, H, std::index_sequence<K...>> {
  static constexpr int nin = signature_of<H>.count[0];
  template <int N> static constexpr bool is_array = N >= nin || ((Body::arrays >> N) & 1);
  template <int N> struct alignas(64) Part {
    computed_t<H, N> v[is_array<N> ? kRandomTile : 1];
    ND_FN computed_t<H, N>& operator[](int j) { return v[is_array<N> ? j : 0]; }
  };
  using Parts = std::tuple<Part<int(K)>...>;

  CATENA_MULTIARCH static void make(Parts& part, std::int64_t start, uint64_t seed, uint64_t offset) {
    constexpr bool pairs = requires { Body::pairs; };
    WordTile<Body::template streams<computed_t<H, nin>>(), pairs> words;
    words.fill(seed, offset + (uint64_t(start) >> 2));
    if constexpr (requires { Body::tile(words, 0, 0, 0, std::get<nin>(part).v); })
      if (Body::tile(words, kRandomTile, std::get<nin - 2>(part)[0], std::get<nin - 1>(part)[0], std::get<nin>(part).v))
        return;
#pragma GCC ivdep
    for (int j = 0; j < kRandomTile; ++j) Body::from_words(words, j, start + j, std::get<K>(part)[j]...);
  }
};
template <class Body, fixed_string S, fixed_string H, class Seq> struct RandomIndexed;
template <class Body, fixed_string S, fixed_string H, std::size_t... K>
struct RandomIndexed<Body, S, H, std::index_sequence<K...>> {
  using Tile = RandomTile<Body, H, std::index_sequence<K...>>;
  static constexpr int nin = Tile::nin, seed_at = Body::arrays & 1 ? 1 : 0;
  template <int N> using Part = typename Tile::template Part<N>;
  template <int N> static void fetch_scalar(Part<N>& part, const std::byte* p) {
    if constexpr (!Tile::template is_array<N>) part.v[0] = load(*reinterpret_cast<const stored_t<S, N>*>(p));
  }
  template <int N> static void fetch(Part<N>& part, const std::byte* p, std::int64_t stride, int first, int n) {
    if constexpr (Tile::template is_array<N> && N < nin) {
      for (int j = 0; j < kRandomTile; ++j) part.v[j] = computed_t<S, N>(0);
      for (int j = 0; j < n; ++j) part.v[first + j] = load(*reinterpret_cast<const stored_t<S, N>*>(p + j * stride));
    }
  }
  template <int N> static void flush(const Part<N>& part, std::byte* p, std::int64_t stride, int first, int n) {
    if constexpr (N >= nin) {
      using Stored = stored_t<S, N>;
      const auto* v = part.v + first;
      if (stride == std::int64_t(sizeof(Stored))) {
        Stored* y = reinterpret_cast<Stored*>(p);
        for (int j = 0; j < n; ++j) store(y[j], static_cast<computed_t<S, N>>(v[j]));
      } else {
        for (int j = 0; j < n; ++j)
          store(*reinterpret_cast<Stored*>(p + j * stride), static_cast<computed_t<S, N>>(v[j]));
      }
    }
  }

  static void tiles(const IndexedCall& c, const std::int64_t* stride, std::int64_t begin, std::int64_t end) {
    typename Tile::Parts part;
    (fetch_scalar<int(K)>(std::get<K>(part), c.data[K]), ...);
    const uint64_t seed = std::get<std::size_t(seed_at)>(part).v[0],
                   offset = std::get<std::size_t(seed_at + 1)>(part).v[0];
    while (begin < end) {
      const int first = int(begin & 3), room = kRandomTile - first, n = int(end - begin < room ? end - begin : room);
      (fetch<int(K)>(std::get<K>(part), c.data[K] + begin * stride[K], stride[K], first, n), ...);
      Tile::make(part, begin - first, seed, offset);
      (flush<int(K)>(std::get<K>(part), c.data[K] + begin * stride[K], stride[K], first, n), ...);
      begin += n;
    }
  }
  static void run(const IndexedCall& c, std::int64_t begin, std::int64_t end) {
    const int rank = c.loop->size();
    const std::int64_t stride[] = {(rank == 1 ? (*c.strides[K])[0] : 0)...};
    const bool scalars = ((Tile::template is_array<int(K)> || stride[K] == 0) && ...);
    if (rank == 1 && scalars) tiles(c, stride, begin, end);
    else Indexed<Body, S, std::index_sequence<K...>>::run(c, begin, end);
  }
};
// For bodies with the member of_position, which have one output and read only scalars and the position: contiguous
// results are computed in vectors.
template <class Body, fixed_string S, class Seq> struct PositionIndexed;
template <class Body, fixed_string S, std::size_t... K> struct PositionIndexed<Body, S, std::index_sequence<K...>> {
  static constexpr int nin = signature_of<S>.count[0];
  using Out = stored_t<S, nin>;
  struct Position {
    std::int64_t at;
    ND_FN std::int64_t linear() const { return at; }
  };

  CATENA_MULTIARCH static void line(Out* y, std::int64_t begin, std::int64_t end, computed_t<S, int(K)>... numbers) {
    for (std::int64_t i = begin; i < end; ++i) {
      compute_t<Out> v;
      Body::run(Position{i}, numbers..., v);
      store(y[i], v);
    }
  }
  static void run(const IndexedCall& c, std::int64_t begin, std::int64_t end) {
    const bool flat =
        c.loop->size() == 1 && (*c.strides[nin])[0] == std::int64_t(sizeof(Out)) && (((*c.strides[K])[0] == 0) && ...);
    if (flat) line(reinterpret_cast<Out*>(c.data[nin]), begin, end, load(element<stored_t<S, int(K)>>(c.data[K]))...);
    else Indexed<Body, S, std::make_index_sequence<sizeof...(K) + 1>>::run(c, begin, end);
  }
};

template <class Body, fixed_string S, Sharing Share, class Seq> constexpr IndexedFn indexed_run() {
  if constexpr (requires { Body::of_position; })
    return &PositionIndexed<Body, S, std::make_index_sequence<std::size_t(signature_of<S>.count[0])>>::run;
  else if constexpr (requires { Body::arrays; }) return &RandomIndexed<Body, S, host_signature<S, Share>(), Seq>::run;
  else return &Indexed<Body, S, Seq>::run;
}
template <class Body, Sharing Share, class L> struct IndexedLoops;
template <class Body, Sharing Share, fixed_string... S> struct IndexedLoops<Body, Share, loops<S...>> {
  static constexpr Loop table[] = {
      {.type = signature_of<S>.type, .indexed = indexed_run<Body, S, Share, operand_sequence<S>>()}...};
};
// `Share` affects only random numbers; other loops read and write exactly the dtypes of their operands.
template <class Body, class L, Sharing Share = separate>
constexpr KernelDef indexed(const char* name, const char* header) {
  return make_row(name, header, KernelKind::indexed, IndexedLoops<Body, Share, L>::table, L{});
}

}  // namespace catena::define
