// Helpers for tests that do not depend on arrays or a test framework: repetition of statistical tests, runs over
// parameters, requirements. Both libraries offer them, in nd::testing and autograd::testing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/function.h>

namespace catena::testing {

// ---- repetition ---------------------------------------------------------------------------------
// A run of the test fails if it throws. Each run must create its own objects. The functions stop when the result is
// certain.
namespace condition {
using Test = catena::Function<void()>;
// AssertionError, with the numbers of successes and failures and the first error, if fewer than min_success of `times`
// runs succeed. ValueError if min_success is more than `times`.
CATENA_EXPORT void repeat_with_success_at_least(int times, int min_success, const Test& test);
inline void repeat(int times, const Test& test) { repeat_with_success_at_least(times, times, test); }
inline void retry(int times, const Test& test) { repeat_with_success_at_least(times, 1, test); }
}  // namespace condition

// ---- parameters ---------------------------------------------------------------------------------
// Runs f(); adds `where` before the message of an error.
template <class F> void run_named(std::string_view where, F&& f) {
  try {
    f();
  } catch (...) {
    rethrow_from(where);
  }
}

// Returns every combination of one item of each list, the last list varying fastest.
template <class... T> std::vector<std::tuple<T...>> product(const std::vector<T>&... lists) {
  std::vector<std::tuple<T...>> sets;
  const std::size_t lengths[] = {lists.size()...};
  std::size_t count = 1;
  for (const std::size_t n : lengths) count *= n;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = count;
    const auto digit = [&](std::size_t n) {
      rest /= n;
      return i / rest % n;
    };
    sets.push_back(std::tuple<T...>{lists[digit(lists.size())]...});  // braces evaluate from left to right
  }
  return sets;
}

// Returns the description of a set in an error: its own text, or its number.
template <class P> std::string text_of_set(const P& set, std::size_t number) {
  if constexpr (requires { std::string(set.to_string()); }) return set.to_string();
  else return concat("parameter set ", number);
}

// Calls body(set) for every set, or body(items...) if the sets are tuples. An error has the parameters before its
// message.
template <class P, class F> void parameterize(const std::vector<P>& sets, F&& body) {
  for (std::size_t i = 0; i < sets.size(); ++i)
    run_named(text_of_set(sets[i], i), [&] {
      if constexpr (requires { body(sets[i]); }) body(sets[i]);
      else std::apply(body, sets[i]);
    });
}

// ---- requirements -------------------------------------------------------------------------------
// Returns `there`; if it is false, prints "skipped: <reason>" to standard output.
CATENA_EXPORT bool skip_unless(bool there, std::string_view reason);

// A requirement's state: whether it is there, and its version, such as "1.2.3", or "" if it has none.
struct Requirement {
  bool there = false;
  std::string version = {};
};
using Versions = catena::Function<std::optional<Requirement>(std::string_view name)>;
// True if all requirements are met; prints the first one that is not. A requirement is "<name>" or
// "<name><comparison><version>" with one of == != <= >= < >: "catena>=0.1". ValueError for other texts, and for a
// version of something that has none.
CATENA_EXPORT bool with_requires(const std::vector<std::string_view>& requirements, const Versions& versions);

}  // namespace catena::testing
