// Functions of variables that are made from functions of variables. Internal to vmap.h and checkpoint.h.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <catena/autograd/forget.h>

namespace autograd::internal {

// Calls apply(f as a function of a list, arguments), and returns its results in the form in which f returns them. F is
// a function object, or a reference to a link.
template <class F, class Apply> class Transformed {
 public:
  template <class G> Transformed(G&& f, Apply apply) : f_(std::forward<G>(f)), apply_(std::move(apply)) {}

  template <std::convertible_to<Variable>... X>
  auto operator()(const X&... xs) const requires(takes_separately<F, X...>()) {
    static_assert(std::is_invocable_v<Function&, std::enable_if_t<sizeof(X) != 0, const Variable&>...>,
                  "the function must be callable with these variables");
    using R = std::invoke_result_t<Function&, std::enable_if_t<sizeof(X) != 0, const Variable&>...>;
    return in_form_of<std::remove_cvref_t<R>>(
        apply_(repeated(f(), CallWith<sizeof...(X)>()), Variables{Variable(xs)...}));
  }
  auto operator()(const Variables& xs) const
      requires(std::is_invocable_v<std::remove_reference_t<F>&, const Variables&>) {
    using R = std::invoke_result_t<Function&, const Variables&>;
    return in_form_of<std::remove_cvref_t<R>>(apply_(repeated(f(), CallWithList()), xs));
  }

 private:
  using Function = std::remove_reference_t<F>;
  Function& f() const { return const_cast<Function&>(f_); }
  F f_;
  Apply apply_;
};

// A link is referred to, because a copy would have parameters of its own; another function is copied.
template <class F> using Kept = std::conditional_t<HasParameters<std::remove_reference_t<F>>, F, std::decay_t<F>>;

template <class F, class Apply> auto transformed(F&& f, Apply apply) {
  static_assert(std::is_lvalue_reference_v<F> || !HasParameters<std::remove_reference_t<F>>,
                "the link must live until backward, not be a temporary one");
  return Transformed<Kept<F>, Apply>(std::forward<F>(f), std::move(apply));
}

}  // namespace autograd::internal
