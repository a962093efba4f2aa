#include <catena/autograd/functions/special.h>

#include <cmath>

#include <catena/autograd/functions/elementwise.h>

namespace autograd {
namespace {

using internal::unary;
using Values = const ElementwiseValues&;
namespace kernels = catena::kernels;

constexpr double kRootPi = 1.7724538509055160273, kRoot2Pi = 2.5066282746310005024, kPi = 3.14159265358979323846;

Array negative(const Variable& x) { return apply(kernels::less, {x.data(), 0}); }

// ---- error functions ----
constexpr auto kErf =
    unary("erf", kernels::erf, kRetainX, [](int, Values v) { return v.gy * exp(-square(v.x0)) * (2 / kRootPi); });
constexpr auto kErfc =
    unary("erfc", kernels::erfc, kRetainX, [](int, Values v) { return v.gy * exp(-square(v.x0)) * (-2 / kRootPi); });
constexpr auto kErfinv =
    unary("erfinv", kernels::erfinv, kRetainY, [](int, Values v) { return v.gy * exp(square(v.y)) * (kRootPi / 2); });
constexpr auto kNdtr = unary("ndtr", kernels::ndtr, kRetainX,
                             [](int, Values v) { return v.gy * exp(square(v.x0) * -0.5) * (1 / kRoot2Pi); });
constexpr auto kLogNdtr = unary("log_ndtr", kernels::log_ndtr, kRetainX | kRetainY,
                                [](int, Values v) { return v.gy * exp(square(v.x0) * -0.5 - v.y) * (1 / kRoot2Pi); });
constexpr auto kNdtri =
    unary("ndtri", kernels::ndtri, kRetainY, [](int, Values v) { return v.gy * exp(square(v.y) * 0.5) * kRoot2Pi; });

// ---- gamma functions ----
// The Hurwitz zeta function of a constant order s: the derivative is -s zeta(s + 1, x).
Variable zeta(double s, const Variable& x);
constexpr ElementwiseFunction kZeta = {.label = "zeta($, _)",
                                       .kernel = &kernels::zeta,
                                       .retain = kRetainX,
                                       .gradient =
                                           [](int, Values v) {
                                             const double s = v.c[0].scalar().to<double>();
                                             return v.gy * zeta(s + 1, v.x0) * -s;
                                           },
                                       .constant_first = true};
Variable zeta(double s, const Variable& x) { return elementwise(kZeta, x, s); }
// The derivative of digamma, for x < 0 by reflection.
Variable trigamma(const Variable& x) {
  const Array below = negative(x);
  const Variable of_positive = polygamma(1, where(below, 1 - x, x));
  const Variable sine = sin(where(below, x, 0.5) * kPi);
  return where(below, (kPi * kPi) / square(sine) - of_positive, of_positive);
}
constexpr auto kLgamma =
    unary("lgamma", kernels::gammaln, kRetainX, [](int, Values v) { return v.gy * digamma(v.x0); });
constexpr auto kDigamma =
    unary("digamma", kernels::digamma, kRetainX, [](int, Values v) { return v.gy * trigamma(v.x0); });

// ---- logarithms and logistic functions ----
constexpr auto kLogit =
    unary("logit", kernels::logit, kRetainX, [](int, Values v) { return v.gy / (v.x0 * (1 - v.x0)); });
constexpr auto kLogExpit =
    unary("log_expit", kernels::log_expit, kRetainX, [](int, Values v) { return v.gy * sigmoid(-v.x0); });
constexpr auto kEntr = unary("entr", kernels::entr, kRetainX, [](int, Values v) { return -v.gy * (log(v.x0) + 1); });

Array both_zero(const Variable& x0, const Variable& x1) {
  return apply(kernels::logical_and, {apply(kernels::equal, {x0.data(), 0}), apply(kernels::equal, {x1.data(), 0})});
}
// gy x0 / x1, or 0 for 0 / 0.
Variable quotient_or_0(const Variable& gy, const Variable& x0, const Variable& x1) {
  return gy * x0 / where(both_zero(x0, x1), 1, x1);
}
constexpr ElementwiseFunction kXlogy = {
    .label = "xlogy", .kernel = &kernels::xlogy, .retain = kRetainXs, .gradient = [](int target, Values v) {
      if (target == 1) return quotient_or_0(v.gy, v.x0, v.x1);
      return v.gy * log(where(both_zero(v.x0, v.x1), 1, v.x1));
    }};
constexpr ElementwiseFunction kXlog1py = {
    .label = "xlog1py", .kernel = &kernels::xlog1py, .retain = kRetainXs, .gradient = [](int target, Values v) {
      return target == 1 ? quotient_or_0(v.gy, v.x0, v.x1 + 1) : v.gy * log1p(v.x1);
    }};

// The derivative of sinc: near 0 by its series, where the difference of cosine and quotient is not accurate.
Variable sinc_derivative(const Variable& x) {
  const Array near_0 = apply(kernels::less, {apply(kernels::absolute, {x.data()}), 0.25});
  const Variable small = where(near_0, x, 0.0), large = where(near_0, 1.0, x);
  // The terms 2 k z^k / (2 k + 1)! with z = -(pi x)^2, divided by x.
  const Variable z = square(small) * (-kPi * kPi);
  constexpr double kTerms[] = {1.0 / 3,       1.0 / 30,        1.0 / 840,          1.0 / 45360,
                               1.0 / 3991680, 1.0 / 518918400, 1.0 / 93405312000.0};
  Variable series = z * 0 + kTerms[6];
  for (int k = 5; k >= 0; --k) series = series * z + kTerms[k];
  return where(near_0, series * small * (-kPi * kPi), (cos(large * kPi) - sinc(large)) / large);
}
constexpr auto kSinc =
    unary("sinc", kernels::sinc, kRetainX, [](int, Values v) { return v.gy * sinc_derivative(v.x0); });

}  // namespace

Variable erf(const Variable& x) { return elementwise(kErf, x); }
Variable erfc(const Variable& x) { return elementwise(kErfc, x); }
Variable erfinv(const Variable& x) { return elementwise(kErfinv, x); }
Variable ndtr(const Variable& x) { return elementwise(kNdtr, x); }
Variable log_ndtr(const Variable& x) { return elementwise(kLogNdtr, x); }
Variable ndtri(const Variable& x) { return elementwise(kNdtri, x); }
Variable lgamma(const Variable& x) { return elementwise(kLgamma, x); }
Variable digamma(const Variable& x) { return elementwise(kDigamma, x); }
Variable polygamma(std::int64_t n, const Variable& x) {
  catena::check<catena::ValueError>(n >= 0, "polygamma", "the order ", n, " is negative");
  if (n == 0) return digamma(x);
  const double factorial = std::tgamma(double(n) + 1);
  return zeta(double(n) + 1, x) * (n % 2 == 0 ? -factorial : factorial);
}
Variable logit(const Variable& x) { return elementwise(kLogit, x); }
Variable log_expit(const Variable& x) { return elementwise(kLogExpit, x); }
Variable xlogy(const Variable& x, const Variable& y) { return elementwise(kXlogy, x, y); }
Variable xlog1py(const Variable& x, const Variable& y) { return elementwise(kXlog1py, x, y); }
Variable entr(const Variable& x) { return elementwise(kEntr, x); }
Variable sinc(const Variable& x) { return elementwise(kSinc, x); }

}  // namespace autograd
