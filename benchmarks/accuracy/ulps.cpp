// Prints the largest error of elementwise functions in units in the last place (ulp), one line each:
//   dtype <tab> function <tab> error <tab> x[, y] of the error
// The results of the C library's functions of long double count as exact: their own error is below 0.002 ulp of a
// double. Functions that the C library lacks are computed in long double by series and by Newton's method. Arguments
// are random: half of them have random exponents, the others are uniform in the range where the function varies.
// table.py makes the table of docs/accuracy.md.
//
//   CATENA_DEVICE=cpu accuracy_ulps [--numbers 1e7]
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

#include <catena/ndarray/ndarray.h>

namespace {

using nd::Array;
namespace special = nd::special;

constexpr std::int64_t kPiece = 1 << 16;
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Function {
  const char* name;
  Array (*ours)(const Array& x, const Array& y);
  long double (*exact)(long double x, long double y);
  double low, high;            // arguments, inclusive
  double from = -10, to = 10;  // the range of the uniform ones
};

// clang-format off
#define UNARY(name, function, ...)                                  \
  {#name, [](const Array& x, const Array&) { return nd::name(x); }, \
   [](long double x, long double) { return function(x); }, __VA_ARGS__}
#define BINARY(name, function, ...)                                      \
  {#name, [](const Array& x, const Array& y) { return nd::name(x, y); }, \
   [](long double x, long double y) { return function(x, y); }, __VA_ARGS__}
#define SPECIAL1(name, function, ...)                                    \
  {#name, [](const Array& x, const Array&) { return special::name(x); }, \
   [](long double x, long double) { return function(x); }, __VA_ARGS__}
#define SPECIAL2(name, function, ...)                                         \
  {#name, [](const Array& x, const Array& y) { return special::name(x, y); }, \
   [](long double x, long double y) { return function(x, y); }, __VA_ARGS__}
// clang-format on

// ---- special functions in long double -------------------------------------------------------------
using Wide = long double;

// The y with f(y) = x by Newton's method for log(f) or f, from the result for a double.
Wide inverse_of_erf(Wide x) {
  Wide y = nd::special::erfinv(double(x)).item<double>();
  for (int k = 0; k < 2 && std::isfinite(y); ++k) {
    const Wide sign = x < 0 ? -1 : 1, rest = sign * ((1 - std::fabs(x)) - std::erfc(std::fabs(y)));
    const Wide off = std::fabs(x) < 0.5L ? std::erf(y) - x : rest;
    y -= off * std::exp(y * y) * 0.886226925452758013649L;
  }
  return y;
}
Wide inverse_of_erfc(Wide q) {
  Wide y = nd::special::erfcinv(double(q)).item<double>();
  for (int k = 0; k < 2 && std::isfinite(y); ++k) {
    const Wide tail = std::erfc(y);
    y += (q < 0.5L ? tail * std::log(tail / q) : tail - q) * std::exp(y * y) * 0.886226925452758013649L;
  }
  return y;
}
Wide quantile(Wide p) { return -1.41421356237309504880L * inverse_of_erfc(2 * p); }
Wide normal(Wide x) { return std::erfc(-x / 1.41421356237309504880L) / 2; }
Wide digamma(Wide x) {
  Wide sum = 0;
  for (; x < 40; x += 1) sum -= 1 / x;
  const Wide z = 1 / (x * x);
  const Wide tail = z * (1 / 12.0L - z * (1 / 120.0L - z * (1 / 252.0L - z * (1 / 240.0L - z * (1 / 132.0L)))));
  return sum + (std::log(x) - 1 / (2 * x) - tail);
}
Wide bessel(Wide x, int order) {
  const Wide z = x * x / 4;
  Wide term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; term > sum * 1e-21L; ++k) sum += term *= z / (Wide(k) * Wide(k + order));
  return sum;
}
Wide bessel0(Wide x) { return bessel(std::fabs(x), 0); }
Wide bessel1(Wide x) { return std::copysign(bessel(std::fabs(x), 1), x); }
Wide beta(Wide a, Wide b) { return std::tgamma(a) / std::tgamma(a + b) * std::tgamma(b); }
Wide log_beta(Wide a, Wide b) { return std::log(beta(a, b)); }
Wide zeta(Wide x, Wide q) {
  Wide sum = 0, a = q;
  for (int n = 0; n < 40; ++n, a += 1) sum += std::pow(a, -x);
  const Wide term = std::pow(a, -x), z = 1 / (a * a);
  const Wide third = (x + 3) * (x + 4) * z / 30240 * (1 - (x + 5) * (x + 6) * z / 40);
  return sum + term * (a / (x - 1) + 0.5L + x / a * (1 / 12.0L - (x + 1) * (x + 2) * z * (1 / 720.0L - third)));
}
Wide riemann(Wide x, Wide) { return zeta(x, 1); }
Wide logit(Wide x) { return std::fabs(x - 0.5L) < 0.25L ? 2 * std::atanh(2 * x - 1) : std::log(x / (1 - x)); }
Wide expit(Wide x) { return 1 / (1 + std::exp(-x)); }
Wide log_expit(Wide x) { return -std::log1p(std::exp(-x)); }
Wide entropy(Wide x) { return x == 0 ? 0 : -x * std::log(x); }
Wide xlogy(Wide x, Wide y) { return x == 0 ? 0 : x * std::log(y); }
Wide xlog1py(Wide x, Wide y) { return x == 0 ? 0 : x * std::log1p(y); }
Wide relative_entropy(Wide x, Wide y) {
  const Wide d = (x - y) / y;
  return x * (std::fabs(d) < 0.5L ? std::log1p(d) : std::log(x / y));
}

