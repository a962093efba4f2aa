// The part of cuRAND's interface that the CUDA backend calls, declared here so that it compiles without a toolkit. A
// test compares these declarations with the toolkit's header if that is installed. Enumerations are passed as int.
#pragma once

#include <cstddef>

struct curandGenerator_st;  // the library's name of the opaque type
struct CUstream_st;

namespace nd::cuda::api {

using curand_generator = curandGenerator_st*;

// curandStatus_t
using curand_status = int;
inline constexpr curand_status curand_success = 0;
inline constexpr curand_status curand_version_mismatch = 100, curand_not_initialized = 101,
                               curand_allocation_failed = 102, curand_type_error = 103, curand_out_of_range = 104,
                               curand_length_not_multiple = 105, curand_double_precision_required = 106,
                               curand_launch_failure = 201, curand_preexisting_failure = 202,
                               curand_initialization_failed = 203, curand_arch_mismatch = 204,
                               curand_internal_error = 999;

// curandRngType_t, curandOrdering_t
inline constexpr int curand_pseudo_default = 100, curand_xorwow = 101, curand_mrg32k3a = 121, curand_mtgp32 = 141,
                     curand_mt19937 = 142, curand_philox4_32_10 = 161, curand_quasi_default = 200, curand_sobol32 = 201,
                     curand_scrambled_sobol32 = 202, curand_sobol64 = 203, curand_scrambled_sobol64 = 204;
inline constexpr int curand_order_best = 100, curand_order_default = 101, curand_order_seeded = 102,
                     curand_order_legacy = 103, curand_order_dynamic = 104, curand_order_quasi_default = 201;

// Name of the function in the library, its name in the table of entry points, and its type.
#define CATENA_CURAND_FUNCTIONS(X)                                                                                     \
  X(curandCreateGenerator, create, curand_status(curand_generator*, int type))                                         \
  X(curandCreateGeneratorHost, create_host, curand_status(curand_generator*, int type))                                \
  X(curandDestroyGenerator, destroy, curand_status(curand_generator))                                                  \
  X(curandGetVersion, get_version, curand_status(int* version))                                                        \
  X(curandSetStream, set_stream, curand_status(curand_generator, CUstream_st*))                                        \
  X(curandSetPseudoRandomGeneratorSeed, set_seed, curand_status(curand_generator, unsigned long long))                 \
  X(curandSetGeneratorOffset, set_offset, curand_status(curand_generator, unsigned long long))                         \
  X(curandSetGeneratorOrdering, set_ordering, curand_status(curand_generator, int))                                    \
  X(curandSetQuasiRandomGeneratorDimensions, set_dimensions, curand_status(curand_generator, unsigned))                \
  X(curandGenerate, generate, curand_status(curand_generator, unsigned*, std::size_t n))                               \
  X(curandGenerateLongLong, generate_long_long, curand_status(curand_generator, unsigned long long*, std::size_t n))   \
  X(curandGenerateUniform, uniform, curand_status(curand_generator, float*, std::size_t n))                            \
  X(curandGenerateUniformDouble, uniform_double, curand_status(curand_generator, double*, std::size_t n))              \
  X(curandGenerateNormal, normal, curand_status(curand_generator, float*, std::size_t n, float mean, float deviation)) \
  X(curandGenerateNormalDouble, normal_double,                                                                         \
    curand_status(curand_generator, double*, std::size_t n, double mean, double deviation))                            \
  X(curandGenerateLogNormal, lognormal,                                                                                \
    curand_status(curand_generator, float*, std::size_t n, float mean, float deviation))                               \
  X(curandGenerateLogNormalDouble, lognormal_double,                                                                   \
    curand_status(curand_generator, double*, std::size_t n, double mean, double deviation))                            \
  X(curandGeneratePoisson, poisson, curand_status(curand_generator, unsigned*, std::size_t n, double lambda))

}  // namespace nd::cuda::api
