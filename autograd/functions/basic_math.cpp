#include <catena/autograd/functions/basic_math.h>

#include <cmath>
#include <optional>

#include <catena/autograd/array.h>
#include <catena/autograd/config.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/complex.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/kernels/registry/families.h>

namespace autograd {

void Constant::refuse_null() { catena::fail<catena::TypeError>("operator", "an operand is a null array"); }

std::string Constant::label() const {
  if (array_) return "constant array";
  const std::string text = catena::concat(scalar_);
  return text[0] == '-' ? "(" + text + ")" : text;
}

namespace {

using Values = ElementwiseValues;

// ---- the table ----------------------------------------------------------------------------------

struct Flags {
  bool any_dtype = false, constant_first = false;
};
constexpr ElementwiseFunction rule(const char* label, const catena::KernelDef& kernel, Retain retain,
                                   Variable (*gradient)(int, const Values&), Flags flags = {}) {
  return {.label = label,
          .kernel = &kernel,
          .retain = retain,
          .gradient = gradient,
          .any_dtype = flags.any_dtype,
          .constant_first = flags.constant_first};
}

bool is_whole(Dtype dtype) { return !catena::is_floating(dtype) && !catena::is_complex_dtype(dtype); }

namespace kernels = catena::kernels;
Variable same(int, const Values& v) { return v.gy; }
Variable opposite(int, const Values& v) { return -v.gy; }
Variable times_constant(int, const Values& v) { return v.gy * v.c[0]; }

constexpr auto kNegate = rule("__neg__", kernels::negative, kRetainNothing, opposite, {.any_dtype = true});
constexpr auto kAbsolute =
    rule("|_|", kernels::absolute, kRetainX,
         [](int, const Values& v) { return v.gy * apply(kernels::sign, {v.x0.data()}); }, {.any_dtype = true});

constexpr auto kFix = rule("fix", kernels::fix, kRetainNothing, [](int, const Values& v) { return zeros_of(v.gy); });
constexpr auto kRound =
    rule("round", kernels::rint, kRetainNothing, [](int, const Values& v) { return zeros_of(v.gy); });

constexpr auto kAdd = rule("_ + _", kernels::add, kRetainNothing, same, {.any_dtype = true});
constexpr auto kAddConstant = rule("_ + $", kernels::add, kRetainNothing, same, {.any_dtype = true});

constexpr auto kSubtract =
    rule("_ - _", kernels::subtract, kRetainNothing,
         [](int target, const Values& v) { return target == 0 ? v.gy : -v.gy; }, {.any_dtype = true});
constexpr auto kSubtractFromConstant =
    rule("$ - _", kernels::subtract, kRetainNothing, opposite, {.any_dtype = true, .constant_first = true});

constexpr auto kMultiply =
    rule("_ * _", kernels::multiply, kRetainXs,
         [](int target, const Values& v) { return v.gy * (target == 0 ? v.x1 : v.x0); }, {.any_dtype = true});
constexpr auto kMultiplyConstant =
    rule("_ * $", kernels::multiply, kRetainNothing, times_constant, {.any_dtype = true});
// The constant of the kernel is the reciprocal.
constexpr auto kDivideByConstant = rule("_ * $", kernels::multiply, kRetainNothing, times_constant);

constexpr auto kDivide = rule("_ / _", kernels::true_divide, kRetainX1 | kRetainY, [](int target, const Values& v) {
  return target == 0 ? v.gy / v.x1 : -(v.gy * v.y / v.x1);
});
constexpr auto kDivideConstant =
    rule("_ / $", kernels::true_divide, kRetainX | kRetainY, [](int, const Values& v) { return -(v.gy * v.y / v.x0); },
         {.constant_first = true});

constexpr auto kPower = rule("_ ** _", kernels::power, kRetainXs | kRetainY,
                             [](int target, const Values& v) {
                               return target == 0 ? v.gy * v.x1 * pow(v.x0, v.x1 - 1) : v.gy * v.y * log(v.x0);
                             },
                             {.any_dtype = true});

Variable power_constant_gradient(int, const Values& v) {
  const Constant& c = v.c[0];
  if (c.is_array()) return v.gy * pow(v.x0, c.array() - 1) * c;
  const double exponent = c.scalar().to_double();
  if (exponent == 0) return zeros_of(v.gy);
  return exponent == 2 ? v.gy * v.x0 * 2 : v.gy * pow(v.x0, exponent - 1) * exponent;
}
constexpr auto kPowerConstant = rule("_ ** $", kernels::power, kRetainX, power_constant_gradient, {.any_dtype = true});

Variable constant_power_gradient(int, const Values& v) {
  const Constant& c = v.c[0];
  const Variable g = v.gy * v.y;
  return c.is_array() ? g * apply(kernels::log, {c.array()}) : g * std::log(c.scalar().to_double());
}
constexpr auto kConstantPower =
    rule("$ ** _", kernels::power, kRetainY, constant_power_gradient, {.any_dtype = true, .constant_first = true});

// x ** 2 by a multiplication instead of the power function; its label shows the exponent.
class PowerOfTwo final : public FunctionNode, public internal::HasOptions {
 public:
  explicit PowerOfTwo(const Constant& c) : c_(c) {}
  std::string label() const override { return "_ ** " + c_.label(); }
  void options(internal::FunctionOptions& o) const override { o.function("square"); }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0});
    return {apply(catena::kernels::square, {x[0]})};
  }
  Variables backward(const Targets&, const Variables& gy) override { return {gy[0] * retained_input(0) * 2}; }

 private:
  Constant c_;
};

