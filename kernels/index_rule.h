// The rule for integers that a program uses as positions or as labels.
#pragma once

#include <catena/kernels/traits.h>

namespace catena {

// A number v follows the rule if low <= v < high, or if `ignores` is not 0 and v == ignored; low <= 0 <= high. `axis`
// is for the message about a number that breaks the rule.
struct IndexRule {
  int64_t low = 0, high = 0;
  int64_t ignored = 0, ignores = 0;
  int64_t axis = -1;  // axis that the number indexes, as the caller counts; -1: the number is a label
};

// Returns the rule for indices of an axis, including indices from its end.
ND_FN constexpr IndexRule rule_of_axis(int64_t axis, int64_t length) { return {-length, length, 0, 0, axis}; }

// True if v is ignored. A number above all int64 is not, although it may have the bits of a negative number.
template <class I> ND_FN bool is_ignored(I v, const IndexRule& rule) {
  return rule.ignores != 0 && int64_t(v) == rule.ignored && (is_signed_int<I> || rule.ignored >= 0);
}
template <class I> ND_FN bool breaks(I v, const IndexRule& rule) {
  bool outside;
  if constexpr (is_signed_int<I>) outside = int64_t(v) < rule.low || int64_t(v) >= rule.high;
  else outside = uint64_t(v) >= uint64_t(rule.high);
  return outside && !is_ignored(v, rule);
}

}  // namespace catena
