// The inner loops of sorts: networks of comparisons between vectors and between the lanes of a vector, and partitions.
#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/sort_network.h>

#ifdef CATENA_HAS_MULTIARCH
#include <immintrin.h>
#endif

#define CATENA_INLINE inline __attribute__((always_inline))

namespace nd::cpu {
namespace {

// Compare-exchange operations on pairs of N places: afterwards the lower place has the lower key.
struct Exchanges {
  int n = 0;
  std::int8_t low[64] = {}, high[64] = {};

  constexpr void add(int a, int b) {
    low[n] = std::int8_t(a);
    high[n++] = std::int8_t(b);
  }
};

// Calls exchange(i, j) for Batcher's odd-even merge sort: Algorithm M in section 5.2.2 of Knuth's The Art of Computer
// Programming.
template <class F> constexpr CATENA_INLINE void odd_even_merge_sort(std::int64_t n, F&& exchange) {
  std::int64_t top = 1;
  while (2 * top < n) top *= 2;
  for (std::int64_t p = top; p > 0; p /= 2) {
    std::int64_t q = top, r = 0, d = p;
    for (;; d = q - p, q /= 2, r = p) {
      for (std::int64_t from = r; from + d < n; from += 2 * p)
        for (std::int64_t i = from; i < from + p && i + d < n; ++i) exchange(i, i + d);
      if (q == p) break;
    }
  }
}
constexpr Exchanges to_sort(int n) {
  Exchanges e;
  odd_even_merge_sort(n, [&](std::int64_t a, std::int64_t b) { e.add(int(a), int(b)); });
  return e;
}
// Returns the exchanges that sort n keys which first ascend and then descend, or a rotation of such a sequence.
constexpr Exchanges to_sort_bitonic(int n) {
  Exchanges e;
  int part = n;
  for (; part % 2 == 0; part /= 2)
    for (int from = 0; from < n; from += part)
      for (int i = from; i < from + part / 2; ++i) e.add(i, i + part / 2);
  const Exchanges rest = to_sort(part);
  for (int from = 0; from < n; from += part)
    for (int k = 0; k < rest.n; ++k) e.add(from + rest.low[k], from + rest.high[k]);
  return e;
}
template <int N> inline constexpr Exchanges kSort = to_sort(N);
template <int N> inline constexpr Exchanges kSortBitonic = to_sort_bitonic(N);

// Vectors are passed by reference, because passing them by value depends on the instruction set.
template <class Key, int bytes> struct Network {
  static constexpr int L = bytes / int(sizeof(Key));
  using Lanes = std::make_index_sequence<std::size_t(L)>;
  typedef Key V __attribute__((vector_size(bytes)));

  static CATENA_INLINE void exchange(V& a, V& b) {
    const V low = a < b ? a : b, high = a < b ? b : a;
    a = low;
    b = high;
  }
  template <const Exchanges& E, std::size_t... I>
  static CATENA_INLINE void exchange_all([[maybe_unused]] V* v, std::index_sequence<I...>) {
    (exchange(v[E.low[I]], v[E.high[I]]), ...);
  }
  template <const Exchanges& E> static CATENA_INLINE void exchange_all(V* v) {
    exchange_all<E>(v, std::make_index_sequence<std::size_t(E.n)>());
  }
  template <int N> static CATENA_INLINE void copy(V* to, const V* from) {
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) to[i] = from[i];
  }

  // Exchanges a[l] with other[l ^ Flip]: lane l of `a` keeps the lower key if l & Bit is 0, else the higher one.
  template <int Flip, int Bit, std::size_t... I>
  static CATENA_INLINE void exchange_lanes(V& a, const V& other, std::index_sequence<I...>) {
    const V b = __builtin_shufflevector(other, other, (int(I) ^ Flip)...);
    const V low = a < b ? a : b, high = a < b ? b : a;
    a = __builtin_shufflevector(low, high, (int(I) & Bit ? L + int(I) : int(I))...);
  }
  template <int Distance> static CATENA_INLINE void merge_lanes(V& a) {
    if constexpr (Distance > 0) {
      exchange_lanes<Distance, Distance>(a, a, Lanes());
      merge_lanes<Distance / 2>(a);
    }
  }
  // Joins pairs of sorted rows of m * Width keys to rows twice as long, every lane of which is bitonic. The first step
  // compares the keys of one row with those of the other row in reverse order.
  template <int Width> static CATENA_INLINE void join(V* v, std::int64_t m) {
#ifndef __SANITIZE_ADDRESS__  // GCC finds no loop to unroll among the sanitizer's checks
#pragma GCC unroll 4
#endif
    for (std::int64_t i = 0; i < (m + 1) / 2; ++i) {
      V a = v[i], b = v[m - 1 - i];
      const V given = a;
      exchange_lanes<2 * Width - 1, Width>(a, b, Lanes());
      exchange_lanes<2 * Width - 1, Width>(b, given, Lanes());
      merge_lanes<Width / 2>(a);
      merge_lanes<Width / 2>(b);
      v[i] = a;
      v[m - 1 - i] = b;
    }
  }

