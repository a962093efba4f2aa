// Matrix products by cuBLASLt, opened at the first product.
//
// float16, bfloat16, float32 and complex64 accumulate in float32, float64 and complex128 in float64. float32 is
// computed in full precision unless TF32 is allowed. The algorithm is the library's first choice for the shapes,
// strides, alignment and dtype; for products of timed_operations() or more it is the fastest of the first choices.
// Equal calls of a process on one kind of device give equal bits, and so do those of other processes, unless they are
// timed. Partial sums of long products are kept in the accumulator's type.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/registry/bound_call.h>
#include <catena/ndarray/cuda/api/cublaslt.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/device/runtime.h>

namespace nd::cuda {

namespace api {
struct CublasLtFunctions {
  CATENA_CUBLASLT_FUNCTIONS(CATENA_FIELD)
};
struct CublasLtNames {
#define CATENA_NAME(symbol, field, ...) static constexpr const char* field = #symbol;
  CATENA_CUBLASLT_FUNCTIONS(CATENA_NAME)
#undef CATENA_NAME
};
}  // namespace api

struct CublasLt : api::CublasLtFunctions {
  std::string path;
};
// RuntimeError "cuBLASLt is unavailable: libcublasLt.so.13 not found (tried: ...)", with the same text at every call.
CATENA_EXPORT const CublasLt& cublaslt();

enum class Activation : std::uint8_t { none, relu, gelu_tanh };

// Applied to a product before it is rounded and stored: out = activation(a @ b + bias).
struct Epilogue {
  const std::byte* bias = nullptr;  // contiguous, one element of the product's dtype per column of out; null: none
  Activation activation = Activation::none;
};

// Enqueues the product: one call of the library, or one for every index of the leading axes that do not merge with the
// longest of them. Returns false without doing anything if cuBLASLt is not available, does not support the dtype, or
// cannot express the strides or the epilogue; throws if a call fails.
CATENA_EXPORT bool blas_matmul(const catena::bound::Matmul& call, StreamRef stream, const Epilogue& epilogue = {});

// Returns the implementation of this thread's last product: "cublaslt", or "portable" after blas_matmul returned false;
// "" before the first product.
CATENA_EXPORT std::string_view last_matmul() noexcept;

// True if float32 products may round their operands to 10 mantissa bits (TF32). Applies to the whole process. Initially
// true only if CATENA_ALLOW_TF32=1.
CATENA_EXPORT bool tf32_allowed() noexcept;
CATENA_EXPORT void allow_tf32(bool allow) noexcept;

// Products of at least this many operations (a multiplication and an addition are two) are timed: the first one with
// its shapes, strides, alignments and dtype runs every candidate twice and waits for the device, unless it is recorded
// in a graph; later ones use the fastest. Applies to the whole process. Initially 2^35; infinite, so that no product is
// timed, if CATENA_TIME_PRODUCTS=0.
CATENA_EXPORT double timed_operations() noexcept;
CATENA_EXPORT void set_timed_operations(double operations) noexcept;

namespace internal {

// A matrix as cuBLASLt describes it: rows x columns in column-major order, with `ld` elements between columns and
// `batch_stride` elements between the matrices of a batch.
struct BlasMatrix {
  bool transpose = false;  // the operand is the transpose of the stored matrix
  std::int64_t rows = 0, columns = 0, ld = 0, batch_stride = 0;
  friend bool operator==(const BlasMatrix&, const BlasMatrix&) = default;
};
// A leading axis of a product that is neither part of its matrices nor of its batch: its length, and the number of
// elements between neighbours along it.
struct BlasAxis {
  std::int64_t count = 1, a = 0, b = 0, d = 0;
  friend bool operator==(const BlasAxis&, const BlasAxis&) = default;
};
// d = op(a) @ op(b): the column-major product that is equivalent to a catena::bound::Matmul, once for every index of
// the outer axes.
struct BlasProblem {
  BlasMatrix a, b, d;
  std::int64_t batch = 1;
  std::vector<BlasAxis> outer;
  bool swapped = false;  // a is the b of the call: a row-major product is the column-major product of the transposes
  friend bool operator==(const BlasProblem&, const BlasProblem&) = default;

  std::int64_t calls() const {
    std::int64_t n = 1;
    for (const BlasAxis& axis : outer) n *= axis.count;
    return n;
  }
};
// Returns nothing if the strides cannot be described this way or the product is empty. Batches that repeat one operand
// become rows. Of the leading axes that do not merge, the longest is the batch.
CATENA_EXPORT std::optional<BlasProblem> blas_problem(const catena::bound::Matmul& call);
// True if cuBLASLt is there and has products of the dtype.
bool blas_takes(catena::Dtype dtype);
// blas_matmul of a call whose problem is known.
bool blas_matmul(const catena::bound::Matmul& call, const std::optional<BlasProblem>& problem, StreamRef stream,
                 const Epilogue& epilogue = {});

}  // namespace internal
}  // namespace nd::cuda
