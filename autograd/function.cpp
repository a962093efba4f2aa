#include <catena/autograd/function.h>

#include <algorithm>
#include <typeinfo>

#include <catena/autograd/debug.h>

namespace autograd {
namespace {

bool any_on_gpu(const Arrays& arrays) {
  return std::any_of(arrays.begin(), arrays.end(),
                     [](const Array& a) { return a && a.device().kind != Device::Kind::cpu; });
}

// The backward pass of a Function as a node of a graph. Its gradient can be computed but not differentiated.
class FirstDerivative final : public FunctionNode {
 public:
  FirstDerivative(std::string label, Arrays gradients) : label_(std::move(label)), gradients_(std::move(gradients)) {}
  std::string label() const override { return "gradient of " + label_; }
  Arrays forward(const Arrays&) override { return std::move(gradients_); }
  Variables backward(const Targets&, const Variables&) override {
    catena::fail<catena::NotImplementedError>(
        label_, "a Function on raw arrays has no second derivative; derive from FunctionNode");
  }

 private:
  std::string label_;
  Arrays gradients_;
};

}  // namespace

std::string Function::label() const { return internal::class_name(typeid(*this)); }

Arrays Function::forward(const Arrays& inputs) {
  return any_on_gpu(inputs) ? forward_gpu(inputs) : forward_cpu(inputs);
}

Arrays Function::forward_cpu(const Arrays&) {
  catena::fail<catena::NotImplementedError>(label(), "forward is not implemented for the CPU");
}
Arrays Function::forward_gpu(const Arrays&) {
  catena::fail<catena::NotImplementedError>(label(), "forward is not implemented for GPUs");
}

Arrays Function::backward(const Arrays& inputs, const Arrays& grad_outputs) {
  return any_on_gpu(inputs) || any_on_gpu(grad_outputs) ? backward_gpu(inputs, grad_outputs)
                                                        : backward_cpu(inputs, grad_outputs);
}
Arrays Function::backward_cpu(const Arrays& inputs, const Arrays&) { return Arrays(inputs.size()); }
Arrays Function::backward_gpu(const Arrays& inputs, const Arrays&) { return Arrays(inputs.size()); }

Variables Function::backward(const Targets& targets, const Variables& grad_outputs) {
  const std::size_t n = num_inputs();
  Variables in;
  Arrays x, gy;
  for (std::size_t i = 0; i < n; ++i) in.push_back(retained_input(int(i)));
  for (const Variable& v : in) x.push_back(v.data());
  for (const Variable& g : grad_outputs) gy.push_back(g ? g.data() : Array());
  const Arrays gx = backward(x, gy);
  catena::check<catena::AssertionError>(gx.size() == n, label(), "backward returned ", gx.size(), " gradients for ", n,
                                        " inputs");

  Variables result(targets.size());
  if (!needs_double_backprop()) {
    for (std::size_t k = 0; k < targets.size(); ++k)
      if (const Array& g = gx[std::size_t(targets[k])]) result[k] = g;
    return result;
  }
  Arrays present;
  for (const int t : targets)
    if (gx[std::size_t(t)]) present.push_back(gx[std::size_t(t)]);
  for (const Variable& g : grad_outputs)
    if (g) in.push_back(g);
  const Variables wrapped = apply_node<FirstDerivative>(in, label(), present);
  for (std::size_t k = 0, next = 0; k < targets.size(); ++k)
    if (gx[std::size_t(targets[k])]) result[k] = wrapped[next++];
  return result;
}

// ---- Outputs ------------------------------------------------------------------------------------

const Variable& Outputs::only() const {
  catena::check<catena::ValueError>(num_outputs() == 1, "Function", "the result is a list of ", num_outputs(),
                                    " outputs, not one; take an output by its index");
  return front();
}

const Variable& Outputs::at(std::size_t i) const {
  catena::check<catena::IndexError>(i < num_outputs(), "Function", "there is no output ", i, " of ", num_outputs());
  return Variables::operator[](i);
}

std::ostream& operator<<(std::ostream& out, const Outputs& y) { return out << Variable(y); }

}  // namespace autograd
