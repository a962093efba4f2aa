// Convolutions over two spatial axes as products of blocks of 6 positions by 16 channels, on processors with AVX2.
// Images are channels-last, so the elements of a row of a window are contiguous, and only the filter is rearranged. The
// gradient of the input is, for each residue of the stride, a convolution of the output's gradient with the taps of
// this residue. Results do not depend on the number of threads. Internal to this folder.
//
// These kernels are faster where strides make oneDNN's kernels for AVX2 wait for the cache: see direct_convolution.cpp.
#pragma once

#include <cstdint>

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

inline constexpr int kDirectLanes = 16;  // channels computed together

// `length` elements of a window, beginning at offset `at`.
struct DirectSegment {
  std::int64_t at, length;
};

// Rows of `count` positions. Elements of x are `step` apart, those of gy kDirectLanes apart.
struct DirectRow {
  const float *x, *gy;
};

struct DirectKernels {
  // to[r][o] = the sum over the elements e of the segments of from[r][e] * panels[o / 16][e][o % 16], plus bias[o], for
  // all `outputs`; bias may be null.
  void (*multiply)(const float* const* from, float* const* to, std::int64_t rows, const DirectSegment* segments,
                   std::int64_t count, const float* panels, std::int64_t outputs, const float* bias);
  // sums[k][o] = (with `first`) or += the sum over the positions p of the rows of x[p * step + k] * gy[p][o], for k <
  // depth, o < 16. `stride`: distance between rows of sums.
  void (*add_products)(const DirectRow* rows, std::int64_t count, std::int64_t positions, std::int64_t step,
                       std::int64_t depth, float* sums, std::int64_t stride, bool first);
};
// Returns null if the processor does not support these kernels.
const DirectKernels* direct_kernels();

// Return null where these kernels do not apply.
Array direct_convolution(const Array& x, const Array& w, const Array& b, const Shape& y_shape,
                         const ConvolutionSpec& spec);
Array direct_convolution_backward_data(const Array& w, const Array& gy, const Shape& x_shape,
                                       const ConvolutionSpec& spec);
Array direct_convolution_backward_filter(const Array& x, const Array& gy, const Shape& w_shape,
                                         const ConvolutionSpec& spec);

}  // namespace autograd::internal
