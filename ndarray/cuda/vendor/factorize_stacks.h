// Factorizations of stacks of small matrices by functions that take the whole stack. Internal to ndarray/cuda/vendor.
#pragma once

#include <catena/ndarray/cuda/vendor/factorize.h>

namespace nd::cuda {

// Factorizes all matrices by a number of calls that does not depend on their number, and waits for them. Returns false,
// with nothing done, for kinds and sizes that take no less time this way, and without cuBLAS.
bool factorize_stack(const Factorize& call, StreamRef stream);

// True if Jacobi's methods for stacks compute the singular values or eigenvalues of these matrices.
bool is_jacobi_stack(const Factorize& call);

}  // namespace nd::cuda
