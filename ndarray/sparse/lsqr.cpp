#include <algorithm>
#include <cmath>
#include <limits>

#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/sparse/linear_system.h>

namespace nd::sparse::linalg {
namespace {

using catena::check;

// The state of LSQR, with the names of the paper: Golub and Kahan's bidiagonalization of A, a rotation for each of its
// columns, and estimates of norms.
class Lsqr {
 public:
  Lsqr(const LinearOperator& A, const Array& b, const LsqrOptions& o)
      : A_(A), o_(o), dtype_(system_dtype(A.dtype(), b.dtype())) {
    const std::int64_t n = A.shape()[1];
    u_ = system_vector("lsqr", "b", b, A.shape()[0], dtype_);
    const DeviceScope scope(u_.device());
    bnorm_ = length_of(u_);
    if (o.x0.is_null()) {
      r.x = zeros(n, dtype_);
    } else {
      r.x = system_vector("lsqr", "x0", o.x0, n, dtype_);
      u_ = u_ - A.matvec(r.x);
    }
    beta_ = normalize(u_);
    if (bnorm_ == 0) bnorm_ = beta_;  // errors relative to the first residual
    v_ = beta_ > 0 ? A.rmatvec(u_) : zeros(n, dtype_);
    alpha_ = normalize(v_);
    w_ = v_.copy();
    rhobar_ = alpha_;
    phibar_ = r.r1norm = r.r2norm = beta_;
    r.arnorm = alpha_ * beta_;
  }

  // One iteration; returns why the function ends, or 0.
  int step() {
    bidiagonalize();
    rotate();
    ++r.itn;
    return reason();
  }

  LsqrResult r;

 private:
  // Divides by the length, which is returned.
  double normalize(Array& v) const {
    const double length = length_of(v);
    if (length > 0) v = v * factor(1 / length, dtype_);
    return length;
  }
  void bidiagonalize() {
    u_ = A_.matvec(v_) - u_ * factor(alpha_, dtype_);
    beta_ = normalize(u_);
    if (beta_ == 0) return;
    r.anorm = std::sqrt(r.anorm * r.anorm + alpha_ * alpha_ + beta_ * beta_ + o_.damp * o_.damp);
    v_ = A_.rmatvec(u_) - v_ * factor(beta_, dtype_);
    alpha_ = normalize(v_);
  }
  void rotate() {
    // The damping is a second row, which one rotation removes; another one removes beta.
    const double damped = std::hypot(rhobar_, o_.damp), psi = damped > 0 ? o_.damp / damped * phibar_ : 0;
    if (damped > 0) phibar_ *= rhobar_ / damped;
    const double rho = std::hypot(damped, beta_), c = damped / rho, s = beta_ / rho;
    const double theta = s * alpha_, phi = c * phibar_;
    rhobar_ = -c * alpha_;
    phibar_ *= s;
    const double w_length = length_of(w_) / rho;
    r.x += w_ * factor(phi / rho, dtype_);
    w_ = v_ - w_ * factor(theta / rho, dtype_);
    squares_of_d_ += w_length * w_length;
    estimate_length_of_x(rho, theta, phi);
    r.acond = r.anorm * std::sqrt(squares_of_d_);
    squares_of_psi_ += psi * psi;
    r.r2norm = std::sqrt(phibar_ * phibar_ + squares_of_psi_);
    r.arnorm = alpha_ * std::abs(s * phi);
    const double squares = r.r2norm * r.r2norm - o_.damp * o_.damp * squares_of_x_;
    r.r1norm = std::copysign(std::sqrt(std::abs(squares)), squares);
  }
  // By another sequence of rotations, of the upper bidiagonal matrix.
  void estimate_length_of_x(double rho, double theta, double phi) {
    const double right = phi - s2_ * rho * z_, gammabar = -c2_ * rho;
    r.xnorm = std::hypot(std::sqrt(squares_of_x_), right / gammabar);
    const double gamma = std::hypot(gammabar, theta);
    c2_ = gammabar / gamma;
    s2_ = theta / gamma;
    z_ = right / gamma;
    squares_of_x_ += z_ * z_;
  }
  int reason() const {
    constexpr double kPrecision = std::numeric_limits<double>::epsilon();
    const double residual = r.r2norm / bnorm_, normal = r.arnorm / (r.anorm * r.r2norm + kPrecision),
                 condition = 1 / (r.acond + kPrecision), size = r.anorm * r.xnorm / bnorm_;
    if (residual <= o_.btol + o_.atol * size) return 1;
    if (normal <= o_.atol) return 2;
    if (condition <= (o_.conlim > 0 ? 1 / o_.conlim : 0)) return 3;
    if (1 + residual / (1 + size) <= 1) return 4;
    if (1 + normal <= 1) return 5;
    if (1 + condition <= 1) return 6;
    return 0;
  }

  const LinearOperator& A_;
  const LsqrOptions& o_;
  Dtype dtype_;
  Array u_, v_, w_;
  double bnorm_, alpha_, beta_, rhobar_, phibar_;
  double squares_of_d_ = 0, squares_of_psi_ = 0, squares_of_x_ = 0, z_ = 0, c2_ = -1, s2_ = 0;
};

}  // namespace

LsqrResult lsqr(const LinearOperator& A, const Array& b, const LsqrOptions& o) {
  check<TypeError>(!A.is_null(), "lsqr", "the matrix is a null operator");
  check<ValueError>(o.damp >= 0, "lsqr", "damp is ", o.damp, ", must not be negative");
  Lsqr state(A, b, o);
  const std::int64_t limit = o.iter_lim.value_or(2 * A.shape()[1]);
  if (state.r.arnorm == 0) return state.r;
  const DeviceScope scope(state.r.x.device());
  while (state.r.itn < limit && state.r.istop == 0) state.r.istop = state.step();
  if (state.r.istop == 0) state.r.istop = 7;
  return state.r;
}

}  // namespace nd::sparse::linalg
