// no_backprop_mode() under PyTorch's names.
//
//   { const auto scope = autograd::no_grad(); y = model(x); }
//   { autograd::NoGradGuard guard; y = model(x); }
//   auto evaluate = autograd::no_grad()([&](const Variable& x) { return model(x); });   // as a decorator
#pragma once

#include <utility>

#include <catena/autograd/flag.h>

namespace autograd {

namespace internal {
// Returns f, whose calls are in a scope of their own, which make_scope makes.
template <class F, class Make> auto in_scope(F f, Make make_scope) {
  return [f = std::move(f), make_scope]<class... A>(A&&... arguments) mutable -> decltype(auto) {
    [[maybe_unused]] const auto scope = make_scope();
    return f(std::forward<A>(arguments)...);
  };
}
}  // namespace internal

// A scope without a graph, as an object. no_grad()(f) is f with such a scope in every call, as @torch.no_grad().
class no_grad {
 public:
  [[nodiscard]] no_grad() {}
  template <class F> auto operator()(F f) const {
    return internal::in_scope(std::move(f), [] { return no_grad(); });
  }

 private:
  no_backprop_mode scope_;
};
using NoGradGuard = no_grad;
using NoGrad = no_grad;
using NoBackpropMode = no_grad;

}  // namespace autograd
