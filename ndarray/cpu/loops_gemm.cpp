// The portable matrix product: blocked and packed, around a small kernel that the compiler vectorises. It is used for
// integers and bools, and for floats if there is no BLAS library. Results do not depend on the number of threads.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/complex_math.h>
#include <catena/kernels/numeric.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/gemm.h>
#include <catena/ndarray/cpu/gemm_thin.h>
#include <catena/ndarray/cpu/tuning.h>
#include <catena/ndarray/cpu/workspace.h>

#ifdef CATENA_HAS_MULTIARCH
#include <immintrin.h>
#endif

namespace nd::cpu {
namespace {

// Multiplication and addition of elements. Unsigned types wrap like integers of their width.
template <class T> struct Ring {
  using Element = T;
  static constexpr bool is_bool = false;
  static T add(T a, T b) { return T(a + b); }
};
struct Bool {};
template <> struct Ring<Bool> {
  using Element = std::uint8_t;
  static constexpr bool is_bool = true;
  static std::uint8_t add(std::uint8_t a, std::uint8_t b) { return a | b; }
};

// One tile: c (`rows` x `columns`) = or += a (rows x k) @ b, where b is a panel of `nr` columns. Element (i, p) of a is
// at i * a_row + p * a_step. Rows of b are `b_step` apart.
template <class T> struct Tile {
  const T* a;
  std::int64_t a_row, a_step;
  const T* b;
  std::int64_t b_step;
  std::int64_t k;
  T* c;
  std::int64_t ldc;
  int rows, columns;
  bool first;  // store to c instead of adding
};

// The rows of `a` of a tile. Only every third row has a pointer; the address modes of the processor reach the others. A
// pointer per row would need more registers than there are.
template <class T, int mr> class RowsInPlace {
 public:
  explicit inline __attribute__((always_inline)) RowsInPlace(const Tile<T>& t) : row_(t.a_row), step_(t.a_step) {
    for (int g = 0; g < kGroups; ++g) at_[g] = t.a + 3 * g * row_;
  }
  inline __attribute__((always_inline)) T operator[](int i) const { return at_[i / 3][i % 3 * row_]; }
  inline __attribute__((always_inline)) void advance() {
#pragma GCC unroll 5
    for (int g = 0; g < kGroups; ++g) {
      at_[g] += step_;
      asm("" : "+r"(at_[g]));
    }
  }

 private:
  static constexpr int kGroups = (mr + 2) / 3;
  const T* at_[kGroups];
  std::int64_t row_, step_;
};
template <class T> class PackedRows {
 public:
  explicit inline __attribute__((always_inline)) PackedRows(const Tile<T>& t) : at_(t.a), step_(t.a_step) {}
  inline __attribute__((always_inline)) T operator[](int i) const { return at_[i]; }
  inline __attribute__((always_inline)) void advance() { at_ += step_; }

 private:
  const T* at_;
  std::int64_t step_;
};

// Stores the first n elements of a vector.
template <int bytes, class T, class V>
inline __attribute__((always_inline)) void store_first(T* to, const V& v, int n) {
#ifdef CATENA_HAS_MULTIARCH
  if constexpr (bytes == 64) {
    typedef char Bytes __attribute__((vector_size(64)));
    const std::uint64_t all = ~std::uint64_t(0), some = n > 0 ? all >> (64 - n * int(sizeof(T))) : 0;
    __builtin_ia32_storedquqi512_mask(reinterpret_cast<char*>(to), reinterpret_cast<const Bytes&>(v), some);
    return;
  }
#endif
  T cells[bytes / sizeof(T)];
  std::memcpy(cells, &v, bytes);
  for (int j = 0; j < n; ++j) to[j] = cells[j];
}

// Uses mr x nv accumulator vectors. nv = 2 fills the registers that the operands leave free; nv = 1 is for the last
// columns.
template <class R, bool packed, int bytes, int mr, int nv>
inline __attribute__((always_inline)) void multiply_tile(const Tile<typename R::Element>& t) {
  using T = typename R::Element;
  constexpr int lanes = bytes / int(sizeof(T)), nr = nv * lanes;
  typedef T V __attribute__((vector_size(bytes)));
  V acc[mr][nv] = {};
  std::conditional_t<packed, PackedRows<T>, RowsInPlace<T, mr>> a(t);
  const T* b = t.b;
  const std::int64_t b_step = t.b_step, ldc = t.ldc;
  for (std::int64_t p = t.k; p > 0; --p, b += b_step) {
    V row[nv];
#pragma GCC unroll 2
    for (int v = 0; v < nv; ++v) std::memcpy(&row[v], b + v * lanes, bytes);
#pragma GCC unroll 14
    for (int i = 0; i < mr; ++i) {
      const V x = a[i] - V{};  // not x + 0, which would change -0
#pragma GCC unroll 2
      for (int v = 0; v < nv; ++v) {
        if constexpr (R::is_bool) acc[i][v] |= x & row[v];
        else acc[i][v] += x * row[v];
      }
    }
    a.advance();
  }
  T* c = t.c;
  const int rows = packed ? t.rows : mr, columns = t.columns;
  if (t.first) {
    const bool whole = columns == nr;
#pragma GCC unroll 14
    for (int i = 0; i < mr; ++i, c += ldc) {
      if (i >= rows) break;
#pragma GCC unroll 2
      for (int v = 0; v < nv; ++v)
        if (whole) std::memcpy(c + v * lanes, &acc[i][v], bytes);
        else store_first<bytes>(c + v * lanes, acc[i][v], std::clamp(columns - v * lanes, 0, lanes));
    }
    return;
  }
#pragma GCC unroll 14
  for (int i = 0; i < mr; ++i, c += ldc) {
    if (i >= rows) break;
    T cells[nr];
#pragma GCC unroll 2
    for (int v = 0; v < nv; ++v) std::memcpy(cells + v * lanes, &acc[i][v], bytes);
    for (int j = 0; j < columns; ++j) c[j] = R::add(c[j], cells[j]);
  }
}

template <class R> struct Micro {
  // Index 0: for at most `lanes` columns; index 1: for more.
  using Multiply = void (*)(const Tile<typename R::Element>&);
  int mr, few_rows, lanes;
  Multiply packed[2], in_place[2], few[2], one[2];  // for mr, mr, few_rows and one row
};
template <class R, bool packed, int mr, int nv> void multiply_16(const Tile<typename R::Element>& t) {
  multiply_tile<R, packed, 16, mr, nv>(t);
}
#ifdef CATENA_HAS_MULTIARCH
template <class R, bool packed, int mr, int nv>
__attribute__((target("arch=x86-64-v3"))) void multiply_32(const Tile<typename R::Element>& t) {
  multiply_tile<R, packed, 32, mr, nv>(t);
}
template <class R, bool packed, int mr, int nv>
__attribute__((target("arch=x86-64-v4"))) void multiply_64(const Tile<typename R::Element>& t) {
  multiply_tile<R, packed, 64, mr, nv>(t);
}
#endif
#define CATENA_MICRO(bytes, mr, few)                                                \
  Micro<R> {                                                                        \
    mr, few, bytes / int(sizeof(typename R::Element)),                              \
        {multiply_##bytes<R, true, mr, 2>, multiply_##bytes<R, true, mr, 1>},       \
        {multiply_##bytes<R, false, mr, 2>, multiply_##bytes<R, false, mr, 1>},     \
        {multiply_##bytes<R, false, few, 2>, multiply_##bytes<R, false, few, 1>}, { \
      multiply_##bytes<R, false, 1, 2>, multiply_##bytes<R, false, 1, 1>            \
    }                                                                               \
  }
template <class R> Micro<R> choose_micro() {
#ifdef CATENA_HAS_MULTIARCH
  if (__builtin_cpu_supports("x86-64-v4")) return CATENA_MICRO(64, 14, 5);
  if (__builtin_cpu_supports("x86-64-v3")) return CATENA_MICRO(32, 6, 3);
#endif
  return CATENA_MICRO(16, 6, 3);
}
#undef CATENA_MICRO
template <class R> const Micro<R>& micro() {
  static const Micro<R> chosen = choose_micro<R>();
  return chosen;
}

// Packs panels of `width` lines, k deep, padded with zeros. Element (line, p) of the source is at line * line_step + p
// * k_step.
template <class T>
void pack(const T* from, std::int64_t line_step, std::int64_t k_step, std::int64_t lines, std::int64_t k, int width,
          T* to) {
  constexpr auto size = std::int64_t(sizeof(T));
  for (std::int64_t l = 0; l < lines; l += width) {
    const auto n = static_cast<int>(std::min<std::int64_t>(width, lines - l));
    const T* panel = from + l * line_step;
    if (line_step == 1) {
      for (std::int64_t p = 0; p < k; ++p, to += width) {
        std::memcpy(to, panel + p * k_step, sizeof(T) * std::size_t(n));
        std::fill_n(to + n, width - n, T{});
      }
      continue;
    }
    if (k_step == 1) {
      transpose_block(reinterpret_cast<std::byte*>(to), width * size, reinterpret_cast<const std::byte*>(panel),
                      line_step * size, k, n, sizeof(T));
    } else {
      for (int i = 0; i < n; ++i)
        for (std::int64_t p = 0; p < k; ++p) to[p * width + i] = panel[i * line_step + p * k_step];
    }
    for (std::int64_t p = 0; n < width && p < k; ++p) std::fill_n(to + p * width + n, width - n, T{});
    to += k * width;
  }
}

// c = op(a) @ op(b) for element types.
template <class R> class Multiplication {
 public:
  using T = typename R::Element;

  explicit Multiplication(const Gemm& g)
      : g_(g),
        micro_(micro<R>()),
        nr_(2 * micro_.lanes),
        a_(reinterpret_cast<const T*>(g.a)),
        b_(reinterpret_cast<const T*>(g.b)),
        c_(reinterpret_cast<T*>(g.c)),
        a_row_(g.transpose_a ? 1 : g.lda),
        a_k_(g.transpose_a ? g.lda : 1),
        b_column_(g.transpose_b ? g.ldb : 1),
        b_k_(g.transpose_b ? 1 : g.ldb) {}

  // Computes products that are small or have few rows or columns: `a` is read in place, and the packed part of b fits
  // the stack. Returns false for others. An element is one sum over k in both cases.
  bool run_in_place() const {
    const std::int64_t panels = (g_.n + nr_ - 1) / nr_, tiles = (g_.m + micro_.mr - 1) / micro_.mr;
    const bool packs_all = std::int64_t(sizeof(T)) * panels * nr_ * g_.k <= kPackedBytes;
    if (packs_all && (tiles > panels || g_.m > kMc)) return run_by_rows(panels, tiles), true;
    if (g_.m > kMc || std::int64_t(sizeof(T)) * nr_ * g_.k > kPackedBytes) return false;
    run_by_panels(panels);
    return true;
  }

  void run() const {
    const std::int64_t nr = nr_, mr = micro_.mr, threads = catena::available_threads();
    const auto up = [](std::int64_t x, std::int64_t unit) { return (x + unit - 1) / unit * unit; };
    const std::int64_t blocks_wanted = (g_.m + kMc - 1) / kMc, rounds = (blocks_wanted + threads - 1) / threads;
    const std::int64_t mc = std::min(up((g_.m + rounds * threads - 1) / (rounds * threads), mr), up(kMc, mr));
    const std::int64_t blocks = (g_.m + mc - 1) / mc;
    const Workspace packed_b(sizeof(T) * std::size_t(up(std::min(kNc, g_.n), nr) * std::min(kKc, g_.k)));
    auto* pb = reinterpret_cast<T*>(packed_b.data());
    for (std::int64_t j0 = 0; j0 < g_.n; j0 += kNc) {
      const std::int64_t nc = std::min(kNc, g_.n - j0), panels = (nc + nr - 1) / nr;
      for (std::int64_t p0 = 0; p0 < g_.k; p0 += kKc) {
        const std::int64_t kc = std::min(kKc, g_.k - p0);
        catena::parallel_for(panels, std::max<std::int64_t>(1, 32 * 1024 / (nr * kc)),
                             [&](std::int64_t begin, std::int64_t end) {
                               pack(b_ + (j0 + begin * nr) * b_column_ + p0 * b_k_, b_column_, b_k_,
                                    std::min(nc - begin * nr, (end - begin) * nr), kc, nr_, pb + begin * nr * kc);
                             });
        // Divides c into strips: rows by blocks, columns by panels, so that a matrix with few rows also uses all
        // threads.
        const std::int64_t strips = std::min<std::int64_t>(panels, blocks >= threads ? 1 : threads);
        catena::parallel_for(blocks * strips, mc * kc * nc > 64 * 1024 ? 1 : blocks * strips,
                             [&](std::int64_t begin, std::int64_t end) {
                               const Workspace packed_a(sizeof(T) * std::size_t(up(mc, mr) * kc));
                               auto* pa = reinterpret_cast<T*>(packed_a.data());
                               for (std::int64_t s = begin; s < end; ++s) {
                                 const std::int64_t i0 = s / strips * mc, rows = std::min(mc, g_.m - i0);
                                 pack(a_ + i0 * a_row_ + p0 * a_k_, a_row_, a_k_, rows, kc, micro_.mr, pa);
                                 const std::int64_t strip = s % strips;
                                 for (std::int64_t q = panels * strip / strips; q < panels * (strip + 1) / strips; ++q)
                                   multiply_panel({pa, 1, mr, mr * kc, false}, i0, rows, kc, pb + q * nr * kc, nr,
                                                  j0 + q * nr, p0 == 0 && !g_.accumulate);
                               }
                             });
      }
    }
  }

 private:
  // Rows of a: in place, or packed in panels of mr.
  struct Rows {
    const T* data;
    std::int64_t row, step, panel;
    bool as_they_lie;
  };

  // Packs all of b first; threads share the rows of c.
  void run_by_rows(std::int64_t panels, std::int64_t tiles) const {
    alignas(64) std::byte packed_bytes[kPackedBytes];
    auto* const pb = reinterpret_cast<T*>(packed_bytes);
    pack(b_, b_column_, b_k_, g_.n, g_.k, nr_, pb);
    const std::int64_t mr = micro_.mr;
    catena::parallel_for(tiles, grain(panels), [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t i = begin * mr, rows = std::min(end * mr, g_.m) - i;
      for (std::int64_t q = 0; q < panels; ++q)
        multiply_panel({a_ + i * a_row_, a_row_, a_k_, 0, true}, i, rows, g_.k, pb + q * nr_ * g_.k, nr_, q * nr_,
                       true);
    });
  }
  // Threads share the columns of c. Each thread packs its panels; if a panel has only one tile, b is read in place.
  void run_by_panels(std::int64_t panels) const {
    const std::int64_t tiles = (g_.m + micro_.mr - 1) / micro_.mr;
    catena::parallel_for(panels, grain(tiles), [&](std::int64_t begin, std::int64_t end) {
      alignas(64) std::byte packed_bytes[kPackedBytes];
      auto* const pb = reinterpret_cast<T*>(packed_bytes);
      for (std::int64_t q = begin; q < end; ++q) {
        const std::int64_t j = q * nr_, columns = std::min<std::int64_t>(nr_, g_.n - j);
        const bool in_place = tiles == 1 && b_column_ == 1 && columns == nr_;
        const T* const b = b_ + j * b_column_;
        if (!in_place) pack(b, b_column_, b_k_, columns, g_.k, nr_, pb);
        multiply_panel({a_, a_row_, a_k_, 0, true}, 0, g_.m, g_.k, in_place ? b : pb, in_place ? b_k_ : nr_, j, true);
      }
    });
  }
  // Returns the number of units of `tiles` tiles that are worth a thread.
  std::int64_t grain(std::int64_t tiles) const {
    constexpr std::int64_t kLeast = 64 * 1024, kPerTile = 4;  // overhead of a tile, as a number of terms of its sums
    return std::max<std::int64_t>(1, kLeast / (tiles * micro_.mr * micro_.lanes * (g_.k + kPerTile)));
  }

  // Computes the rows of c from i0 on, in the columns of one panel of b, which begins at column j.
  void multiply_panel(const Rows& a, std::int64_t i0, std::int64_t rows, std::int64_t k, const T* b,
                      std::int64_t b_step, std::int64_t j, bool first) const {
    Tile<T> t;
    t.a_step = a.step;
    t.k = k;
    t.b = b;
    t.b_step = b_step;
    t.columns = static_cast<int>(std::min<std::int64_t>(nr_, g_.n - j));
    t.ldc = g_.ldc;
    t.first = first;
    t.a_row = a.row;
    const int narrow = t.columns <= micro_.lanes;
    if (!a.as_they_lie) {
      for (std::int64_t i = 0; i < rows; i += micro_.mr) {
        t.rows = static_cast<int>(std::min<std::int64_t>(micro_.mr, rows - i));
        t.a = a.data + i / micro_.mr * a.panel;
        t.c = c_ + (i0 + i) * g_.ldc + j;
        micro_.packed[narrow](t);
      }
      return;
    }
    // The last tile ends with the last row; rows that it shares with the tile before are computed twice.
    for (std::int64_t i = 0; i < rows; i += t.rows) {
      const std::int64_t left = rows - i;
      const bool many = left > 2 * micro_.few_rows && rows >= micro_.mr, few = !many && rows >= micro_.few_rows;
      t.rows = many ? micro_.mr : few ? micro_.few_rows : 1;
      i = std::min(i, rows - t.rows);
      t.a = a.data + i * a.row;
      t.c = c_ + (i0 + i) * g_.ldc + j;
      (many ? micro_.in_place : few ? micro_.few : micro_.one)[narrow](t);
    }
  }

  const Gemm& g_;
  const Micro<R>& micro_;
  int nr_;  // width of a panel
  const T* a_;
  const T* b_;
  T* c_;
  std::int64_t a_row_, a_k_, b_column_, b_k_;
};

template <class R> void run(const Gemm& g) {
  if constexpr (!R::is_bool) {
    constexpr std::int64_t kWideRow = 16;
    if (g.accumulate) return Multiplication<R>(g).run();
    if (g.k == 1 && g.n >= kWideRow) return gemm_outer<typename R::Element>(g);
    if (is_thin(g, sizeof(typename R::Element))) return gemm_thin<typename R::Element>(g);
  }
  const Multiplication<R> m(g);
  if (!m.run_in_place()) m.run();
}

// Complex numbers, without blocking, because OpenBLAS multiplies all but small matrices. Each row of c is a sum of rows
// of b.
template <class T>
CATENA_MULTIARCH void add_row(catena::complex<T>* c, catena::complex<T> a, const catena::complex<T>* b,
                              std::int64_t step, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) c[j] += a * b[j * step];
}
template <class T> void run_complex(const Gemm& g) {
  using Z = catena::complex<T>;
  const auto* a = reinterpret_cast<const Z*>(g.a);
  const auto* b = reinterpret_cast<const Z*>(g.b);
  const std::int64_t a_row = g.transpose_a ? 1 : g.lda, a_k = g.transpose_a ? g.lda : 1;
  const std::int64_t b_k = g.transpose_b ? 1 : g.ldb, b_column = g.transpose_b ? g.ldb : 1;
  catena::parallel_for(g.m, std::max<std::int64_t>(1, 16 * 1024 / (g.k * g.n)),
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t i = begin; i < end; ++i) {
                           Z* row = reinterpret_cast<Z*>(g.c) + i * g.ldc;
                           std::fill_n(row, g.n, Z(0));
                           for (std::int64_t p = 0; p < g.k; ++p)
                             add_row(row, a[i * a_row + p * a_k], b + p * b_k, b_column, g.n);
                         }
                       });
}

}  // namespace

bool is_slim(catena::Dtype dtype, const Gemm& g) {
  constexpr std::int64_t kManyRows = 64, kFewRows = 16;
  if (dtype != catena::Dtype::float64) return false;
  const std::int64_t panel = 2 * micro<Ring<double>>().lanes;
  if (panel > kPackedBytes / (std::int64_t(sizeof(double)) * g.k)) return false;
  return g.m <= kFewRows ? g.transpose_b : g.m >= kManyRows && g.n <= panel;
}

void gemm_portable(catena::Dtype dtype, const Gemm& g) {
  using catena::Dtype;
  switch (dtype) {
    case Dtype::bool_: return run<Ring<Bool>>(g);
    case Dtype::float32: return run<Ring<float>>(g);
    case Dtype::float64: return run<Ring<double>>(g);
    case Dtype::complex64: return run_complex<float>(g);
    case Dtype::complex128: return run_complex<double>(g);
    default: break;
  }
  switch (catena::itemsize(dtype)) {
    case 1: return run<Ring<std::uint8_t>>(g);
    case 2: return run<Ring<std::uint16_t>>(g);
    case 4: return run<Ring<std::uint32_t>>(g);
    default: return run<Ring<std::uint64_t>>(g);
  }
}

}  // namespace nd::cpu
