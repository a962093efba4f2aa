// Calls functions of users. A function takes Variables, one by one or as a list, and returns one Variable, a list or a
// tuple.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <catena/autograd/function.h>

namespace autograd::internal {

template <class T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};
template <class T>
concept RangeOfVariables = requires(const T& t) {
  requires std::is_convertible_v<decltype(*t.begin()), const Variable&>;
  t.end();
};
template <class T>
concept SingleVariable = std::is_convertible_v<const T&, Variable> && !std::is_base_of_v<Variables, T>;

template <class T, std::size_t... I> constexpr bool has_variables_only(std::index_sequence<I...>) {
  return (... && SingleVariable<std::remove_cvref_t<std::tuple_element_t<I, T>>>);
}
template <class T> constexpr bool is_tuple_of_variables() {
  if constexpr (TupleLike<T>) return has_variables_only<T>(std::make_index_sequence<std::tuple_size_v<T>>());
  else return false;
}

// Returns the result of a function as a list.
template <class R> Variables outputs_of(const R& result) {
  static_assert(SingleVariable<R> || RangeOfVariables<R> || is_tuple_of_variables<R>(),
                "a function of Variables must return a Variable, a list of Variables or a tuple of Variables");
  if constexpr (std::is_base_of_v<Variables, R>) {
    return result;
  } else if constexpr (SingleVariable<R>) {
    return {Variable(result)};
  } else if constexpr (RangeOfVariables<R>) {
    Variables list;
    for (const Variable& v : result) list.push_back(v);
    return list;
  } else {
    return std::apply([](const auto&... v) { return Variables{Variable(v)...}; }, result);
  }
}

template <class F, std::size_t... I> constexpr bool takes(std::index_sequence<I...>) {
  return std::is_invocable_v<F&, std::enable_if_t<I + 1 != 0, const Variable&>...>;
}
// Returns false if f does not accept this number of arguments.
template <class F, std::size_t... I> bool call_with(F& f, const Variables& x, Variables& y, std::index_sequence<I...>) {
  if constexpr (takes<F>(std::index_sequence<I...>())) {
    if (x.size() != sizeof...(I)) return false;
    y = outputs_of(f(x[I]...));
    return true;
  } else {
    return false;
  }
}
template <class F, std::size_t... I>
bool call_with_any(F& f, const Variables& x, Variables& y, std::index_sequence<I...>) {
  return (... || call_with(f, x, y, std::make_index_sequence<I>()));
}

// Returns f(x) if f takes a list, else f(x[0], x[1], ...) for up to 10 arguments. TypeError if f does not accept this
// number.
template <class F> Variables call_variables(F& f, const Variables& x) {
  if constexpr (std::is_invocable_v<F&, const Variables&>) {
    return outputs_of(f(x));
  } else if constexpr (requires { outputs_of(f.call(x)); }) {  // links of any number of arguments
    return outputs_of(f.call(x));
  } else {
    Variables y;
    catena::check<catena::TypeError>(call_with_any(f, x, y, std::make_index_sequence<11>()), "func",
                                     "it does not take ", x.size(), x.size() == 1 ? " Variable" : " Variables");
    return y;
  }
}

// True for links and other classes with parameters: a copy of such an object has its own parameters.
template <class F>
concept HasParameters = requires(const F& f) {
  f.params();
};

}  // namespace autograd::internal
