// Convolutions of the software cuDNN, by loops on the host: sums in float64 for float64, else in float32.
#pragma once

#include <optional>

#include <catena/tests/support/cuda_device/cudnn_networks/tensors.h>

namespace cuda_device::software_cudnn {

enum class Pass { forward, data, filter };

// x is (N, C, spatial...), w (K, C / groups, spatial...), y (N, K, spatial...). The pass computes y, the gradient of x
// (in x, from y) or that of w (in w, from y): alpha * result + beta * what was there.
struct Convolution {
  Pass pass = Pass::forward;
  Tensor x, w, y;
  Lengths stride, dilation, pad;
  bool flipped = false;  // a convolution in the sense of signal processing, and no correlation
  bool tf32 = false;     // factors of 10 binary digits
  double alpha = 1, beta = 0;
  std::optional<Tensor> bias;  // (1, K, 1...), added by the forward pass
};
struct Addresses {
  void *x = nullptr, *w = nullptr, *y = nullptr, *bias = nullptr;
};

void convolve(const Convolution& c, const Addresses& at);

}  // namespace cuda_device::software_cudnn
