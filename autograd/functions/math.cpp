#include <catena/autograd/functions/math.h>

#include <limits>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/flag.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>
#include <catena/kernels/registry/families.h>

namespace autograd {

using type_check::TypeInfoTuple;

// ---- one argument -------------------------------------------------------------------------------

namespace {

// A function of one argument: its label in graphs, its kernel, the value that the gradient reads, and the gradient.
using Values = const ElementwiseValues&;
using internal::unary;
// The gradient in one kernel, whose inputs are that value and gy.
template <const catena::KernelDef& kernel> Array run_fused(int, const ElementwiseArrays& v) {
  return v.result(kernel, {v.x0 ? v.x0 : v.y, v.gy});
}

namespace kernels = catena::kernels;
constexpr auto kExp = unary("exp", kernels::exp, kRetainY, [](int, Values v) { return v.gy * v.y; });
constexpr auto kExpm1 = unary("expm1", kernels::expm1, kRetainY, [](int, Values v) { return v.gy * (v.y + 1); });
constexpr auto kLog = unary("log", kernels::log, kRetainX, [](int, Values v) { return v.gy / v.x0; });
constexpr auto kLog2 =
    unary("log2", kernels::log2, kRetainX, [](int, Values v) { return v.gy / (v.x0 * 0.693147180559945309417); });
constexpr auto kLog10 =
    unary("log10", kernels::log10, kRetainX, [](int, Values v) { return v.gy / (v.x0 * 2.30258509299404568402); });
constexpr auto kLog1p = unary("log1p", kernels::log1p, kRetainX, [](int, Values v) { return v.gy / (v.x0 + 1); });
constexpr auto kSqrt = unary("sqrt", kernels::sqrt, kRetainY, [](int, Values v) { return v.gy / (v.y * 2); });
constexpr auto kSquare =
    internal::of_integers(unary("square", kernels::square, kRetainX, [](int, Values v) { return v.gy * (v.x0 * 2); }));
constexpr auto kSin = unary("sin", kernels::sin, kRetainX, [](int, Values v) { return v.gy * cos(v.x0); });
constexpr auto kCos = unary("cos", kernels::cos, kRetainX, [](int, Values v) { return -(v.gy * sin(v.x0)); });
constexpr auto kTan = unary("tan", kernels::tan, kRetainX, [](int, Values v) { return v.gy / square(cos(v.x0)); });
constexpr auto kArcsin =
    unary("arcsin", kernels::arcsin, kRetainX, [](int, Values v) { return v.gy * rsqrt(1 - square(v.x0)); });
constexpr auto kArccos =
    unary("arccos", kernels::arccos, kRetainX, [](int, Values v) { return -(v.gy * rsqrt(1 - square(v.x0))); });
constexpr auto kArctan =
    unary("arctan", kernels::arctan, kRetainX, [](int, Values v) { return v.gy / (square(v.x0) + 1); });
constexpr auto kSinh = unary("sinh", kernels::sinh, kRetainX, [](int, Values v) { return v.gy * cosh(v.x0); });
constexpr auto kCosh = unary("cosh", kernels::cosh, kRetainX, [](int, Values v) { return v.gy * sinh(v.x0); });
constexpr auto kTanh = unary(
    "Tanh", kernels::tanh, kRetainY, [](int, Values v) { return v.gy * (1 - square(v.y)); },
    run_fused<kernels::tanh_bwd>);
constexpr auto kArcsinh =
    unary("arcsinh", kernels::arcsinh, kRetainX, [](int, Values v) { return v.gy * rsqrt(square(v.x0) + 1); });
constexpr auto kArccosh =
    unary("arccosh", kernels::arccosh, kRetainX, [](int, Values v) { return v.gy * rsqrt(square(v.x0) - 1); });
constexpr auto kArctanh =
    unary("arctanh", kernels::arctanh, kRetainX, [](int, Values v) { return v.gy / (1 - square(v.x0)); });
constexpr auto kExp2 =
    unary("exp2", kernels::exp2, kRetainY, [](int, Values v) { return v.gy * (v.y * 0.693147180559945309417); });
constexpr auto kCbrt = unary("cbrt", kernels::cbrt, kRetainY, [](int, Values v) { return v.gy / (square(v.y) * 3); });
constexpr auto kSigmoid = unary(
    "Sigmoid", kernels::sigmoid, kRetainY, [](int, Values v) { return v.gy * v.y * (1 - v.y); },
    run_fused<kernels::sigmoid_bwd>);
constexpr auto kFloor =
    internal::of_integers(unary("floor", kernels::floor, kRetainNothing, [](int, Values v) { return zeros_of(v.gy); }));
constexpr auto kCeil =
    internal::of_integers(unary("ceil", kernels::ceil, kRetainNothing, [](int, Values v) { return zeros_of(v.gy); }));
constexpr auto kSign =
    internal::of_integers(unary("sign", kernels::sign, kRetainNothing, [](int, Values v) { return zeros_of(v.gy); }));

}  // namespace

Variable exp(const Variable& x) { return elementwise(kExp, x); }
Variable expm1(const Variable& x) { return elementwise(kExpm1, x); }
Variable log(const Variable& x) { return elementwise(kLog, x); }
Variable log2(const Variable& x) { return elementwise(kLog2, x); }
Variable log10(const Variable& x) { return elementwise(kLog10, x); }
Variable log1p(const Variable& x) { return elementwise(kLog1p, x); }
Variable sqrt(const Variable& x) { return elementwise(kSqrt, x); }
Variable square(const Variable& x) { return elementwise(kSquare, x); }
Variable sin(const Variable& x) { return elementwise(kSin, x); }
Variable cos(const Variable& x) { return elementwise(kCos, x); }
Variable tan(const Variable& x) { return elementwise(kTan, x); }
Variable arcsin(const Variable& x) { return elementwise(kArcsin, x); }
Variable arccos(const Variable& x) { return elementwise(kArccos, x); }
Variable arctan(const Variable& x) { return elementwise(kArctan, x); }
Variable sinh(const Variable& x) { return elementwise(kSinh, x); }
Variable cosh(const Variable& x) { return elementwise(kCosh, x); }
Variable tanh(const Variable& x) { return elementwise(kTanh, x); }
Variable arcsinh(const Variable& x) { return elementwise(kArcsinh, x); }
Variable arccosh(const Variable& x) { return elementwise(kArccosh, x); }
Variable arctanh(const Variable& x) { return elementwise(kArctanh, x); }
Variable exp2(const Variable& x) { return elementwise(kExp2, x); }
Variable cbrt(const Variable& x) { return elementwise(kCbrt, x); }
Variable sigmoid(const Variable& x) { return elementwise(kSigmoid, x); }
Variable floor(const Variable& x) { return elementwise(kFloor, x); }
Variable ceil(const Variable& x) { return elementwise(kCeil, x); }
Variable sign(const Variable& x) { return elementwise(kSign, x); }

// ---- several arguments --------------------------------------------------------------------------

namespace {

// Checks that two operands have one floating dtype and one shape.
void expect_same(const TypeInfoTuple& in_types) {
  using namespace type_check;
  expect(in_types[0].dtype.kind() == 'f');
  for (int i = 1; i < int(in_types.count()); ++i)
    expect(in_types[i].dtype == in_types[0].dtype, in_types[i].shape == in_types[0].shape);
}

// An elementwise function of arguments of equal shape.
class SameShape : public FunctionNode {
 public:
  void check_type_forward(const TypeInfoTuple& in_types) const override { expect_same(in_types); }
};

// A function of two arguments of equal shape and dtype.
constexpr ElementwiseFunction of_equal(const char* label, const catena::KernelDef& kernel,
                                       Variable (*gradient)(int, Values)) {
  return {.label = label, .kernel = &kernel, .retain = kRetainXs, .gradient = gradient, .same_shape = true};
}
// The gradient goes to the first argument where the first comparison holds, else to the second one.
template <const catena::KernelDef& of_first, const catena::KernelDef& of_second>
Variable extremum_gradient(int target, Values v) {
  return masked(v.gy, apply(target == 0 ? of_first : of_second, {v.x0.data(), v.x1.data()}));
}
constexpr auto kMaximum =
    of_equal("Maximum", kernels::maximum, extremum_gradient<kernels::greater_equal, kernels::less>);
constexpr auto kMinimum =
    of_equal("Minimum", kernels::minimum, extremum_gradient<kernels::less_equal, kernels::greater>);
// No second derivative: the quotient is piecewise constant.
constexpr auto kFmod = of_equal("fmod", kernels::fmod, [](int target, Values v) {
  return target == 0 ? v.gy : -(v.gy * apply(kernels::trunc, {v.x0.data() / v.x1.data()}));
});

// A function of two arguments that broadcast.
constexpr ElementwiseFunction of_two(const char* label, const catena::KernelDef& kernel, Retain retain,
                                     Variable (*gradient)(int, Values)) {
  return {.label = label, .kernel = &kernel, .retain = retain, .gradient = gradient};
}
constexpr auto kArctan2 = of_two("arctan2", kernels::arctan2, kRetainXs, [](int target, Values v) {
  const Variable g = v.gy / (square(v.x0) + square(v.x1));
  return target == 0 ? g * v.x1 : -(g * v.x0);
});
constexpr auto kHypot = of_two("hypot", kernels::hypot, kRetainXs | kRetainY, [](int target, Values v) {
  return v.gy * (target == 0 ? v.x0 : v.x1) * reciprocal_or_0(v.y);
});
constexpr auto kLogaddexp = of_two("logaddexp", kernels::logaddexp, kRetainXs, [](int target, Values v) {
  return v.gy * sigmoid(target == 0 ? v.x0 - v.x1 : v.x1 - v.x0);
});
constexpr auto kLogaddexp2 = of_two("logaddexp2", kernels::logaddexp2, kRetainXs, [](int target, Values v) {
  return v.gy * sigmoid((target == 0 ? v.x0 - v.x1 : v.x1 - v.x0) * 0.693147180559945309417);
});

class SquaredDifference final : public SameShape {
 public:
  std::string label() const override { return "SquaredDifference"; }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0, 1});
    return {apply(catena::kernels::square, {x[0] - x[1]})};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    const Variable g = gy[0] * (retained_input(0) - retained_input(1)) * 2;
    Variables gx;
    for (const int t : targets) gx.push_back(t == 0 ? g : -g);
    return gx;
  }
};

