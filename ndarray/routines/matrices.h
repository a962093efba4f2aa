// Helpers for the functions of nd::linalg: checks, copies of matrices for factorizations, and error messages. Internal
// to ndarray/routines.
#pragma once

#include <string_view>
#include <vector>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/factorize.h>

namespace nd::linalg::internal {

// Returns the dtype in which factorizations of elements of dtype t are computed.
Dtype working_dtype(Dtype t);
// Returns the machine precision of a floating or complex dtype.
double precision_of(Dtype t);

// LinAlgError unless the array has two axes, and, for check_square, the last two have one length.
void check_matrices(std::string_view op, const Array& a);
void check_square(std::string_view op, const Array& a);

inline std::int64_t rows_of(const Array& a) { return a.shape()[a.ndim() - 2]; }
inline std::int64_t columns_of(const Array& a) { return a.shape()[a.ndim() - 1]; }
// Returns the leading axes of `a`, followed by axes of the given lengths.
Shape stacked(const Array& a, std::initializer_list<std::int64_t> lengths);

// Return new arrays with the elements of `a`, converted. rows_copy keeps the order, which in column-major order gives
// the transposed matrices; columns_copy swaps the last two axes, which in column-major order gives the matrices.
Array rows_copy(const Array& a, Dtype dtype);
Array columns_copy(const Array& a, Dtype dtype);
// Returns a C-contiguous array with the last two axes of `a` swapped.
Array turned(const Array& a);
// Returns an uninitialised array on the device of `a`.
Array new_like(const Array& a, const Shape& shape, Dtype dtype);
// Returns the unit matrices of a stack: (leading axes of a..., n, n).
Array identities(const Array& a, std::int64_t n, Dtype dtype);
// The elements below (or above) the diagonal are set to 0.
Array upper_part(const Array& a);
Array lower_part(const Array& a);

// LinAlgError "<op>: <the matrix | matrix (1, 2) of the stack> of shape (3, 3) <text>" for the first status that is not
// 0; `of_status` returns the text.
void check_status(std::string_view op, const Array& a, const std::vector<int>& status,
                  std::string (*of_status)(int status));
std::string not_converged(int status);
std::string is_singular(int status);

}  // namespace nd::linalg::internal
