// Factorizations by cuSOLVER (kernels/registry/factorize.h). Internal to ndarray/cuda.
#pragma once

#include <catena/kernels/registry/factorize.h>
#include <catena/ndarray/device/runtime.h>

namespace nd::cuda {

using catena::bound::Factorization;
using catena::bound::Factorize;

// Enqueues the factorizations of all matrices, one after the other, and waits for them. RuntimeError if cuSOLVER is not
// available.
void solver_factorize(const Factorize& call, StreamRef stream);

}  // namespace nd::cuda
