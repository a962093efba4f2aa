// A list of variables whose length follows from the call that makes it, so that it can be taken apart:
//   auto [gx, gy] = autograd::grad(loss, {x, y});
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <catena/autograd/variable.h>

namespace autograd {

// N variables. It converts to Variables.
template <std::size_t N> struct VariablesOf : Variables {
  using Variables::Variables;
  explicit VariablesOf(Variables list) : Variables(std::move(list)) {}
  explicit VariablesOf(const Variable (&list)[N]) {
    for (const Variable& x : list) push_back(x);
  }
  template <std::size_t I> Variable get() const { return (*this)[I]; }
};

}  // namespace autograd

template <std::size_t N> struct std::tuple_size<autograd::VariablesOf<N>> : std::integral_constant<std::size_t, N> {};
template <std::size_t I, std::size_t N> struct std::tuple_element<I, autograd::VariablesOf<N>> {
  using type = autograd::Variable;
};
