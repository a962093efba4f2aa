#include <catena/autograd/functions/torch_special.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/autograd/config.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/input_types.h>

namespace autograd {

using catena::check;
using catena::NotImplementedError;
using catena::ValueError;

namespace {

using internal::unary;
using Values = const ElementwiseValues&;
namespace kernels = catena::kernels;

constexpr double kRootPi = 1.7724538509055160273;
using std::numbers::pi;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

// ---- functions with kernels ----
// y / x, and 1/2 at 0: the limit of the quotients of functions of order 1.
Variable quotient(const Variable& y, const Variable& x) {
  const Array at_0 = apply(kernels::equal, {x.data(), 0});
  return where(at_0, 0.5, y / where(at_0, 1.0, x));
}
constexpr auto kJ0 =
    unary("bessel_j0", kernels::j0, kRetainX, [](int, Values v) { return -v.gy * special::bessel_j1(v.x0); });
constexpr auto kJ1 = unary("bessel_j1", kernels::j1, kRetainX | kRetainY,
                           [](int, Values v) { return v.gy * (special::bessel_j0(v.x0) - quotient(v.y, v.x0)); });
constexpr auto kY0 =
    unary("bessel_y0", kernels::y0, kRetainX, [](int, Values v) { return -v.gy * special::bessel_y1(v.x0); });
constexpr auto kY1 = unary("bessel_y1", kernels::y1, kRetainX | kRetainY,
                           [](int, Values v) { return v.gy * (special::bessel_y0(v.x0) - v.y / v.x0); });
constexpr auto kI0 = unary("i0", kernels::i0, kRetainX, [](int, Values v) { return v.gy * special::i1(v.x0); });
constexpr auto kI1 = unary("i1", kernels::i1, kRetainX | kRetainY,
                           [](int, Values v) { return v.gy * (i0(v.x0) - quotient(v.y, v.x0)); });
constexpr auto kI0e = unary("i0e", kernels::i0e, kRetainX | kRetainY,
                            [](int, Values v) { return v.gy * (special::i1e(v.x0) - sign(v.x0) * v.y); });
constexpr auto kI1e = unary("i1e", kernels::i1e, kRetainX | kRetainY, [](int, Values v) {
  return v.gy * (special::i0e(v.x0) - sign(v.x0) * v.y - quotient(v.y, v.x0));
});
constexpr ElementwiseFunction kZeta = {
    .label = "zeta", .kernel = &kernels::zeta, .retain = kRetainXs, .gradient = [](int target, Values v) {
      check<NotImplementedError>(target == 1, "zeta", "the gradient of x is not implemented");
      return -v.gy * v.x0 * special::zeta(v.x0 + 1, v.x1);
    }};

// ---- functions that the host computes ----
// f(x, y), or f(x, 0) of one operand. A null gradient: the result has none.
struct HostFunction {
  const char* label;
  double (*f)(double x, double y);
  Variable (*gradient)(int target, const Variable& x, const Variable& y) = nullptr;
};
Array computed(const HostFunction& function, const Arrays& x) {
  std::vector<double> a = to_vector<double>(x[0]);
  const std::vector<double> b = x.size() > 1 ? to_vector<double>(x[1]) : std::vector<double>(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = function.f(a[k], b[k]);
  return astype(array<double>(a, x[0].shape(), x[0].device()), x[0].dtype());
}
class HostNode final : public FunctionNode {
 public:
  explicit HostNode(const HostFunction& function) : function_(function) {}
  std::string label() const override { return function_.label; }
  Arrays forward(const Arrays& x) override {
    if (x.size() > 1) retain_inputs({0, 1});
    else retain_inputs({0});
    return {computed(function_, x)};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    const Variable y = num_inputs() > 1 ? retained_input(1) : Variable();
    Variables g;
    for (const int t : targets) g.push_back(gy[0] * function_.gradient(t, retained_input(0), y));
    return g;
  }

 private:
  const HostFunction& function_;
};
// x, or integers and bools in the dtype of a floating variable `beside`, else in that of the configuration.
Variable floating(const Variable& x, const Variable& beside = {}) {
  if (!x || !catena::is_exact(x.dtype())) return x;
  return cast(x, beside && catena::is_floating(beside.dtype()) ? beside.dtype() : get_dtype());
}
Variable on_host(const HostFunction& function, const Variables& given) {
  const Variables operands = given.size() > 1 ? given : Variables{floating(given[0])};
  internal::check_input_types(function.label, operands, [&](const type_check::TypeInfoTuple& in_types) {
    using namespace type_check;
    expect(in_types[0].dtype.kind() == 'f');
    if (operands.size() > 1) expect(in_types[0].dtype == in_types[1].dtype);
  });
  Variables same = operands;
  if (operands.size() > 1) {
    const Shape shape = catena::broadcast_shapes(function.label, operands[0].shape(), operands[1].shape());
    same = {broadcast_to(operands[0], shape), broadcast_to(operands[1], shape)};
  }
  if (function.gradient != nullptr) return apply_node<HostNode>(same, function)[0];
  Arrays arrays;
  for (const Variable& x : same) arrays.push_back(x.data());
  return as_variable(computed(function, arrays));
}

// ---- incomplete gamma functions: series below a + 1, else the continued fraction of Lentz ----
struct Gammas {
  double lower, upper;
};
Gammas of_series(double a, double x, double factor) {
  double term = 1 / a, total = term;
  for (double k = 1; k < 1e6 && term > total * 1e-17; ++k) total += term *= x / (a + k);
  return {total * factor, 1 - total * factor};
}
Gammas of_fraction(double a, double x, double factor) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, value = d;
  for (double k = 1; k < 1e6; ++k) {
    const double numerator = -k * (k - a);
    b += 2;
    d = numerator * d + b;
    c = b + numerator / c;
    d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
    if (std::fabs(c) < kTiny) c = kTiny;
    value *= d * c;
    if (std::fabs(d * c - 1) < 1e-16) break;
  }
  return {1 - value * factor, value * factor};
}
Gammas incomplete_gammas(double a, double x) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == kInf && x == kInf)) return {kNan, kNan};
  if (a == 0 || x == kInf) return {1, 0};
  if (x == 0 || a == kInf) return {0, 1};
  const double factor = std::exp(a * std::log(x) - x - std::lgamma(a));
  return x < a + 1 ? of_series(a, x, factor) : of_fraction(a, x, factor);
}
// x^(a - 1) exp(-x) / gamma(a), the derivative of the lower one.
Variable gamma_density(const char* op, int target, const Variable& a, const Variable& x) {
  check<NotImplementedError>(target == 1, op, "the gradient of the order a is not implemented");
  return exp(xlogy(a - 1, x) - x - lgamma(a));
}
constexpr HostFunction kIgamma = {
    "igamma", [](double a, double x) { return incomplete_gammas(a, x).lower; },
    [](int target, const Variable& a, const Variable& x) { return gamma_density("igamma", target, a, x); }};
