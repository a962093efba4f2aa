// LinalgExtension by nd::linalg: LAPACK and the library's own elimination on the CPU, cuSOLVER on CUDA. Internal to
// this folder.
#pragma once

#include <catena/autograd/linalg_extension.h>

namespace autograd::internal {

// Returns null if nd::linalg has no factorizations: on the CPU, if Catena was built without OpenBLAS.
LinalgExtension* ndarray_linalg_extension(Device device);

}  // namespace autograd::internal