class LinearInterpolate final : public SameShape {
 public:
  std::string label() const override { return "LinearInterpolate"; }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1, 2});
    return {in[0] * in[1] + (1 - in[0]) * in[2]};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables gx;
    for (const int t : targets) {
      const Variable p = retained_input(0);
      if (t == 0) gx.push_back(gy[0] * (retained_input(1) - retained_input(2)));
      else gx.push_back(t == 1 ? gy[0] * p : gy[0] * (1 - p));
    }
    return gx;
  }
};

class Where final : public FunctionNode {
 public:
  std::string label() const override { return "Where"; }
  std::string_view input_names() const override { return "condition x y"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types[0].dtype.kind() == 'b', in_types[1].dtype == in_types[2].dtype);
    Shape common = in_types.shape(0);
    for (std::size_t i = 1; i < 3; ++i) {
      try {
        common = catena::broadcast_shapes("where", common, in_types.shape(i));
      } catch (const catena::ValueError&) {
        throw catena::InvalidType(
            "the shapes of condition, x and y broadcast together",
            catena::concat(in_types.shape(0), ", ", in_types.shape(1), " and ", in_types.shape(2)));
      }
    }
  }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0});
    return {autograd::where(Operand(in[0]), Operand(in[1]), Operand(in[2]))};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    const Array condition = retained_input(0).data();
    Variables gx;
    for (const int t : targets) {
      if (t == 0) gx.emplace_back();
      else if (t == 1) gx.push_back(sum_to(masked(gy[0], condition), input_shape(1)));
      else gx.push_back(sum_to(masked(gy[0], apply(catena::kernels::logical_not, {condition})), input_shape(2)));
    }
    return gx;
  }
};

