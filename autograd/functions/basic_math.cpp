#include <catena/autograd/functions/basic_math.h>

#include <cmath>

#include <catena/autograd/array.h>
#include <catena/autograd/config.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/complex.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/promotion.h>
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
  InputDtypes dtypes = InputDtypes::floating;
  bool constant_first = false;
};
constexpr ElementwiseFunction rule(const char* label, const catena::KernelDef& kernel, Retain retain,
                                   Variable (*gradient)(int, const Values&), Flags flags = {}) {
  return {.label = label,
          .kernel = &kernel,
          .retain = retain,
          .gradient = gradient,
          .dtypes = flags.dtypes,
          .constant_first = flags.constant_first};
}

using catena::is_exact;

namespace kernels = catena::kernels;
Variable same(int, const Values& v) { return v.gy; }
Variable opposite(int, const Values& v) { return -v.gy; }
// The gradient of a product with a complex number has its conjugate.
Variable times_constant(int, const Values& v) {
  const Constant& c = v.c[0];
  if (!catena::is_complex_dtype(v.gy.dtype())) return v.gy * c;
  if (c.is_array()) return v.gy * apply(kernels::conjugate, {c.array()});
  const auto z = c.scalar().to<catena::complex128>();
  return v.gy * Scalar(catena::complex128(z.re, -z.im));
}

constexpr auto kNegate = rule("__neg__", kernels::negative, kRetainNothing, opposite, {.dtypes = InputDtypes::any});
constexpr auto kAbsolute = rule("|_|", kernels::absolute, kRetainX,
                                [](int, const Values& v) { return v.gy * apply(kernels::sign, {v.x0.data()}); },
                                {.dtypes = InputDtypes::real});

constexpr auto kFix = rule("fix", kernels::fix, kRetainNothing, [](int, const Values& v) { return zeros_of(v.gy); },
                           {.dtypes = InputDtypes::real});
constexpr auto kRound =
    rule("round", kernels::rint, kRetainNothing, [](int, const Values& v) { return zeros_of(v.gy); });

constexpr auto kAdd = rule("_ + _", kernels::add, kRetainNothing, same, {.dtypes = InputDtypes::any});
constexpr auto kAddConstant = rule("_ + $", kernels::add, kRetainNothing, same, {.dtypes = InputDtypes::any});

constexpr auto kSubtract =
    rule("_ - _", kernels::subtract, kRetainNothing,
         [](int target, const Values& v) { return target == 0 ? v.gy : -v.gy; }, {.dtypes = InputDtypes::any});
constexpr auto kSubtractFromConstant =
    rule("$ - _", kernels::subtract, kRetainNothing, opposite, {.dtypes = InputDtypes::any, .constant_first = true});

constexpr auto kMultiply =
    rule("_ * _", kernels::multiply, kRetainXs,
         [](int target, const Values& v) { return v.gy * (target == 0 ? v.x1 : v.x0); }, {.dtypes = InputDtypes::real});
constexpr auto kMultiplyConstant =
    rule("_ * $", kernels::multiply, kRetainNothing, times_constant, {.dtypes = InputDtypes::any});
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
                             {.dtypes = InputDtypes::real});

Variable power_constant_gradient(int, const Values& v) {
  const Constant& c = v.c[0];
  if (c.is_array()) return v.gy * pow(v.x0, c.array() - 1) * c;
  const double exponent = c.scalar().to_double();
  if (exponent == 0) return zeros_of(v.gy);
  return exponent == 2 ? v.gy * v.x0 * 2 : v.gy * pow(v.x0, exponent - 1) * exponent;
}
constexpr auto kPowerConstant =
    rule("_ ** $", kernels::power, kRetainX, power_constant_gradient, {.dtypes = InputDtypes::real});

Variable constant_power_gradient(int, const Values& v) {
  const Constant& c = v.c[0];
  const Variable g = v.gy * v.y;
  return c.is_array() ? g * apply(kernels::log, {c.array()}) : g * std::log(c.scalar().to_double());
}
constexpr auto kConstantPower = rule("$ ** _", kernels::power, kRetainY, constant_power_gradient,
                                     {.dtypes = InputDtypes::real, .constant_first = true});

