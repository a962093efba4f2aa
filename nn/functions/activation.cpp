#include <catena/nn/functions/activation.h>

#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/special.h>
#include <catena/autograd/input_types.h>
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
using autograd::internal::unary;
using catena::check;
using catena::ValueError;
using internal::both;
using internal::constant;
using internal::greater;
using internal::greater_equal;
using internal::less;
using internal::narrowed;
using internal::wide;

namespace {

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

// y = f(x) with a fused rule on x and gy, for kernels without a constant.
template <const catena::KernelDef& bwd> Array fused_rule(int, const ElementwiseArrays& v) {
  return v.result(bwd, {v.x0, v.gy});
}

constexpr ElementwiseFunction kLogSigmoid = {
    .label = "LogSigmoid",
    .kernel = &catena::kernels::log_expit,
    .retain = autograd::kRetainX,
    .gradient = [](int, const ElementwiseValues& v) { return v.gy * sigmoid(-v.x0); },
    .fused =
        [](int, const ElementwiseArrays& v) {
          return v.result(catena::kernels::softplus_bwd, {v.x0, -1.0, v.gy});
        }};

constexpr auto kSiLU = unary(
    "SiLU", catena::kernels::silu, autograd::kRetainX,
    [](int, const ElementwiseValues& v) { return v.gy * (sigmoid(v.x0) * (1 + v.x0 * sigmoid(-v.x0))); },
    fused_rule<catena::kernels::silu_bwd>);

constexpr auto kGELU = unary(
    "GELU", catena::kernels::gelu, autograd::kRetainX,
    [](int, const ElementwiseValues& v) {
      const Variable density = exp(square(v.x0) * -0.5) * 0.39894228040143267794;
      return v.gy * (ndtr(v.x0) + v.x0 * density);
    },
    fused_rule<catena::kernels::gelu_bwd>);

constexpr auto kGELUTanh = unary(
    "GELU", catena::kernels::gelu_tanh, autograd::kRetainX,
    [](int, const ElementwiseValues& v) {
      // As in the kernel: beyond 50 the argument of the logistic function is constant.
      const Variable z = autograd::clip(v.x0, -50, 50), cubic = square(z) * 0.071354816272600248764;
      const Variable u = z * (cubic + 1.5957691216057307117);
      return v.gy * (sigmoid(u) * (1 + sigmoid(-u) * z * (cubic * 3 + 1.5957691216057307117)));
    },
    fused_rule<catena::kernels::gelu_tanh_bwd>);

constexpr auto kMish = unary(
    "Mish", catena::kernels::mish, autograd::kRetainX,
    [](int, const ElementwiseValues& v) {
      const Variable t = tanh(softplus(v.x0));
      return v.gy * (t + v.x0 * sigmoid(v.x0) * (1 - square(t)));
    },
    fused_rule<catena::kernels::mish_bwd>);

constexpr auto kHardSwish = unary(
    "HardSwish", catena::kernels::hard_swish, autograd::kRetainX,
    [](int, const ElementwiseValues& v) {
      const Array& x = v.x0.data();
      return masked(v.gy, greater_equal(x, 3)) +
             masked(v.gy * (v.x0 * (1.0 / 3) + 0.5), less(apply(catena::kernels::absolute, {x}), 3));
    },
    fused_rule<catena::kernels::hard_swish_bwd>);

// The constants are the factors of x above 0 and of exp(x) - 1 below.
constexpr ElementwiseFunction kSELU = {
    .label = "SELU",
    .kernel = &catena::kernels::scaled_elu,
    .retain = autograd::kRetainX,
    .gradient =
        [](int, const ElementwiseValues& v) {
          const Array& x = v.x0.data();
          return masked(v.gy * v.c[0], greater_equal(x, 0)) + masked(v.gy * exp(-relu(-v.x0)) * v.c[1], less(x, 0));
        },
    .fused =
        [](int, const ElementwiseArrays& v) {
          return v.result(catena::kernels::scaled_elu_bwd, {v.x0, v.gy, constant(v.c[0]), constant(v.c[1])});
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
class SoftmaxNode : public FunctionNode, public autograd::internal::HasOptions {
 public:
  explicit SoftmaxNode(int axis) : axis_(axis) {}
  void options(autograd::internal::FunctionOptions& o) const override { o.integer("axis", axis_); }
  void check_type_forward(const autograd::type_check::TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() == 1, in_types[0].dtype.kind() == 'f');
    if (axis_ == 1) expect(in_types[0].ndim >= 2);  // the axis that is meant without an argument
    autograd::internal::expect_axes(in_types, axis_);
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
Variable internal::softplus_below(const Variable& x, double beta, double threshold) {
  const Variable y = softplus(x, beta);
  const Array above =
      beta > 0 ? internal::greater(x.data(), threshold / beta) : internal::less(x.data(), threshold / beta);
  return where(above, x, y);
}

Variable log_sigmoid(const Variable& x) { return elementwise(kLogSigmoid, x); }
Variable silu(const Variable& x) { return elementwise(kSiLU, x); }
Variable mish(const Variable& x) { return elementwise(kMish, x); }
Variable relu6(const Variable& x) { return clipped_relu(x, 6); }
Variable hard_swish(const Variable& x) { return elementwise(kHardSwish, x); }
Variable hardsigmoid(const Variable& x) { return narrowed(relu6(wide(x) + 3) / 6, x.dtype()); }

Variable internal::gelu(const Variable& x, const GELUOptions& o) {
  check<ValueError>(o.approximate == "none" || o.approximate == "tanh", "gelu", "approximate is \"", o.approximate,
                    "\"; it must be \"none\" or \"tanh\"");
  return elementwise(o.approximate == "tanh" ? kGELUTanh : kGELU, x);
}

Variable internal::selu(const Variable& x, const SELUOptions& o) {
  const autograd::Constant factors[] = {o.scale, o.scale * o.alpha};
  return elementwise(kSELU, x, factors);
}

// Checks a parameter (d1, d2, ...) of x (N, d1, d2, ..., more) and returns it in a shape that broadcasts to x.
static Variable along_channels(const char* label, const char* names, const Variable& x, const Variable& W) {
  internal::check_inputs(label, names, {x, W}, [](const autograd::type_check::TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    internal::expect_floats(in_types, 0, 1);
    expect(in_types[0].ndim >= in_types[1].ndim + 1);
    for (int a = 0; a < in_types.shape(1).size(); ++a) expect(in_types[0].shape[a + 1] == in_types[1].shape[a]);
  });
  Shape shape = Shape::filled(x.ndim(), 1);
  for (int a = 0; a < W.ndim(); ++a) shape[a + 1] = W.shape(a);
  return reshape(W, shape);
}

Variable prelu(const Variable& x, const Variable& W) {
  // One weight is that of all channels, as in PyTorch.
  if (x && W && W.ndim() == 1 && W.shape(0) == 1 && x.ndim() > 0 && (x.ndim() == 1 || x.shape(1) != 1))
    return prelu(x, reshape(W, {}));
  return elementwise(kPReLU, x, along_channels("PReLUFunction", "x W", x, W));
}

Variable swish(const Variable& x, const Variable& beta) {
  const Variable factor = wide(along_channels("Swish", "x beta", x, beta)), z = wide(x);
  return narrowed(z * sigmoid(z * factor), x.dtype());
}
Variable swish(const Variable& x, double beta) {
  if (beta == 1) return silu(x);
  internal::check_inputs("Swish", "x", {x}, internal::expect_alike);
  const Variable z = wide(x);
  return narrowed(z * sigmoid(z * beta), x.dtype());
}

Variable internal::glu(const Variable& x, const GLUOptions& given) {
  GLUOptions o = given;
  o.axis = o.dim.value_or(o.axis);
  const bool silu_gate = o.gate == "silu", gelu_gate = o.gate == "gelu";
  check<ValueError>(silu_gate || gelu_gate || o.gate == "sigmoid", "glu", "gate is \"", o.gate,
                    "\"; it must be \"sigmoid\", \"silu\" or \"gelu\"");
  internal::check_inputs("GLU", "x", {x}, [&](const autograd::type_check::TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f');
    autograd::internal::expect_axes(in_types, o.axis);
    expect(in_types[0].shape[o.axis] % 2 == 0);
  });
  const Variables half = autograd::split_axis(wide(x), 2, o.axis);
  const Variable& b = half[1];
  return narrowed(half[0] * (silu_gate ? silu(b) : gelu_gate ? nn::gelu(b) : sigmoid(b)), x.dtype());
}

// ---- other activations of PyTorch; their conditions let NaN pass ---------------------------------
namespace {
Array exceeds(const Array& x, double bound) {
  return apply(catena::kernels::logical_not, {internal::less_equal(x, bound)});
}
void check_lambd(const char* op, double lambd) {
  check<ValueError>(lambd >= 0, op, "lambd is ", lambd, " and must not be negative");
}
}  // namespace

Variable internal::hardtanh(const Variable& x, const HardtanhOptions& o) {
  return autograd::clip(x, o.min_val, o.max_val);
}
Variable softsign(const Variable& x) {
  const Variable z = wide(x);
  return narrowed(z / (1 + absolute(z)), x.dtype());
}
Variable tanhshrink(const Variable& x) {
  const Variable z = wide(x);
  return narrowed(z - tanh(z), x.dtype());
}
Variable internal::softshrink(const Variable& x, double lambd) {
  check_lambd("softshrink", lambd);
  if (lambd == 0) return x * 1;
  const Variable z = wide(x);
  return narrowed(z - autograd::clip(z, -lambd, lambd), x.dtype());
}
Variable internal::hardshrink(const Variable& x, double lambd) {
  check_lambd("hardshrink", lambd);
  check_inputs("Hardshrink", "x", {x}, expect_alike);
  return masked(x, exceeds(apply(catena::kernels::absolute, {x.data()}), lambd));
}
Variable internal::celu(const Variable& x, double alpha) {
  check<ValueError>(alpha != 0, "celu", "alpha is 0 and divides x");
  const Variable z = wide(x);
  const Array positive = greater_equal(z.data(), 0);
  // exp of the masked branch must not overflow.
  const Variable below = where(positive, 0, z);
  return narrowed(where(positive, z, expm1(below * (1 / alpha)) * alpha), x.dtype());
}
Variable threshold(const Variable& x, double threshold, double value) {
  internal::check_inputs("Threshold", "x", {x}, internal::expect_alike);
  return where(exceeds(x.data(), threshold), x, value);
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
  check<ValueError>(pool_size > 0, "maxout", "pool_size is ", pool_size, " and must be positive");
  internal::check_inputs("Maxout", "x", {x}, [&](const autograd::type_check::TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f');
    autograd::internal::expect_axes(in_types, given_axis);
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

Variable softmin(const Variable& x, int axis) { return softmax(-x, axis); }

Variable internal::softmax(const Variable& x, const SoftmaxOptions& o) {
  return autograd::apply_node<Softmax>({o.dtype ? cast(x, *o.dtype) : x}, o.dim.value_or(o.axis))[0];
}
Variable internal::log_softmax(const Variable& x, const SoftmaxOptions& o) {
  return autograd::apply_node<LogSoftmax>({o.dtype ? cast(x, *o.dtype) : x}, o.dim.value_or(o.axis))[0];
}

}  // namespace nn
