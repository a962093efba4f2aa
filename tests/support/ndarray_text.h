// The texts of values that tests and tables record, as tests/support/numpy_text.py writes them: an array is "float64
// (2, 3) 1 2 3 4 5 6", a number an array of rank 0, a shape "(2, 3)", a dtype its name, a text itself in quotes;
// several values are joined by " | ". Arrays of more than kAll elements have "# sum weighted-sum" instead of their
// elements. The recorded text "~ float64 (2, 3)" is of an array whose elements are arbitrary.
#pragma once

#include <array>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/ndarray/ndarray.h>

namespace test {

constexpr std::int64_t kAll = 24;

std::string text(const nd::Array& a);
inline std::string text(const nd::IndexProxy& p) { return text(p.get()); }
std::string text(std::string_view s);
std::string text(const nd::Shape& shape);
inline std::string text(const std::string& s) { return text(std::string_view(s)); }
inline std::string text(const char* s) { return text(std::string_view(s)); }
inline std::string text(nd::Dtype t) { return std::string(nd::name_of(t)); }
template <class E>
requires(std::is_arithmetic_v<E>) std::string text(E number) {
  if constexpr (std::is_same_v<E, bool>) return text(nd::array(number));
  else if constexpr (std::is_integral_v<E>) return text(nd::array(static_cast<std::int64_t>(number)));
  else return text(nd::array(static_cast<double>(number)));
}
inline std::string text(const std::vector<double>& list) { return text(nd::array(list)); }
template <class List>
requires(!std::convertible_to<const List&, nd::Array> &&
         requires(const List& list) { nd::Array(*list.begin()); }) std::string text(const List& list) {
  std::string all;
  for (const nd::Array& a : list) all += (all.empty() ? "" : " | ") + text(a);
  return all;
}
template <class A, class B> std::string text(const std::pair<A, B>& pair) {
  return text(pair.first) + " | " + text(pair.second);
}

// The variables of tests and tables, as variables() of numpy_text.py has them.
struct NumpyVariables {
  NumpyVariables();
  nd::Array a, b;  // (3, 4), float64
  nd::Array v, w;  // (6), float64
  nd::Array i, n;  // (3) and (6), int64
  nd::Array m, p;  // (3, 4) and (6), bool
  nd::Array q;     // (2, 3, 4), float64
  nd::Array s;     // (3, 3), float64, symmetric and positive definite
  nd::Array f;     // (2, 2), float32
  nd::Array h;     // (4), float64, with a NaN and an infinity
  nd::Array z;     // (4), complex128
};

// Throws a std::runtime_error with both texts if the value is another than the recorded one: numbers may differ in the
// last digits.
void compare(const std::string& expected, const std::string& value);

}  // namespace test
