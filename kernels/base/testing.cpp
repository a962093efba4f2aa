#include <catena/kernels/base/testing.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <compare>
#include <cstdio>
#include <exception>

namespace catena::testing {
namespace {

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

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

bool is_met(std::string_view requirement, const Versions& versions) {
  const std::size_t end = std::min(requirement.find_first_of("=!<>"), requirement.size());
  const std::size_t digits = std::min(requirement.find_first_not_of("=!<>", end), requirement.size());
  const std::string_view name = trimmed(requirement.substr(0, end));
  const std::string_view comparison = requirement.substr(end, digits - end),
                         version = trimmed(requirement.substr(digits));
  check<ValueError>(!name.empty() && comparison.empty() == version.empty(), "with_requires", "'", requirement,
                    "' is no requirement");
  const std::optional<Requirement> known = versions(name);
  if (!known) return false;
  check<ValueError>(comparison.empty() || !known->version.empty(), "with_requires", "'", requirement, "': ", name,
                    " has no version");
  return known->there && (comparison.empty() || is_met(requirement, comparison, parse_version(name, known->version),
                                                       parse_version(requirement, version)));
}

}  // namespace

bool skip_unless(bool there, std::string_view reason) {
  if (!there) std::fputs(concat("skipped: ", reason, "\n").c_str(), stdout);
  return there;
}

bool with_requires(const std::vector<std::string_view>& requirements, const Versions& versions) {
  for (const std::string_view requirement : requirements)
    if (!skip_unless(is_met(requirement, versions), concat("'", requirement, "' is needed"))) return false;
  return true;
}

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

}  // namespace catena::testing
