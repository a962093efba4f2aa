// Function: a differentiable function in the style of the reference, on raw arrays.
//
//   struct Cube : Function {
//     Arrays forward(const Arrays& x) override { return {x[0] * x[0] * x[0]}; }
//     Arrays backward(const Arrays& x, const Arrays& gy) override { return {3 * x[0] * x[0] * gy[0]}; }
//   };
//   Variable y = make_function<Cube>()(x);
//
// backward gets all inputs and one gradient per output (null where none arrived), and returns one gradient per input
// (null for none). It must not write into its arguments. Such a function has one derivative: differentiating its
// gradient is a NotImplementedError. A function that must be differentiable any number of times derives from
// FunctionNode.
//
// One object is one node of a graph. Calling it again is allowed and removes the earlier results from the graph:
// backpropagating through them is then a RuntimeError.
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include <catena/autograd/function_node.h>

namespace autograd {

class CATENA_EXPORT Function : public FunctionNode {
 public:
  Function() { raw_style_ = true; }

  std::string label() const override;  // the name of the class

  // The default implementations call forward_gpu and backward_gpu when an input (in backward: or a gradient) is on a
  // GPU, else the _cpu forms.
  Arrays forward(const Arrays& inputs) override;
  virtual Arrays forward_cpu(const Arrays& inputs);  // NotImplementedError
  virtual Arrays forward_gpu(const Arrays& inputs);
  virtual Arrays backward(const Arrays& inputs, const Arrays& grad_outputs);
  virtual Arrays backward_cpu(const Arrays& inputs, const Arrays& grad_outputs);  // no gradient for any input
  virtual Arrays backward_gpu(const Arrays& inputs, const Arrays& grad_outputs);

 private:
  Variables backward(const Targets& targets, const Variables& grad_outputs) final;
};

// What a function object returns: a list, which is the output itself if there is one: `Variable y = f(x)`, `Variables
// ys = f(x)`.
class Outputs : public Variables {
 public:
  Outputs(Variables list) noexcept : Variables(std::move(list)) {}
  // ValueError unless there is one output.
  operator Variable() const {
    catena::check<catena::ValueError>(size() == 1, "Function", "the result is a list of ", size(),
                                      " outputs, not one; take an output by its index");
    return front();
  }
};

// A function object; the graph shares its ownership. f(x), f(x, y), or a list: f(xs).
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
