// Products in which one operand is a wide matrix and the other one has at most kFew lines: rows if `a` has few rows,
// columns if b has few columns. The wide matrix is read once, in place. If it is contiguous along k, elements of the
// result are inner products of its rows with the few lines; if it is contiguous along the result, its rows are added to
// the result.
#include <catena/ndarray/cpu/gemm_thin.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/kernels/traits.h>
#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/partial_sums.h>
#include <catena/ndarray/cpu/tuning.h>
#include <catena/ndarray/cpu/workspace.h>

#define CATENA_INLINE inline __attribute__((always_inline))

namespace nd::cpu {
namespace {

constexpr std::int64_t kPart = 128;      // vectors along k that are added up in one part of a long sum
constexpr std::int64_t kPartRows = 128;  // rows of the wide matrix that are added up in one part of a long sum

template <class T> struct Thin {
  const T* wide;
  std::int64_t ld;     // step between the lines of the wide matrix
  std::int64_t lines;  // lines of the result along the wide matrix
  std::int64_t k;
  const T* few;  // packed: see the kernels
  std::int64_t pitch, chunks;
  T* c;
  std::int64_t wide_step, few_step;  // steps in c
};

template <class T, int bytes> struct Vector {
  static constexpr int L = bytes / int(sizeof(T));
  using Lane = std::make_signed_t<typename catena::uint_of_size<sizeof(T)>::type>;
  typedef T V __attribute__((vector_size(bytes)));
  typedef Lane Lanes __attribute__((vector_size(bytes)));

  // Selects the lanes from `first` on.
  static CATENA_INLINE void from(std::int64_t first, Lanes& set) {
    number(set, std::make_index_sequence<std::size_t(L)>());
    set = set >= Lane(first);
  }
  template <std::size_t... I> static CATENA_INLINE void number(Lanes& set, std::index_sequence<I...>) {
    set = Lanes{Lane(I)...};
  }
};

// ---- inner products -------------------------------------------------------------------------------
// A vector holds L / G groups of G lanes whose sum is wanted. Halves the groups of x and y and stores them in one
// vector, first the groups of x.
template <int G, class V, std::size_t... I>
CATENA_INLINE void fold(const V& x, const V& y, V& sum, std::index_sequence<I...>) {
  constexpr int L = int(sizeof...(I)), H = G / 2, own = L / G;
  const auto at = [](int lane) {
    return lane / H < own ? lane / H * G + lane % H : L + (lane / H - own) * G + lane % H;
  };
  sum = __builtin_shufflevector(x, y, at(int(I))...) + __builtin_shufflevector(x, y, (at(int(I)) + H)...);
}
// Stores the sums of the lanes of n vectors in lanes 0 to n - 1 of v[0]. n must be a power of two and at most L.
template <int G, int n, int L, class V> CATENA_INLINE void sums_of_lanes(V* v) {
  if constexpr (G > 1) {
    constexpr int next = n > 1 ? n / 2 : 1;
    for (int i = 0; i < next; ++i)
      fold<G>(v[n > 1 ? 2 * i : i], v[n > 1 ? 2 * i + 1 : i], v[i], std::make_index_sequence<std::size_t(L)>());
    sums_of_lanes<G / 2, next, L>(v);
  }
}

// Multiplies `rows` rows of the wide matrix, from row `first` on, by `few` lines, which are rows of t.pitch elements.
// `parts`: there are more than kPart vectors, which are added up in parts.
template <class T, int bytes, int rows, int few, bool parts>
CATENA_INLINE void inner_tile(const Thin<T>& t, std::int64_t first) {
  constexpr int L = bytes / int(sizeof(T));
  using V = typename Vector<T, bytes>::V;
  V acc[few][rows] = {};
  const T* const wide = t.wide + first * t.ld;
  std::int64_t p = 0;
  const auto step = [&](const T* x, const typename Vector<T, bytes>::Lanes& counts) __attribute__((always_inline)) {
    V y[few];
#pragma GCC unroll 4
    for (int j = 0; j < few; ++j) std::memcpy(&y[j], t.few + j * t.pitch + p, bytes);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      V w;
      std::memcpy(&w, x + i * t.ld, bytes);
      w = counts ? w : V{};
#pragma GCC unroll 4
      for (int j = 0; j < few; ++j) acc[j][i] += w * y[j];
    }
  };
  typename Vector<T, bytes>::Lanes counts;
  Vector<T, bytes>::from(0, counts);
  V level[parts ? PartialSums<V>::kLevels * few * rows : 1];
  PartialSums<V> sums(level, few * rows);
  if constexpr (parts)
    while (t.k - p > kPart * L) {
      for (const std::int64_t end = p + kPart * L; p < end; p += L) step(wide + p, counts);
      sums.take(acc[0]);
    }
  for (; p + L <= t.k; p += L) step(wide + p, counts);
  if (p < t.k) {
    // The last vector ends with the row; the lanes that it shares with the vector before are zero in both factors.
    Vector<T, bytes>::from(L - (t.k - p), counts);
    step(wide + t.k - L, counts);
  }
  if constexpr (parts) sums.add_to(acc[0]);
  for (int j = 0; j < few; ++j) {
    sums_of_lanes<L, rows, L>(acc[j]);
    for (int i = 0; i < rows; ++i) t.c[(first + i) * t.wide_step + j * t.few_step] = acc[j][0][i];
  }
}
// Computes groups of rows, and the last rows one by one: the sum of a row is the same in both cases.
template <class T, int bytes, int few, bool parts>
CATENA_INLINE void inner_products(const Thin<T>& t, std::int64_t begin, std::int64_t end) {
  constexpr int L = bytes / int(sizeof(T)), rows = std::min(L, few == 1 ? 8 : few == 2 || bytes == 64 ? 4 : 2);
  for (; begin + rows <= end; begin += rows) inner_tile<T, bytes, rows, few, parts>(t, begin);
  for (; begin < end; ++begin) inner_tile<T, bytes, 1, few, parts>(t, begin);
}

// ---- sums of rows ---------------------------------------------------------------------------------
// Adds `rows` rows of the wide matrix, times their factors, to n elements of each line of `sum`. There are k x few
// factors.
template <class T, int bytes, int few, int rows>
CATENA_INLINE void add_rows(const Thin<T>& t, const T* wide, const T* factor, T* sum, std::int64_t n) {
  constexpr int L = bytes / int(sizeof(T));
  using V = typename Vector<T, bytes>::V;
  T x[rows][few];
#pragma GCC unroll 8
  for (int p = 0; p < rows; ++p)
#pragma GCC unroll 4
    for (int j = 0; j < few; ++j) x[p][j] = factor[p * few + j];
  for (std::int64_t i = 0; i < n; i += L) {
    // The last vector ends with the lines; the lanes that it shares with the vector before stay unchanged.
    const std::int64_t at = std::min(i, n - L);
    typename Vector<T, bytes>::Lanes counts;
    Vector<T, bytes>::from(i - at, counts);
    V w[rows];
#pragma GCC unroll 8
    for (int p = 0; p < rows; ++p) std::memcpy(&w[p], wide + p * t.ld + at, bytes);
#pragma GCC unroll 4
    for (int j = 0; j < few; ++j) {
      V s;
      std::memcpy(&s, sum + j * kThinChunk + at, bytes);
      const V before = s;
#pragma GCC unroll 8
      for (int p = 0; p < rows; ++p) s += w[p] * (x[p][j] - V{});  // not x + 0, which would change -0
      s = counts ? s : before;
      std::memcpy(sum + j * kThinChunk + at, &s, bytes);
    }
  }
}
// `parts`: there are more than kPartRows rows, which are added up in parts.
template <class T, int bytes, int few, bool parts>
CATENA_INLINE void sums_of_rows(const Thin<T>& t, std::int64_t begin, std::int64_t end) {
  constexpr int together = few <= 2 || bytes == 64 ? int(kThinRows) : int(kThinRows) / 2;
  static_assert(kPartRows % together == 0);
  using V = typename Vector<T, bytes>::V;
  constexpr std::int64_t vectors = few * kThinChunk * std::int64_t(sizeof(T)) / bytes;
  V accumulators[vectors], level[parts ? PartialSums<V>::kLevels * vectors : 1];
  T* const sum = reinterpret_cast<T*>(accumulators);
  for (std::int64_t chunk = begin; chunk < end; ++chunk) {
    const std::int64_t first = t.lines * chunk / t.chunks, n = t.lines * (chunk + 1) / t.chunks - first;
    const std::int64_t used = (((few - 1) * kThinChunk + n) * std::int64_t(sizeof(T)) + bytes - 1) / bytes;
    std::fill_n(accumulators, used, V{});
    PartialSums<V> sums(level, used);
    std::int64_t p = 0;
    for (; p + together <= t.k; p += together) {
      if constexpr (parts)
        if (p > 0 && p % kPartRows == 0) sums.take(accumulators);
      add_rows<T, bytes, few, together>(t, t.wide + p * t.ld + first, t.few + p * few, sum, n);
    }
    for (; p < t.k; ++p) add_rows<T, bytes, few, 1>(t, t.wide + p * t.ld + first, t.few + p * few, sum, n);
    if constexpr (parts) sums.add_to(accumulators);
    T* const c = t.c + first * t.wide_step;
    for (int j = 0; j < few; ++j)
      if (t.wide_step == 1) std::memcpy(c + j * t.few_step, sum + j * kThinChunk, std::size_t(n) * sizeof(T));
      else
        for (std::int64_t i = 0; i < n; ++i) c[i * t.wide_step + j * t.few_step] = sum[j * kThinChunk + i];
  }
}

// ---- versions -------------------------------------------------------------------------------------
template <class T> using Kernel = void (*)(const Thin<T>&, std::int64_t begin, std::int64_t end);
template <class T> struct Kernels {
  std::int64_t lanes;
  Kernel<T> inner[kFew], sums[kFew];              // for 1 to kFew lines
  Kernel<T> inner_parts[kFew], sums_parts[kFew];  // for long sums of floats
};
// True if long sums are added up in parts. Integers have no rounding errors.
template <class T> constexpr bool has_parts = std::is_floating_point_v<T>;

#define CATENA_THIN(bytes, ...)                                                                                     \
  template <class T, int few, bool parts>                                                                           \
  __VA_ARGS__ void inner_##bytes(const Thin<T>& t, std::int64_t begin, std::int64_t end) {                          \
    inner_products<T, bytes, few, parts>(t, begin, end);                                                            \
  }                                                                                                                 \
  template <class T, int few, bool parts>                                                                           \
  __VA_ARGS__ void sums_##bytes(const Thin<T>& t, std::int64_t begin, std::int64_t end) {                           \
    sums_of_rows<T, bytes, few, parts>(t, begin, end);                                                              \
  }                                                                                                                 \
  template <class T, bool p = has_parts<T>>                                                                         \
  constexpr Kernels<T> kernels_##bytes{                                                                             \
      bytes / std::int64_t(sizeof(T)),                                                                              \
      {inner_##bytes<T, 1, false>, inner_##bytes<T, 2, false>, inner_##bytes<T, 3, false>,                          \
       inner_##bytes<T, 4, false>},                                                                                 \
      {sums_##bytes<T, 1, false>, sums_##bytes<T, 2, false>, sums_##bytes<T, 3, false>, sums_##bytes<T, 4, false>}, \
      {inner_##bytes<T, 1, p>, inner_##bytes<T, 2, p>, inner_##bytes<T, 3, p>, inner_##bytes<T, 4, p>},             \
      {sums_##bytes<T, 1, p>, sums_##bytes<T, 2, p>, sums_##bytes<T, 3, p>, sums_##bytes<T, 4, p>}};
CATENA_THIN(16)
#ifdef CATENA_HAS_MULTIARCH
CATENA_THIN(32, __attribute__((target("arch=x86-64-v3"))))
CATENA_THIN(64, __attribute__((target("arch=x86-64-v4"))))
#endif
#undef CATENA_THIN

// Returns the kernels for the longest vectors of the processor that lines of `bytes` bytes fill.
constexpr std::int64_t kLeastBytes = 16;
template <class T> const Kernels<T>& kernels([[maybe_unused]] std::int64_t bytes) {
#ifdef CATENA_HAS_MULTIARCH
  if (bytes >= 64 && __builtin_cpu_supports("x86-64-v4")) return kernels_64<T>;
  if (bytes >= 32 && __builtin_cpu_supports("x86-64-v3")) return kernels_32<T>;
#endif
  return kernels_16<T>;
}

// True if `a` has few rows, false if b has few columns. If both are few, the wide matrix is the one that is contiguous
// along k.
bool has_few_rows(const Gemm& g) {
  if (std::max(g.m, g.n) <= kFew && g.transpose_a == g.transpose_b) return g.transpose_b;
  return g.m <= g.n;
}
// True if the wide matrix is contiguous along k.
bool is_inner(const Gemm& g) { return has_few_rows(g) ? g.transpose_b : !g.transpose_a; }
// Number of lines of the result along the wide matrix.
std::int64_t wide_lines(const Gemm& g) { return has_few_rows(g) ? g.n : g.m; }
// Number of contiguous elements in the wide matrix.
std::int64_t line_length(const Gemm& g) { return is_inner(g) ? g.k : wide_lines(g); }

// True if the wide matrix is contiguous along the result, in lines too short for a long vector. It is then packed along
// k.
bool packs_wide(const Gemm& g, std::int64_t itemsize) {
  constexpr std::int64_t kShortLine = 64;
  return !is_inner(g) && line_length(g) * itemsize < kShortLine && g.k * itemsize >= kShortLine;
}

}  // namespace

bool is_thin(const Gemm& g, std::int64_t itemsize) {
  return std::min(g.m, g.n) <= kFew && (line_length(g) * itemsize >= kLeastBytes || packs_wide(g, itemsize));
}

namespace {

// The few lines: element p of line j is at p * k_step + j * line_step.
template <class T> struct FewLines {
  const T* from;
  std::int64_t k_step, line_step, lines, k;

  explicit FewLines(const Gemm& g) : lines(has_few_rows(g) ? g.m : g.n), k(g.k) {
    const bool rows = has_few_rows(g), transposed = rows ? g.transpose_a : !g.transpose_b;
    const std::int64_t ld = rows ? g.lda : g.ldb;
    from = reinterpret_cast<const T*>(rows ? g.a : g.b);
    k_step = transposed ? ld : 1;
    line_step = transposed ? 1 : ld;
  }
  // Packs k groups, each with one element of every line.
  void pack_factors(T* to) const {
    for (std::int64_t p = 0; p < k; ++p)
      for (std::int64_t j = 0; j < lines; ++j) *to++ = from[p * k_step + j * line_step];
  }
  // Packs each line as a row of vectors. The last vector has zeros, then the last elements of the line.
  void pack_rows(T* to, std::int64_t pitch, std::int64_t lanes) const {
    const std::int64_t whole = k / lanes * lanes, zeros = whole < k ? lanes - (k - whole) : 0;
    constexpr auto size = std::int64_t(sizeof(T));
    const bool side_by_side = line_step == 1 && lines > 1;
    if (side_by_side)
      transpose_block(reinterpret_cast<std::byte*>(to), pitch * size, reinterpret_cast<const std::byte*>(from),
                      k_step * size, lines, whole, sizeof(T));
    for (std::int64_t j = 0; j < lines; ++j, to += pitch) {
      const T* const line = from + j * line_step;
      for (std::int64_t p = 0; p < whole && !side_by_side; ++p) to[p] = line[p * k_step];
      std::fill_n(to + whole, zeros, T{});
      for (std::int64_t p = whole; p < k; ++p) to[p + zeros] = line[p * k_step];
    }
  }
};

// Packs the wide matrix to `to`, in rows along k. Returns the product with it.
template <class T> Gemm with_packed_wide(Gemm g, T* to) {
  const bool rows = has_few_rows(g);
  const auto* const from = reinterpret_cast<const T*>(rows ? g.b : g.a);
  const std::int64_t ld = rows ? g.ldb : g.lda, lines = wide_lines(g);
  constexpr auto size = std::int64_t(sizeof(T));
  transpose_block(reinterpret_cast<std::byte*>(to), g.k * size, reinterpret_cast<const std::byte*>(from), ld * size,
                  lines, g.k, sizeof(T));
  (rows ? g.b : g.a) = reinterpret_cast<const std::byte*>(to);
  (rows ? g.ldb : g.lda) = g.k;
  (rows ? g.transpose_b : g.transpose_a) = rows;
  return g;
}

}  // namespace

template <class T> void gemm_thin(const Gemm& g) {
  if (packs_wide(g, sizeof(T))) {
    const Workspace memory(sizeof(T) * std::size_t(wide_lines(g) * g.k));
    return gemm_thin<T>(with_packed_wide(g, reinterpret_cast<T*>(memory.data())));
  }
  const Kernels<T>& all = kernels<T>(line_length(g) * std::int64_t(sizeof(T)));
  const bool rows = has_few_rows(g), inner = is_inner(g);
  const FewLines<T> few(g);
  const std::int64_t pitch = (g.k + all.lanes - 1) / all.lanes * all.lanes;
  const std::size_t bytes = sizeof(T) * std::size_t(few.lines * pitch);
  alignas(64) std::byte stack[kThinBytes];
  const Workspace memory(bytes <= sizeof(stack) ? 0 : bytes);
  auto* const packed = reinterpret_cast<T*>(bytes <= sizeof(stack) ? stack : memory.data());
  if (inner) few.pack_rows(packed, pitch, all.lanes);
  else few.pack_factors(packed);
  const std::int64_t lines = wide_lines(g), chunks = (lines + kThinChunk - 1) / kThinChunk;
  const Thin<T> t{reinterpret_cast<const T*>(rows ? g.b : g.a),
                  rows ? g.ldb : g.lda,
                  lines,
                  g.k,
                  packed,
                  pitch,
                  chunks,
                  reinterpret_cast<T*>(g.c),
                  rows ? 1 : g.ldc,
                  rows ? g.ldc : 1};
  const bool parts = has_parts<T> && g.k > (inner ? kPart * all.lanes : kPartRows);
  const Kernel<T> run = (inner   ? parts ? all.inner_parts : all.inner
                         : parts ? all.sums_parts
                                 : all.sums)[few.lines - 1];
  const auto grain = [&](std::int64_t unit) { return (kLightGrain + unit * g.k - 1) / (unit * g.k); };
  if (inner)
    catena::parallel_for((lines + kThinRows - 1) / kThinRows, grain(kThinRows), [&](std::int64_t b, std::int64_t e) {
      run(t, b * kThinRows, std::min(e * kThinRows, lines));
    });
  else catena::parallel_for(chunks, grain(kThinChunk), [&](std::int64_t b, std::int64_t e) { run(t, b, e); });
}

namespace {
// An outer product: each sum begins with 0, so that -0 becomes 0.
template <class T> CATENA_MULTIARCH void multiply_row(T* c, T a, const T* b, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) c[j] = T(T(0) + T(a * b[j]));
}
}  // namespace

template <class T> void gemm_outer(const Gemm& g) {
  const T *a = reinterpret_cast<const T*>(g.a), *b = reinterpret_cast<const T*>(g.b);
  const std::int64_t a_step = g.transpose_a ? 1 : g.lda, b_step = g.transpose_b ? g.ldb : 1;
  const Workspace memory(b_step == 1 ? 0 : sizeof(T) * std::size_t(g.n));
  if (b_step != 1) {
    T* const line = reinterpret_cast<T*>(memory.data());
    for (std::int64_t j = 0; j < g.n; ++j) line[j] = b[j * b_step];
    b = line;
  }
  const std::int64_t grain = std::max<std::int64_t>(1, kLightGrain / g.n);
  catena::parallel_for(g.m, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      multiply_row(reinterpret_cast<T*>(g.c) + i * g.ldc, a[i * a_step], b, g.n);
  });
}

template void gemm_outer<float>(const Gemm&);
template void gemm_outer<double>(const Gemm&);
template void gemm_outer<std::uint8_t>(const Gemm&);
template void gemm_outer<std::uint16_t>(const Gemm&);
template void gemm_outer<std::uint32_t>(const Gemm&);
template void gemm_outer<std::uint64_t>(const Gemm&);
template void gemm_thin<float>(const Gemm&);
template void gemm_thin<double>(const Gemm&);
template void gemm_thin<std::uint8_t>(const Gemm&);
template void gemm_thin<std::uint16_t>(const Gemm&);
template void gemm_thin<std::uint32_t>(const Gemm&);
template void gemm_thin<std::uint64_t>(const Gemm&);

}  // namespace nd::cpu
