// Dropout.
#pragma once

#include <optional>

#include <catena/nn/functions/function_with_options.h>

namespace nn {

using autograd::Array;

struct DropoutOptions {
  double ratio = 0.5;
  std::optional<bool> train = {};  // default: the thread's train mode; when false x itself is returned
};
// x mask / (1 - ratio); an element is kept if its uniform number is >= ratio. The mask is not stored: backward
// recomputes it from (seed, offset) of the thread's generator. ratio < 0 or >= 1: ValueError.
//   dropout(x)  dropout(x, 0.3)  dropout(x, {.ratio = 0.3, .train = true})
namespace internal {
CATENA_EXPORT Variable dropout(const Variable& x, const DropoutOptions& options);
}
inline constexpr FunctionWithOptions<internal::dropout, DropoutOptions, double> dropout;

// auto [y, mask] = dropout_with_mask(x, {.ratio = 0.3}). It is no overload of dropout, so that dropout by itself names
// a function: Sequential(Linear(10), dropout).
struct DropoutResult {
  Variable y;
  Array mask;  // what x was multiplied by: 0 or 1 / (1 - ratio), of the dtype of x; ones when y is x itself
};
CATENA_EXPORT DropoutResult dropout_with_mask(const Variable& x, const DropoutOptions& options = {});

}  // namespace nn