constexpr HostFunction kIgammac = {
    "igammac", [](double a, double x) { return incomplete_gammas(a, x).upper; },
    [](int target, const Variable& a, const Variable& x) { return -gamma_density("igammac", target, a, x); }};

// ---- erfcx, modified Bessel functions of the second kind, Airy's function ----
// From 6 on by the asymptotic series, whose terms fall below the precision there.
double scaled_erfc(double x, double) {
  if (!(x >= 6)) return std::exp(x * x) * std::erfc(x);
  double term = 1, total = 1;
  for (int k = 1; k < 30 && term != 0; ++k) {
    const double next = -term * (2 * k - 1) / (2 * x * x);
    if (std::fabs(next) >= std::fabs(term)) break;
    total += term = next;
  }
  return total / (x * kRootPi);
}
constexpr HostFunction kErfcx = {"erfcx", scaled_erfc, [](int, const Variable& x, const Variable&) {
                                   return x * special::erfcx(x) * 2 - 2 / kRootPi;
                                 }};
// exp(x) K(x) of an order 0 or 1: the integral of exp(-x (cosh(t) - 1)) cosh(order t) over t > 0 by the trapezoidal
// rule, whose error falls exponentially with the step; by the functions of the standard library below 2.
double scaled_k(int order, double x) {
  if (std::isnan(x) || x < 0) return kNan;
  if (x == 0) return kInf;
  if (x < 2) return std::exp(x) * std::cyl_bessel_k(order, x);
  if (x == kInf) return 0;
  // Steps that are proportional to the width of the integrand, 1 / sqrt(x).
  const double step = 0.1 / std::sqrt(x);
  double total = 0.5;
  for (int k = 1; k < 200; ++k) {
    const double t = k * step, half = std::sinh(t / 2), term = std::exp(-2 * x * half * half) * std::cosh(order * t);
    total += term;
    if (term < total * 1e-18) break;
  }
  return total * step;
}
double unscaled_k(int order, double x) {
  const double scaled = scaled_k(order, x);
  return std::isinf(scaled) || x == kInf ? scaled : scaled * std::exp(-x);
}
constexpr HostFunction kK0 = {"modified_bessel_k0", [](double x, double) { return unscaled_k(0, x); },
                              [](int, const Variable& x, const Variable&) { return -special::modified_bessel_k1(x); }};
