// Gradients of the filters of convolutions with strides over two spatial axes, as products of blocks of 6 elements of a
// row of the window by 16 outputs, on processors with AVX2. Rows are not dilated. Results do not depend on the number
// of threads. Internal to this folder.
#pragma once

#include <cstdint>

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

inline constexpr int kStridedFilterLanes = 16;  // channels computed together

// A row of positions. Elements of x are `step` apart, those of gy kStridedFilterLanes apart.
struct StridedRow {
  const float *x, *gy;
};
// sums[k][o] = (with `first`) or += the sum over the positions p of `count` rows of x[p * step + k] * gy[p][o], for k <
// depth, o < 16. `stride`: distance between rows of sums. Where the loops for AVX2 are compiled in, only for processors
// with AVX2.
void add_strided_products(const StridedRow* rows, std::int64_t count, std::int64_t positions, std::int64_t step,
                          std::int64_t depth, float* sums, std::int64_t stride, bool first);

Array strided_filter_gradient(const Convolution& c);

}  // namespace autograd::internal
