#include <catena/autograd/functions/complex.h>

#include <catena/autograd/array.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/kernels/registry/families.h>

namespace autograd::internal {
namespace {

namespace kernels = catena::kernels;

// g z / |z| of a real g, which is 0 at 0.
class Directed final : public FunctionNode {
 public:
  std::string label() const override { return "|_| (backward)"; }
  Arrays forward(const Arrays& in) override {
    return {apply(kernels::multiply, {astype(in[0], in[1].dtype()), apply(kernels::sign, {in[1]})})};
  }
  Variables backward(const Targets&, const Variables&) override {
    throw catena::NotImplementedError("absolute: the second derivative of complex numbers is not implemented");
  }
};
class Absolute final : public FunctionNode {
 public:
  std::string label() const override { return "|_|"; }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0});
    return {apply(kernels::absolute, {x[0]})};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    return apply_node<Directed>({gy[0], retained_input(0)});
  }
};

class Conjugate final : public FunctionNode {
 public:
  std::string label() const override { return "conj"; }
  Arrays forward(const Arrays& x) override { return {apply(kernels::conjugate, {x[0]})}; }
  Variables backward(const Targets&, const Variables& gy) override { return apply_node<Conjugate>({gy[0]}); }
};
class Product final : public FunctionNode {
 public:
  std::string label() const override { return "_ * _"; }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0, 1});
    return {apply(kernels::multiply, {x[0], x[1]})};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables g;
    for (const int t : targets) {
      const Variable other = conjugated(retained_input(1 - t));
      g.push_back(sum_to(complex_product(gy[0], other), input_shape(t)));
    }
    return g;
  }
};

}  // namespace

Variable complex_absolute(const Variable& x) { return apply_node<Absolute>({x})[0]; }
Variable conjugated(const Variable& z) { return apply_node<Conjugate>({z})[0]; }
Variable complex_product(const Variable& x, const Variable& y) { return apply_node<Product>({x, y})[0]; }

}  // namespace autograd::internal