const Function kFunctions[] = {
    UNARY(sqrt, std::sqrt, 0, kInf, 0),
    UNARY(exp, std::exp, -kInf, kInf, -100, 100),
    UNARY(exp2, std::exp2, -kInf, kInf, -100, 100),
    UNARY(expm1, std::expm1, -kInf, kInf, -2, 2),
    UNARY(log, std::log, 0, kInf, 0.5, 2),
    UNARY(log2, std::log2, 0, kInf, 0.5, 2),
    UNARY(log10, std::log10, 0, kInf, 0.5, 2),
    UNARY(log1p, std::log1p, -1, kInf, -0.9, 2),
    UNARY(sin, std::sin, -kInf, kInf, -20, 20),
    UNARY(cos, std::cos, -kInf, kInf, -20, 20),
    UNARY(tan, std::tan, -kInf, kInf, -20, 20),
    UNARY(arcsin, std::asin, -1, 1, -1, 1),
    UNARY(arccos, std::acos, -1, 1, -1, 1),
    UNARY(arctan, std::atan, -kInf, kInf),
    UNARY(sinh, std::sinh, -kInf, kInf),
    UNARY(cosh, std::cosh, -kInf, kInf),
    UNARY(tanh, std::tanh, -kInf, kInf, -3, 3),
    UNARY(arcsinh, std::asinh, -kInf, kInf),
    UNARY(arccosh, std::acosh, 1, kInf, 1),
    UNARY(arctanh, std::atanh, -1, 1, -1, 1),
    BINARY(power, std::pow, 0, kInf, 0.01),
    BINARY(arctan2, std::atan2, -kInf, kInf),
    BINARY(hypot, std::hypot, -kInf, kInf),
    UNARY(cbrt, std::cbrt, -kInf, kInf),
    SPECIAL1(erf, std::erf, -kInf, kInf, -5, 5),
    SPECIAL1(erfc, std::erfc, -kInf, 26, -5, 26),
    SPECIAL1(erfinv, inverse_of_erf, -1, 1, -1, 1),
    SPECIAL1(erfcinv, inverse_of_erfc, 1e-300, 2, 0, 2),
    SPECIAL1(ndtr, normal, -37, kInf, -37, 6),
    SPECIAL1(ndtri, quantile, 1e-300, 1, 0, 1),
    SPECIAL1(gamma, std::tgamma, 0, 171, 0, 171),
    SPECIAL1(gammaln, std::lgamma, 0, kInf, 0, 20),
    SPECIAL1(digamma, digamma, 1.6, kInf, 1.6, 20),
    SPECIAL2(beta, beta, 1e-3, 400, 0.01, 100),
    SPECIAL2(betaln, log_beta, 1e-3, 0.9, 0.01, 0.9),
    {"zeta(x)", [](const Array& x, const Array&) { return special::zeta(x); }, riemann, 1.001, 60, 1.001, 20},
    {"zeta(x, q)", [](const Array& x, const Array& q) { return special::zeta(x, q); }, zeta, 1.001, 30, 1.001, 30},
    SPECIAL1(j0, ::j0l, -2, 2, -2, 2),
    SPECIAL1(j1, ::j1l, -3, 3, -3, 3),
    SPECIAL1(y0, ::y0l, 0, 0.8, 0, 0.8),
    SPECIAL1(y1, ::y1l, 0, 2, 0, 2),
    SPECIAL1(i0, bessel0, -80, 80, -20, 20),
    SPECIAL1(i1, bessel1, -80, 80, -20, 20),
    SPECIAL1(expit, expit, -80, 80, -10, 10),
    SPECIAL1(logit, logit, 0, 1, 0, 1),
    SPECIAL1(log_expit, log_expit, -80, 80, -10, 10),
    SPECIAL1(entr, entropy, 0, 1e30, 0, 2),
    SPECIAL2(xlogy, xlogy, 1e-15, 1e15, 0.01, 10),
    SPECIAL2(xlog1py, xlog1py, 1e-15, 1e15, 0.01, 10),
    SPECIAL2(rel_entr, relative_entropy, 1e-15, 1e15, 0.01, 10),
};

