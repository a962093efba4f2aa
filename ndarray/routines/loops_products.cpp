#include <catena/ndarray/routines/loops_products.h>

#include <algorithm>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/multiarch.h>

namespace nd::internal {
namespace {

constexpr std::int64_t kRows = 64;          // rows whose sums are added to the others together
constexpr std::int64_t kColumns = 1024;     // columns whose sums stay in the nearest cache
constexpr std::int64_t kGrain = 1 << 16;    // products that a thread computes at least
constexpr std::int64_t kLeastColumns = 64;  // columns that a thread takes at least

// The sums of `rows` rows of `width` columns, added to `total`; the rows begin m numbers apart.
template <class T>
CATENA_MULTIARCH void add_rows(const T* __restrict x, const T* __restrict y, std::int64_t m, std::int64_t rows,
                               std::int64_t width, T* __restrict sum, T* __restrict total) {
  for (std::int64_t j = 0; j < width; ++j) sum[j] = x[j] * y[j];
  std::int64_t i = 1;
  for (; i + 2 <= rows; i += 2) {
    const T *const x0 = x + i * m, *const x1 = x0 + m, *const y0 = y + i * m, *const y1 = y0 + m;
#pragma GCC ivdep
    for (std::int64_t j = 0; j < width; ++j) sum[j] = sum[j] + x0[j] * y0[j] + x1[j] * y1[j];
  }
  for (; i < rows; ++i)
    for (std::int64_t j = 0; j < width; ++j) sum[j] += x[i * m + j] * y[i * m + j];
  for (std::int64_t j = 0; j < width; ++j) total[j] += sum[j];
}

template <class T> void sum_products(const T* x, const T* y, T* out, std::int64_t n, std::int64_t m) {
  std::fill_n(out, m, T(0));
  const std::int64_t grain = std::max(kLeastColumns, kGrain / std::max<std::int64_t>(n, 1));
  catena::parallel_for(m, grain, [&](std::int64_t begin, std::int64_t end) {
    T sum[kColumns];
    for (std::int64_t j = begin; j < end; j += kColumns)
      for (std::int64_t i = 0; i < n; i += kRows)
        add_rows(x + i * m + j, y + i * m + j, m, std::min(kRows, n - i), std::min(kColumns, end - j), sum, out + j);
  });
}

}  // namespace

void sum_products_of_rows(const float* x, const float* y, float* out, std::int64_t n, std::int64_t m) {
  sum_products(x, y, out, n, m);
}
void sum_products_of_rows(const double* x, const double* y, double* out, std::int64_t n, std::int64_t m) {
  sum_products(x, y, out, n, m);
}

}  // namespace nd::internal
