// Normalization of whole groups of channels. A backend without this extension has row-wise kernels for the same.
#pragma once

#include <string_view>

#include <catena/autograd/backend/backend.h>

namespace autograd {

// x is (N, G, C, P): N examples of G groups of C channels at P positions, of a floating dtype. Parameters and their
// gradients are (G * C), statistics (N, G, 1, 1), both in the dtype of the computation (compute_dtype). All arrays are
// C-contiguous. The numbers are those of the kernels layer_norm_fwd and layer_norm_bwd over the last two axes, with the
// first element of a group as the origin.
class CATENA_EXPORT GroupNormalizationExtension {
 public:
  static constexpr std::string_view kName = "group_normalization";
  virtual ~GroupNormalizationExtension();
  // False for shapes for which the row-wise kernels are faster.
  virtual bool takes(const Array& x) const = 0;
  // Writes y = gamma (x - mean) / sqrt(var + eps) + beta, in the shape and dtype of x, and the statistics
  // center = mean - origin and scale = 1 / sqrt(var + eps).
  virtual void forward(const Array& x, const Array& gamma, const Array& beta, double eps, const Array& y,
                       const Array& center, const Array& scale) = 0;
  // Writes the gradients of x, in its shape and dtype, and of the parameters.
  virtual void backward(const Array& x, const Array& gy, const Array& gamma, const Array& center, const Array& scale,
                        const Array& gx, const Array& ggamma, const Array& gbeta) = 0;
};

}  // namespace autograd
