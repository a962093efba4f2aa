// Products of rows, for losses over a few rows of a large matrix. Internal.
#pragma once

#include <catena/autograd/variable.h>

namespace nn::internal {

// Returns (N, S), the products of each row of x (N, D) with the rows of W (V, D) given by `ids` (N, S), in the compute
// dtype.
autograd::Variable row_products(const autograd::Variable& x, const autograd::Variable& W, const autograd::Array& ids);

}  // namespace nn::internal
