// The portable matrix product: blocked and packed, around a small kernel that the compiler vectorises. It is used for
// integers and bool and as the fallback for floats. Its results do not depend on the number of threads.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/complex_math.h>
#include <catena/kernels/numeric.h>
#include <catena/kernels/rows/multiarch.h>
#include <catena/ndarray/cpu/gemm.h>
#include <catena/ndarray/cpu/gemm_thin.h>
#include <catena/ndarray/cpu/workspace.h>

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

constexpr std::int64_t kKc = 256, kMc = 168, kNc = 4096;
constexpr int kMostRows = 14;

// One tile: c (`rows` x `columns`) = or += a (rows x k) @ b, where b is a panel of `nr` columns. Row i of a begins at
// a[i]; its elements are `a_step` apart.
template <class T> struct Tile {
  const T* a[kMostRows];
  std::int64_t a_step;
  const T* b;
  std::int64_t k;
  T* c;
  std::int64_t ldc;
  int rows, columns;
  bool first;  // store to c instead of adding
};

// Uses mr x nv accumulator vectors. nv = 2 fills the registers that the operands leave; nv = 1 is for the last columns.
// Panels of b have the width of two vectors.
template <class R, bool packed, int bytes, int mr, int nv>
inline __attribute__((always_inline)) void multiply_tile(const Tile<typename R::Element>& t) {
  using T = typename R::Element;
  constexpr int lanes = bytes / int(sizeof(T)), nr = nv * lanes, panel = 2 * lanes;
  typedef T V __attribute__((vector_size(bytes)));
  V acc[mr][nv] = {};
  const T* b = t.b;
  std::int64_t at = 0;
  for (std::int64_t p = 0; p < t.k; ++p, b += panel, at += t.a_step) {
    V row[nv];
#pragma GCC unroll 2
    for (int v = 0; v < nv; ++v) std::memcpy(&row[v], b + v * lanes, bytes);
#pragma GCC unroll 14
    for (int i = 0; i < mr; ++i) {
      const V x = (packed ? t.a[0][at + i] : t.a[i][at]) - V{};  // not x + 0, which would change -0
#pragma GCC unroll 2
      for (int v = 0; v < nv; ++v) {
        if constexpr (R::is_bool) acc[i][v] |= x & row[v];
        else acc[i][v] += x * row[v];
      }
    }
  }
  const bool whole = t.columns == nr;
#pragma GCC unroll 14
  for (int i = 0; i < mr; ++i) {
    if (i >= t.rows) break;
    T* c = t.c + i * t.ldc;
    T cells[nr];
    T* to = whole && t.first ? c : cells;
#pragma GCC unroll 2
    for (int v = 0; v < nv; ++v) std::memcpy(to + v * lanes, &acc[i][v], bytes);
    if (to == c) continue;
    for (int j = 0; j < t.columns; ++j) c[j] = t.first ? cells[j] : R::add(c[j], cells[j]);
  }
}

template <class R> struct Micro {
  using Multiply = void (*)(const Tile<typename R::Element>&);
  int mr, lanes;
  Multiply multiply[2][2];  // [row i of a begins at a[0] + i][at most `lanes` columns]
};
template <class R, bool packed, int nv> void multiply_16(const Tile<typename R::Element>& t) {
  multiply_tile<R, packed, 16, 6, nv>(t);
}
#ifdef CATENA_HAS_MULTIARCH
template <class R, bool packed, int nv>
__attribute__((target("arch=x86-64-v3"))) void multiply_32(const Tile<typename R::Element>& t) {
  multiply_tile<R, packed, 32, 6, nv>(t);
}
template <class R, bool packed, int nv>
__attribute__((target("arch=x86-64-v4"))) void multiply_64(const Tile<typename R::Element>& t) {
  multiply_tile<R, packed, 64, 14, nv>(t);
}
#endif
#define CATENA_MICRO(bytes, mr)                                         \
  Micro<R> {                                                            \
    mr, bytes / int(sizeof(typename R::Element)), {                     \
      {multiply_##bytes<R, false, 2>, multiply_##bytes<R, false, 1>}, { \
        multiply_##bytes<R, true, 2>, multiply_##bytes<R, true, 1>      \
      }                                                                 \
    }                                                                   \
  }
template <class R> Micro<R> choose_micro() {
#ifdef CATENA_HAS_MULTIARCH
  if (__builtin_cpu_supports("x86-64-v4")) return CATENA_MICRO(64, 14);
  if (__builtin_cpu_supports("x86-64-v3")) return CATENA_MICRO(32, 6);
#endif
  return CATENA_MICRO(16, 6);
}
#undef CATENA_MICRO

// Packs panels of `width` lines, k deep, padded with zeros. Element (line, p) of the source is at line * line_step + p
// * k_step.
template <class T>
void pack(const T* from, std::int64_t line_step, std::int64_t k_step, std::int64_t lines, std::int64_t k, int width,
          T* to) {
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
    for (int i = 0; i < width; ++i)
      for (std::int64_t p = 0; p < k; ++p) to[p * width + i] = i < n ? panel[i * line_step + p * k_step] : T{};
    to += k * width;
  }
}

