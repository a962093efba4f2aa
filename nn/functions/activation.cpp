#include <catena/nn/functions/activation.h>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/composed.h>

namespace nn {

using autograd::apply;
using autograd::Array;
using autograd::Arrays;
using autograd::ElementwiseArrays;
using autograd::ElementwiseFunction;
using autograd::ElementwiseValues;
using autograd::FunctionNode;
using autograd::masked;
using autograd::Operand;
using autograd::Shape;
using autograd::Targets;
using autograd::Variables;
using catena::check;
using internal::both;
using internal::greater;
using internal::greater_equal;
using internal::less;

namespace {

Operand constant(const autograd::Constant& c) { return c.is_array() ? Operand(c.array()) : Operand(c.scalar()); }

constexpr ElementwiseFunction kReLU = {
    .label = "ReLU",
    .kernel = &catena::kernels::relu,
    .retain = autograd::kRetainY,
    .gradient = [](int, const ElementwiseValues& v) { return masked(v.gy, greater(v.y.data(), 0)); },
    .fused =
        [](int, const ElementwiseArrays& v) {
          return v.result(catena::kernels::relu_bwd, {v.y, v.gy});
        }};

constexpr ElementwiseFunction kClippedReLU = {
    .label = "ClippedReLU",
    .kernel = &catena::kernels::clipped_relu,
    .retain = autograd::kRetainX,
    .gradient =
        [](int, const ElementwiseValues& v) {
          const Array& x = v.x0.data();
          return masked(v.gy, both(greater(x, 0), less(x, constant(v.c[0]))));
        },
    .fused =
        [](int, const ElementwiseArrays& v) {
          return v.result(catena::kernels::clipped_relu_bwd, {v.x0, constant(v.c[0]), v.gy});
        }};

constexpr ElementwiseFunction kLeakyReLU = {
    .label = "LeakyReLU",
    .kernel = &catena::kernels::leaky_relu,
    .retain = autograd::kRetainX,
    .gradient =
        [](int, const ElementwiseValues& v) {
          const Array& x = v.x0.data();
          return masked(v.gy, greater_equal(x, 0)) + masked(v.gy * v.c[0], less(x, 0));
        },
    .fused =
        [](int, const ElementwiseArrays& v) {
          return v.result(catena::kernels::leaky_relu_bwd, {v.x0, constant(v.c[0]), v.gy});
        }};

constexpr ElementwiseFunction kELU = {.label = "ELU",
                                      .kernel = &catena::kernels::elu,
                                      .retain = autograd::kRetainX,
                                      .gradient =
                                          [](int, const ElementwiseValues& v) {
                                            const Array& x = v.x0.data();
                                            // exp of min(x, 0): the masked branch must not overflow, because its
                                            // derivative would be inf * 0.
                                            const Variable slope = exp(-relu(-v.x0)) * v.c[0];
                                            return masked(v.gy, greater_equal(x, 0)) + masked(v.gy * slope, less(x, 0));
                                          },
                                      .fused =
                                          [](int, const ElementwiseArrays& v) {
                                            return v.result(catena::kernels::elu_bwd, {v.x0, constant(v.c[0]), v.gy});
                                          }};

constexpr ElementwiseFunction kHardSigmoid = {
    .label = "HardSigmoid",
    .kernel = &catena::kernels::hard_sigmoid,
    .retain = autograd::kRetainX,
    .gradient =
        [](int, const ElementwiseValues& v) {
          return masked(v.gy * 0.2, less(apply(catena::kernels::absolute, {v.x0.data()}), 2.5));
        },
    .fused =
        [](int, const ElementwiseArrays& v) {
          return v.result(catena::kernels::hard_sigmoid_bwd, {v.x0, v.gy});
        }};

constexpr ElementwiseFunction kSoftplus = {
    .label = "Softplus",
    .kernel = &catena::kernels::softplus,
    .retain = autograd::kRetainX,
    .gradient = [](int, const ElementwiseValues& v) { return v.gy * sigmoid(v.x0 * v.c[0]); },
    .fused =
        [](int, const ElementwiseArrays& v) {
          return v.result(catena::kernels::softplus_bwd, {v.x0, constant(v.c[0]), v.gy});
        }};

// leaky_relu whose slope is differentiated as well.
constexpr ElementwiseFunction kPReLU = {.label = "PReLUFunction",
                                        .kernel = &catena::kernels::leaky_relu,
                                        .retain = autograd::kRetainXs,
                                        .gradient = [](int target, const ElementwiseValues& v) {
                                          const Array below = less(v.x0.data(), 0);
                                          if (target == 1) return masked(v.gy * v.x0, below);
                                          return masked(v.gy, greater_equal(v.x0.data(), 0)) +
                                                 masked(v.gy * v.x1, below);
                                        }};

// softmax and log_softmax differ only in their kernels and rules.
class SoftmaxNode : public FunctionNode {
 public:
  explicit SoftmaxNode(int axis) : axis_(axis) {}
  void check_type_forward(const autograd::type_check::TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() == 1, in_types[0].dtype.kind() == 'f', in_types[0].ndim >= 2);
    const auto axis = variable(axis_, "axis");
    expect(axis < in_types[0].ndim, -in_types[0].ndim <= axis);
  }