  static CATENA_INLINE void transpose(const Key* v, std::int64_t m, Key* to) {
    for (int l = 0; l < L; ++l)
      for (std::int64_t i = 0; i < m; ++i) to[l * m + i] = v[i * L + l];
  }

  // ---- few vectors, in registers ----
  template <int M, int Width> static CATENA_INLINE void merge_few(V* v) {
    if constexpr (Width < L) {
      join<Width>(v, M);
      exchange_all<kSortBitonic<M>>(v);
      merge_few<M, 2 * Width>(v);
    }
  }
  template <int M> static CATENA_INLINE void sort_few(V* v, Key* sorted) {
    V a[M];
    copy<M>(a, v);
    exchange_all<kSort<M>>(a);
    merge_few<M, 1>(a);
    copy<M>(v, a);
    transpose(reinterpret_cast<const Key*>(v), M, sorted);
  }
  template <int N> static CATENA_INLINE void sort_bitonic_parts(V* v, std::int64_t m) {
    for (std::int64_t from = 0; from < m; from += N) {
      V a[N];
      copy<N>(a, v + from);
      exchange_all<kSortBitonic<N>>(a);
      copy<N>(v + from, a);
    }
  }

  // ---- many vectors, m = 4..7 times a power of two ----
  static CATENA_INLINE void sort_lanes(V* v, std::int64_t n) {
    odd_even_merge_sort(
        n, [v](std::int64_t i, std::int64_t j) __attribute__((always_inline)) { exchange(v[i], v[j]); });
  }
  static CATENA_INLINE void sort_bitonic_lanes(V* v, std::int64_t m) {
    std::int64_t n = m;      // length of the parts
    for (; n >= 16; n /= 4)  // two steps at once, so that the vectors are loaded and stored half as often
      for (std::int64_t from = 0; from < m; from += n)
        for (std::int64_t i = from; i < from + n / 4; ++i) {
          V &a = v[i], &b = v[i + n / 4], &c = v[i + n / 2], &d = v[i + n / 4 * 3];
          exchange(a, c);
          exchange(b, d);
          exchange(a, b);
          exchange(c, d);
        }
    for (; n >= 8; n /= 2)
      for (std::int64_t from = 0; from < m; from += n)
        for (std::int64_t i = from; i < from + n / 2; ++i) exchange(v[i], v[i + n / 2]);
    switch (n) {
      case 5: return sort_bitonic_parts<5>(v, m);
      case 6: return sort_bitonic_parts<6>(v, m);
      case 7: return sort_bitonic_parts<7>(v, m);
      default: return sort_bitonic_parts<4>(v, m);
    }
  }
  template <int Width> static CATENA_INLINE void merge(V* v, std::int64_t m) {
    if constexpr (Width < L) {
      join<Width>(v, m);
      sort_bitonic_lanes(v, m);
      merge<2 * Width>(v, m);
    }
  }

  static CATENA_INLINE void rows(Key* keys, std::int64_t n) { sort_lanes(reinterpret_cast<V*>(keys), n); }
  static CATENA_INLINE void row(Key* keys, std::int64_t m, Key* sorted) {
    V* const v = reinterpret_cast<V*>(keys);
    switch (m) {
      case 1: return sort_few<1>(v, sorted);
      case 2: return sort_few<2>(v, sorted);
      case 3: return sort_few<3>(v, sorted);
      case 4: return sort_few<4>(v, sorted);
      case 5: return sort_few<5>(v, sorted);
      case 6: return sort_few<6>(v, sorted);
      case 7: return sort_few<7>(v, sorted);
      case 8: return sort_few<8>(v, sorted);
      case 12: return sort_few<12>(v, sorted);
      case 16: return sort_few<16>(v, sorted);
      default:
        sort_lanes(v, m);
        merge<1>(v, m);
        transpose(keys, m, sorted);
    }
  }
};

// ---- partitions ---------------------------------------------------------------------------------
// The places of `to` that are not written yet are [low, high), as many as there are keys left.
template <class Key> struct Partition {
  const Key* from;
  std::int64_t left;
  Key pivot;
  Key* to;
  std::int64_t low = 0, high = left;

  // Partitions the rest key by key: writes each key to both ends, then moves the end to which it belongs.
  CATENA_INLINE std::int64_t finish() {
    for (; left > 0; --left) {
      const Key key = *from++;
      const bool below = key < pivot;
      to[low] = key;
      to[high - 1] = key;
      low += below;
      high -= !below;
    }
    return low;
  }
};

#ifdef CATENA_HAS_MULTIARCH
// For every set of 8 or fewer lanes that are below the pivot: the numbers of these lanes, then of the other lanes. A
// lane has `Words` numbers.
template <int Lanes, int Words> struct LaneOrders {
  alignas(64) std::int8_t lane[1 << Lanes][8] = {};

  constexpr LaneOrders() {
    for (int set = 0; set < 1 << Lanes; ++set) {
      int n = 0;
      for (const int below : {1, 0})
        for (int l = 0; l < Lanes; ++l)
          if ((set >> l & 1) == below)
            for (int w = 0; w < Words; ++w) lane[set][n++] = std::int8_t(Words * l + w);
    }
  }
};
template <int Lanes, int Words> inline constexpr LaneOrders<Lanes, Words> kLaneOrders{};

// A vector is stored beyond its keys; later vectors overwrite the excess. The other end must therefore be a vector
// away.
template <class Key>
__attribute__((target("arch=x86-64-v3"))) std::int64_t partition_32(const Key* from, std::int64_t n, Key pivot,
                                                                    Key* to) {
  constexpr int L = 32 / int(sizeof(Key));
  Partition<Key> p{from, n, pivot, to};
  const __m256i limit = sizeof(Key) == 4 ? _mm256_set1_epi32(int(pivot)) : _mm256_set1_epi64x(std::int64_t(pivot));
  for (; p.left >= 2 * L; p.left -= L, p.from += L) {
    const __m256i keys = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p.from));
    int below;
    if constexpr (sizeof(Key) == 4) below = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(limit, keys)));
    else below = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(limit, keys)));
    const __m256i order =
        _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(kLaneOrders<L, 8 / L>.lane[below])));
    const __m256i both = _mm256_permutevar8x32_epi32(keys, order);
    const int lows = std::popcount(unsigned(below));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + p.low), both);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + p.high - L), both);
    p.low += lows;
    p.high -= L - lows;
  }
  return p.finish();
}

