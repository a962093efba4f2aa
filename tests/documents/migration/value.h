// Checks of the recorded values of the tables.
#pragma once

#include <catena/catena.h>

#include <catena/tests/support/ndarray_text.h>

namespace test {

inline std::string text(const autograd::Array& a) { return text(nd::Array(a)); }

}  // namespace test

inline int comparisons = 0;  // calls of check

template <class... T> void check(const char* expected, const T&... values) {
  std::string all;
  ((all += (all.empty() ? "" : " | ") + test::text(values)), ...);
  ++comparisons;
  test::compare(expected, all);
}
