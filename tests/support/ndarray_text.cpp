#include <catena/tests/support/ndarray_text.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace test {
namespace {

std::string number_text(double x) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.9g", x);
  return buffer;
}

bool is_number(const std::string& word, double& x) {
  char* end = nullptr;
  x = std::strtod(word.c_str(), &end);
  return end != word.c_str() && *end == 0;
}

// As numpy.isclose, with the tolerance of 9 recorded digits, or of float32 and float16 arrays.
bool near(double x, double y, double tolerance) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (std::isinf(x) || std::isinf(y)) return x == y;
  return std::fabs(x - y) <= 1e-9 + tolerance * std::fabs(y);
}

}  // namespace

NumpyVariables::NumpyVariables()
    : a((nd::arange(12.).reshape(3, 4) + 1) / 2),
      b(nd::array({{2., -1., 0.5, 3.}, {-2.5, 4., 1., 0.25}, {1.5, -0.75, 6., 2.}})),
      v(nd::array({3., 1., 2., 5., 4., 0.5})),
      w(nd::array({1., 2., 0.5, 4., 1.5, 3.})),
      i(nd::array({2, 0, 1})),
      n(nd::array({3, 1, 2, 1, 0, 3})),
      m(a > 2),
      p(v > 2),
      q(nd::arange(24.).reshape(2, 3, 4)),
      s(nd::array({{4., 1., 0.5}, {1., 3., 0.25}, {0.5, 0.25, 2.}})),
      f(nd::array({{1, 2}, {3, 4}}, nd::float32)),
      h(nd::array({1., nd::nan, 3., nd::inf})),
      z(v(nd::Slice(0, 4)) + std::complex<double>(0, 1) * w(nd::Slice(0, 4))) {}

std::string text(std::string_view s) {
  std::string all = "\"";
  for (const char c : s) all += c == '\n' ? "\\n" : std::string(1, c);
  return all + '"';
}

std::string text(const nd::Shape& shape) {
  std::string all = "(";
  for (const std::int64_t length : shape) all += (all.size() == 1 ? "" : ", ") + std::to_string(length);
  return all + ")";
}

std::string text(const nd::Array& a) {
  std::string all = std::string(nd::name_of(a.dtype())) + " " + text(a.shape());
  std::vector<double> numbers;
  if (nd::kind_of(a.dtype()) == nd::DtypeKind::complex) {
    for (const auto& z : a.astype(nd::complex128).to_vector<nd::complex128_t>()) {
      numbers.push_back(z.re);
      numbers.push_back(z.im);
    }
  } else {
    numbers = a.to_vector<double>();
  }
  if (a.size() <= kAll) {
    for (const double x : numbers) all += " " + number_text(x);
    return all;
  }
  double sum = 0, weighted = 0;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    sum += numbers[k];
    weighted += numbers[k] * static_cast<double>(k + 1);
  }
  return all + " # " + number_text(sum) + " " + number_text(weighted);
}

void compare(const std::string& expected, const std::string& value) {
  const auto differ = [&] { throw std::runtime_error("gives\n    " + value + "\n  and not\n    " + expected); };
  if (expected.starts_with("~ ")) {
    const std::string wanted = expected.substr(2);
    if (value.compare(0, wanted.size(), wanted) != 0) differ();
    return;
  }
  if (expected.starts_with('"')) {  // a text is the same with all its spaces
    if (value != expected) differ();
    return;
  }
  std::istringstream left(expected), right(value);
  std::string x, y;
  double tolerance = 2e-8;
  while (left >> x) {
    if (!(right >> y)) differ();
    if (x == "float64" || x == "complex128") tolerance = 2e-8;
    if (x == "float32" || x == "complex64") tolerance = 1e-6;
    if (x == "float16") tolerance = 1e-3;
    double xn = 0, yn = 0;
    if (is_number(x, xn) && is_number(y, yn) ? !near(xn, yn, tolerance) : x != y) differ();
  }
  if (right >> y) differ();
}

}  // namespace test