class Identity final : public FunctionNode {
 public:
  std::string label() const override { return "Identity"; }
  Arrays forward(const Arrays& xs) override { return xs; }
  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables gx;
    for (const int t : targets) gx.push_back(gy[std::size_t(t)]);
    return gx;
  }
};

Variable clip_gradient(int, const ElementwiseValues& v) {
  const Array x = v.x0.data();
  const Array inside = apply(catena::kernels::logical_and, {apply(catena::kernels::greater, {x, v.c[0].scalar()}),
                                                            apply(catena::kernels::less, {x, v.c[1].scalar()})});
  return masked(v.gy, inside);
}
constexpr ElementwiseFunction kClip = {
    .label = "Clip", .kernel = &catena::kernels::clip, .retain = kRetainX, .gradient = clip_gradient};

constexpr ElementwiseFunction kRsqrt = {
    .label = "rsqrt",
    .kernel = &catena::kernels::rsqrt,
    .retain = kRetainY,
    .gradient = [](int, const ElementwiseValues& v) { return v.gy * (v.y * v.y * v.y * -0.5); },
    .dtypes = InputDtypes::converted};

}  // namespace

Variable rsqrt(const Variable& x) { return elementwise(kRsqrt, x); }

Variable maximum(const Variable& x1, const Variable& x2) { return elementwise(kMaximum, x1, x2); }
Variable minimum(const Variable& x1, const Variable& x2) { return elementwise(kMinimum, x1, x2); }
Variable arctan2(const Variable& y, const Variable& x) { return elementwise(kArctan2, y, x); }
Variable hypot(const Variable& x1, const Variable& x2) { return elementwise(kHypot, x1, x2); }
Variable logaddexp(const Variable& x1, const Variable& x2) { return elementwise(kLogaddexp, x1, x2); }
Variable logaddexp2(const Variable& x1, const Variable& x2) { return elementwise(kLogaddexp2, x1, x2); }
Variable fmod(const Variable& x, const Variable& divisor) { return elementwise(kFmod, x, divisor); }
Variable squared_difference(const Variable& x1, const Variable& x2) {
  return apply_node<SquaredDifference>({x1, x2})[0];
}
Variable linear_interpolate(const Variable& p, const Variable& x, const Variable& y) {
  return apply_node<LinearInterpolate>({p, x, y})[0];
}

