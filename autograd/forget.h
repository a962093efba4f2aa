// forget: calls a function without storing its intermediate results, which the backward pass computes again.
//
//   Variable h = forget([&](const Variable& x) { return l2(dropout(relu(l1(x)))); }, x);
//   Variable h = forget(block, x);                          // block: a link, which must live until backward
//   auto [y, c] = forget([&](const Variable& x, const Variable& c) { return std::pair(...); }, x, c);
//
// forward calls func without a graph. backward calls it again with a graph, on the same inputs and with the random
// numbers and the mode `train` of the first call, so that dropout masks are equal. The intermediate values thus exist
// only during the backward pass of this function. Calls may be nested; the result can be differentiated any number of
// times.
//
// Parameters that func reads, by reference or as members, get their gradients directly, during the second call:
// backward() computes them, but autograd::grad() with respect to them does not. Other variables made by functions must
// be arguments (RuntimeError in backward). func is copied, unless it is a link or another class with params(). Objects
// that it refers to must still exist in backward, and func must compute the same values then. Both calls update running
// averages.
//
// RuntimeError if func returns a null Variable, if the second call returns other outputs than the first, or if random
// numbers are drawn that cannot be repeated: in captured work on a GPU, or from a generator of cuRAND.
#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

#include <catena/autograd/call_variables.h>
#include <catena/kernels/base/function.h>

namespace autograd {

namespace internal {

CATENA_EXPORT Variables forget(catena::Function<Variables(const Variables&)> func, const Variables& xs);

// Returns a copy or a reference of func as a function of a list. `call` calls func with the elements of the list, or
// with the list.
template <class F, class Call> catena::Function<Variables(const Variables&)> repeated(F&& func, Call call) {
  using Target = std::remove_reference_t<F>;
  if constexpr (HasParameters<Target>) {
    static_assert(std::is_lvalue_reference_v<F>, "forget: the link must live until backward, not be a temporary one");
    return [&func, call](const Variables& x) { return call(func, x); };
  } else {
    return [copy = std::decay_t<F>(std::forward<F>(func)), call](const Variables& x) mutable { return call(copy, x); };
  }
}

// Returns the list in the form in which func returned it.
template <class R> auto in_form_of(const Variables& list) {
  if constexpr (SingleVariable<R>) {
    return list[0];
  } else if constexpr (std::is_same_v<R, Outputs>) {
    return Outputs(list);
  } else if constexpr (is_tuple_of_variables<R>()) {
    const auto elements = [&]<std::size_t... I>(std::index_sequence<I...>) { return R{list[I]...}; };
    return elements(std::make_index_sequence<std::tuple_size_v<R>>());
  } else {
    return list;
  }
}

// Calls func(x[0], ..., x[N - 1]). Only this N is instantiated, because a generic lambda may not compile for others.
template <std::size_t N> struct CallWith {
  template <class F> Variables operator()(F& func, const Variables& x) const {
    const auto call = [&]<std::size_t... I>(std::index_sequence<I...>) { return outputs_of(func(x[I]...)); };
    return call(std::make_index_sequence<N>());
  }
};
struct CallWithList {
  template <class F> Variables operator()(F& func, const Variables& x) const { return outputs_of(func(x)); }
};

// True if the arguments of make_function are passed as separate Variables, false if func takes a list.
template <class F, class... X> constexpr bool takes_separately() {
  if constexpr (sizeof...(X) == 1 && (... && std::derived_from<X, Variables>))
    return std::is_invocable_v<std::remove_reference_t<F>&, const Variable&>;
  else return true;
}

}  // namespace internal

// Returns func(xs...) in the form in which func returns it: a Variable, a tuple or std::array, or a list as Variables.
template <class F, std::convertible_to<Variable>... X>
auto forget(F&& func, const X&... xs) requires(internal::takes_separately<F, X...>()) {
  static_assert(std::is_invocable_v<std::remove_reference_t<F>&, std::enable_if_t<sizeof(X) != 0, const Variable&>...>,
                "forget: func must be callable with these variables");
  using R = std::invoke_result_t<std::remove_reference_t<F>&, std::enable_if_t<sizeof(X) != 0, const Variable&>...>;
  return internal::in_form_of<std::remove_cvref_t<R>>(internal::forget(
      internal::repeated(std::forward<F>(func), internal::CallWith<sizeof...(X)>()), Variables{Variable(xs)...}));
}
// The same for a func that takes a list.
template <class F> auto forget(F&& func, const Variables& xs) {
  static_assert(std::is_invocable_v<std::remove_reference_t<F>&, const Variables&>,
                "forget: func must be callable with a list of variables");
  using R = std::invoke_result_t<std::remove_reference_t<F>&, const Variables&>;
  return internal::in_form_of<std::remove_cvref_t<R>>(
      internal::forget(internal::repeated(std::forward<F>(func), internal::CallWithList()), xs));
}

}  // namespace autograd
