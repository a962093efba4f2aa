// Factorizations (kernels/registry/factorize.h) of arrays.
//
// Thread safety: may be called from any thread; the caller must order writes to an array with other accesses.
#pragma once

#include <initializer_list>
#include <vector>

#include <catena/kernels/registry/factorize.h>
#include <catena/ndarray/core/array.h>

namespace nd::internal {

using catena::bound::Factorization;
using catena::bound::Factorize;

// Factorizes the matrices in place, on the device of the first operand, and waits for the device. The caller sets all
// members of `call` except count, operands and status. The operands must be C-contiguous; each holds the matrices one
// after the other. Returns the status of every matrix.
CATENA_EXPORT std::vector<int> factorize(Factorize call, std::initializer_list<Array> operands);

}  // namespace nd::internal
