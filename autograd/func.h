// Transforms of functions by the names of PyTorch's module torch.func, each of which returns a function.
//
//   namespace func = autograd::func;
//   Variable g = func::grad(f)(x);                                     // of f(x), of one element
//   auto [gp, loss] = func::grad_and_value(compute_loss)(params, x, t);  // gp is a map, as params
//   auto [y, vjp_fn] = func::vjp(f, x);
//   Variable H = func::hessian(f)(x);
//   auto per_example = func::vmap(func::grad(loss), {.in_dims = {std::nullopt, 0, 0}});
//
// An argument is a Variable, a list of Variables, or a map of them (such as the parameters of nn::functional_call), and
// a gradient has the form of its argument. argnums is the number of the argument, or {0, 1} for several Variables.
// Transforms may be nested. Results are functions of the arguments that can be differentiated again if an argument
// requires a gradient; variables that f reads otherwise are constants, except within another transform.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/autograd/derivatives.h>
#include <catena/autograd/transformed.h>
#include <catena/kernels/base/named.h>
#include <catena/kernels/base/pointers.h>

namespace autograd::func {

namespace internal {

using autograd::internal::ListFunction;
using autograd::internal::SingleVariable;
template <class X>
concept MapOfVariables = SingleVariable<typename X::mapped_type>;

// The form in which a function gets an argument.
template <class X>
using Argument =
    std::conditional_t<SingleVariable<X>, Variable, std::conditional_t<MapOfVariables<X>, X, autograd::Variables>>;

template <class X> void append(Variables& to, const X& x) {
  if constexpr (SingleVariable<X>) to.push_back(Variable(x));
  else if constexpr (MapOfVariables<X>)
    for (const auto& [key, v] : x) to.push_back(v);
  else
    for (const Variable& v : x) to.push_back(v);
}
// An argument with other variables in the place of its own, which begin at leaves[at].
template <class X> Argument<X> with_leaves(const X& x, const Variables& leaves, std::size_t& at) {
  if constexpr (SingleVariable<X>) {
    return leaves[at++];
  } else if constexpr (MapOfVariables<X>) {
    X map = x;
    for (auto& [key, v] : map) v = leaves[at++];
    return map;
  } else {
    Variables list;
    for ([[maybe_unused]] const Variable& v : x) list.push_back(leaves[at++]);
    return list;
  }
}

// The numbers of the arguments with respect to which a function is differentiated.
struct CATENA_EXPORT Argnums {
  Argnums(int one) : numbers{one}, is_list(false) {}
  Argnums(std::initializer_list<int> several) : numbers(several), is_list(true) {}
  bool contains(std::size_t i) const noexcept;
  void check(const char* op, std::size_t given) const;  // IndexError; ValueError for none
  std::vector<int> numbers;
  bool is_list;
};

// f of the leaves of the chosen arguments alone. The other arguments keep their values.
template <class F, class... X> ListFunction of_chosen(F& f, const Argnums& n, const std::tuple<const X&...>& xs) {
  return [&f, &n, &xs](const Variables& leaves) {
    std::size_t at = 0, i = 0;
    const auto chosen = [&](const auto& x) {
      if (n.contains(i++)) return with_leaves(x, leaves, at);
      Variables own;
      append(own, x);
      std::size_t begin = 0;
      return with_leaves(x, own, begin);
    };
    return std::apply(
        [&](const X&... x) {
          std::tuple<Argument<X>...> arguments{chosen(x)...};  // braces keep the order
          return std::apply([&](const auto&... a) { return autograd::internal::outputs_of(f(a...)); }, arguments);
        },
        xs);
  };
}

// The variables of the chosen arguments, and whether results are to be functions of the arguments.
struct Chosen {
  Variables leaves;
  bool graph = false;
};
CATENA_EXPORT bool is_nested() noexcept;  // another transform is in progress on this thread
template <class... X> Chosen chosen_of(const Argnums& n, const X&... xs) {
  Chosen result{{}, is_nested()};
  std::size_t i = 0;
  (..., [&] {
    Variables own;
    append(own, xs);
    for (const Variable& v : own) {
      result.graph = result.graph || (v && v.requires_grad());
      if (n.contains(i)) result.leaves.push_back(v);
    }
    ++i;
  }());
  return result;
}

CATENA_EXPORT autograd::VariablesAndDerivatives gradients(const char* op, const ListFunction& f, const Chosen& of);
CATENA_EXPORT Variables jacobians(const ListFunction& f, const Chosen& of);
CATENA_EXPORT Variables hessians(const ListFunction& f, const Chosen& of);

// Variables in the form of the argument with respect to which a function was differentiated.
template <class First, class... X>
auto in_form(const char* op, const Argnums& n, const Variables& leaves, const First& first, const X&...) {
  if constexpr ((SingleVariable<First> && ... && SingleVariable<X>)) {
    return leaves[0];
  } else {
    catena::check<catena::ValueError>(n.numbers.size() == 1 && n.numbers[0] == 0, op,
                                      "argnums must be 0 where an argument is a list or a map");
    std::size_t at = 0;
    return with_leaves(first, leaves, at);
  }
}

enum class Kind { grad, grad_and_value, jacobian, hessian };
// The function that a transform returns. `kList`: argnums are a list.
template <class F, Kind kind, bool kList> class Derivative {
  using Function = std::remove_reference_t<F>;

 public:
  template <class G> Derivative(G&& f, Argnums n) : f_(std::forward<G>(f)), argnums_(std::move(n)) {}
  template <class... X>
  auto operator()(const X&... xs) const
      requires(sizeof...(X) > 0 && std::is_invocable_v<Function&, const Argument<X>&...>) {
    constexpr const char* kOp = kind == Kind::hessian ? "hessian" : kind == Kind::jacobian ? "jacobian" : "grad";
    argnums_.check(kOp, sizeof...(X));
    const std::tuple<const X&...> all(xs...);
    const ListFunction f = of_chosen(const_cast<Function&>(f_), argnums_, all);
    const Chosen of = chosen_of(argnums_, xs...);
    const auto formed = [&](const Variables& leaves) {
      if constexpr (kList) return leaves;
      else return in_form(kOp, argnums_, leaves, xs...);
    };
    if constexpr (kind == Kind::hessian) {
      return formed(hessians(f, of));
    } else if constexpr (kind == Kind::jacobian) {
      return formed(jacobians(f, of));
    } else {
      const autograd::VariablesAndDerivatives d = gradients(kOp, f, of);
      if constexpr (kind == Kind::grad) return formed(d.derivative);
      else return std::pair(formed(d.derivative), Variable(d.value[0]));
    }
  }

 private:
  F f_;
  Argnums argnums_;
};
template <Kind kind, bool kList, class F> auto derivative(F&& f, Argnums n) {
  return Derivative<autograd::internal::Kept<F>, kind, kList>(std::forward<F>(f), std::move(n));
}

// The inputs of one call of a function and its results.
struct Pullback {
  Variables inputs, outputs;
  bool graph = false;
  CATENA_EXPORT Variables operator()(const Variables& cotangents) const;
};
CATENA_EXPORT Pullback pullback(const ListFunction& f, const Variables& xs);
CATENA_EXPORT autograd::VariablesAndDerivatives along(const ListFunction& f, const Variables& xs,
                                                      const Variables& tangents);
CATENA_EXPORT Variables values_of(const Pullback& p);  // the results, without the graph where it is not wanted
template <class R> auto form_of_result(const Variables& list) {
  if constexpr (SingleVariable<R>) return Variable(list[0]);
  else return list;
}
template <class F, class... X>
using ResultOf = std::remove_cvref_t<std::invoke_result_t<F&, std::enable_if_t<sizeof(X) != 0, const Variable&>...>>;

}  // namespace internal

// Options of the functions below: grad(f, {.argnums = 1}). `chunk_size` has no effect: rows are computed one by one.
struct ArgnumsOption {
  [[no_unique_address]] catena::Named named = catena::Named();
  int argnums = 0;
  std::optional<int> chunk_size = {};
};

// Each makes a function of the arguments of f. IndexError for a number that is no argument.
#define CATENA_FUNC_DERIVATIVE(name, kind)                                                                      \
  template <class F> auto name(F&& f, int argnums = 0) {                                                        \
    return internal::derivative<internal::Kind::kind, false>(std::forward<F>(f), internal::Argnums(argnums));   \
  }                                                                                                             \
  template <class F> auto name(F&& f, std::initializer_list<int> argnums) {                                     \
    return internal::derivative<internal::Kind::kind, true>(std::forward<F>(f), internal::Argnums(argnums));    \
  }                                                                                                             \
  template <class F, std::same_as<ArgnumsOption> O = ArgnumsOption> auto name(F&& f, const O& o) {              \
    return internal::derivative<internal::Kind::kind, false>(std::forward<F>(f), internal::Argnums(o.argnums)); \
  }
// The gradient of f, whose result has one element (ValueError).
CATENA_FUNC_DERIVATIVE(grad, grad)
// The gradient and the value of f.
CATENA_FUNC_DERIVATIVE(grad_and_value, grad_and_value)
// dy / dx of shape y.shape + x.shape, by one backward pass for each element of y.
CATENA_FUNC_DERIVATIVE(jacrev, jacobian)
// The same, also by backward passes.
CATENA_FUNC_DERIVATIVE(jacfwd, jacobian)
// The second derivatives, of shape y.shape + x.shape + x.shape.
CATENA_FUNC_DERIVATIVE(hessian, hessian)
#undef CATENA_FUNC_DERIVATIVE

// The results of f, and a function of their cotangents, Variables of their shapes, that returns a list with a gradient
// for each argument: auto [y, vjp_fn] = vjp(f, x); Variable gx = vjp_fn(v)[0];
template <class F, std::convertible_to<Variable>... X> auto vjp(F&& f, const X&... primals) {
  const internal::Pullback p =
      internal::pullback(autograd::internal::list_function(f), Variables{Variable(primals)...});
  auto back = [p](const auto&... cotangents) {
    Variables list;
    (..., internal::append(list, cotangents));
    return VariablesOf<sizeof...(X)>(p(list));
  };
  return std::pair(internal::form_of_result<internal::ResultOf<F, X...>>(internal::values_of(p)), std::move(back));
}

// f at the primals, and its directional derivative along the tangents: auto [y, ty] = jvp(f, {x}, {v}).
template <class F> auto jvp(F&& f, const Variables& primals, const Variables& tangents) {
  autograd::VariablesAndDerivatives d = internal::along(autograd::internal::list_function(f), primals, tangents);
  return std::pair(std::move(d.value), std::move(d.derivative));
}
template <class F> std::pair<Variable, Variable> jvp(F&& f, const Variable& primal, const Variable& tangent) {
  const auto [y, ty] = func::jvp(f, Variables{primal}, Variables{tangent});
  return {y[0], ty[0]};
}
// The results of f, and a function of tangents that returns the directional derivative. That function calls f again.
template <class F, std::convertible_to<Variable>... X> auto linearize(F f, const X&... primals) {
  const Variables xs{Variable(primals)...};
  using R = internal::ResultOf<F, X...>;
  const Variables y = internal::values_of(internal::pullback(autograd::internal::list_function(f), xs));
  auto along = [f, xs](const std::enable_if_t<sizeof(X) != 0, Variable>&... tangents) {
    F g = f;
    return internal::form_of_result<R>(func::jvp(g, xs, Variables{tangents...}).second);
  };
  return std::pair(internal::form_of_result<R>(y), std::move(along));
}

// The batch axes of the arguments: 0, or {0, std::nullopt} for an argument that is the same for all examples. That of a
// list or a map holds for each of its variables.
class CATENA_EXPORT InDims {
 public:
  InDims(int all) : all_(all) {}
  InDims(std::initializer_list<std::optional<int>> each) : each_(each) {}
  InDims(std::vector<std::optional<int>> each) : each_(std::move(each)) {}
  std::optional<int> of(std::size_t argument) const;
  void check(std::size_t arguments) const;  // ValueError for another number of axes

