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
  Function() { is_chainer_function_ = true; }

  std::string label() const override;  // the name of the class

  // The default implementations call forward_gpu and backward_gpu if an input (in backward: or a gradient) is on a GPU,
  // else forward_cpu and backward_cpu.
  Arrays forward(const Arrays& inputs) override;
  virtual Arrays forward_cpu(const Arrays& inputs);  // NotImplementedError
  virtual Arrays forward_gpu(const Arrays& inputs);
  virtual Arrays backward(const Arrays& inputs, const Arrays& grad_outputs);
  virtual Arrays backward_cpu(const Arrays& inputs, const Arrays& grad_outputs);  // no gradient for any input
  virtual Arrays backward_gpu(const Arrays& inputs, const Arrays& grad_outputs);

  // Compilers show this line in their error messages.
  template <class... X> void operator()(const X&...) const = delete;  // make_function<F>()(x); forward(const Arrays&)

 private:
  Variables backward(const Targets& targets, const Variables& grad_outputs) final;
};

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

  // ---- the members of Variable, of the only output ----
  const Array& data() const { return only().data(); }
  Array grad() const { return only().grad(); }
  Variable grad_variable() const { return only().grad_variable(); }
  FunctionNode* creator() const { return only().creator(); }
  int rank() const { return only().rank(); }
  Flag volatile_flag() const { return only().volatile_flag(); }
  bool requires_grad() const { return only().requires_grad(); }
  const std::string& name() const { return only().name(); }
  const void* id() const { return only().id(); }
  const Shape& shape() const { return only().shape(); }
  std::int64_t shape(int axis) const { return only().shape(axis); }
  int ndim() const { return only().ndim(); }
  std::int64_t len() const { return only().len(); }
  Dtype dtype() const { return only().dtype(); }
  Device device() const { return only().device(); }
  std::string label() const { return only().label(); }
  std::string to_string() const { return only().to_string(); }
  std::string repr() const { return only().repr(); }
  std::string debug_print() const { return only().debug_print(); }
  Variable T() const { return only().T(); }
  bool is_same(const Variable& o) const { return only().is_same(o); }
  Variable astype(Dtype dtype) const { return only().astype(dtype); }
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
  void set_data(const Array& data) { only().set_data(data); }
  void set_grad(const Array& grad) { only().set_grad(grad); }
  void set_grad_variable(const Variable& grad) { only().set_grad_variable(grad); }
  void set_volatile(Flag f) { only().set_volatile(f); }
  void set_requires_grad(bool requires_grad) { only().set_requires_grad(requires_grad); }
  void set_name(const std::string& name) { only().set_name(name); }
  void to_device(Device device) { only().to_device(device); }
  void to_cpu() { only().to_cpu(); }
  void to_gpu(std::optional<int> id = {}) { only().to_gpu(id); }
  void cleargrad() { only().cleargrad(); }
  void zerograd() { only().zerograd(); }
  void copydata(const Variable& from) { only().copydata(from); }
  void addgrad(const Variable& from) { only().addgrad(from); }
  void set_creator(FunctionNode* creator, int output_index = 0) { only().set_creator(creator, output_index); }
  void unset_creator() { only().unset_creator(); }
  void backward(const BackwardOptions& options = {}) { only().backward(options); }
  void backward(bool retain_grad) { only().backward(retain_grad); }
  void unchain() { only().unchain(); }
  void unchain_backward() { only().unchain_backward(); }
  template <class E> E item() const { return only().template item<E>(); }
  template <class E> explicit operator E() const requires(std::is_arithmetic_v<E> && !std::is_same_v<E, bool>) {
    return item<E>();
  }
  // Elements of the only output, as of any Variable: y(0), y(Slice(1, 3)), y({0, 2}).
  template <class... K>
  Variable operator()(const K&... keys) const
      requires(sizeof...(K) > 0 && (... && std::convertible_to<const K&, IndexItem>)) {
    return only()(keys...);
  }
  Variable operator()(std::initializer_list<catena::Integer> list) const { return only()(list); }

 private:
  const Variable& at(std::size_t i) const;
  const Variable& only() const;  // ValueError unless there is one output
  Variable& only() { return const_cast<Variable&>(std::as_const(*this).only()); }
};

CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const Outputs& y);

// Inputs that are given one by one: more than one, or one that is no list.
template <class... X>
concept SeparateInputs = sizeof...(X) > 1 || (sizeof...(X) == 1 && !(... || std::derived_from<X, Variables>));

// A handle of a function object; the graph shares its ownership. Calls: f(x), f(x, y), or with a list, f(xs).
template <class F> class FunctionPtr : public NodePtr<F> {
 public:
  using NodePtr<F>::NodePtr;
  Outputs operator()(const Variables& inputs) const { return static_cast<FunctionNode*>(this->get())->apply(inputs); }
  template <std::convertible_to<Variable>... X>
  Outputs operator()(const X&... inputs) const requires SeparateInputs<X...> {
    return (*this)(Variables{Variable(inputs)...});
  }
};
template <class F, class... A> FunctionPtr<F> make_function(A&&... a) {
  return FunctionPtr<F>(new F(std::forward<A>(a)...));
}

}  // namespace autograd

// size() is not the length of the range.
template <> inline constexpr bool std::ranges::disable_sized_range<autograd::Outputs> = true;