template <class T> T with_random_bits(std::mt19937_64& g) {
  const auto bits = g();
  T x;
  std::memcpy(&x, &bits, sizeof(T));
  return x;
}
// Returns an argument of the function, which is finite.
template <class T> T argument(const Function& f, std::mt19937_64& g, std::int64_t i) {
  std::uniform_real_distribution<double> uniform(f.from, f.to);
  for (;;) {
    const T x = i % 2 == 0 ? with_random_bits<T>(g) : static_cast<T>(uniform(g));
    if (std::isfinite(x) && double(x) >= f.low && double(x) <= f.high) return x;
  }
}

// Returns the distance of a result from the exact one in units in the last place of the exact one.
template <class T> double ulps(T result, long double exact) {
  if (std::isnan(result) && std::isnan(exact)) return 0;
  const T rounded = static_cast<T>(exact);
  if (!std::isfinite(result) || !std::isfinite(rounded)) return result == rounded ? 0 : kInf;
  const long double unit = std::ldexp(1.0L, std::ilogb(exact) - std::numeric_limits<T>::digits + 1);
  return double(std::abs(result - exact) / std::max<long double>(unit, std::numeric_limits<T>::denorm_min()));
}

template <class T> void measure(const Function& f, std::int64_t numbers) {
  std::mt19937_64 g(1);
  double worst = 0;
  T x_of = 0, y_of = 0;
  for (std::int64_t begin = 0; begin < numbers; begin += kPiece) {
    std::vector<T> x, y;
    for (std::int64_t i = 0; i < kPiece; ++i) {
      x.push_back(argument<T>(f, g, i));
      y.push_back(argument<T>(f, g, i));
    }
    const std::vector<T> results = f.ours(nd::array(x), nd::array(y)).template to_vector<T>();
    for (std::size_t i = 0; i < results.size(); ++i) {
      const double error = ulps(results[i], f.exact(x[i], y[i]));
      if (error > worst) worst = error, x_of = x[i], y_of = y[i];
    }
  }
  std::cout << nd::dtype_of<T> << "\t" << f.name << "\t" << std::setprecision(3) << worst << "\t"
            << std::setprecision(17) << x_of << ", " << y_of << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t numbers =
      argc == 3 && std::string_view(argv[1]) == "--numbers" ? std::int64_t(std::stod(argv[2])) : 10'000'000;
  for (const Function& f : kFunctions) {
    measure<float>(f, numbers);
    measure<double>(f, numbers);
  }
}
