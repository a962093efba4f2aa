// Loops over sparse matrices in host memory. Arrays are C-contiguous; indices are int32 or int64, one dtype per call,
// and have been checked.
//
// Thread safety: may be called from any thread.
#pragma once

#include <catena/ndarray/core/array.h>

namespace nd::sparse::loops {

// out[i, j] = the sum over k = indptr[i] ... indptr[i + 1] - 1 of data[k] x[indices[k], j]; one dtype. x and out have
// the rank 1 or 2.
void multiply(const Array& data, const Array& indices, const Array& indptr, const Array& x, const Array& out);
// The product from the other side: out[r, indices[k]] is the sum of x[r, i] data[k] over the entries k of all rows i.
void multiply_left(const Array& x, const Array& data, const Array& indices, const Array& indptr, const Array& out);
// The entries of a + b, or of the elementwise product, that are not 0, of matrices of one shape and dtype whose rows
// have sorted columns without duplicates. The output has an indptr of the same length, and data and indices as
// long as those of both matrices together. Returns the number of entries.
struct Rows {
  Array data, indices, indptr;
};
enum class Combination { sum, product };
std::int64_t combine(Combination op, const Rows& a, const Rows& b, const Rows& out);
// The product of two matrices of one dtype, with sorted columns without duplicates; a place whose sum is 0 stays. The
// second matrix has `columns` columns. indptr is int64, indices have the dtype of the operands'.
Rows multiply_sparse(const Rows& a, const Rows& b, std::int64_t columns);
// out[i] = the sum of data[k].
void sum_rows(const Array& data, const Array& indptr, const Array& out);
// out[k] = i.
void number_rows(const Array& indptr, const Array& out);
// A stable counting sort: keys[order] ascends, and key i is at the positions starts[i] ... starts[i + 1] - 1.
void group(const Array& keys, const Array& order, const Array& starts);

}  // namespace nd::sparse::loops
