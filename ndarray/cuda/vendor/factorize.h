// Factorizations by cuSOLVER (ndarray/device/factorize.h). Internal to ndarray/cuda.
#pragma once

#include <catena/ndarray/device/factorize.h>
#include <catena/ndarray/device/runtime.h>

namespace nd::cuda {

// Enqueues the factorizations of all matrices, one after the other, and waits for them. RuntimeError if cuSOLVER is not
// available.
void solver_factorize(const Factorize& call, StreamRef stream);

}  // namespace nd::cuda
