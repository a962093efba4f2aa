// Products of arrays besides those of linalg.h, and matrices that are put together from parts. Results have the
// promotion of the dtypes of the operands.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/manipulation.h>

namespace nd {

// The Kronecker product: every element of a times the whole of b, in blocks. Of arrays of different rank the one with
// fewer axes gets leading axes of length 1. ValueError for more than 16 axes.
CATENA_EXPORT Array kron(const Operand& a, const Operand& b);

// The axes of the vectors of a, of b and of the result; axis is for all three.
struct CrossOptions {
  int axisa = -1, axisb = -1, axisc = -1;
  std::optional<int> axis = {};
};
// The vector product of vectors of 3 elements; the other axes broadcast. A vector of 2 elements has the third element
// 0, and the product of two such vectors is its third element alone. ValueError for other lengths, TypeError for bools.
CATENA_EXPORT Array cross(const Array& a, const Array& b, const CrossOptions& options = {});
inline Array cross(const Array& a, const Array& b, int axisa, int axisb = -1, int axisc = -1,
                   std::optional<int> axis = {}) {
  return cross(a, b, {.axisa = axisa, .axisb = axisb, .axisc = axisc, .axis = axis});
}

// The sums of products of vectors, with the first one conjugated; the axes besides `axis` broadcast. ValueError for
// 0-d arrays and for vectors of different lengths.
struct VecdotOptions {
  int axis = -1;
};
CATENA_EXPORT Array vecdot(const Array& x1, const Array& x2, const VecdotOptions& options = {});
// Products of matrices (..., M, N) with vectors (..., N), and of vectors (..., M), conjugated, with matrices (..., M,
// N); leading axes broadcast. ValueError for lengths that do not fit.
CATENA_EXPORT Array matvec(const Array& x1, const Array& x2);
CATENA_EXPORT Array vecmat(const Array& x1, const Array& x2);

namespace linalg {

// ---- functions of nd:: under the names that the array standard gives them here ----
using nd::matmul;
using nd::matrix_transpose;
using nd::tensordot;
// As nd::outer, of vectors only: ValueError for arrays of other ranks.
CATENA_EXPORT Array outer(const Array& x1, const Array& x2);
// As nd::cross, of vectors of 3 elements only.
CATENA_EXPORT Array cross(const Array& x1, const Array& x2, int axis = -1);
inline Array vecdot(const Array& x1, const Array& x2, int axis = -1) { return nd::vecdot(x1, x2, {.axis = axis}); }
// Of the last two axes.
CATENA_EXPORT Array diagonal(const Array& x, std::int64_t offset = 0);
CATENA_EXPORT Array trace(const Array& x, std::int64_t offset = 0, std::optional<Dtype> dtype = {});

struct MultiDotOptions {
  Array out = {};  // as for nd::dot
};
// The product of all matrices, in the order with the fewest multiplications. The first array may be a vector, which
// counts as a row, and the last one a vector, which counts as a column; the result lacks these axes. ValueError for
// fewer than two arrays and for shapes that do not fit, LinAlgError for other ranks.
CATENA_EXPORT Array multi_dot(const std::vector<Array>& arrays, const MultiDotOptions& options = {});

// ---- as in scipy.linalg ----
// The columns of the result are the Kronecker products of the columns of a (M, K) and b (N, K): (M * N, K), also for
// stacks. ValueError for other shapes.
CATENA_EXPORT Array khatri_rao(const Array& a, const Array& b);
// The arrays along the diagonal, 0 elsewhere; numbers and vectors are matrices of one row. Leading axes broadcast.
//   block_diag(a, b, 1)   block_diag({a, b})
CATENA_EXPORT Array block_diag(const std::vector<Operand>& arrays);
template <class... A>
requires((std::convertible_to<const A&, Operand> && ...)) Array block_diag(const A&... arrays) {
  return block_diag(std::vector<Operand>{Operand(arrays)...});
}
// The matrix with the first column c and the first row r, the first element of which is not read, and equal elements
// along each diagonal. Without r, the first row is c conjugated. Leading axes are stacks, which broadcast.
CATENA_EXPORT Array toeplitz(const Operand& c);
CATENA_EXPORT Array toeplitz(const Operand& c, const Operand& r);

}  // namespace linalg
}  // namespace nd