constexpr HostFunction kK1 = {"modified_bessel_k1", [](double x, double) { return unscaled_k(1, x); },
                              [](int, const Variable& x, const Variable&) {
                                return -special::modified_bessel_k0(x) - special::modified_bessel_k1(x) / x;
                              }};
constexpr HostFunction kScaledK0 = {"scaled_modified_bessel_k0", [](double x, double) { return scaled_k(0, x); },
                                    [](int, const Variable& x, const Variable&) {
                                      return special::scaled_modified_bessel_k0(x) -
                                             special::scaled_modified_bessel_k1(x);
                                    }};
constexpr HostFunction kScaledK1 = {"scaled_modified_bessel_k1", [](double x, double) { return scaled_k(1, x); },
                                    [](int, const Variable& x, const Variable&) {
                                      const Variable k1 = special::scaled_modified_bessel_k1(x);
                                      return k1 - special::scaled_modified_bessel_k0(x) - k1 / x;
                                    }};
// By Bessel functions of the order 1/3 (Abramowitz and Stegun 10.4.14 and 10.4.15).
double airy(double x, double) {
  if (std::isnan(x)) return kNan;
  if (x == 0) return 0.35502805388781723926;
  const double a = std::fabs(x), z = 2 * a * std::sqrt(a) / 3;
  if (x > 0) return z > 700 ? 0 : std::sqrt(a / 3) / pi * std::cyl_bessel_k(1.0 / 3, z);
  if (z > 1e6) return std::cos(z - pi / 4) / (kRootPi * std::sqrt(std::sqrt(a)));
  return std::sqrt(a) / 2 * (std::cyl_bessel_j(1.0 / 3, z) - std::cyl_neumann(1.0 / 3, z) / std::sqrt(3.0));
}
constexpr HostFunction kAiry = {"airy_ai", airy};

// ---- polynomials: p(0) = 1, p(1) = `first`, p(k + 1) = next(k, x, p(k), p(k - 1)) ----
struct Polynomial {
  const char* label;
  double (*first)(double x);
  double (*next)(double k, double x, double p, double before);
  // The value without a loop; NaN where there is none.
  double (*closed)(double n, double x) = nullptr;
};
double value_of(const Polynomial& polynomial, double degree, double x) {
  constexpr double kMost = 1e6;
  if (!std::isfinite(degree) || std::isnan(x)) return kNan;
  const double n = std::trunc(degree);
  if (n < 0) return 0;
  if (n == 0) return 1;
  if (polynomial.closed != nullptr)
    if (const double y = polynomial.closed(n, x); !std::isnan(y)) return y;
  double before = 1, p = polynomial.first(x);
  for (double k = 1; k < n && !std::isnan(p); ++k) {
    check<ValueError>(k < kMost, polynomial.label, "the degree n is ", n, ", it must be at most ", kMost);
    const double after = polynomial.next(k, x, p, before);
    before = p;
    p = after;
  }
  return p;
}
double chebyshev(double, double x, double p, double before) { return 2 * x * p - before; }
double hermite(double k, double x, double p, double before) { return 2 * x * p - 2 * k * before; }
double hermite_e(double k, double x, double p, double before) { return x * p - k * before; }
double laguerre(double k, double x, double p, double before) { return ((2 * k + 1 - x) * p - k * before) / (k + 1); }
double legendre(double k, double x, double p, double before) { return ((2 * k + 1) * x * p - k * before) / (k + 1); }

// `even` at x = -1 for an even n, `odd` there for an odd one, by the angle f(acos(x)) between -1 and 1 for degrees
// above `loops`, as in PyTorch.
double of_angle(double n, double x, double loops, double at_1, double even, double odd,
                double (*f)(double n, double angle)) {
  if (x == 1) return at_1;
  if (x == -1) return std::fmod(n, 2) == 0 ? even : odd;
  return n > loops && std::fabs(x) < 1 ? f(n, std::acos(x)) : kNan;
}
double closed_t(double n, double x) {
  return of_angle(n, x, 6, 1, 1, -1, [](double k, double angle) { return std::cos(k * angle); });
}
double closed_u(double n, double x) {
  return of_angle(n, x, 8, n + 1, n + 1, -(n + 1),
                  [](double k, double angle) { return std::sin((k + 1) * angle) / std::sin(angle); });
}
double closed_v(double n, double x) {
  return of_angle(n, x, 8, 1, 2 * n + 1, -(2 * n + 1),
                  [](double k, double angle) { return std::cos((k + 0.5) * angle) / std::cos(angle / 2); });
}
double closed_w(double n, double x) {
  return of_angle(n, x, 8, 2 * n + 1, 1, -1,
                  [](double k, double angle) { return std::sin((k + 0.5) * angle) / std::sin(angle / 2); });
}
double closed_legendre(double n, double x) { return of_angle(n, x, kInf, 1, 1, -1, nullptr); }

}  // namespace

