// Prints the largest error of elementwise functions in units in the last place (ulp), one line each:
//   dtype <tab> function <tab> error <tab> x[, y] of the error
// The results of the C library's functions of long double count as exact: their own error is below 0.002 ulp of a
// double. Arguments are random: half of them have random exponents, the others are uniform in the range where the
// function varies. table.py makes the table of docs/accuracy.md.
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
// clang-format on

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