// Integers have no powers with negative integer exponents.
void check_exponent(const Variable& x, const Constant& c) {
  if (c.is_array() || !x || !is_exact(x.dtype())) return;
  catena::check<catena::ValueError>(c.scalar() >= Scalar(0), "pow", "x has the dtype ", x.dtype(),
                                    ", and the exponent is ", c.scalar(),
                                    "; a floating exponent gives a floating result");
}

// x ** 2 by a multiplication instead of the power function; its label shows the exponent.
class PowerOfTwo final : public FunctionNode, public internal::HasOptions {
 public:
  explicit PowerOfTwo(const Constant& c) : c_(c) {}
  std::string label() const override { return "_ ** " + c_.label(); }
  void options(internal::FunctionOptions& o) const override { o.function("square"); }
  void check_type_forward(const type_check::TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types[0].dtype.kind() != 'c');
  }
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
  if (s.is_complex()) return Constant(-s);
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
Variable round(const Variable& x) { return x && is_exact(x.dtype()) ? x : elementwise(kRound, x); }

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

const Variable& beside(const Constant& c, const Variable& x, Variable& converted, bool divided) {
  if (!x || !is_exact(x.dtype())) [[likely]]
    return x;
  Dtype dtype = x.dtype();
  if (c.is_array()) dtype = promoted(dtype, c.array().dtype());
  else if (c.scalar().is_complex()) dtype = complex_of(get_dtype());
  else if (c.scalar().is_floating()) dtype = get_dtype();
  else if (dtype == Dtype::bool_ && c.scalar().kind() != Scalar::Kind::bool_) dtype = Dtype::int64;
  if (divided && is_exact(dtype)) dtype = get_dtype();
  return dtype == x.dtype() ? x : converted = cast(x, dtype);
}

Variable negate(const Variable& x) { return elementwise(kNegate, x); }

Variable add(const Variable& x, const Variable& y) { return elementwise(kAdd, x, y); }
Variable add(const Variable& x, const Constant& c) {
  Variable converted;
  return elementwise(kAddConstant, beside(c, x, converted), c);
}
Variable add(const Constant& c, const Variable& x) { return add(x, c); }

Variable subtract(const Variable& x, const Variable& y) { return elementwise(kSubtract, x, y); }
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
  const auto fits = [](const Variable& v) { return v && (v.is_complex() || is_exact(v.dtype())); };
  if (fits(x) && fits(y) && (x.is_complex() || y.is_complex())) [[unlikely]] {
    if (x.is_complex() && y.is_complex()) return internal::complex_product(x, y);
    if (is_exact(x.dtype())) return internal::complex_product(cast(x, y.dtype()), y);
    return internal::complex_product(x, cast(y, x.dtype()));
  }
  return elementwise(kMultiply, x, y);
}
Variable multiply(const Variable& x, const Constant& c) {
  Variable converted;
  return elementwise(kMultiplyConstant, beside(c, x, converted), c);
}
Variable multiply(const Constant& c, const Variable& x) { return multiply(x, c); }

Variable divide(const Variable& x, const Variable& y) {
  if (x && y && is_exact(x.dtype()) && is_exact(y.dtype())) [[unlikely]]
    return elementwise(kDivide, cast(x, get_dtype()), cast(y, get_dtype()));
  return elementwise(kDivide, x, y);
}
Variable divide(const Variable& x, const Constant& c) {
  Variable converted;
  return elementwise(kDivideByConstant, beside(c, x, converted, true), reciprocal(c));
}
Variable divide(const Constant& c, const Variable& x) {
  Variable converted;
  return elementwise(kDivideConstant, beside(c, x, converted, true), c);
}

Variable power(const Variable& x, const Variable& y) { return elementwise(kPower, x, y); }
Variable power(const Variable& x, const Constant& c) {
  Variable converted;
  const Variable& a = beside(c, x, converted);
  check_exponent(a, c);
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