// ---- matrix products ----------------------------------------------------------------------------

// Returns the constant as a variable without gradient, on the device and in the dtype of x.
Variable constant_operand(const Constant& c, const Variable& x) {
  catena::check<catena::ValueError>(c.is_array(), "_ @ C", "the constant must be an array, not the number ",
                                    c.scalar());
  const Array& a = c.array();
  catena::check<catena::TypeError>(same_backend(a, x.data()) && a.device() == x.device(), "_ @ C",
                                   "the variable lives on ", x.device(), ", the constant array on ", a.device());
  return Variable(astype(a, x.dtype()), {.volatile_ = AUTO, .requires_grad = false});
}

// ---- arithmetic on constants --------------------------------------------------------------------

Constant negative(const Constant& c, const Variable& x) {
  if (c.is_array()) return -astype(c.array(), x.dtype());
  const Scalar& s = c.scalar();
  return s.is_floating() ? Constant(-s.to_double()) : Constant(-s.to<std::int64_t>());
}

Constant reciprocal(const Constant& c) {
  if (c.is_array()) return 1.0 / astype(c.array(), Dtype::float64);
  return 1.0 / c.scalar().to_double();
}

}  // namespace

Variable absolute(const Variable& x) {
  return x && x.is_complex() ? internal::complex_absolute(x) : elementwise(kAbsolute, x);
}
Variable fix(const Variable& x) { return elementwise(kFix, x); }
Variable round(const Variable& x) { return elementwise(kRound, x); }

namespace {

// The sum of several variables of one shape. 16-bit floats are added in float32 and rounded once.
class Add final : public FunctionNode {
 public:
  std::string label() const override { return "Add"; }
  void check_type_forward(const type_check::TypeInfoTuple& in_types) const override {
    using namespace type_check;
    for (int i = 1; i < int(in_types.count()); ++i)
      expect(in_types[i].dtype == in_types[0].dtype, in_types[i].shape == in_types[0].shape);
  }
  Arrays forward(const Arrays& xs) override {
    const Dtype dtype = xs[0].dtype();
    const Array y = astype(xs[0], catena::compute_dtype(dtype)) + xs[1];
    for (std::size_t i = 2; i < xs.size(); ++i) y += xs[i];
    return {astype(y, dtype)};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables gx;
    for (std::size_t i = 0; i < targets.size(); ++i) gx.push_back(gy[0]);
    return gx;
  }
};

Variable extremum(const char* name, const Variables& xs, Variable (*of_two)(const Variable&, const Variable&)) {
  catena::check<catena::ValueError>(!xs.empty(), name, "there are no variables");
  const Variables same = broadcast(xs);
  Variable y = same[0];
  for (std::size_t i = 1; i < same.size(); ++i) y = of_two(y, same[i]);
  return y;
}

}  // namespace

Variable add(const Variables& xs) {
  catena::check<catena::ValueError>(!xs.empty(), "add", "there are no variables");
  return xs.size() == 1 ? xs[0] : apply_node<Add>(broadcast(xs))[0];
}
Variable maximum(const Variables& xs) { return extremum("maximum", xs, maximum); }
Variable minimum(const Variables& xs) { return extremum("minimum", xs, minimum); }

