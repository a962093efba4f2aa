#include <catena/autograd/functions/math.h>

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

// ---- the functions of CATENA_UNARY_MATH ---------------------------------------------------------

namespace {

// Names that the list of functions uses.
constexpr Retain retain_x = kRetainX, retain_y = kRetainY, retain_nothing = kRetainNothing;
constexpr Array (*rule_none)(int, const ElementwiseArrays&) = nullptr;
template <const catena::KernelDef& kRow> Array run_fused(int, const ElementwiseArrays& v) {
  return v.result(kRow, {v.x0 ? v.x0 : v.y, v.gy});
}
constexpr const char* label_none = nullptr;
#define rule_activation(kernel, label) run_fused<catena::kernels::kernel>
#define label_activation(kernel, label) #label

#define CATENA_FUNCTION(name, reads, rule, kind)                                                   \
  struct name##_function {                                                                         \
    static Variable gradient(int, const ElementwiseValues& v) {                                    \
      [[maybe_unused]] const Variable &x = v.x0, &y = v.y, &gy = v.gy;                             \
      return rule;                                                                                 \
    }                                                                                              \
    static constexpr ElementwiseFunction function = {.label = label_##kind ? label_##kind : #name, \
                                                     .kernel = &catena::kernels::name,             \
                                                     .retain = retain_##reads,                     \
                                                     .gradient = gradient,                         \
                                                     .fused = rule_##kind};                        \
  };
CATENA_UNARY_MATH(CATENA_FUNCTION)
#undef CATENA_FUNCTION
#undef rule_activation
#undef label_activation

}  // namespace

#define CATENA_DEFINE(name, ...) \
  Variable name(const Variable& x) { return elementwise(name##_function::function, x); }
CATENA_UNARY_MATH(CATENA_DEFINE)
#undef CATENA_DEFINE

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

Array compare(const catena::KernelDef& k, const Array& a, const Array& b) { return apply(k, {a, b}); }

template <bool kMaximum> class Extremum final : public SameShape {
 public:
  std::string label() const override { return kMaximum ? "Maximum" : "Minimum"; }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0, 1});
    return {apply(kMaximum ? catena::kernels::maximum : catena::kernels::minimum, {x[0], x[1]})};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    const Array a = retained_input(0).data(), b = retained_input(1).data();
    Variables gx;
    for (const int t : targets) {
      const catena::KernelDef& k = t == 0 ? (kMaximum ? catena::kernels::greater_equal : catena::kernels::less_equal)
                                          : (kMaximum ? catena::kernels::less : catena::kernels::greater);
      gx.push_back(masked(gy[0], compare(k, a, b)));
    }
    return gx;
  }
};

class Fmod final : public SameShape {
 public:
  std::string label() const override { return "fmod"; }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0, 1});
    return {apply(catena::kernels::fmod, {x[0], x[1]})};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables gx;
    for (const int t : targets) {
      if (t == 0) {
        gx.push_back(gy[0]);
      } else {  // no second derivative: the quotient is piecewise constant
        const Array quotient = apply(catena::kernels::trunc, {retained_input(0).data() / retained_input(1).data()});
        gx.push_back(-(gy[0] * quotient));
      }
    }
    return gx;
  }
};

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
    .gradient = [](int, const ElementwiseValues& v) { return v.gy * (v.y * v.y * v.y * -0.5); }};

}  // namespace

Variable rsqrt(const Variable& x) { return elementwise(kRsqrt, x); }

Variable maximum(const Variable& x1, const Variable& x2) { return apply_node<Extremum<true>>({x1, x2})[0]; }
Variable minimum(const Variable& x1, const Variable& x2) { return apply_node<Extremum<false>>({x1, x2})[0]; }
Variable fmod(const Variable& x, const Variable& divisor) { return apply_node<Fmod>({x, divisor})[0]; }
Variable squared_difference(const Variable& x1, const Variable& x2) {
  return apply_node<SquaredDifference>({x1, x2})[0];
}
Variable linear_interpolate(const Variable& p, const Variable& x, const Variable& y) {
  return apply_node<LinearInterpolate>({p, x, y})[0];
}

Variable clip(const Variable& x, double x_min, double x_max) {
  catena::check<catena::AssertionError>(x_min < x_max, "clip", "x_min ", x_min, " is not less than x_max ", x_max);
  const Constant bounds[2] = {x_min, x_max};
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
