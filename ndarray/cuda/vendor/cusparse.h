// Products of sparse matrices by cuSPARSE.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <string>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/cusparse.h>
#include <catena/ndarray/cuda/runtime/library.h>

namespace nd::cuda {

namespace api {
struct CusparseFunctions {
  CATENA_CUSPARSE_FUNCTIONS(CATENA_FIELD)
};
struct CusparseNames {
#define CATENA_NAME(symbol, field, ...) static constexpr const char* field = #symbol;
  CATENA_CUSPARSE_FUNCTIONS(CATENA_NAME)
#undef CATENA_NAME
};
}  // namespace api

struct Cusparse : api::CusparseFunctions {
  std::string path;
};
// RuntimeError "cuSPARSE is unavailable: libcusparse.so.12 not found (tried: ...)", with the same text at every call.
CATENA_EXPORT const Cusparse& cusparse();

// out = A x for compressed rows (data, indices, indptr) of int32 or int64 indices, and a vector (columns) or matrix
// (columns, N) of the dtype of the data; out is new. All are C-contiguous on one CUDA device. Enqueues one call on the
// current stream, or returns false without doing anything: for dtypes other than float32, float64, complex64 and
// complex128, a matrix without entries, and without cuSPARSE. CudaError for a failure of the library.
CATENA_EXPORT bool sparse_multiply(const catena::ArrayHeader& data, const catena::ArrayHeader& indices,
                                   const catena::ArrayHeader& indptr, const catena::ArrayHeader& x,
                                   const catena::ArrayHeader& out);

}  // namespace nd::cuda
