#include <catena/autograd/linalg_extension.h>

#include <algorithm>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/linalg_extension/matrices.h>

namespace autograd {
namespace {

using catena::check;
using internal::name_of;

void check_matrices(std::string_view op, const Array& a, bool square = true) {
  check<catena::ValueError>(bool(a), op, "the array is null");
  check<catena::ValueError>(a.ndim() >= 2, op, "shape ", a.shape(), ": a matrix has two axes");
  check<catena::ValueError>(!square || a.shape(a.ndim() - 1) == a.shape(a.ndim() - 2), op, "shape ", a.shape(),
                            ": the last two lengths must be equal");
  check<catena::TypeError>(catena::is_floating(a.dtype()), op, "the dtype ", a.dtype(), " is not floating");
}

Array wide(const Array& a) { return astype(a, catena::compute_dtype(a.dtype())); }
Arrays narrowed(const Arrays& results, Dtype dtype) {
  Arrays all;
  for (const Array& a : results) all.push_back(astype(a, dtype));
  return all;
}

// Returns the diagonals (..., n) of matrices (..., n, n), as a view.
Array matrix_diagonal(const Array& a) {
  const int rank = a.ndim();
  Shape shape = a.shape();
  Strides strides = a.strides();
  shape.pop_back();
  strides.pop_back();
  strides[rank - 2] += a.strides()[rank - 1];
  return a.backend().view(a, shape, strides, 0);
}

// Throws a LinAlgError for the first matrix with a pivot that is exactly 0. Waits for the device.
void check_pivots(std::string_view op, const Array& lu) {
  const std::int64_t n = lu.shape(lu.ndim() - 1);
  if (lu.size() == 0) return;
  const Array zero = apply(catena::kernels::equal, {matrix_diagonal(lu), 0});
  if (!item(amax(zero)).to<bool>()) return;
  const std::vector<bool> all = to_vector<bool>(zero);
  const std::int64_t first = std::find(all.begin(), all.end(), true) - all.begin();
  catena::fail<catena::LinAlgError>(op, name_of(lu, first / n), " of shape (", n, ", ", n, ") is singular: pivot ",
                                    first % n + 1, " of its triangular factor is exactly 0");
}

}  // namespace

namespace internal {

std::string name_of(const Array& a, std::int64_t i) {
  if (a.ndim() == 2) return "the matrix";
  Dims place = Dims::filled(a.ndim() - 2, 0);
  for (int axis = place.size() - 1; axis >= 0; --axis) {
    place[axis] = i % a.shape(axis);
    i /= a.shape(axis);
  }
  return catena::concat("matrix ", place, " of the stack");
}

Shape stacked(const Array& a, std::initializer_list<std::int64_t> lengths) {
  Shape shape = a.shape();
  shape.pop_back();
  shape.pop_back();
  for (const std::int64_t length : lengths) shape.push_back(length);
  return shape;
}

Stack host_stack(const Array& a) {
  const std::int64_t rows = a.shape(a.ndim() - 2), columns = a.shape(a.ndim() - 1);
  return {to_vector<double>(a), catena::size_of(stacked(a, {})), rows, columns};
}

Array on_device_of(const Array& a, const std::vector<double>& values, const Shape& shape) {
  return astype(a.backend().from_host(values.data(), shape, Dtype::float64, a.device()), a.dtype());
}

}  // namespace internal

LinalgExtension::~LinalgExtension() = default;

LinalgExtension& portable_linalg_extension() {
  static LinalgExtension& portable = *new LinalgExtension;
  return portable;
}

LinalgExtension& linalg_extension(const Array& a) {
  LinalgExtension* own = a.backend().extension<LinalgExtension>(a.device());
  return own ? *own : portable_linalg_extension();
}

Array LinalgExtension::inv(const Array& a, bool check) {
  check_matrices("inv", a);
  return astype(do_inv(wide(a), check), a.dtype());
}

Array LinalgExtension::det(const Array& a) {
  check_matrices("det", a);
  return astype(do_det(wide(a)), a.dtype());
}

Array LinalgExtension::cholesky(const Array& a) {
  check_matrices("cholesky", a);
  return astype(do_cholesky(wide(a)), a.dtype());
}

LUFactors LinalgExtension::lu(const Array& a, std::string_view op, bool check) {
  check_matrices(op, a);
  const LUFactors factors = do_lu(wide(a));
  if (check) check_pivots(op, factors.lu);
  return {astype(factors.lu, a.dtype()), factors.pivots};
}

Arrays LinalgExtension::slogdet(const LUFactors& factors) {
  check_matrices("slogdet", factors.lu);
  namespace kernels = catena::kernels;
  const Dtype dtype = factors.lu.dtype();
  const Array diagonal = wide(matrix_diagonal(factors.lu)),
              rows = arrays::arange(diagonal.shape(diagonal.ndim() - 1), Dtype::int32, diagonal.device());
  // Every row that was swapped with another one changes the sign.
  const Array swapped = astype(apply(kernels::not_equal, {factors.pivots, rows}), diagonal.dtype());
  const Array signs = apply(kernels::sign, {diagonal}) * (1 - 2 * swapped);
  const Array logarithms = apply(kernels::log, {apply(kernels::absolute, {diagonal})});
  return narrowed({reduce(kernels::prod, signs, -1), sum(logarithms, -1)}, dtype);
}

Array LinalgExtension::lu_solve(const LUFactors& factors, const Array& b, bool transposed) {
  check_matrices("lu_solve", factors.lu);
  check_matrices("lu_solve", b, false);
  return astype(do_lu_solve({wide(factors.lu), factors.pivots}, wide(b), transposed), b.dtype());
}

Array LinalgExtension::solve_triangular(const Array& a, const Array& b, const Triangle& triangle, bool transposed) {
  check_matrices("solve_triangular", a);
  check_matrices("solve_triangular", b, false);
  return astype(do_solve_triangular(wide(a), wide(b), triangle, transposed), b.dtype());
}

Arrays LinalgExtension::eigh(const Array& a) {
  check_matrices("eigh", a);
  return narrowed(do_eigh(wide(a)), a.dtype());
}

Arrays LinalgExtension::svd(const Array& a) {
  check_matrices("svd", a, false);
  return narrowed(do_svd(wide(a)), a.dtype());
}

Arrays LinalgExtension::qr(const Array& a) {
  check_matrices("qr", a, false);
  return narrowed(do_qr(wide(a)), a.dtype());
}

Arrays LinalgExtension::fourier(const Array& real, const Array& imag, bool inverse) {
  check<catena::ValueError>(bool(real) && bool(imag) && real.ndim() > 0 && real.shape() == imag.shape(), "fourier",
                            "the parts are not two arrays of one shape and at least one axis");
  return narrowed(do_fourier(wide(real), wide(imag), inverse), real.dtype());
}

Array LinalgExtension::expm(const Array& a) {
  check_matrices("expm", a);
  return astype(do_expm(wide(a)), a.dtype());
}

}  // namespace autograd
