// Histograms of numbers in host memory.
//
// Thread safety: may be called from any thread.
#pragma once

#include <cstdint>

#include <catena/ndarray/core/array.h>

namespace nd::internal {

// Bins of equal width: bin k has the numbers from edges[k] to below edges[k + 1], the last one its right edge, too.
struct EqualBins {
  const double* edges;  // n + 1 ascending numbers
  std::int64_t n;       // 1 to kMostEqualBins
};
inline constexpr std::int64_t kMostEqualBins = std::int64_t(1) << 20;

// Adds the number of elements of `x` in each bin to counts[k]. `x` is float32 or float64, C-contiguous and on the CPU;
// NaN and numbers outside of the edges are in no bin.
void count_in_bins(const Array& x, const EqualBins& bins, std::int64_t* counts);

}  // namespace nd::internal
