// One handle of cuBLAS, of cuSOLVER and of cuDNN per device, for low-level calls. Handles are never destroyed, because
// work may be requested at exit; the driver frees them with the process. The library's own products, decompositions and
// activations use other handles.
//
// Thread safety: the functions may be called from any thread. A handle may be used by one thread at a time.
#pragma once

#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/cublas.h>
#include <catena/ndarray/cuda/api/cusolver.h>

struct cudnnContext;  // the library's name of the opaque type

namespace nd::cuda {

// ValueError for a device that does not exist, RuntimeError "cuBLAS is unavailable: ..." without the library.
CATENA_EXPORT api::cublas_handle cublas_handle_of(int device);
CATENA_EXPORT api::cusolver_handle cusolver_handle_of(int device);
CATENA_EXPORT cudnnContext* cudnn_handle_of(int device);

}  // namespace nd::cuda
