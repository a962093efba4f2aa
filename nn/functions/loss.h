// Loss functions.
#pragma once

#include <string>

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Array;
using autograd::Variable;

struct SoftmaxCrossEntropyOptions {
  bool normalize = true;    // divide by the number of labels that are not ignored; false: by the batch size
  bool cache_score = true;  // keep the softmax for backward instead of recomputing it
  Array class_weight = {};  // (C), of the dtype of x
  int ignore_label = -1;
  std::string reduce = "mean";  // or "no": one loss per label
};
// Cross entropy of softmax(x) along axis 1 and labels t: x (N, C, d...), t (N, d...) of any integer
// dtype -> 0-d. InvalidType for other shapes and dtypes. A label that is neither a class nor ignore_label is an
// IndexError on the CPU. On CUDA it makes the loss NaN, unless nd::check_indices is on (IndexError from the next call
// that waits for the device) or debug mode (ValueError).
CATENA_EXPORT Variable softmax_cross_entropy(const Variable& x, const Variable& t,
                                             const SoftmaxCrossEntropyOptions& options = {});

// mean((x0 - x1)^2) over all elements -> 0-d; of 16-bit floats in float32, rounded once. Equal shapes and dtypes
// (InvalidType).
CATENA_EXPORT Variable mean_squared_error(const Variable& x0, const Variable& x1);

}  // namespace nn
