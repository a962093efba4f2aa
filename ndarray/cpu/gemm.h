// Matrix products behind one shape of call, one file per implementation. matmul.cpp decides which one runs.
//
// Vendor libraries may sum in another order with another number of threads: products of float32 and float64 are the one
// exception to the rule that results do not depend on it.
#pragma once

#include <cstdint>
#include <string_view>

#include <catena/kernels/base/dtype.h>

namespace nd::cpu {

// c (m x n) = op(a) (m x k) @ op(b) (k x n), all row-major; ld = elements from row to row of the stored matrix. Nothing
// is read from c. m, n, k > 0.
struct Gemm {
  bool transpose_a = false, transpose_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  const std::byte* a = nullptr;
  std::int64_t lda = 0;
  const std::byte* b = nullptr;
  std::int64_t ldb = 0;
  std::byte* c = nullptr;
  std::int64_t ldc = 0;
};

// Whether the library is there and has products of that dtype and size.
CATENA_EXPORT bool onednn_takes(catena::Dtype dtype);
CATENA_EXPORT bool openblas_takes(catena::Dtype dtype, const Gemm& g);
// False: the library does not take it. They run on as many threads as OpenMP gives them: see SingleThreadedLibraries.
CATENA_EXPORT bool gemm_onednn(catena::Dtype dtype, const Gemm& g);
CATENA_EXPORT bool gemm_openblas(catena::Dtype dtype, const Gemm& g);
// False where OpenBLAS would run its oldest kernels though the processor has AVX2: it is older than the processor.
CATENA_EXPORT bool openblas_knows_processor();
// Every dtype but the 16-bit floats; integers are exact modulo 2^n, bool is the logical or of ands.
CATENA_EXPORT void gemm_portable(catena::Dtype dtype, const Gemm& g);

// Which implementation did the last product of this process: "onednn", "openblas", "portable", or "none".
CATENA_EXPORT std::string_view last_gemm() noexcept;

}  // namespace nd::cpu
