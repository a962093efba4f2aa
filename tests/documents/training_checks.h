// Helpers for the checks of the tables of training programs, and the list of the statements. The checks compute with
// arrays alone.
#pragma once

#include <string>

#include <catena/catena.h>

namespace spellings {

// Fails the row with the text of the condition.
void check(bool holds, const char* condition);
#define CHECK(...) ::spellings::check(bool(__VA_ARGS__), #__VA_ARGS__)

// The values of an array or a variable, also of a bias, which is optional.
template <class A> nd::Array values(const A& a) {
  if constexpr (requires { a.has_value(); }) return values(*a);
  else if constexpr (requires { a.data().is_null(); }) return nd::Array(a.data()).astype(nd::float64);
  else return nd::Array(a).astype(nd::float64);
}
template <class A, class B> bool close(const A& x, const B& y, double tolerance = 1e-5) {
  const nd::Array a = values(x), b = values(y);
  return a.shape() == b.shape() && bool((nd::absolute(a - b) <= tolerance).all());
}

struct Row {
  const char* name;
  void (*run)(const std::string& folder);  // with a scene of its own
};
extern const Row kRows[];
extern const int kNumRows;

}  // namespace spellings