// c = op(a) @ op(b) for element types.
template <class R> class Multiplication {
 public:
  using T = typename R::Element;

  explicit Multiplication(const Gemm& g)
      : g_(g),
        micro_(micro()),
        nr_(2 * micro_.lanes),
        a_(reinterpret_cast<const T*>(g.a)),
        b_(reinterpret_cast<const T*>(g.b)),
        c_(reinterpret_cast<T*>(g.c)),
        a_row_(g.transpose_a ? 1 : g.lda),
        a_k_(g.transpose_a ? g.lda : 1),
        b_column_(g.transpose_b ? g.ldb : 1),
        b_k_(g.transpose_b ? 1 : g.ldb) {}

  // b is packed into a buffer on the thread's stack; a is read in place.
  bool run_small() const {
    constexpr std::size_t kRoom = 16 * 1024;
    const std::int64_t panels = (g_.n + nr_ - 1) / nr_;
    if (sizeof(T) * std::size_t(panels * nr_) * std::size_t(g_.k) > kRoom || g_.m > kMc) return false;
    alignas(64) std::byte room[kRoom];
    auto* pb = reinterpret_cast<T*>(room);
    pack(b_, b_column_, b_k_, g_.n, g_.k, nr_, pb);
    multiply_block({a_, a_row_, a_k_, 0, true}, 0, g_.m, g_.k, pb, 0, 0, panels, true);
    return true;
  }

  void run() const {
    const std::int64_t nr = nr_, mr = micro_.mr, threads = catena::max_threads();
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
        // Strips of c: rows by blocks, columns by panels, so that a matrix with few rows also uses all threads.
        const std::int64_t strips = std::min<std::int64_t>(panels, blocks >= threads ? 1 : threads);
        catena::parallel_for(blocks * strips, mc * kc * nc > 64 * 1024 ? 1 : blocks * strips,
                             [&](std::int64_t begin, std::int64_t end) {
                               const Workspace packed_a(sizeof(T) * std::size_t(up(mc, mr) * kc));
                               auto* pa = reinterpret_cast<T*>(packed_a.data());
                               for (std::int64_t s = begin; s < end; ++s) {
                                 const std::int64_t i0 = s / strips * mc, rows = std::min(mc, g_.m - i0);
                                 pack(a_ + i0 * a_row_ + p0 * a_k_, a_row_, a_k_, rows, kc, micro_.mr, pa);
                                 const std::int64_t strip = s % strips;
                                 multiply_block({pa, 1, mr, mr * kc, false}, i0, rows, kc, pb, j0,
                                                panels * strip / strips, panels * (strip + 1) / strips, p0 == 0);
                               }
                             });
      }
    }
  }

 private:
  static const Micro<R>& micro() {
    static const Micro<R> chosen = choose_micro<R>();
    return chosen;
  }
  // Rows of a: in place, or packed in panels of mr.
  struct Rows {
    const T* data;
    std::int64_t row, step, panel;
    bool as_they_lie;
  };

  // Multiplies rows i0... of c with panels q0 to q1 of the packed b, which begins at column j0.
  void multiply_block(const Rows& a, std::int64_t i0, std::int64_t rows, std::int64_t k, const T* pb, std::int64_t j0,
                      std::int64_t q0, std::int64_t q1, bool first) const {
    const int mr = micro_.mr, nr = nr_;
    Tile<T> t;
    t.a_step = a.step;
    t.k = k;
    t.ldc = g_.ldc;
    t.first = first;
    for (std::int64_t q = q0; q < q1; ++q) {
      const std::int64_t j = j0 + q * nr;
      t.b = pb + q * nr * k;
      t.columns = static_cast<int>(std::min<std::int64_t>(nr, g_.n - j));
      for (std::int64_t i = 0; i < rows; i += mr) {
        t.rows = static_cast<int>(std::min<std::int64_t>(mr, rows - i));
        const T* base = a.as_they_lie ? a.data + i * a.row : a.data + i / mr * a.panel;
        for (int r = 0; r < mr; ++r)
          t.a[r] = base + (a.as_they_lie ? std::min(r, t.rows - 1) : r) *
                              a.row;  // surplus rows repeat the last one and are not stored
        t.c = c_ + (i0 + i) * g_.ldc + j;
        micro_.multiply[!a.as_they_lie][t.columns <= micro_.lanes](t);
      }
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
    constexpr std::int64_t kWideRow = 8;
    if (g.k == 1 && g.n >= kWideRow) return gemm_outer<typename R::Element>(g);
    if (is_thin(g, sizeof(typename R::Element))) return gemm_thin<typename R::Element>(g);
  }
  const Multiplication<R> m(g);
  if (!m.run_small()) m.run();
}

// Complex numbers, without blocking: OpenBLAS multiplies all but small matrices. Each row of c is a sum of rows of b.
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
