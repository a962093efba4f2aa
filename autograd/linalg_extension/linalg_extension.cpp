#include <catena/autograd/linalg_extension.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <catena/autograd/array.h>

namespace autograd {
namespace {

using catena::check;

void check_matrices(const char* op, const Array& a) {
  check<catena::ValueError>(bool(a), op, "the array is null");
  check<catena::ValueError>(a.ndim() >= 2 && a.shape(a.ndim() - 1) == a.shape(a.ndim() - 2), op, "shape ", a.shape(),
                            ": the last two lengths must be equal");
  check<catena::TypeError>(catena::is_floating(a.dtype()), op, "the dtype ", a.dtype(), " is not floating");
}

Dtype working_dtype(Dtype t) { return catena::itemsize(t) < 4 ? Dtype::float32 : t; }

// Gauss-Jordan elimination with partial pivoting. Overwrites `a` (n, n); replaces b (n, n), if it is not null, by a^-1
// b. Returns the determinant; for a singular matrix returns 0 and leaves b undefined.
double eliminate(double* a, double* b, std::int64_t n) {
  double det = 1;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::fabs(a[i * n + k]) > std::fabs(a[pivot * n + k])) pivot = i;
    if (a[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      det = -det;
      for (std::int64_t j = 0; j < n; ++j) {
        std::swap(a[k * n + j], a[pivot * n + j]);
        if (b != nullptr) std::swap(b[k * n + j], b[pivot * n + j]);
      }
    }
    const double value = a[k * n + k];
    det *= value;
    if (b == nullptr) {
      for (std::int64_t i = k + 1; i < n; ++i) {
        const double factor = a[i * n + k] / value;
        for (std::int64_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      }
      continue;
    }
    for (std::int64_t j = 0; j < n; ++j) {
      a[k * n + j] /= value;
      b[k * n + j] /= value;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const double factor = a[i * n + k];
      if (i == k || factor == 0) continue;
      for (std::int64_t j = 0; j < n; ++j) {
        a[i * n + j] -= factor * a[k * n + j];
        b[i * n + j] -= factor * b[k * n + j];
      }
    }
  }
  return det;
}

// Returns "the matrix", or "matrix (1, 2) of the stack" for the i-th matrix.
std::string name_of(const Array& a, std::int64_t i) {
  if (a.ndim() == 2) return "the matrix";
  Dims place = Dims::filled(a.ndim() - 2, 0);
  for (int axis = place.size() - 1; axis >= 0; --axis) {
    place[axis] = i % a.shape(axis);
    i /= a.shape(axis);
  }
  return catena::concat("matrix ", place, " of the stack");
}

Array on_device_of(const Array& a, const std::vector<double>& values, const Shape& shape) {
  return astype(a.backend().from_host(values.data(), shape, Dtype::float64, a.device()), a.dtype());
}

}  // namespace

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
  return astype(do_inv(astype(a, working_dtype(a.dtype())), check), a.dtype());
}

Array LinalgExtension::det(const Array& a) {
  check_matrices("det", a);
  return astype(do_det(astype(a, working_dtype(a.dtype()))), a.dtype());
}

Array LinalgExtension::do_inv(const Array& a, bool check) {
  const std::int64_t n = a.shape(a.ndim() - 1), count = a.size() == 0 ? 0 : a.size() / (n * n);
  std::vector<double> matrices = to_vector<double>(a), inverses(matrices.size(), 0.0);
  for (std::int64_t m = 0; m < count; ++m) {
    double* const inverse = inverses.data() + m * n * n;
    for (std::int64_t i = 0; i < n; ++i) inverse[i * n + i] = 1;
    if (eliminate(matrices.data() + m * n * n, inverse, n) != 0) continue;
    if (check) catena::fail<catena::LinAlgError>("inv", name_of(a, m), " of shape (", n, ", ", n, ") is singular");
    for (std::int64_t i = 0; i < n * n; ++i) inverse[i] = std::numeric_limits<double>::quiet_NaN();
  }
  return on_device_of(a, inverses, a.shape());
}

Array LinalgExtension::do_det(const Array& a) {
  const std::int64_t n = a.shape(a.ndim() - 1);
  Shape shape = a.shape();
  shape.pop_back();
  shape.pop_back();
  std::vector<double> matrices = to_vector<double>(a), dets(std::size_t(catena::size_of(shape)), 1.0);
  for (std::size_t m = 0; m < dets.size(); ++m)
    dets[m] = eliminate(matrices.data() + std::int64_t(m) * n * n, nullptr, n);
  return on_device_of(a, dets, shape);
}

}  // namespace autograd
