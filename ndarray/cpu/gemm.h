// Matrix products with one common signature and one source file per implementation. matmul.cpp chooses the
// implementation.
//
// Vendor libraries may sum in another order when the number of threads changes: products of float32 and float64 are the
// only results that depend on it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <catena/kernels/base/dtype.h>

namespace nd::cpu {

// c (m x n) = op(a) (m x k) @ op(b) (k x n), all row-major; ld = elements between the rows of the stored matrix. c is
// only written, or, with `accumulate`, the product is added to it (floats only). m, n, k > 0.
struct Gemm {
  bool transpose_a = false, transpose_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  const std::byte* a = nullptr;
  std::int64_t lda = 0;
  const std::byte* b = nullptr;
  std::int64_t ldb = 0;
  std::byte* c = nullptr;
  std::int64_t ldc = 0;
  bool accumulate = false;
};

// True if Catena was built with the library and the library supports such products.
CATENA_EXPORT bool onednn_takes(catena::Dtype dtype);
CATENA_EXPORT bool openblas_takes(catena::Dtype dtype, const Gemm& g);
// Returns the library's product; the first call loads its module (modules/). The product returns false if the library
// refuses it. It uses as many threads as OpenMP provides, see SingleThreadedLibraries.
using Multiply = bool (*)(catena::Dtype dtype, const Gemm& g);
CATENA_EXPORT Multiply onednn_gemm();
CATENA_EXPORT Multiply openblas_gemm();
// Returns false if OpenBLAS is older than the processor: it would use its oldest kernels although the processor has
// AVX2. Loads the module of OpenBLAS.
CATENA_EXPORT bool openblas_knows_processor();
// Returns the version and the file of the library, and the target of OpenBLAS; loads its module. Empty without the
// library.
CATENA_EXPORT std::string onednn_description();
CATENA_EXPORT std::string openblas_description();
// For all dtypes except the 16-bit floats; integers are exact modulo 2^n, bool is the logical or of ands.
CATENA_EXPORT void gemm_portable(catena::Dtype dtype, const Gemm& g);
// True if the portable product of float64 is at least as fast as OpenBLAS: `a` has many rows and b so few columns that
// the results are accumulated in registers, or `a` has few rows and b is contiguous along k, which a library would
// pack.
bool is_slim(catena::Dtype dtype, const Gemm& g);

// The implementation of the last product of this process: "onednn", "openblas", "portable", or "none".
CATENA_EXPORT std::string_view last_gemm() noexcept;

}  // namespace nd::cpu
