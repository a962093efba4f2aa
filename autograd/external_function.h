// external_function: makes a differentiable function from two callables over host arrays, for code without graphs and
// devices, such as another library or generated code.
//
//   Variable y = external_function([](const Arrays& x) { return x[0] * x[1]; },
//                                  [](const Arrays& x, const Arrays& gy) { return Arrays{gy[0] * x[1], gy[0] * x[0]};
//                                  }, a, b);
//
// Both callables get their arrays on the host, and their results are copied to the device of the inputs. forward
// returns one or several arrays. backward gets all inputs and one gradient for every output (zeros if there is none).
// It returns one gradient per input (AssertionError for another number), or null for none. A gradient has the shape of
// its input and any dtype, and is converted to the dtype of the input. Integer and bool inputs have no gradient. The
// second derivative is a NotImplementedError.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <catena/autograd/function.h>
#include <catena/kernels/base/function.h>

namespace autograd {

namespace internal {
using ExternalForward = catena::Function<Arrays(const Arrays& inputs)>;
using ExternalBackward = catena::Function<Arrays(const Arrays& inputs, const Arrays& grad_outputs)>;
CATENA_EXPORT Outputs external_function(ExternalForward forward, ExternalBackward backward, const Variables& inputs);

template <class R> Arrays list_of(const R& result) {
  if constexpr (std::is_base_of_v<Arrays, R>) return result;
  else return {Array(result)};
}
}  // namespace internal

template <class F, class G>
Outputs external_function(F forward, G backward, const Variables& inputs) requires std::invocable<F&, const Arrays&> &&
    std::invocable<G&, const Arrays&, const Arrays&> {
  return internal::external_function(
      [f = std::move(forward)](const Arrays& x) mutable { return internal::list_of(f(x)); },
      [g = std::move(backward)](const Arrays& x, const Arrays& gy) mutable { return internal::list_of(g(x, gy)); },
      inputs);
}
template <class F, class G, std::convertible_to<Variable>... X>
Outputs external_function(F forward, G backward, const X&... inputs) requires SeparateInputs<X...> {
  return external_function(std::move(forward), std::move(backward), Variables{Variable(inputs)...});
}

}  // namespace autograd
