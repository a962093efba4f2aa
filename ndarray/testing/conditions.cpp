#include <catena/ndarray/testing/conditions.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <compare>
#include <cstdio>
#include <string>

#include <catena/kernels/base/version.h>
#include <catena/ndarray/device/device.h>

namespace nd::testing {

using catena::check;
using catena::concat;

namespace {

bool skip_unless(bool there, const std::string& reason) {
  if (!there) std::printf("skipped: %s\n", reason.c_str());
  return there;
}

using Version = std::array<int, 3>;

Version parse_version(std::string_view requirement, std::string_view text) {
  Version version{};
  const char *at = text.data(), *const end = text.data() + text.size();
  for (std::size_t k = 0; k < version.size(); ++k) {
    const auto [stop, error] = std::from_chars(at, end, version[k]);
    check<ValueError>(error == std::errc(), "with_requires", "'", requirement, "' has no version that can be read");
    at = stop;
    if (at == end || *at != '.') break;
    ++at;
  }
  check<ValueError>(at == end, "with_requires", "'", requirement, "' has no version that can be read");
  return version;
}

bool is_met(std::string_view requirement, std::string_view comparison, const Version& given, const Version& wanted) {
  const std::strong_ordering order = given <=> wanted;
  if (comparison == "==") return order == 0;
  if (comparison == "!=") return order != 0;
  if (comparison == "<=") return order <= 0;
  if (comparison == ">=") return order >= 0;
  if (comparison == "<") return order < 0;
  check<ValueError>(comparison == ">", "with_requires", "'", requirement, "' has no comparison that is known");
  return order > 0;
}

bool is_met(std::string_view requirement) {
  const std::size_t end = std::min(requirement.find_first_of("=!<>"), requirement.size());
  const std::size_t digits = std::min(requirement.find_first_not_of("=!<>", end), requirement.size());
  const std::string_view name = requirement.substr(0, end), comparison = requirement.substr(end, digits - end);
  check<ValueError>(!name.empty() && comparison.empty() == (digits == requirement.size()), "with_requires", "'",
                    requirement, "' is no requirement");
  if (name == "cpu" || name == "cuda") {
    check<ValueError>(comparison.empty(), "with_requires", "'", requirement, "': ", name, " has no version");
    return name == "cpu" || device_count(Device::Kind::cuda) > 0;
  }
  if (name != "catena") return false;
  return comparison.empty() || is_met(requirement, comparison, parse_version("catena", catena::version()),
                                      parse_version(requirement, requirement.substr(digits)));
}

}  // namespace

bool multi_gpu(int count) {
  const int there = device_count(Device::Kind::cuda);
  return skip_unless(there >= count,
                     concat(count, count == 1 ? " CUDA device is" : " CUDA devices are", " needed, there are ", there));
}

bool with_requires(const std::vector<std::string_view>& requirements) {
  for (const std::string_view requirement : requirements)
    if (!skip_unless(is_met(requirement), concat("'", requirement, "' is needed"))) return false;
  return true;
}

NumpyError::NumpyError() : before_(set_warning_handler([](std::string_view, std::string_view) {})) {}
NumpyError::~NumpyError() { set_warning_handler(before_); }

void condition::repeat_with_success_at_least(int times, int min_success, const Test& test) {
  check<ValueError>(min_success <= times, "repeat_with_success_at_least", min_success, " successes in ", times,
                    " runs were asked for");
  int failures = 0, successes = 0;
  std::string first;
  while (successes < min_success) {
    try {
      test();
      ++successes;
      continue;
    } catch (const std::exception& e) {
      if (failures == 0) first = e.what();
    } catch (...) {
      if (failures == 0) first = "an exception that is no std::exception";
    }
    if (++failures > times - min_success)
      throw AssertionError(
          concat("Fail: ", failures, ", Success: ", successes, "\n\nThe first error message:\n", first));
  }
}

// ---- statistics ---------------------------------------------------------------------------------
namespace {

// The probability of a value above x for the chi-square distribution, which is Q(df / 2, x / 2), the regularised upper
// incomplete gamma function: Q(1, y) = exp(-y), Q(1/2, y) = erfc(sqrt(y)), Q(a + 1, y) = Q(a, y) + y^a exp(-y) /
// Gamma(a
// + 1) (Abramowitz and Stegun 26.4.19, 6.5.22).
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
