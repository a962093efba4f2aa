// Differentiable products of sparse matrices (nd::sparse) and dense arrays. The framework itself has no sparse arrays,
// so these functions are in the folder that joins both libraries.
//
//   nd::sparse::csr_matrix a = ...;
//   Variable y = autograd::sparse_matmul(a, x);           a constant matrix
//   Variable z = autograd::sparse_matmul(a, values, x);   the places of a, and entries that are a Variable
#pragma once

#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/autograd/variable.h>
#include <catena/ndarray/sparse/sparse.h>

namespace autograd {

// Returns the product of a (M, N) and x (N) or (N, K). The entries are those of `a`, or `values` (nnz), in the order of
// a.data(). float32 or float64, one dtype for all (InvalidType). InvalidType for other shapes. The gradient of a value
// is the element of gy x^T at its place, which is computed for the places of `a` alone, with nnz K numbers of memory.
CATENA_EXPORT Variable sparse_matmul(const nd::sparse::csr_matrix& a, const Variable& x);
CATENA_EXPORT Variable sparse_matmul(const nd::sparse::csr_matrix& a, const Variable& values, const Variable& x);

// The members to_sparse, to_sparse_coo, to_sparse_csr and to_sparse_csc of Variable.
namespace internal {
template <> struct SparseFunctions<Variable> {
  static nd::sparse::coo_matrix to_sparse(const Variable& x) { return nd::sparse::coo_matrix(nd::Array(x.data())); }
  static nd::sparse::coo_matrix to_sparse_coo(const Variable& x) { return to_sparse(x); }
  static nd::sparse::csr_matrix to_sparse_csr(const Variable& x) { return to_sparse(x).tocsr(); }
  static nd::sparse::csc_matrix to_sparse_csc(const Variable& x) { return to_sparse(x).tocsc(); }
};
}  // namespace internal

}  // namespace autograd
