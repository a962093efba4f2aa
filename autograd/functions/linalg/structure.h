// Parts of the adjoints of matrix functions. Internal to this folder.
#pragma once

#include <initializer_list>
#include <string_view>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/type_check.h>

namespace autograd::internal {

inline Variable turned(const Variable& a) { return swapaxes(a, -2, -1); }
inline Variable product(const Variable& a, const Variable& b) { return stack_product(a, b, false, false); }
inline Variable product_t(const Variable& a, const Variable& b) { return stack_product(a, b, false, true); }  // a b^T
inline Variable t_product(const Variable& a, const Variable& b) { return stack_product(a, b, true, false); }  // a^T b

// The lower triangle with half of the diagonal, of square matrices: the phi of Murray.
Variable half_lower(const Variable& a);
Variable symmetric(const Variable& a);  // (a + a^T) / 2
// The differences (..., K, K) of values (..., K): element (i, j) is values[j] - values[i].
Variable differences(const Variable& values);
// The identity matrix (M, M) in the dtype and on the device of matrices (..., M, M).
Variable identity_like(const Variable& a);

// Throws the InvalidType of a function with this label unless the matrices are floating, of rank 2 or more, and
// square if they have to be. TypeError for a null Variable.
void expect_matrices(std::string_view label, const Variable& a, bool square);

// Throws an InvalidType unless the axes before the matrices of two inputs broadcast; a vector has none.
void expect_leading_axes(const type_check::TypeInfoTuple& in_types);

// Calls f with the operand in the dtype in which it is computed; the result has the dtype of the operand.
template <class F> Variable computed_wide(const Variable& a, const F& f) {
  const Dtype dtype = a.dtype();
  return cast(f(cast(a, catena::compute_dtype(dtype))), dtype);
}

}  // namespace autograd::internal
