// The portable matrix product: blocked, packed, with a small kernel that the compiler vectorises. It is the only one for integers
// and bool, the fallback for floats, and its results do not depend on the number of threads.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/host/error.h"
#include "kernels/host/parallel.h"
#include "ndarray/cpu/gemm.h"
#include "ndarray/cpu/workspace.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(CATENA_NO_MULTIARCH)
#define CATENA_GEMM_MULTIARCH __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CATENA_GEMM_MULTIARCH
#endif

namespace nd::cpu {
namespace {

constexpr int kVectorBytes = 64;
template <class T> struct Vector {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
// How products are summed. Unsigned types wrap, as integers of their width should.
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

constexpr int kMr = 6;
template <class T> inline constexpr int kNr = kVectorBytes / int(sizeof(T));
constexpr std::int64_t kKc = 256, kMc = 96, kNc = 4096;

// out (kMr x one vector) = the sum over k of a column of a panel of a times a row of a panel of b.
template <class R, class T> CATENA_GEMM_MULTIARCH void micro(std::int64_t k, const T* a, const T* b, T* out) {
  using V = typename Vector<T>::type;
  V acc[kMr] = {};
  for (std::int64_t p = 0; p < k; ++p, a += kMr, b += kNr<T>) {
    V row;
    std::memcpy(&row, b, sizeof(row));
    for (int i = 0; i < kMr; ++i) {
      if constexpr (R::is_bool) acc[i] |= (V{} + a[i]) & row;
      else acc[i] += (V{} + a[i]) * row;
    }
  }
  std::memcpy(out, acc, sizeof(acc));
}

// Panels of `width` lines, k deep, padded with zeros. Element (line, p) of the source lies at line * line_step + p * k_step.
template <class T, int width>
void pack(const T* from, std::int64_t line_step, std::int64_t k_step, std::int64_t lines, std::int64_t k, T* to) {
  for (std::int64_t l = 0; l < lines; l += width) {
    const auto n = static_cast<int>(std::min<std::int64_t>(width, lines - l));
    const T* panel = from + l * line_step;
    if (n == width && line_step == 1) {
      for (std::int64_t p = 0; p < k; ++p, to += width) std::memcpy(to, panel + p * k_step, sizeof(T) * width);
      continue;
    }
    for (std::int64_t p = 0; p < k; ++p, to += width)
      for (int i = 0; i < width; ++i) to[i] = i < n ? panel[i * line_step + p * k_step] : T{};
  }
}

template <class R, class T> void write_tile(const T* tile, T* c, std::int64_t ldc, std::int64_t m, std::int64_t n, bool first) {
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const T v = tile[i * kNr<T> + j];
      c[i * ldc + j] = first ? v : R::add(c[i * ldc + j], v);
    }
}

template <class R> void run(const Gemm& g) {
  using T = typename R::Element;
  constexpr int nr = kNr<T>;
  const auto* a = reinterpret_cast<const T*>(g.a);
  const auto* b = reinterpret_cast<const T*>(g.b);
  auto* c = reinterpret_cast<T*>(g.c);
  const std::int64_t a_row = g.transpose_a ? 1 : g.lda, a_k = g.transpose_a ? g.lda : 1;
  const std::int64_t b_column = g.transpose_b ? g.ldb : 1, b_k = g.transpose_b ? 1 : g.ldb;
  const auto up = [](std::int64_t x, std::int64_t unit) { return (x + unit - 1) / unit * unit; };
  const Workspace packed_b(sizeof(T) * std::size_t(up(std::min(kNc, g.n), nr) * std::min(kKc, g.k)));
  auto* pb = reinterpret_cast<T*>(packed_b.data());
  for (std::int64_t j0 = 0; j0 < g.n; j0 += kNc) {
    const std::int64_t nc = std::min(kNc, g.n - j0), panels = (nc + nr - 1) / nr;
    for (std::int64_t p0 = 0; p0 < g.k; p0 += kKc) {
      const std::int64_t kc = std::min(kKc, g.k - p0);
      pack<T, nr>(b + j0 * b_column + p0 * b_k, b_column, b_k, nc, kc, pb);
      const std::int64_t blocks = (g.m + kMc - 1) / kMc;
      // Strips of c: rows by blocks, columns by panels, so that a flat matrix uses all threads, too.
      const std::int64_t strips = std::min<std::int64_t>(panels, blocks >= catena::max_threads() ? 1 : catena::max_threads());
      catena::parallel_for(blocks * strips, kMc * kc * nc > 64 * 1024 ? 1 : blocks * strips, [&](std::int64_t begin, std::int64_t end) {
        const Workspace packed_a(sizeof(T) * std::size_t(up(std::min(kMc, g.m), kMr) * kc));
        auto* pa = reinterpret_cast<T*>(packed_a.data());
        alignas(64) T tile[kMr * nr];
        for (std::int64_t s = begin; s < end; ++s) {
          const std::int64_t i0 = s / strips * kMc, mc = std::min(kMc, g.m - i0);
          const std::int64_t q0 = panels * (s % strips) / strips, q1 = panels * (s % strips + 1) / strips;
          pack<T, kMr>(a + i0 * a_row + p0 * a_k, a_row, a_k, mc, kc, pa);
          for (std::int64_t q = q0; q < q1; ++q)
            for (std::int64_t i = 0; i < mc; i += kMr) {
              micro<R>(kc, pa + i * kc, pb + q * nr * kc, tile);
              write_tile<R>(tile, c + (i0 + i) * g.ldc + j0 + q * nr, g.ldc, std::min<std::int64_t>(kMr, mc - i),
                         std::min<std::int64_t>(nr, nc - q * nr), p0 == 0);
            }
        }
      });
    }
  }
}

}  // namespace

void gemm_portable(catena::Dtype dtype, const Gemm& g) {
  using catena::Dtype;
  switch (dtype) {
    case Dtype::bool_: return run<Ring<Bool>>(g);
    case Dtype::float32: return run<Ring<float>>(g);
    case Dtype::float64: return run<Ring<double>>(g);
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
