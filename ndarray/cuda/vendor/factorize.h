// Factorizations by cuSOLVER (kernels/registry/factorize.h). Internal to ndarray/cuda.
#pragma once

#include <catena/kernels/registry/factorize.h>
#include <catena/ndarray/device/runtime.h>

namespace nd::cuda {

using catena::bound::Factorization;
using catena::bound::Factorize;

// Enqueues the factorizations of all matrices and waits for them: stacks of small matrices by functions that take the
// whole stack (factorize_stacks.h), others one after the other. RuntimeError if cuSOLVER is not available.
void solver_factorize(const Factorize& call, StreamRef stream);

}  // namespace nd::cuda