Variable i0(const Variable& x) { return elementwise(kI0, x); }
Variable igamma(const Variable& a, const Variable& x) { return on_host(kIgamma, {a, x}); }
Variable igammac(const Variable& a, const Variable& x) { return on_host(kIgammac, {a, x}); }
Variable mvlgamma(const Variable& x, int p) {
  check<ValueError>(p >= 1, "mvlgamma", "the dimension p is ", p, ", it must be at least 1");
  Variable total = lgamma(x) + p * (p - 1) * std::log(pi) / 4;
  for (int k = 1; k < p; ++k) total = total + lgamma(x - k / 2.0);
  return total;
}

namespace special {

Variable bessel_j0(const Variable& x) { return elementwise(kJ0, x); }
Variable bessel_j1(const Variable& x) { return elementwise(kJ1, x); }
Variable bessel_y0(const Variable& x) { return elementwise(kY0, x); }
Variable bessel_y1(const Variable& x) { return elementwise(kY1, x); }
Variable i0e(const Variable& x) { return elementwise(kI0e, x); }
Variable i1(const Variable& x) { return elementwise(kI1, x); }
Variable i1e(const Variable& x) { return elementwise(kI1e, x); }
Variable zeta(const Variable& x, const Variable& q) { return elementwise(kZeta, x, q); }
Variable erfcx(const Variable& x) { return on_host(kErfcx, {x}); }
Variable modified_bessel_k0(const Variable& x) { return on_host(kK0, {x}); }
Variable modified_bessel_k1(const Variable& x) { return on_host(kK1, {x}); }
Variable scaled_modified_bessel_k0(const Variable& x) { return on_host(kScaledK0, {x}); }
Variable scaled_modified_bessel_k1(const Variable& x) { return on_host(kScaledK1, {x}); }
Variable spherical_bessel_j0(const Variable& x) { return sinc(x * (1 / pi)); }
Variable airy_ai(const Variable& x) { return on_host(kAiry, {x}); }
Variable log_softmax(const Variable& x, int dim) { return x - broadcast_to(logsumexp(x, dim, true), x.shape()); }
Variable softmax(const Variable& x, int dim) { return exp(log_softmax(x, dim)); }

#define CATENA_POLYNOMIAL(name, first, ...)                                                                   \
  Variable name(const Variable& at, const Variable& n) {                                                      \
    static constexpr Polynomial kPolynomial = {#name, [](double x) -> double { return first; }, __VA_ARGS__}; \
    static constexpr HostFunction kFunction = {                                                               \
        #name, [](double x, double degree) { return value_of(kPolynomial, degree, x); }};                     \
    return on_host(kFunction, {at, floating(n, at)});                                                         \
  }
#define CATENA_CHEBYSHEV(kind, first)                                                  \
  CATENA_POLYNOMIAL(chebyshev_polynomial_##kind, first, chebyshev, closed_##kind)      \
  Variable shifted_chebyshev_polynomial_##kind(const Variable& x, const Variable& n) { \
    return chebyshev_polynomial_##kind(x * 2 - 1, n);                                  \
  }
CATENA_CHEBYSHEV(t, x)
CATENA_CHEBYSHEV(u, 2 * x)
CATENA_CHEBYSHEV(v, 2 * x - 1)
CATENA_CHEBYSHEV(w, 2 * x + 1)
CATENA_POLYNOMIAL(hermite_polynomial_h, 2 * x, hermite)
CATENA_POLYNOMIAL(hermite_polynomial_he, x, hermite_e)
CATENA_POLYNOMIAL(laguerre_polynomial_l, 1 - x, laguerre)
CATENA_POLYNOMIAL(legendre_polynomial_p, x, legendre, closed_legendre)
#undef CATENA_CHEBYSHEV
#undef CATENA_POLYNOMIAL

}  // namespace special

}  // namespace autograd
