// The loops of strided_filter.h. 12 vectors of sums, two of a panel and one factor use the 16 registers.
#include <algorithm>

#include <catena/autograd/ndarray_backend/convolution/avx2.h>
#include <catena/autograd/ndarray_backend/convolution/strided_filter.h>
#include <catena/kernels/registry/multiarch.h>

namespace autograd::internal {

#ifdef CATENA_HAS_MULTIARCH

static_assert(avx2::kLanes == kStridedFilterLanes);

CATENA_AVX2 void add_strided_products(const StridedRow* rows, std::int64_t count, std::int64_t positions,
                                      std::int64_t step, std::int64_t depth, float* sums, std::int64_t stride,
                                      bool first) {
  constexpr int kRows = 6;
  for (std::int64_t k = 0; k < depth; k += kRows) {
    avx2::Sums<kRows> sum = {};
    for (std::int64_t r = 0; r < count; ++r) {
      const float* line[kRows];
      for (int i = 0; i < kRows; ++i) line[i] = rows[r].x + std::min(k + i, depth - 1);
      const float* gy = rows[r].gy;
      for (std::int64_t p = 0; p < positions; ++p, gy += avx2::kLanes) avx2::add_products(sum, line, p * step, gy);
    }
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) {
      if (k + i >= depth) break;
      avx2::put(sums + (k + i) * stride, sum[i], first);
    }
  }
}

#else

void add_strided_products(const StridedRow* rows, std::int64_t count, std::int64_t positions, std::int64_t step,
                          std::int64_t depth, float* sums, std::int64_t stride, bool first) {
  for (std::int64_t k = 0; k < depth; ++k)
    for (int o = 0; o < kStridedFilterLanes; ++o) {
      float sum = 0;
      for (std::int64_t r = 0; r < count; ++r)
        for (std::int64_t p = 0; p < positions; ++p)
          sum += rows[r].x[p * step + k] * rows[r].gy[p * kStridedFilterLanes + o];
      sums[k * stride + o] = first ? sum : sums[k * stride + o] + sum;
    }
}

#endif

}  // namespace autograd::internal
