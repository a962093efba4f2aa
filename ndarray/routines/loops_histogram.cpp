#include <catena/ndarray/routines/loops_histogram.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/multiarch.h>

namespace nd::internal {
namespace {

constexpr std::int64_t kBlock = 512;        // numbers whose bins are found together
constexpr std::int64_t kGrain = 1 << 16;    // numbers that a thread takes at least
constexpr std::int64_t kTables = 4;         // tables of counts: neighbouring numbers often have one bin
constexpr std::int64_t kFewBins = 1 << 10;  // bins up to which there are several tables

// The edges of the bins as the loops read them. The bins are counted from 1; numbers outside are in 0 and n + 1.
struct Bounds {
  std::vector<double> left, right;
  double first, scale, last;
};
Bounds bounds_of(const EqualBins& bins) {
  Bounds b{{bins.edges, bins.edges + bins.n}, {bins.edges + 1, bins.edges + bins.n + 1}, bins.edges[0], 0, 0};
  b.scale = static_cast<double>(bins.n) / (bins.edges[bins.n] - bins.edges[0]);
  b.last = static_cast<double>(bins.n - 1);
  b.right.back() = std::nextafter(b.right.back(), std::numeric_limits<double>::infinity());
  return b;
}

// Calculates the bin of each number, and compares the number with the edges of that bin, because rounding may make the
// bin wrong by one.
template <class T>
CATENA_MULTIARCH void find_bins(const T* x, std::int64_t n, const double* left, const double* right, double first,
                                double scale, double last, std::int32_t* place) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = static_cast<double>(x[i]), position = (value - first) * scale;
    // The comparisons are false for NaN.
    const double inside = position > 0 ? position : 0, bounded = inside < last ? inside : last;
    const auto bin = static_cast<std::int32_t>(bounded);
    place[i] = bin + (value >= left[bin]) + (value >= right[bin]);
  }
}

template <class T> void count(const T* x, std::int64_t n, const EqualBins& bins, std::int64_t* counts) {
  const Bounds b = bounds_of(bins);
  const std::int64_t length = bins.n + 2, tables = bins.n <= kFewBins ? kTables : 1;
  const std::int64_t apart = tables == 1 ? 0 : length;
  std::mutex mutex;
  catena::parallel_for(n, std::max(kGrain, length), [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> table(static_cast<std::size_t>(tables * length));
    std::int32_t place[kBlock];
    for (std::int64_t i = begin; i < end; i += kBlock) {
      const std::int64_t m = std::min(kBlock, end - i);
      find_bins(x + i, m, b.left.data(), b.right.data(), b.first, b.scale, b.last, place);
      std::int64_t j = 0;
      for (; j + kTables <= m; j += kTables)
        for (std::int64_t t = 0; t < kTables; ++t) ++table[static_cast<std::size_t>(t * apart + place[j + t])];
      for (; j < m; ++j) ++table[static_cast<std::size_t>(place[j])];
    }
    const std::lock_guard lock(mutex);
    for (std::int64_t t = 0; t < tables; ++t)
      for (std::int64_t k = 0; k < bins.n; ++k) counts[k] += table[static_cast<std::size_t>(t * length + k + 1)];
  });
}

}  // namespace

void count_in_bins(const Array& x, const EqualBins& bins, std::int64_t* counts) {
  const std::byte* const data = x->data;
  if (x.dtype() == Dtype::float32) count(reinterpret_cast<const float*>(data), x.size(), bins, counts);
  else count(reinterpret_cast<const double*>(data), x.size(), bins, counts);
}

}  // namespace nd::internal
