#include <catena/ndarray/sparse/linalg.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/sparse/kernels.h>
#include <catena/ndarray/sparse/linear_system.h>

namespace nd::sparse::linalg {

using catena::check;

// ---- operators --------------------------------------------------------------------------------------
// The matrices are handles, so the functions share their arrays.
LinearOperator::LinearOperator(const csr_matrix& a)
    : LinearOperator(
          a.shape(), [a](const Array& x) { return a.dot(x); },
          [a](const Array& x) { return conjugate(conjugate(x) * a); }, a.dtype()) {}
LinearOperator::LinearOperator(const csc_matrix& a)
    : LinearOperator(
          a.shape(), [a](const Array& x) { return a.dot(x); },
          [a](const Array& x) { return conjugate(conjugate(x) * a); }, a.dtype()) {}

LinearOperator::LinearOperator(const Array& a) {
  check<TypeError>(!a.is_null(), "LinearOperator", "the matrix is a null array");
  check<ValueError>(a.ndim() == 2, "LinearOperator", "the matrix has the shape ", a.shape(), ", must have rank 2");
  *this = LinearOperator(
      a.shape(), [a](const Array& x) { return matmul(a, x); },
      [a](const Array& x) { return conjugate(matmul(conjugate(x), a)); }, a.dtype());
}

LinearOperator::LinearOperator(const Shape& shape, Map matvec, Map rmatvec, Dtype dtype)
    : dtype_(dtype), matvec_(std::move(matvec)), rmatvec_(std::move(rmatvec)) {
  check<ValueError>(shape.size() == 2 && shape[0] >= 0 && shape[1] >= 0, "LinearOperator", "the shape is ", shape,
                    ", must be two lengths");
  check<TypeError>(bool(matvec_), "LinearOperator", "there is no function for the product with a vector");
  rows_ = shape[0];
  columns_ = shape[1];
}

namespace {

Array mapped(std::string_view op, const LinearOperator::Map& map, const Array& x, std::int64_t from, std::int64_t to) {
  check<ValueError>(x.ndim() == 1 && x.size() == from, op, "the vector has the shape ", x.shape(), ", must have (",
                    from, ")");
  const Array y = map(x);
  check<ValueError>(!y.is_null() && y.size() == to, op, "the function gave the shape ",
                    y.is_null() ? Shape{} : y.shape(), ", must give (", to, ")");
  return y.reshape(Shape{to});
}

}  // namespace

Array LinearOperator::matvec(const Array& x) const {
  check<TypeError>(!is_null(), "matvec", "the operator is null");
  return mapped("matvec", matvec_, x, columns_, rows_);
}
Array LinearOperator::rmatvec(const Array& x) const {
  check<TypeError>(bool(rmatvec_), "rmatvec",
                   "the operator has no function for the conjugate transposed product: give it as rmatvec");
  return mapped("rmatvec", rmatvec_, x, rows_, columns_);
}

// ---- systems ----------------------------------------------------------------------------------------
double length_of(const Array& v) { return nd::linalg::norm(v).item<double>(); }
std::complex<double> inner_product(const Array& a, const Array& b) { return vdot(a, b).item<std::complex<double>>(); }
Operand factor(std::complex<double> number, Dtype dtype) {
  if (catena::is_complex_dtype(dtype)) return number;
  return number.real();
}

Dtype system_dtype(Dtype a, Dtype b) {
  const Dtype both = kernels::result_dtype(a, b);
  return catena::is_floating(both) || catena::is_complex_dtype(both) ? both : Dtype::float64;
}

Array system_vector(std::string_view op, std::string_view name, const Array& v, std::int64_t n, Dtype dtype) {
  check<TypeError>(!v.is_null(), op, name, " is a null array");
  const bool fits = (v.ndim() == 1 || (v.ndim() == 2 && v.shape(1) == 1)) && v.shape(0) == n;
  check<ValueError>(fits, op, name, " has the shape ", v.shape(), ", must have (", n, ") or (", n, ", 1)");
  return v.ravel().astype(dtype);
}

System::System(std::string_view op, const LinearOperator& a, const Array& given, const Array& x0,
               const LinearOperator& m, double rtol, double atol)
    : A(a), M(m), n(a.shape()[0]) {
  check<TypeError>(!a.is_null(), op, "the matrix is a null operator");
  check<ValueError>(a.shape()[1] == n, op, "the matrix has the shape ", a.shape(), ", must be square");
  check<ValueError>(m.is_null() || m.shape() == a.shape(), op, "M has the shape ", m.shape(), ", must have that of A, ",
                    a.shape());
  check<ValueError>(rtol >= 0 && atol >= 0, op, "the tolerances rtol=", rtol, " and atol=", atol,
                    " must not be negative");
  check<TypeError>(!given.is_null(), op, "b is a null array");
  dtype = system_dtype(a.dtype(), given.dtype());
  b = system_vector(op, "b", given, n, dtype);
  shape = given.shape();
  const DeviceScope scope(b.device());
  x = x0.is_null() ? zeros(n, dtype) : system_vector(op, "x0", x0, n, dtype);
  b_norm = length_of(b);
  tolerance = std::max(atol, rtol * b_norm);
}

// ---- conjugate gradients ----------------------------------------------------------------------------
Solution cg(const LinearOperator& A, const Array& b, const SolverOptions& o) {
  System s("cg", A, b, o.x0, o.M, o.rtol, o.atol);
  if (s.b_norm == 0) return {zeros_like(s.b).reshape(s.shape), 0};
  const DeviceScope scope(s.b.device());
  const std::int64_t maxiter = o.maxiter.value_or(10 * s.n);
  Array r = s.residual(), p;
  std::complex<double> before = 0;
  for (std::int64_t k = 0; k < maxiter; ++k) {
    if (length_of(r) <= s.tolerance) return {s.result(), 0};
    const Array z = s.precondition(r);
    const std::complex<double> now = inner_product(r, z);
    p = k == 0 ? z.copy() : z + p * factor(now / before, s.dtype);
    const Array q = s.A.matvec(p);
    const Operand step = factor(now / inner_product(p, q), s.dtype);
    s.x += p * step;
    r = r - q * step;
    before = now;
    if (o.callback) o.callback(s.result());
  }
  return {s.result(), length_of(r) <= s.tolerance ? 0 : maxiter};
}

// ---- the generalized minimal residual ---------------------------------------------------------------
namespace {

using Number = std::complex<double>;

// The rotation (c, s) with c a + s b = r and -conj(s) a + c b = 0, c real.
struct Rotation {
  double c = 1;
  Number s = 0;
  Rotation(Number a, Number b) {
    const double length = std::hypot(std::abs(a), std::abs(b));
    if (length == 0) return;
    c = std::abs(a) / length;
    s = std::abs(a) == 0 ? std::conj(b) / length : a / std::abs(a) * std::conj(b) / length;
  }
  Number first(Number a, Number b) const { return c * a + s * b; }
  Number second(Number a, Number b) const { return -std::conj(s) * a + c * b; }
};

// One cycle of GMRES: an orthonormal basis of the Krylov space (Arnoldi's method), and the triangular system that
// rotations make of its Hessenberg matrix.
class Cycle {
 public:
  Cycle(const System& s, std::int64_t restart, const Array& residual)
      : system_(s), basis_(zeros({restart + 1, s.n}, s.dtype)) {
    const Array v = s.precondition(residual);
    const double norm = length_of(v);
    if (norm > 0) basis_(0) = v * factor(1 / norm, s.dtype);
    right_.push_back(norm);
  }
  // Adds a column. Returns false if no column can follow: the solution is in the space.
  bool extend() {
    const auto column = static_cast<std::int64_t>(columns_.size());
    Array w = system_.precondition(system_.A.matvec(basis_(column)));
    const double whole = length_of(w);
    std::vector<Number> h;
    for (std::int64_t k = 0; k <= column; ++k) {
      h.push_back(inner_product(basis_(k), w));
      w = w - basis_(k) * factor(h.back(), system_.dtype);
    }
    double rest = length_of(w);
    const double precision = catena::real_dtype(system_.dtype) == Dtype::float32
                                 ? double(std::numeric_limits<float>::epsilon())
                                 : std::numeric_limits<double>::epsilon();
    const bool last = !(rest > precision * whole);
    if (last) rest = 0;
    else basis_(column + 1) = w * factor(1 / rest, system_.dtype);
    for (std::size_t k = 0; k < rotations_.size(); ++k) {
      const Number a = h[k], b = h[k + 1];
      h[k] = rotations_[k].first(a, b);
      h[k + 1] = rotations_[k].second(a, b);
    }
    rotations_.emplace_back(h.back(), rest);
    h.back() = rotations_.back().first(h.back(), rest);
    const Number before = right_.back();
    right_.back() = rotations_.back().first(before, 0);
    right_.push_back(rotations_.back().second(before, 0));
    columns_.push_back(std::move(h));
    return !last;
  }
  // The norm of the preconditioned residual in the space.
  double residual() const { return std::abs(right_.back()); }
  // The vector that is added to x.
  Array correction() const {
    const std::size_t m = columns_.size();
    std::vector<Number> y(right_.begin(), right_.begin() + std::ptrdiff_t(m));
    if (columns_[m - 1][m - 1] == Number(0)) y[m - 1] = 0;  // a singular matrix: the least correction
    for (std::size_t k = m; k-- > 0;) {
      if (y[k] == Number(0)) continue;
      y[k] /= columns_[k][k];
      for (std::size_t i = 0; i < k; ++i) y[i] -= y[k] * columns_[k][i];
    }
    const Array weights = array(y);
    const bool complex = catena::is_complex_dtype(system_.dtype);
    return matmul((complex ? weights : weights.real()).astype(system_.dtype), basis_(Slice(std::int64_t(m))));
  }

