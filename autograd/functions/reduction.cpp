#include <catena/autograd/functions/reduction.h>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/kernels/rows/families.h>

namespace autograd {

using type_check::TypeInfoTuple;

namespace {

// InvalidType for an axis out of range.
void expect_axes(const TypeInfoTuple& in_types, const Axes& axes) {
  using namespace type_check;
  for (const std::int64_t a : axes.values()) {
    const auto axis = variable(a, "axis");
    if (a >= 0) expect(axis < in_types[0].ndim);
    else expect(-in_types[0].ndim <= axis);
  }
}

// Restores the reduced axes of a gradient with length 1.
Variable with_kept_axes(const Variable& g, const Shape& shape, const Dims& axes) {
  return reshape(g, catena::reduced_shape(shape, axes, true));
}

class Reduction : public FunctionNode {
 public:
  Reduction(const Axes& axes, bool keepdims) : axes_(axes), keepdims_(keepdims) {}
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types.size() == 1, in_types[0].dtype.kind() == 'f');
    expect_axes(in_types, axes_);
  }

 protected:
  // Broadcasts an array of the result's shape over the reduced axes.
  Variable spread(const Variable& g) const {
    const Shape shape = input_shape(0);
    if (keepdims_ || !axes_.given()) return broadcast_to(g, shape);
    return broadcast_to(with_kept_axes(g, shape, catena::normalize_axes("reduction", axes_, shape.size())), shape);
  }
  Axes axes_;
  bool keepdims_;
};

class Sum final : public Reduction {
 public:
  using Reduction::Reduction;
  std::string label() const override { return "Sum"; }
  Arrays forward(const Arrays& x) override { return {sum(x[0], axes_, keepdims_)}; }
  Variables backward(const Targets&, const Variables& gy) override { return {spread(gy[0])}; }
};

class Mean final : public Reduction {
 public:
  using Reduction::Reduction;
  std::string label() const override { return "Mean"; }
  Arrays forward(const Arrays& x) override { return {mean(x[0], axes_, keepdims_)}; }
  Variables backward(const Targets&, const Variables& gy) override {
    const double n = double(catena::size_of(input_shape(0))) / double(gy[0].size());
    return {spread(gy[0] / n)};
  }
};

// Maximum and minimum. Every element that equals the extremum receives the whole gradient.
class Extremum final : public Reduction {
 public:
  Extremum(const Axes& axes, bool keepdims, bool greatest) : Reduction(axes, keepdims), greatest_(greatest) {}
  std::string label() const override { return greatest_ ? "Max" : "Min"; }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0});
    retain_outputs({0});
    return {greatest_ ? amax(x[0], axes_, keepdims_) : amin(x[0], axes_, keepdims_)};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    const Array x = retained_input(0).data(), y = spread(retained_output(0)).data();
    return {masked(spread(gy[0]), apply(catena::rows::equal, {x, y}))};
  }

 private:
  bool greatest_;
};

class SumTo final : public FunctionNode {
 public:
  explicit SumTo(const Shape& shape) : shape_(shape) {}
  std::string label() const override { return "SumTo"; }
  Arrays forward(const Arrays& x) override { return {sum_to(x[0], shape_)}; }
  Variables backward(const Targets&, const Variables& gy) override { return {broadcast_to(gy[0], input_shape(0))}; }

 private:
  Shape shape_;
};

}  // namespace

Variable sum(const Variable& x, const Axes& axes, bool keepdims) { return apply_node<Sum>({x}, axes, keepdims)[0]; }

Variable mean(const Variable& x, const Axes& axes, bool keepdims) { return apply_node<Mean>({x}, axes, keepdims)[0]; }
Variable max(const Variable& x, const Axes& axes, bool keepdims) {
  return apply_node<Extremum>({x}, axes, keepdims, true)[0];
}
Variable min(const Variable& x, const Axes& axes, bool keepdims) {
  return apply_node<Extremum>({x}, axes, keepdims, false)[0];
}

#define CATENA_REDUCTION(name) \
  Variable Variable::name(const Axes& axes, bool keepdims) const { return autograd::name(*this, axes, keepdims); }
CATENA_VARIABLE_REDUCTIONS(CATENA_REDUCTION)
#undef CATENA_REDUCTION

Variable sum_to(const Variable& x, const Shape& shape) {
  if (x && x.shape() == shape) return x;
  return apply_node<SumTo>({x}, shape)[0];
}

}  // namespace autograd