 protected:
  Arrays run(const catena::KernelDef& kernel, const Arrays& x) {
    retain_outputs({0});
    const Operand operands[] = {x[0]};
    return {autograd::row_wise(kernel, operands, axis_)[0]};
  }
  Variable run_fused(const catena::KernelDef& kernel, const Variable& y, const Variable& gy) const {
    const Operand operands[] = {y.data(), gy.data()};
    return autograd::internal::constant_variable(autograd::row_wise(kernel, operands, axis_)[0]);
  }
  int axis_;
};

class Softmax final : public SoftmaxNode {
 public:
  using SoftmaxNode::SoftmaxNode;
  std::string label() const override { return "Softmax"; }
  Arrays forward(const Arrays& x) override { return run(catena::kernels::softmax, x); }
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable y = retained_output(0);
    if (!needs_double_backprop()) return {run_fused(catena::kernels::softmax_bwd, y, gy[0])};
    const Variable weighted = y * gy[0];
    return {weighted - y * sum(weighted, axis_, true)};
  }
};

class LogSoftmax final : public SoftmaxNode {
 public:
  using SoftmaxNode::SoftmaxNode;
  std::string label() const override { return "LogSoftmax"; }
  Arrays forward(const Arrays& x) override { return run(catena::kernels::log_softmax, x); }
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable y = retained_output(0);
    if (!needs_double_backprop()) return {run_fused(catena::kernels::log_softmax_bwd, y, gy[0])};
    return {gy[0] - exp(y) * sum(gy[0], axis_, true)};
  }
};

}  // namespace

Variable internal::relu(const Variable& x, const CudnnOptions&) { return elementwise(kReLU, x); }

Variable internal::clipped_relu(const Variable& x, double z) {
  check<catena::AssertionError>(z > 0, "clipped_relu", "z is ", z, " and must be positive");
  return elementwise(kClippedReLU, x, z);
}

Variable internal::leaky_relu(const Variable& x, double slope) { return elementwise(kLeakyReLU, x, slope); }
Variable internal::elu(const Variable& x, double alpha) { return elementwise(kELU, x, alpha); }
Variable hard_sigmoid(const Variable& x) { return elementwise(kHardSigmoid, x); }
Variable internal::softplus(const Variable& x, double beta) { return elementwise(kSoftplus, x, beta); }

Variable prelu(const Variable& x, const Variable& W) {
  internal::check_inputs("PReLUFunction", "x W", {x, W}, [](const autograd::type_check::TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    internal::expect_floats(in_types, 0, 1);
    expect(in_types[0].ndim >= in_types[1].ndim + 1);
    for (int a = 0; a < in_types.shape(1).size(); ++a) expect(in_types[0].shape[a + 1] == in_types[1].shape[a]);
  });
  Shape shape = Shape::filled(x.ndim(), 1);
  for (int a = 0; a < W.ndim(); ++a) shape[a + 1] = W.shape(a);
  return elementwise(kPReLU, x, reshape(W, shape));
}

Variable crelu(const Variable& x, int axis) {
  internal::check_inputs("CReLU", "x", {x}, [&](const autograd::type_check::TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    const auto given = variable(axis, "axis");
    expect(in_types[0].dtype.kind() == 'f', given < in_types[0].ndim, -in_types[0].ndim <= given);
  });
  return autograd::concat({relu(x), relu(-x)}, axis);
}

Variable maxout(const Variable& x, int pool_size, int given_axis) {
  check<catena::ValueError>(pool_size > 0, "maxout", "pool_size is ", pool_size, " and must be positive");
  internal::check_inputs("Maxout", "x", {x}, [&](const autograd::type_check::TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    const auto axis = variable(given_axis, "axis");
    expect(in_types[0].dtype.kind() == 'f', axis < in_types[0].ndim, -in_types[0].ndim <= axis);
    expect(in_types[0].shape[given_axis] % variable(pool_size, "pool_size") == 0);
  });
  const int axis = catena::normalize_axis("maxout", given_axis, x.ndim());
  Shape shape;
  for (int a = 0; a < x.ndim(); ++a) {
    shape.push_back(a == axis ? x.shape(a) / pool_size : x.shape(a));
    if (a == axis) shape.push_back(pool_size);
  }
  return max(reshape(x, shape), axis + 1);
}

Variable internal::softmax(const Variable& x, const SoftmaxOptions& o) {
  return autograd::apply_node<Softmax>({x}, o.axis)[0];
}
Variable internal::log_softmax(const Variable& x, const SoftmaxOptions& o) {
  return autograd::apply_node<LogSoftmax>({x}, o.axis)[0];
}

}  // namespace nn