 private:
  const System& system_;
  Array basis_;
  std::vector<std::vector<Number>> columns_;  // of the triangular matrix
  std::vector<Rotation> rotations_;
  std::vector<Number> right_;
};

}  // namespace

Solution gmres(const LinearOperator& A, const Array& b, const GmresOptions& o) {
  System s("gmres", A, b, o.x0, o.M, o.rtol, o.atol);
  if (s.b_norm == 0) return {zeros_like(s.b).reshape(s.shape), 0};
  const std::int64_t maxiter = o.maxiter.value_or(10 * s.n), given = o.restart.value_or(20);
  check<ValueError>(given > 0, "gmres", "restart is ", given, ", must be at least 1");
  const std::int64_t restart = std::min(given, s.n);
  const DeviceScope scope(s.b.device());
  // The tolerance of a cycle, in which only the preconditioned residual is computed, follows the outer residual.
  double most = 1, inner = length_of(s.precondition(s.b)) * std::min(1.0, s.tolerance / s.b_norm);
  Array r = s.residual();
  double norm = length_of(r);
  if (norm < s.tolerance) return {s.result(), 0};
  for (std::int64_t k = 0; k < maxiter; ++k) {
    Cycle cycle(s, restart, r);
    bool goes_on = true;
    for (std::int64_t column = 0; column < restart && goes_on; ++column)
      goes_on = cycle.extend() && cycle.residual() > inner;
    const bool broke_down = !goes_on && cycle.residual() > inner;
    s.x += cycle.correction();
    r = s.residual();
    norm = length_of(r);
    if (o.callback) o.callback(s.result());
    if (norm <= s.tolerance || broke_down) break;
    most = cycle.residual() <= inner ? std::max(std::numeric_limits<double>::epsilon(), 0.25 * most)
                                     : std::min(1.0, 1.5 * most);
    inner = cycle.residual() * std::min(most, s.tolerance / norm);
  }
  return {s.result(), norm <= s.tolerance ? 0 : maxiter};
}

// ---- the direct solution ----------------------------------------------------------------------------
Array spsolve(const csr_matrix& A, const Array& b) {
  check<TypeError>(!b.is_null(), "spsolve", "b is a null array");
  check<ValueError>(A.shape(0) == A.shape(1), "spsolve", "the matrix has the shape ", A.shape(), ", must be square");
  check<ValueError>((b.ndim() == 1 || b.ndim() == 2) && b.shape(0) == A.shape(0), "spsolve", "b has the shape ",
                    b.shape(), ", must have (", A.shape(0), ") or (", A.shape(0), ", K)");
  kernels::check_device("spsolve", A.device(), b.device());
  const Dtype dtype = system_dtype(A.dtype(), b.dtype());
  return nd::linalg::solve(A.toarray().astype(dtype, {.copy = false}), b.astype(dtype, {.copy = false}));
}

}  // namespace nd::sparse::linalg
