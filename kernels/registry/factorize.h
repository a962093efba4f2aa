// Factorizations of matrices: the bound call of dense linear algebra. ndarray/routines/ builds solutions,
// inverses, determinants, pseudo-inverses and so on from them, in the same way for every backend. A backend calls one
// library function per factorization: of LAPACK on the CPU (ndarray/cpu/lapack.h), of cuSOLVER on CUDA
// (ndarray/cuda/vendor/factorize.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include <catena/kernels/base/dtype.h>

namespace catena::bound {

// The factorizations and their operands: m = rows, n = columns, k = other, K = min(m, n). Symmetric matrices
// (Hermitian, if complex) are given by their upper triangle; the other one is not read.
enum class Factorization : std::uint8_t {
  cholesky,  // a (n, n): its upper triangle becomes U with a = U^H U. Status: the order of the leading minor that is
             // not positive
  lu,        // a (m, n): L below the diagonal and U, a = P L U; b: int32 (K), row i was swapped with row b[i] - 1.
             // Status: the number of the first pivot that is exactly 0
  solve,  // b (n, k) becomes the solution x of a x = b, or of a^T x = b; a (n, n) is destroyed. Status as for lu, and
          // b is then meaningless
  qr,     // a (m, n): R on and above the diagonal, below it the reflectors of Q; b (K): their factors
  q,      // a (m, n): the first n columns of the Q of the k reflectors in its first columns; b (k): their factors
  svd,    // a (m, n), m >= n, is destroyed; b (n), real: the singular values in descending order; c (m, k) and
          // d (n, n): the vectors, a = c[:, :n] diag(b) d, with k = m or n; k = 0: the values alone.
          // Status: not 0 if the iteration did not converge
  eigh,   // a (n, n): destroyed, or the vectors in its columns if k != 0; b (n), real: the values in ascending order.
          // Status as for svd
  eig,    // a (n, n) is destroyed; b (n), complex: the eigenvalues; c (n, n), complex, if k != 0: the vectors in its
          // columns. Status as for svd. On the CPU only
  substitute,  // a (n, n) and b as lu leaves them; c (n, k) becomes the solution x of a x = c
  triangular,  // a (n, n), of which the triangle `upper` is read; b (n, k) becomes the solution x of a x = b. Status:
               // the number of the first element of the diagonal that is exactly 0. On the CPU only
};

// Factorizes `count` matrices of one shape, of float32, float64, complex64 or complex128. Matrices are in column-major
// order. Operand i of all the matrices is one contiguous array.
struct Factorize {
  Factorization kind = Factorization::lu;
  Dtype dtype = Dtype::float64;
  std::int64_t count = 0, rows = 0, columns = 0, other = 0;
  std::array<std::byte*, 4> operands = {};  // a, b, c, d
  std::span<int> status = {};               // host memory: one status per matrix; 0, or as described by the kind
  std::string_view name = {};               // used in messages
  bool upper = true, unit = false;          // triangular: unit counts the elements of the diagonal as 1
  bool transposed = false;                  // substitute, triangular: a^T in place of a
  bool unit_right = false;                  // solve: b is the unit matrix, and becomes the inverse
};

// Returns the number of elements of operand i of one matrix.
constexpr std::int64_t elements_of_operand(const Factorize& f, int i) {
  const std::int64_t m = f.rows, n = f.columns, k = f.other, least = m < n ? m : n;
  switch (f.kind) {
    case Factorization::solve: return i == 0 ? n * n : i == 1 ? n * k : 0;
    case Factorization::q: return i == 0 ? m * n : i == 1 ? k : 0;
    case Factorization::svd: return i == 0 ? m * n : i == 1 ? n : k == 0 ? 0 : i == 2 ? m * k : n * n;
    case Factorization::cholesky: return i == 0 ? n * n : 0;
    case Factorization::eig: return i == 0 ? n * n : i == 1 ? n : i == 2 && k != 0 ? n * n : 0;
    case Factorization::substitute: return i == 0 ? n * n : i == 1 ? n : i == 2 ? n * k : 0;
    case Factorization::triangular: return i == 0 ? n * n : i == 1 ? n * k : 0;
    default: return i == 0 ? m * n : i == 1 ? least : 0;
  }
}
// Returns the dtype of operand i.
constexpr Dtype dtype_of_operand(const Factorize& f, int i) {
  if (f.kind == Factorization::eig && i != 0)
    return real_dtype(f.dtype) == Dtype::float32 ? Dtype::complex64 : Dtype::complex128;
  if (i != 1) return f.dtype;
  if (f.kind == Factorization::lu || f.kind == Factorization::substitute) return Dtype::int32;
  return f.kind == Factorization::svd || f.kind == Factorization::eigh ? real_dtype(f.dtype) : f.dtype;
}
// True if operand i is only read.
constexpr bool is_only_read(const Factorize& f, int i) {
  return f.kind == Factorization::substitute ? i < 2 : f.kind == Factorization::triangular && i == 0;
}
// Returns the number of bytes between operand i of one matrix and of the next.
constexpr std::int64_t stride_of_operand(const Factorize& f, int i) {
  return elements_of_operand(f, i) * static_cast<std::int64_t>(itemsize(dtype_of_operand(f, i)));
}

}  // namespace catena::bound
