#include <catena/ndarray/routines/matrices.h>

#include <algorithm>
#include <limits>

#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>

namespace nd::linalg::internal {

using catena::check;

Dtype working_dtype(Dtype t) {
  switch (t) {
    case Dtype::float64:
    case Dtype::complex64:
    case Dtype::complex128: return t;
    case Dtype::int32:
    case Dtype::uint32:
    case Dtype::int64:
    case Dtype::uint64: return Dtype::float64;
    default: return Dtype::float32;
  }
}

double precision_of(Dtype t) {
  return catena::real_dtype(t) == Dtype::float32 ? double(std::numeric_limits<float>::epsilon())
                                                 : std::numeric_limits<double>::epsilon();
}

void check_matrices(std::string_view op, const Array& a) {
  check<TypeError>(!a.is_null(), op, "the array is null");
  check<LinAlgError>(a.ndim() >= 2, op, "the array of shape ", a.shape(), " has ", a.ndim(),
                     " axes, matrices have at least 2");
}

void check_square(std::string_view op, const Array& a) {
  check_matrices(op, a);
  check<LinAlgError>(rows_of(a) == columns_of(a), op, "the matrices must be square, the array has the shape ",
                     a.shape());
}

Shape stacked(const Array& a, std::initializer_list<std::int64_t> lengths) {
  Shape shape = a.shape();
  shape.resize(a.ndim() - 2);
  for (std::int64_t n : lengths) shape.push_back(n);
  return shape;
}

Array rows_copy(const Array& a, Dtype dtype) { return a.astype(dtype); }
Array columns_copy(const Array& a, Dtype dtype) { return a.swapaxes(-2, -1).astype(dtype); }
Array turned(const Array& a) { return nd::internal::contiguous(a.swapaxes(-2, -1)); }

Array new_like(const Array& a, const Shape& shape, Dtype dtype) {
  return Array(nd::internal::new_array(shape, dtype, a.device()));
}

namespace {

// Returns a mask with column - row >= 0, for matrices of that shape, on the device of `a`.
Array on_or_above_diagonal(const Array& a) {
  const nd::DeviceScope on(a.device());
  return less_equal(expand_dims(arange(rows_of(a)), 1), arange(columns_of(a)));
}

}  // namespace

Array identities(const Array& a, std::int64_t n, Dtype dtype) {
  const nd::DeviceScope on(a.device());
  return broadcast_to(eye(n, dtype), stacked(a, {n, n})).copy();
}

Array upper_part(const Array& a) { return where(on_or_above_diagonal(a), a, Scalar(0)); }
Array lower_part(const Array& a) {
  return where(on_or_above_diagonal(a.swapaxes(-2, -1)).swapaxes(0, 1), a, Scalar(0));
}

void check_status(std::string_view op, const Array& a, const std::vector<int>& status,
                  std::string (*of_status)(int status)) {
  const auto bad = std::find_if(status.begin(), status.end(), [](int s) { return s != 0; });
  if (bad == status.end()) return;
  const std::string what = of_status(*bad);
  if (a.ndim() == 2) catena::fail<LinAlgError>(op, "the matrix of shape ", a.shape(), " ", what);
  Dims at = Dims::filled(a.ndim() - 2, 0);
  for (std::int64_t i = a.ndim() - 3, rest = bad - status.begin(); i >= 0; rest /= a.shape()[static_cast<int>(i)], --i)
    at[static_cast<int>(i)] = rest % a.shape()[static_cast<int>(i)];
  catena::fail<LinAlgError>(op, "matrix ", at, " of the stack of shape ", a.shape(), " ", what);
}

std::string not_converged(int) { return "has no decomposition: the iteration did not converge"; }
std::string is_singular(int status) {
  return catena::concat("is singular: pivot ", status, " of its triangular factor is exactly 0");
}

void fail_several(const char* op) {
  catena::fail<TypeError>(op, "the result has several arrays, and cannot be assigned to one");
}

}  // namespace nd::linalg::internal
