// The members of a struct as a tuple, for examples that are a struct of arrays and numbers. Internal to training.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace training::internal {

// Converts to the type of any member.
struct AnyMember {
  template <class T> operator T() const;
};
template <class T, std::size_t... I> constexpr bool can_have(std::index_sequence<I...>) {
  return requires { T{(void(I), AnyMember{})...}; };
}
// The number of members, up to 5; the greatest number of values that make an object.
template <class T> constexpr std::size_t number_of_fields() {
  if constexpr (can_have<T>(std::make_index_sequence<5>())) return 5;
  else if constexpr (can_have<T>(std::make_index_sequence<4>())) return 4;
  else if constexpr (can_have<T>(std::make_index_sequence<3>())) return 3;
  else if constexpr (can_have<T>(std::make_index_sequence<2>())) return 2;
  else return 1;
}
template <class T> struct IsStdArray : std::false_type {};
template <class T, std::size_t N> struct IsStdArray<std::array<T, N>> : std::true_type {};

// A struct without constructors, bases and private members, with one to four members.
template <class T>
concept HasFields = std::is_class_v<T> && std::is_aggregate_v<T> && !std::is_empty_v<T> && !IsStdArray<T>::value &&
                    number_of_fields<T>() <= 4;

template <class T> auto tuple_of_fields(const T& x) {
  constexpr std::size_t n = number_of_fields<T>();
  if constexpr (n == 1) {
    const auto& [a] = x;
    return std::tuple(a);
  } else if constexpr (n == 2) {
    const auto& [a, b] = x;
    return std::tuple(a, b);
  } else if constexpr (n == 3) {
    const auto& [a, b, c] = x;
    return std::tuple(a, b, c);
  } else {
    const auto& [a, b, c, d] = x;
    return std::tuple(a, b, c, d);
  }
}

}  // namespace training::internal
