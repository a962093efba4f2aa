// Operators that compute each element by itself.
#include <array>
#include <cmath>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/special.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/noise.h>
#include <catena/nn/onnx/import_operator.h>

namespace nn::onnx::importing {

namespace elementwise {
namespace {

namespace kernels = catena::kernels;
using Unary = Variable (*)(const Variable& x);
using Call = const OperatorCall&;

// ---- one argument ----
// A function of floating values, and optionally a kernel for others.
template <auto f> Variables unary(Call c) { return {f(c.input(0))}; }
template <auto f, const catena::KernelDef& kernel> Variables unary_of_any(Call c) {
  const Variable& x = c.input(0);
  if (is_floating(x)) return {f(x)};
  return {constant(autograd::apply(kernel, {x.data()}))};
}

Variable negated(const Variable& x) { return -x; }
Variable inverted(const Variable& x) { return 1.0 / x; }
Variable softplus_of(const Variable& x) { return nn::softplus(x); }
Variable relu_of(const Variable& x) { return nn::relu(x); }
Variable sigmoid_of(const Variable& x) { return autograd::sigmoid(x); }
Variable tanh_of(const Variable& x) { return autograd::tanh(x); }
// ONNX's: x max(0, min(1, x / 6 + 1 / 2)).
Variable hard_swish_of(const Variable& x) { return nn::hard_swish(x); }

Variables elu(Call c) { return {nn::elu(c.input(0), c.number("alpha", 1))}; }
Variables celu(Call c) { return {nn::celu(c.input(0), c.number("alpha", 1))}; }
Variables selu(Call c) {
  return {nn::selu(c.input(0), nn::SELUOptions{.alpha = c.number("alpha", 1.67326319217681884765625),
                                               .scale = c.number("gamma", 1.05070102214813232421875)})};
}
Variables leaky_relu(Call c) { return {nn::leaky_relu(c.input(0), c.number("alpha", 0.01))}; }
Variables thresholded_relu(Call c) { return {nn::threshold(c.input(0), c.number("alpha", 1), 0)}; }
Variables hard_sigmoid(Call c) {
  const Variable y = c.input(0) * c.number("alpha", 0.2) + c.number("beta", 0.5);
  return {autograd::clip(y, 0.0, 1.0)};
}
Variables gelu(Call c) {
  const std::string approximate = c.text("approximate", "none");
  return {nn::gelu(c.input(0), nn::GELUOptions{.approximate = approximate})};
}
Variables dropout(Call c) {
  const Variable& x = c.input(0);
  const bool training = c.opset() >= 12 && c.has(2) && autograd::item(c.input(2).data()).to<bool>();
  if (training) c.unsupported("dropout in training mode is not imported");
  Variables result{x};
  if (c.has_output(1)) result.push_back(constant(autograd::arrays::full(x.shape(), true, Dtype::bool_, x.device())));
  return result;
}
Variables identity(Call c) { return {c.input(0)}; }

// ---- several arguments ----
std::pair<Variable, Variable> operands(Call c) {
  const Variable &a = c.input(0), &b = c.input(1);
  if (a.dtype() != b.dtype()) c.refuse("its inputs are ", a.dtype(), " and ", b.dtype(), "; equal types are needed");
  return on_one_device(a, b);
}

template <class F> Variables binary(Call c, F f, const catena::KernelDef& kernel) {
  const auto [a, b] = operands(c);
  if (is_floating(a)) return {f(a, b)};
  return {constant(autograd::apply(kernel, {a.data(), b.data()}))};
}
Variables add(Call c) {
  return binary(
      c, [](const Variable& a, const Variable& b) { return a + b; }, kernels::add);
}
Variables subtract(Call c) {
  return binary(
      c, [](const Variable& a, const Variable& b) { return a - b; }, kernels::subtract);
}
Variables multiply(Call c) {
  return binary(
      c, [](const Variable& a, const Variable& b) { return a * b; }, kernels::multiply);
}
// Quotients of integers are rounded toward zero: (a - fmod(a, b)) / b has no remainder.
Variables divide(Call c) {
  const auto [a, b] = operands(c);
  if (is_floating(a)) return {a / b};
  const Array whole = a.data() - autograd::apply(kernels::fmod, {a.data(), b.data()});
  return {constant(autograd::apply(kernels::floor_divide, {whole, b.data()}))};
}
Variables power(Call c) {
  const Variable& a = c.input(0);
  Variable b = beside(c.input(1), a);
  if (!is_floating(a) && !is_floating(b))
    return {constant(autograd::astype(autograd::apply(kernels::power, {a.data(), b.data()}), a.dtype()))};
  if (!is_floating(a)) return {cast_to(constant(autograd::apply(kernels::power, {a.data(), b.data()})), a.dtype())};
  b = cast_to(b, a.dtype());
  // The rule of a number is that of x^2, x^0.5 and so on, without logarithms.
  if (b.size() == 1 && b.ndim() == 0 && !b.creator()) return {autograd::pow(a, autograd::item(b.data()).to_double())};
  return {autograd::pow(a, b)};
}
Variables modulo(Call c) {
  const auto [a, b] = operands(c);
  const bool as_c = c.integer("fmod", 0) != 0;
  if (is_floating(a)) {
    const Variable r = autograd::fmod(a, b);
    if (as_c) return {r};
    // The sign of the divisor.
    const Array below = autograd::apply(kernels::less, {r.data(), 0});
    const Array other = autograd::apply(kernels::not_equal, {below, autograd::apply(kernels::less, {b.data(), 0})});
    const Array moved =
        autograd::apply(kernels::logical_and, {other, autograd::apply(kernels::not_equal, {r.data(), 0})});
    return {autograd::where(constant(moved), r + b, r)};
  }
  return {constant(autograd::apply(as_c ? kernels::fmod : kernels::remainder, {a.data(), b.data()}))};
}

// Of one or more inputs.
template <class F> Variables variadic(Call c, F f, const catena::KernelDef& kernel) {
  Variable result = c.input(0);
  for (std::size_t i = 1; i < c.n_inputs(); ++i) {
    const auto [a, b] = on_one_device(result, c.input(i));
    if (is_floating(b)) result = f(a, b);
    else result = constant(autograd::apply(kernel, {a.data(), b.data()}));
  }
  return {result};
}
Variable greatest(const Variable& a, const Variable& b) { return autograd::maximum(Variables{a, b}); }
Variable least(const Variable& a, const Variable& b) { return autograd::minimum(Variables{a, b}); }
Variable total(const Variable& a, const Variable& b) { return a + b; }
Variables maximum(Call c) { return variadic(c, greatest, kernels::maximum); }
Variables minimum(Call c) { return variadic(c, least, kernels::minimum); }
Variables sum(Call c) { return variadic(c, total, kernels::add); }
Variables mean(Call c) { return {sum(c)[0] / double(c.n_inputs())}; }

Variables prelu(Call c) {
  const Variable& x = c.input(0);
  const Variable slope = beside(c.input(1), x);
  if (!is_floating(x)) c.unsupported("it is imported for floating values only");
  // The slopes broadcast from the last axis on, other than those of nn::prelu.
  return {autograd::where(Variable(constant(autograd::apply(kernels::greater_equal, {x.data(), 0}))), x, slope * x)};
}

Variables clip(Call c) {
  const Variable& x = c.input(0);
  Variable low = c.optional(1), high = c.optional(2);
  const bool from_attributes = c.opset() < 11;
  if (!is_floating(x)) {
    Array y = x.data();
    if (low) y = autograd::apply(kernels::maximum, {y, low.data()});
    if (high) y = autograd::apply(kernels::minimum, {y, high.data()});
    return {constant(y)};
  }
  const double infinite = HUGE_VAL;
  double from = from_attributes ? c.number("min", -infinite) : -infinite;
  double to = from_attributes ? c.number("max", infinite) : infinite;
  if (low) from = autograd::item(low.data()).to_double();
  if (high) to = autograd::item(high.data()).to_double();
  if (from == -infinite && to == infinite) return {x};
  // The upper bound wins if the bounds are in the wrong order.
  if (!(from < to)) return {constant(autograd::full_like(x.data(), autograd::Scalar(to)))};
  return {autograd::clip(x, from == -infinite ? autograd::Bound() : autograd::Bound(from),
                         to == infinite ? autograd::Bound() : autograd::Bound(to))};
}

constexpr std::array kOperators = {
    Operator{"Abs", unary_of_any<static_cast<Unary>(autograd::absolute), kernels::absolute>},
    Operator{"Acos", unary<static_cast<Unary>(autograd::arccos)>},
    Operator{"Acosh", unary<static_cast<Unary>(autograd::arccosh)>},
    Operator{"Add", add},
    Operator{"Asin", unary<static_cast<Unary>(autograd::arcsin)>},
    Operator{"Asinh", unary<static_cast<Unary>(autograd::arcsinh)>},
    Operator{"Atan", unary<static_cast<Unary>(autograd::arctan)>},
    Operator{"Atanh", unary<static_cast<Unary>(autograd::arctanh)>},
    Operator{"Ceil", unary<static_cast<Unary>(autograd::ceil)>},
    Operator{"Celu", celu},
    Operator{"Clip", clip, kAllButFirst},
    Operator{"Cos", unary<static_cast<Unary>(autograd::cos)>},
    Operator{"Cosh", unary<static_cast<Unary>(autograd::cosh)>},
    Operator{"Div", divide},
    Operator{"Dropout", dropout, kAllButFirst},
    Operator{"Elu", elu},
    Operator{"Erf", unary<static_cast<Unary>(autograd::erf)>},
    Operator{"Exp", unary<static_cast<Unary>(autograd::exp)>},
    Operator{"Floor", unary<static_cast<Unary>(autograd::floor)>},
    Operator{"Gelu", gelu},
    Operator{"HardSigmoid", hard_sigmoid},
    Operator{"HardSwish", unary<hard_swish_of>},
    Operator{"Identity", identity},
    Operator{"LeakyRelu", leaky_relu},
    Operator{"Log", unary<static_cast<Unary>(autograd::log)>},
    Operator{"Max", maximum},
    Operator{"Mean", mean},
    Operator{"Min", minimum},
    Operator{"Mish", unary<static_cast<Unary>(nn::mish)>},
    Operator{"Mod", modulo},
    Operator{"Mul", multiply},
    Operator{"Neg", unary_of_any<negated, kernels::negative>},
    Operator{"PRelu", prelu},
    Operator{"Pow", power},
    Operator{"Reciprocal", unary<inverted>},
    Operator{"Relu", unary<relu_of>},
    Operator{"Round", unary<static_cast<Unary>(autograd::round)>},
    Operator{"Selu", selu},
    Operator{"Sigmoid", unary<sigmoid_of>},
    Operator{"Sign", unary_of_any<static_cast<Unary>(autograd::sign), kernels::sign>},
    Operator{"Sin", unary<static_cast<Unary>(autograd::sin)>},
    Operator{"Sinh", unary<static_cast<Unary>(autograd::sinh)>},
    Operator{"Softplus", unary<softplus_of>},
    Operator{"Softsign", unary<static_cast<Unary>(nn::softsign)>},
    Operator{"Sqrt", unary<static_cast<Unary>(autograd::sqrt)>},
    Operator{"Sub", subtract},
    Operator{"Sum", sum},
    Operator{"Tan", unary<static_cast<Unary>(autograd::tan)>},
    Operator{"Tanh", unary<tanh_of>},
    Operator{"ThresholdedRelu", thresholded_relu},
};

}  // namespace
}  // namespace elementwise

std::span<const Operator> elementwise_operators() { return elementwise::kOperators; }

}  // namespace nn::onnx::importing
