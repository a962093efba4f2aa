// The part of cuFFT's interface that the CUDA backend calls, declared here so that it compiles without a toolkit. A
// test compares these declarations with the toolkit's header if that is installed. Enumerations are passed as int.
#pragma once

#include <cstddef>

struct CUstream_st;
struct float2;  // complex numbers
struct double2;

namespace nd::cuda::api {

using cufft_handle = int;  // of a plan

// cufftResult
using cufft_result = int;
inline constexpr cufft_result cufft_success = 0, cufft_invalid_plan = 1, cufft_alloc_failed = 2, cufft_invalid_type = 3,
                              cufft_invalid_value = 4, cufft_internal_error = 5, cufft_exec_failed = 6,
                              cufft_setup_failed = 7, cufft_invalid_size = 8, cufft_unaligned_data = 9,
                              cufft_invalid_device = 11, cufft_no_workspace = 13, cufft_not_implemented = 14,
                              cufft_not_supported = 16;
// cufftType: real to complex, complex to real, complex to complex; in single, then in double precision
inline constexpr int cufft_r2c = 0x2a, cufft_c2r = 0x2c, cufft_c2c = 0x29, cufft_d2z = 0x6a, cufft_z2d = 0x6c,
                     cufft_z2z = 0x69;
inline constexpr int cufft_forward = -1, cufft_inverse = 1;

// Name of the function in the library, its name in the table of entry points, and its type. Transforms are not scaled.
#define CATENA_CUFFT_FUNCTIONS(X)                                                                              \
  X(cufftGetVersion, get_version, cufft_result(int* version))                                                  \
  X(cufftCreate, create, cufft_result(cufft_handle*))                                                          \
  X(cufftDestroy, destroy, cufft_result(cufft_handle))                                                         \
  X(cufftSetAutoAllocation, set_auto_allocation, cufft_result(cufft_handle, int on))                           \
  X(cufftMakePlanMany64, make_plan_many,                                                                       \
    cufft_result(cufft_handle, int rank, long long* n, long long* inembed, long long istride, long long idist, \
                 long long* onembed, long long ostride, long long odist, int type, long long batch,            \
                 std::size_t* work))                                                                           \
  X(cufftSetWorkArea, set_work_area, cufft_result(cufft_handle, void*))                                        \
  X(cufftSetStream, set_stream, cufft_result(cufft_handle, CUstream_st*))                                      \
  X(cufftExecC2C, exec_c2c, cufft_result(cufft_handle, float2* in, float2* out, int direction))                \
  X(cufftExecR2C, exec_r2c, cufft_result(cufft_handle, float* in, float2* out))                                \
  X(cufftExecC2R, exec_c2r, cufft_result(cufft_handle, float2* in, float* out))                                \
  X(cufftExecZ2Z, exec_z2z, cufft_result(cufft_handle, double2* in, double2* out, int direction))              \
  X(cufftExecD2Z, exec_d2z, cufft_result(cufft_handle, double* in, double2* out))                              \
  X(cufftExecZ2D, exec_z2d, cufft_result(cufft_handle, double2* in, double* out))

}  // namespace nd::cuda::api
