// CustomFunction: a differentiable function of two static functions on Variables, in the style of PyTorch's
// torch.autograd.Function and of libtorch's torch::autograd::Function.
//
//   struct Cube : autograd::CustomFunction<Cube> {
//     static Variable forward(autograd::Context& ctx, const Variable& x) {
//       ctx.save_for_backward({x});
//       return x * x * x;
//     }
//     static Variable backward(autograd::Context& ctx, const Variable& gy) {
//       return 3 * autograd::square(ctx.saved_variables()[0]) * gy;
//     }
//   };
//   Variable y = Cube::apply(x);
//
// forward and backward may also take the context as a pointer, and backward all gradients in a list, as in libtorch:
//   static variable_list backward(autograd::AutogradContext* ctx, variable_list gy);
// The base class is CustomFunction<Cube> where libtorch has Function<Cube>: Function is the name of Chainer's class.
//
// forward runs without a graph. backward runs on Variables, so that derivatives of any order exist, as far as what it
// reads are inputs and outputs that were saved; other saved values are constants. FunctionNode is the interface for
// functions on arrays, and Function the one of Chainer, which has its name.
#pragma once

#include <concepts>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <catena/autograd/call_variables.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/missing_gradients.h>

namespace autograd {

namespace internal {
class CustomNode;
}

// The values that forward keeps for backward.
class CATENA_EXPORT Context {
 public:
  // To be called in forward, with inputs, outputs and other values. A second call replaces the first.
  void save_for_backward(Variables values) { saved_ = std::move(values); }
  // In backward: the values, in their order. RuntimeError if an input or an output among them was written after
  // forward.
  const Variables& saved_variables() const noexcept { return saved_; }
  const Variables& saved_tensors() const noexcept { return saved_; }
  const Variables& get_saved_variables() const noexcept { return saved_; }
  // In backward: whether the gradient of an input is wanted. Inputs are the arguments that are variables or arrays.
  bool needs_input_grad(std::size_t i) const noexcept { return i < wanted_.size() && wanted_[i]; }

  std::map<std::string, double> saved_data;  // numbers

 private:
  friend class internal::CustomNode;
  Variables saved_;
  std::vector<bool> wanted_;
};
using AutogradContext = Context;
using variable_list = Variables;

namespace internal {

// The node of one call.
class CATENA_EXPORT CustomNode : public FunctionNode {
 public:
  explicit CustomNode(const std::type_info& type) : type_(type) {}
  std::string label() const override;  // the name of the class
  Arrays forward(const Arrays& in) override;
  Variables backward(const Targets& targets, const Variables& gy) override;

 protected:
  virtual Variables call_forward(Context& context, const Variables& inputs) = 0;
  virtual Variables call_backward(Context& context, const Variables& gy) = 0;

 private:
  // A saved value in backward: the input or output with this index, or a constant.
  struct Place {
    enum class Kind { input, output, value } kind;
    int index;
  };
  // Retains the saved inputs and outputs. Variables of them in the context would keep the graph alive for ever.
  void retain_saved(const Variables& inputs, const Variables& outputs);
  Context context_for(const Targets& targets);

  const std::type_info& type_;
  Context context_;
  std::vector<Place> places_;        // of the saved values
  std::vector<ArrayKind> produced_;  // the outputs, of which there may be no Variable any more
};

template <class T>
concept CustomInput = std::convertible_to<const T&, Variable> && !std::is_arithmetic_v<T>;

// An argument in the node, which keeps no handle to its inputs, and as it is passed to F::forward.
struct InputArgument {};
template <class T> using KeptArgument = std::conditional_t<CustomInput<T>, InputArgument, std::decay_t<const T&>>;
template <class T> using PassedArgument = std::conditional_t<CustomInput<T>, const Variable&, const KeptArgument<T>&>;

template <class T> KeptArgument<T> kept_argument(Variables& inputs, const T& argument) {
  static_assert(CustomInput<T> || !RangeOfVariables<T>, "a list of Variables: pass them to apply() one by one");
  if constexpr (CustomInput<T>) return inputs.push_back(Variable(argument)), InputArgument();
  else return argument;
}
inline const Variable& next_argument(const Variables& inputs, std::size_t& next, InputArgument) {
  return inputs[next++];
}
template <class T> const T& next_argument(const Variables&, std::size_t&, const T& argument) { return argument; }

// Whether a function takes the context as a pointer.
template <class F, class Backward> inline constexpr bool takes_pointer = false;
template <class F, class R, class... X> inline constexpr bool takes_pointer<F, R (*)(Context*, X...)> = true;
template <class F, class Backward>
concept TakesPointer = takes_pointer<F, Backward>;
template <class F, class... A> auto forward_of(Context& context, const A&... a) {
  if constexpr (requires { F::forward(context, a...); }) return F::forward(context, a...);
  else return F::forward(&context, a...);
}

template <class F, class... A> class CustomCall final : public CustomNode {
 public:
  using Kept = std::tuple<KeptArgument<A>...>;
  explicit CustomCall(Kept arguments) : CustomNode(typeid(F)), arguments_(std::move(arguments)) {}

 protected:
  Variables call_forward(Context& context, const Variables& inputs) override {
    std::size_t next = 0;
    const auto call = [&](const auto&... kept) {
      // In braces, so that the inputs are taken in their order.
      const std::tuple<PassedArgument<A>...> all{next_argument(inputs, next, kept)...};
      return outputs_of(std::apply([&](const auto&... a) { return forward_of<F>(context, a...); }, all));
    };
    return std::apply(call, arguments_);
  }
  Variables call_backward(Context& context, const Variables& gy) override {
    if constexpr (requires { &F::backward; } && TakesPointer<F, decltype(&F::backward)>) {
      const auto backward = [&](const auto&... g) -> decltype(F::backward(&context, g...)) {
        return F::backward(&context, g...);
      };
      return call_variables(backward, gy);
    } else {
      const auto backward = [&](const auto&... g) -> decltype(F::backward(context, g...)) {
        return F::backward(context, g...);
      };
      return call_variables(backward, gy);
    }
  }

 private:
  Kept arguments_;
};

}  // namespace internal

// The base class of a function F. F::forward(ctx, arguments...) returns a Variable, a list or a tuple of them.
// F::backward(ctx, gradients...) gets the gradient of each output, or all of them in one list, zeros for an output
// that has none, and returns the gradient of the only input, or a list or a tuple with one for each input. A Variable
// without a value, Variable(), is no gradient. Inputs are the arguments that are variables or arrays; numbers and
// objects of other types are passed on to forward and have no gradient.
//
// apply() returns one Variable if forward does, else a list. ValueError in backward for another number of gradients
// than of inputs; TypeError if backward does not take as many gradients as there are outputs.
template <class F> struct CustomFunction {
  template <class... A> static auto apply(const A&... arguments) {
    using Result =
        decltype(internal::forward_of<F>(std::declval<Context&>(), std::declval<internal::PassedArgument<A>>()...));
    Variables inputs;
    typename internal::CustomCall<F, A...>::Kept kept{internal::kept_argument(inputs, arguments)...};
    Variables outputs = make_node<internal::CustomCall<F, A...>>(std::move(kept))->FunctionNode::apply(inputs);
    if constexpr (internal::SingleVariable<std::remove_cvref_t<Result>>) return Variable(outputs[0]);
    else return outputs;
  }
};

}  // namespace autograd