namespace internal {

namespace {

// Integers and bools, as an operand beside floating numbers, become floating, and two integer dtypes their common one.
// Two floating dtypes have none: a silent conversion would be a mistake of the program more often than its aim.
std::optional<Dtype> common_dtype(Dtype a, Dtype b) {
  if (is_whole(a) && is_whole(b)) return catena::promote_types(a, b);
  if (is_whole(a)) return b;
  if (is_whole(b)) return a;
  return {};
}
Variable of_two(const ElementwiseFunction& function, const Variable& x, const Variable& y) {
  if (x && y && x.dtype() != y.dtype()) [[unlikely]] {
    if (const auto dtype = common_dtype(x.dtype(), y.dtype()))
      return elementwise(function, cast(x, *dtype), cast(y, *dtype));
  }
  return elementwise(function, x, y);
}
// x, or, kept by `converted`, x in the dtype that the constant asks for: an integer dtype beside a floating constant,
// and in a division, is not that of the result.
const Variable& beside(const Constant& c, const Variable& x, Variable& converted, bool divided = false) {
  if (!x || !is_whole(x.dtype())) [[likely]]
    return x;
  const bool floating_array = c.is_array() && !is_whole(c.array().dtype());
  if (!floating_array && !divided && (c.is_array() || !c.scalar().is_floating())) return x;
  return converted = cast(x, floating_array ? c.array().dtype() : get_dtype());
}

}  // namespace

Variable negate(const Variable& x) { return elementwise(kNegate, x); }

Variable add(const Variable& x, const Variable& y) { return of_two(kAdd, x, y); }
Variable add(const Variable& x, const Constant& c) {
  Variable converted;
  return elementwise(kAddConstant, beside(c, x, converted), c);
}
Variable add(const Constant& c, const Variable& x) { return add(x, c); }

Variable subtract(const Variable& x, const Variable& y) { return of_two(kSubtract, x, y); }
Variable subtract(const Variable& x, const Constant& c) {
  Variable converted;
  const Variable& a = beside(c, x, converted);
  return elementwise(kAddConstant, a, negative(c, a));
}
Variable subtract(const Constant& c, const Variable& x) {
  Variable converted;
  return elementwise(kSubtractFromConstant, beside(c, x, converted), c);
}

Variable multiply(const Variable& x, const Variable& y) {
  if (x && y && x.is_complex() && y.is_complex()) [[unlikely]]
    return internal::complex_product(x, y);
  return of_two(kMultiply, x, y);
}
Variable multiply(const Variable& x, const Constant& c) {
  Variable converted;
  return elementwise(kMultiplyConstant, beside(c, x, converted), c);
}
Variable multiply(const Constant& c, const Variable& x) { return multiply(x, c); }

Variable divide(const Variable& x, const Variable& y) {
  if (x && y && is_whole(x.dtype()) && is_whole(y.dtype())) [[unlikely]]
    return elementwise(kDivide, cast(x, get_dtype()), cast(y, get_dtype()));
  return of_two(kDivide, x, y);
}
Variable divide(const Variable& x, const Constant& c) {
  Variable converted;
  return elementwise(kDivideByConstant, beside(c, x, converted, true), reciprocal(c));
}
Variable divide(const Constant& c, const Variable& x) {
  Variable converted;
  return elementwise(kDivideConstant, beside(c, x, converted, true), c);
}

Variable power(const Variable& x, const Variable& y) { return of_two(kPower, x, y); }
Variable power(const Variable& x, const Constant& c) {
  Variable converted;
  const Variable& a = beside(c, x, converted);
  if (!c.is_array() && c.scalar().to_double() == 2) return apply_node<PowerOfTwo>({a}, c)[0];
  return elementwise(kPowerConstant, a, c);
}
Variable power(const Constant& c, const Variable& x) {
  Variable converted;
  return elementwise(kConstantPower, beside(c, x, converted), c);
}

Variable matrix_multiply(const Variable& x, const Variable& y) { return matmul(x, y, false, false, "_ @ _"); }
Variable matrix_multiply(const Variable& x, const Constant& c) {
  return matmul(x, constant_operand(c, x), false, false, "_ @ constant array");
}
Variable matrix_multiply(const Constant& c, const Variable& x) {
  return matmul(constant_operand(c, x), x, false, false, "constant array @ _");
}

}  // namespace internal
}  // namespace autograd
