// Products of rows, for losses over a few rows of a large matrix. Internal.
#pragma once

#include <catena/autograd/variable.h>

namespace nn::internal {

// The products of every row of x (N, D) with the rows of W (V, D) that `ids` (N, S) names -> (N, S), in the dtype of
// computations.
autograd::Variable row_products(const autograd::Variable& x, const autograd::Variable& W, const autograd::Array& ids);

}  // namespace nn::internal