Variable clip(const Variable& x, const Bound& x_min, const Bound& x_max) {
  if (x_min.is_variable || x_max.is_variable) {
    // An extremum of equal elements gives the gradient to its first argument, which is x.
    const auto bound = [&x](const Bound& b) {
      return broadcast_to(b.is_variable ? b.variable : internal::branch(b.number, x), x.shape());
    };
    const Variable y = x_min.is_number || x_min.is_variable ? maximum(x, bound(x_min)) : x;
    return x_max.is_number || x_max.is_variable ? minimum(y, bound(x_max)) : y;
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double low = x_min.is_number ? x_min.number : -infinity, high = x_max.is_number ? x_max.number : infinity;
  catena::check<catena::AssertionError>(low < high, "clip", "x_min ", low, " is not less than x_max ", high);
  const Constant bounds[2] = {low, high};
  return elementwise(kClip, x, bounds);
}

Variables identity(const Variables& xs) { return apply_node<Identity>(xs); }
Variable identity(const Variable& x) { return apply_node<Identity>({x})[0]; }

namespace {

// Broadcasts y to the shape of x; the axes of y correspond to those of x from `axis` on.
Variable along_axes(const char* label, const Variable& x, const Variable& y, int axis) {
  internal::check_input_types(
      label, {x, y},
      [axis](const TypeInfoTuple& in_types) {
        using namespace type_check;
        const auto at = variable(axis, "axis");
        // If `axis` is the rank of x, y is a number.
        expect(-in_types[0].ndim <= at, at <= in_types[0].ndim, in_types[0].dtype == in_types[1].dtype);
      },
      "x y");
  const int first = axis < 0 ? axis + x.ndim() : axis, after = x.ndim() - first - y.ndim();
  if (is_debug()) {
    bool equal = after >= 0;
    for (int i = 0; equal && i < y.ndim(); ++i) equal = x.shape(first + i) == y.shape(i);
    catena::check<catena::AssertionError>(equal, label, "the shape ", y.shape(), " of y is not that of the axes of x, ",
                                          x.shape(), ", from ", first, " on");
  }
  Shape shape = y.shape();
  for (int i = 0; i < after; ++i) shape.push_back(1);
  return broadcast_to(reshape(y, shape), x.shape());
}

}  // namespace

Variable bias(const Variable& x, const Variable& y, int axis) { return x + along_axes("Bias", x, y, axis); }
Variable scale(const Variable& x, const Variable& y, int axis) { return x * along_axes("Scale", x, y, axis); }

namespace internal {

Variable select(const Variable& condition, const Variable& x, const Variable& y) {
  return apply_node<Where>({condition, x, y})[0];
}

Variable branch(const Constant& c, const Variable& other) {
  catena::check<catena::TypeError>(bool(other), "where", "x or y is a null Variable");
  const Array& like = other.data();
  Array a;
  if (c.is_array()) {
    a = astype(c.array(), like.dtype());
  } else {
    a = like.backend().empty({}, like.dtype(), like.device());
    fill(a, c.scalar());
  }
  return Variable(a, {.volatile_ = AUTO, .requires_grad = false});
}

}  // namespace internal
}  // namespace autograd