// Partitions 64-bit keys. One permutation takes half the time of two compressions, one of which needs a masked store.
// Narrower keys have too many lanes per vector for a table, so partition_32 is faster for them.
__attribute__((target("arch=x86-64-v4"))) std::int64_t partition_64(const std::int64_t* from, std::int64_t n,
                                                                    std::int64_t pivot, std::int64_t* to) {
  constexpr int L = 8;
  Partition<std::int64_t> p{from, n, pivot, to};
  for (; p.left >= 2 * L; p.left -= L, p.from += L) {
    const __m512i keys = _mm512_loadu_si512(p.from);
    const __mmask8 below = _mm512_cmplt_epi64_mask(keys, _mm512_set1_epi64(pivot));
    // A mask that selects all lanes: GCC 12 warns of an undefined operand in the intrinsics without a mask.
    const __m128i numbers = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kLaneOrders<L, 1>.lane[below]));
    const __m512i order = _mm512_maskz_cvtepi8_epi64(0xff, numbers);
    const __m512i both = _mm512_maskz_permutexvar_epi64(0xff, order, keys);
    const int lows = std::popcount(unsigned(below));
    _mm512_storeu_si512(to + p.low, both);
    _mm512_storeu_si512(to + p.high - L, both);
    p.low += lows;
    p.high -= L - lows;
  }
  return p.finish();
}
#endif
template <class Key> std::int64_t partition_16(const Key* from, std::int64_t n, Key pivot, Key* to) {
  return Partition<Key>{from, n, pivot, to}.finish();
}

// The versions of the loops. target_clones cannot make them, because the number of lanes depends on the instruction
// set.
template <class Key> struct Choice {
  static void rows_16(Key* keys, std::int64_t n) { Network<Key, 16>::rows(keys, n); }
  static void row_16(Key* keys, std::int64_t m, Key* sorted) { Network<Key, 16>::row(keys, m, sorted); }
#ifdef CATENA_HAS_MULTIARCH
#define CATENA_NETWORK(bytes, arch)                                                               \
  __attribute__((target(arch))) static void rows_##bytes(Key* keys, std::int64_t n) {             \
    Network<Key, bytes>::rows(keys, n);                                                           \
  }                                                                                               \
  __attribute__((target(arch))) static void row_##bytes(Key* keys, std::int64_t m, Key* sorted) { \
    Network<Key, bytes>::row(keys, m, sorted);                                                    \
  }
  CATENA_NETWORK(32, "arch=x86-64-v3")
  CATENA_NETWORK(64, "arch=x86-64-v4")
#undef CATENA_NETWORK
#endif
  static SortNetwork<Key> choose() {
#ifdef CATENA_HAS_MULTIARCH
    if (__builtin_cpu_supports("x86-64-v4")) {
      if constexpr (sizeof(Key) == 8) return {Network<Key, 64>::L, rows_64, row_64, partition_64};
      else return {Network<Key, 64>::L, rows_64, row_64, partition_32<Key>};
    }
    if (__builtin_cpu_supports("x86-64-v3")) return {Network<Key, 32>::L, rows_32, row_32, partition_32<Key>};
#endif
    return {Network<Key, 16>::L, rows_16, row_16, partition_16<Key>};
  }
};

}  // namespace

const SortNetwork<std::int32_t>& sort_network(std::int32_t) {
  static const SortNetwork<std::int32_t> network = Choice<std::int32_t>::choose();
  return network;
}
const SortNetwork<std::int64_t>& sort_network(std::int64_t) {
  static const SortNetwork<std::int64_t> network = Choice<std::int64_t>::choose();
  return network;
}

}  // namespace nd::cpu