 private:
  int all_ = 0;
  std::vector<std::optional<int>> each_;
};
struct VmapOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  InDims in_dims = 0;
  int out_dims = 0;
  // "different", "same", or "error", which is read as "different"; ValueError for others.
  std::string randomness = "error";
  std::optional<int> chunk_size = {};  // without effect
};
namespace internal {
CATENA_EXPORT Variables vmapped(const ListFunction& f, const Variables& xs, const std::vector<std::optional<int>>& axes,
                                const VmapOptions& o);
// Calls a function with variables in the form of the arguments of vmap. It owns all that it needs, because vmap calls
// it again in backward.
template <class R, class... X> struct CallInForm {
  std::tuple<Argument<X>...> given;
  catena::Shared<R> form;  // of a result that is a map: its keys, with null variables

  template <class F> Variables operator()(F& f, const Variables& list) const {
    std::size_t at = 0;
    const auto arguments = std::apply(
        [&](const Argument<X>&... x) { return std::tuple<Argument<X>...>{with_leaves(x, list, at)...}; }, given);
    R result = std::apply(f, arguments);
    if constexpr (MapOfVariables<R>) {
      Variables out;
      append(out, result);
      for (auto& [key, v] : result) v = Variable();
      *form = std::move(result);
      return out;
    } else {
      return autograd::internal::outputs_of(result);
    }
  }
};
}  // namespace internal
// autograd::vmap with PyTorch's options, for arguments that may also be lists and maps.
template <class F> auto vmap(F&& function, const VmapOptions& o = {}) {
  static_assert(std::is_lvalue_reference_v<F> || !autograd::internal::HasParameters<std::remove_reference_t<F>>,
                "vmap: the link must live until backward, not be a temporary one");
  using Kept = autograd::internal::Kept<F>;
  return [ held = std::tuple<Kept>(std::forward<F>(function)), o ]<class... X>(const X&... xs) requires(
      std::is_invocable_v<std::remove_reference_t<Kept>&, const internal::Argument<X>&...>) {
    auto& f = const_cast<std::remove_cvref_t<Kept>&>(std::get<0>(held));
    using R = std::remove_cvref_t<decltype(f(std::declval<const internal::Argument<X>&>()...))>;
    o.in_dims.check(sizeof...(X));
    Variables leaves;
    std::vector<std::optional<int>> axes;
    std::size_t i = 0, at = 0;
    (..., (internal::append(leaves, xs), axes.resize(leaves.size(), o.in_dims.of(i++))));
    internal::CallInForm<R, X...> call{{internal::with_leaves(xs, leaves, at)...}, {}};
    if constexpr (internal::MapOfVariables<R>) call.form = catena::Shared<R>::make();
    const Variables y = internal::vmapped(autograd::internal::repeated(f, call), leaves, axes, o);
    if constexpr (internal::MapOfVariables<R>) {
      std::size_t next = 0;
      return internal::with_leaves(*call.form, y, next);
    } else {
      return autograd::internal::in_form_of<R>(y);
    }
  };
}

