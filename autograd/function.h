// Function: a differentiable function on raw arrays, in the style of Chainer.
//
//   struct Cube : Function {
//     Arrays forward(const Arrays& x) override { return {x[0] * x[0] * x[0]}; }
//     Arrays backward(const Arrays& x, const Arrays& gy) override { return {3 * x[0] * x[0] * gy[0]}; }
//   };
//   Variable y = make_function<Cube>()(x);
//
// backward gets all inputs and one gradient per output (null if absent), and returns one gradient per input (null for
// none). It must not write into its arguments. Differentiating the gradient of such a function is a
// NotImplementedError. A function that must be differentiable any number of times derives from FunctionNode.
//
// One object is one node of a graph. A second call is allowed and removes the earlier results from the graph:
// backpropagation through them is then a RuntimeError.
#pragma once

#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <catena/autograd/function_node.h>

namespace autograd {

class CATENA_EXPORT Function : public FunctionNode {
 public:
  Function() { raw_style_ = true; }

  std::string label() const override;  // the name of the class

  // The default implementations call forward_gpu and backward_gpu if an input (in backward: or a gradient) is on a GPU,
  // else forward_cpu and backward_cpu.
  Arrays forward(const Arrays& inputs) override;
  virtual Arrays forward_cpu(const Arrays& inputs);  // NotImplementedError
  virtual Arrays forward_gpu(const Arrays& inputs);
  virtual Arrays backward(const Arrays& inputs, const Arrays& grad_outputs);
  virtual Arrays backward_cpu(const Arrays& inputs, const Arrays& grad_outputs);  // no gradient for any input
  virtual Arrays backward_gpu(const Arrays& inputs, const Arrays& grad_outputs);

 private:
  Variables backward(const Targets& targets, const Variables& grad_outputs) final;
};

// Members of Variable that Outputs forwards unchanged: the getters, and the members that change the variable.
// clang-format off
#define CATENA_OUTPUT_GETTERS(X)                                                                                     \
  X(data) X(grad) X(grad_variable) X(creator) X(rank) X(volatile_flag) X(requires_grad) X(name) X(is_same) X(id)     \
  X(shape) X(ndim) X(len) X(dtype) X(device) X(label) X(to_string) X(repr) X(debug_print) X(astype) X(T)
#define CATENA_OUTPUT_CHANGES(X)                                                                                     \
  X(set_data) X(set_grad) X(set_grad_variable) X(set_volatile) X(set_requires_grad) X(set_name) X(to_device)         \
  X(to_cpu) X(to_gpu) X(cleargrad) X(zerograd) X(copydata) X(addgrad) X(set_creator) X(unset_creator) X(unchain)     \
  X(unchain_backward)
// clang-format on

// The result of a function object: its only output, or the list of its outputs.
//
//   auto y = f(x);  y.backward(); y.data(); y.shape(); y * 2      Variable y = f(x);
//   auto ys = f(x);  ys[0]; for (const Variable& y : ys) ...      Variables ys = f(x);
//
// The members of Variable are those of the only output; ValueError if there are several. For the list of outputs, also
// of one output, use [i], begin(), end(), num_outputs() and the conversion to Variables. size() is the number of
// elements of the only output, or the number of outputs if there are several.
class CATENA_EXPORT Outputs : public Variables {
 public:
  Outputs(Variables list) noexcept : Variables(std::move(list)) {}
  operator Variable() const { return only(); }

  std::size_t num_outputs() const noexcept { return Variables::size(); }
  // Throws an IndexError if there is no output i.
  const Variable& operator[](std::size_t i) const { return at(i); }
  Variable& operator[](std::size_t i) { return const_cast<Variable&>(at(i)); }
  std::int64_t size() const { return num_outputs() == 1 ? only().size() : std::int64_t(num_outputs()); }

#define CATENA_FORWARD(name)                                  \
  template <class... X> decltype(auto) name(X&&... x) const { \
    return std::as_const(only()).name(std::forward<X>(x)...); \
  }
  CATENA_OUTPUT_GETTERS(CATENA_FORWARD)
#undef CATENA_FORWARD
#define CATENA_FORWARD(name) \
  template <class... X> decltype(auto) name(X&&... x) { return only().name(std::forward<X>(x)...); }
  CATENA_OUTPUT_CHANGES(CATENA_FORWARD)
#undef CATENA_FORWARD
  // These members are repeated here because their arguments may be braced lists.
  void backward(const BackwardOptions& options = {}) { only().backward(options); }
  void backward(bool retain_grad) { only().backward(retain_grad); }
  Variable reshape(const Shape& shape) const { return only().reshape(shape); }
  template <class... I> Variable reshape(std::int64_t first, I... rest) const { return only().reshape(first, rest...); }
  Variable transpose() const { return only().transpose(); }
  Variable transpose(const Dims& axes) const { return only().transpose(axes); }
  template <class... I> Variable transpose(std::int64_t first, I... rest) const {
    return only().transpose(first, rest...);
  }
#define CATENA_REDUCTION_RULE(name, ...) \
  Variable name(const Axes& axes = {}, bool keepdims = false) const { return only().name(axes, keepdims); }
#include <catena/autograd/reductions.inc>
#undef CATENA_REDUCTION_RULE
  template <class E> E item() const { return only().template item<E>(); }
  template <class E>
  requires(std::is_arithmetic_v<E> && !std::is_same_v<E, bool>) explicit operator E() const { return item<E>(); }
  // Elements of the only output, as of any Variable: y(0), y(Slice(1, 3)), y({0, 2}).
  template <class... K>
  requires(sizeof...(K) > 0 && (... && std::convertible_to<const K&, IndexItem>)) Variable operator()(
      const K&... keys) const {
    return only()(keys...);
  }
  Variable operator()(std::initializer_list<catena::Integer> list) const { return only()(list); }

 private:
  const Variable& at(std::size_t i) const;
  const Variable& only() const;  // ValueError unless there is one output
  Variable& only() { return const_cast<Variable&>(std::as_const(*this).only()); }
};

CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const Outputs& y);

// A handle of a function object; the graph shares its ownership. Calls: f(x), f(x, y), or with a list, f(xs).
template <class F> class FunctionPtr : public NodePtr<F> {
 public:
  using NodePtr<F>::NodePtr;
  Outputs operator()(const Variables& inputs) const { return static_cast<FunctionNode*>(this->get())->apply(inputs); }
  template <std::convertible_to<Variable>... X>
  requires(sizeof...(X) > 1 || (sizeof...(X) == 1 && !(... || std::derived_from<X, Variables>))) Outputs operator()(
      const X&... inputs) const {
    return (*this)(Variables{Variable(inputs)...});
  }
};
template <class F, class... A> FunctionPtr<F> make_function(A&&... a) {
  return FunctionPtr<F>(new F(std::forward<A>(a)...));
}

}  // namespace autograd

// size() is not the length of the range.
template <> inline constexpr bool std::ranges::disable_sized_range<autograd::Outputs> = true;
