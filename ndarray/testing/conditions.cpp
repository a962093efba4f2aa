#include <catena/ndarray/testing/conditions.h>

#include <cmath>
#include <optional>
#include <string>

#include <catena/kernels/base/version.h>
#include <catena/ndarray/device/device.h>

namespace nd::testing {

using catena::check;
using catena::concat;

namespace {

std::optional<catena::testing::Requirement> requirement(std::string_view name) {
  if (name == "catena") return catena::testing::Requirement{true, std::string(catena::version())};
  if (name == "cpu") return catena::testing::Requirement{true};
  if (name == "cuda") return catena::testing::Requirement{device_count(Device::Kind::cuda) > 0};
  return std::nullopt;
}

}  // namespace

bool multi_gpu(int count) {
  const int there = device_count(Device::Kind::cuda);
  return catena::testing::skip_unless(
      there >= count,
      concat(count, count == 1 ? " CUDA device is" : " CUDA devices are", " needed, there are ", there));
}

bool with_requires(const std::vector<std::string_view>& requirements) {
  return catena::testing::with_requires(requirements, requirement);
}

NumpyError::NumpyError() : before_(set_warning_handler([](std::string_view, std::string_view) {})) {}
NumpyError::~NumpyError() { set_warning_handler(before_); }

// ---- statistics ---------------------------------------------------------------------------------
namespace {

// Returns the probability of a value above x for the chi-square distribution. It is Q(df / 2, x / 2), the regularised
// upper incomplete gamma function: Q(1, y) = exp(-y), Q(1/2, y) = erfc(sqrt(y)), Q(a + 1, y) = Q(a, y) + y^a exp(-y) /
// Gamma(a + 1) (Abramowitz and Stegun 26.4.19, 6.5.22).
double chi_square_tail(double x, int df) {
  const double y = x / 2;
  double a = df % 2 == 0 ? 1 : 0.5;
  double tail = df % 2 == 0 ? std::exp(-y) : std::erfc(std::sqrt(y));
  double term = std::pow(y, a) * std::exp(-y) / std::tgamma(a + 1);
  while (a < df / 2.0) {
    tail += term;
    a += 1;
    term *= y / a;
  }
  return tail;
}

}  // namespace

bool hypothesis::chi_square_test(const ArrayLike& observed, const ArrayLike& expected, double alpha,
                                 std::optional<int> df) {
  const Array counts = observed.array(), wanted = expected.array();
  check<ValueError>(counts.shape() == wanted.shape(), "chi_square_test", "the counts have the shapes ", counts.shape(),
                    " and ", wanted.shape());
  check<ValueError>(alpha == 0.05 || alpha == 0.01, "chi_square_test", "alpha is ", alpha, ", must be 0.05 or 0.01");
  const auto o = counts.to_vector<double>(), e = wanted.to_vector<double>();
  const std::int64_t freedom = df ? *df : counts.size() - 1;
  check<ValueError>(freedom >= 1 && freedom <= 250, "chi_square_test", freedom,
                    " degrees of freedom are not in the range from 1 to 250");
  double statistic = 0;
  for (std::size_t i = 0; i < o.size(); ++i) statistic += (o[i] - e[i]) * (o[i] - e[i]) / e[i];
  return chi_square_tail(statistic, static_cast<int>(freedom)) > alpha;
}

}  // namespace nd::testing