// The axes by position: vmap(f, 1), vmap(f, 0, 1), vmap(f, {0, std::nullopt}).
template <class F, std::integral I> auto vmap(F&& function, I in_dims, int out_dims = 0) {
  return func::vmap(std::forward<F>(function), VmapOptions{.in_dims = int(in_dims), .out_dims = out_dims});
}
template <class F, std::same_as<InDims> D = InDims> auto vmap(F&& function, const D& in_dims, int out_dims = 0) {
  return func::vmap(std::forward<F>(function), VmapOptions{.in_dims = in_dims, .out_dims = out_dims});
}

}  // namespace autograd::func

namespace autograd {

// torch.vmap: func::vmap under another name, vmap(f, {.in_dims = 1, .out_dims = 1}), vmap(f, 0, 1).
template <class F> auto vmap(F&& function, const func::VmapOptions& o) {
  return func::vmap(std::forward<F>(function), o);
}
template <class F, std::integral I> auto vmap(F&& function, I in_dims, int out_dims = 0) {
  return func::vmap(std::forward<F>(function), in_dims, out_dims);
}
template <class F, std::same_as<func::InDims> D = func::InDims>
auto vmap(F&& function, const D& in_dims, int out_dims = 0) {
  return func::vmap(std::forward<F>(function), in_dims, out_dims);
}

}  // namespace autograd
