// Functions of cuBLAS for programs that need them directly: levels 1 to 3, geam, dgmm, LU factorizations and inverses
// of batches. (nd::matmul and nd::linalg do not need them.)
//
//   namespace cublas = nd::cuda::cublas;
//   const float two = 2;
//   cublas::saxpy(nd::cuda::get_cublas_handle(), n, &two, x.data<const float>(), 1, y.data<float>(), 1);
//   int largest = cublas::isamax(handle, n, x.data<const float>(), 1);    // from 1 on
//
// The functions have the library's arguments, except that a result which the library writes through a pointer is
// returned. CublasError or OutOfMemoryError for a bad status, RuntimeError if cuBLAS is not available. Work is enqueued
// on the handle's stream, and the current device must be the device of the handle. Operands are addresses, whose arrays
// must exist until the work is done. Scalars and results are in host memory, unless set_pointer_mode changes that: then
// the functions that return a result must not be used; `cublas_library()` has the original ones.
//
// Thread safety: a handle may be used by one thread at a time.
#pragma once

#include <string>

#include <catena/ndarray/cuda/api/cublas.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/cuda/vendor/low_level.h>

namespace nd::cuda {

namespace api {
struct CublasFunctions {
  CATENA_CUBLAS_FUNCTIONS(CATENA_FIELD)
};
}  // namespace api

struct Cublas : api::CublasFunctions {
  std::string path;
};
// RuntimeError "cuBLAS is unavailable: libcublas.so.13 not found (tried: ...)", with the same text at every call.
CATENA_EXPORT const Cublas& cublas_library();
bool cublas_is_available();

namespace cublas {

struct CATENA_EXPORT Library {
  static const api::CublasFunctions& table();
  static void check(api::cublas_status status, const char* call);
};
#define CATENA_VALUE_CALL(symbol, field, ...) \
  inline constexpr low_level::ValueCall<Library, &api::CublasFunctions::field> field{#symbol};
#define CATENA_CALL(symbol, field, ...) \
  inline constexpr low_level::Call<Library, &api::CublasFunctions::field> field{#symbol};
CATENA_CUBLAS_VALUES(CATENA_VALUE_CALL)
CATENA_CUBLAS_FUNCTIONS_WITHOUT_VALUE(CATENA_CALL)
#undef CATENA_VALUE_CALL
#undef CATENA_CALL

}  // namespace cublas
}  // namespace nd::cuda
