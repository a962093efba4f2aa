#include <catena/autograd/functions/torch_arithmetic.h>

#include <cmath>
#include <limits>
#include <numbers>

#include <catena/autograd/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/promotion.h>
#include <catena/kernels/registry/families.h>

namespace autograd {

using catena::check;
using catena::ValueError;
namespace kernels = catena::kernels;

namespace {

using Values = ElementwiseValues;

Array both(const Array& a, const Array& b, const catena::KernelDef& kernel) { return apply(kernel, {a, b}); }

// True where the first operand of fmax or fmin is the result.
Array takes_first(const Values& v, const catena::KernelDef& wins) {
  const Array &x0 = v.x0.data(), &x1 = v.x1.data();
  return both(both(x0, x1, wins), apply(kernels::isnan, {x1}), kernels::logical_or);
}
Variable chosen(int target, const Values& v, const catena::KernelDef& wins) {
  const Array first = takes_first(v, wins);
  return masked(v.gy, target == 0 ? first : apply(kernels::logical_not, {first}));
}

constexpr ElementwiseFunction kRemainder = {.label = "remainder",
                                            .kernel = &kernels::remainder,
                                            .retain = kRetainXs,
                                            .gradient = [](int target, const Values& v) -> Variable {
                                              if (target == 0) return v.gy;
                                              return -(v.gy * apply(kernels::floor_divide, {v.x0.data(), v.x1.data()}));
                                            },
                                            .dtypes = InputDtypes::real};
constexpr ElementwiseFunction kFloorDivide = {.label = "_ // _",
                                              .kernel = &kernels::floor_divide,
                                              .gradient = [](int, const Values& v) { return zeros_of(v.gy); },
                                              .dtypes = InputDtypes::real};
constexpr ElementwiseFunction kFmax = {
    .label = "fmax", .kernel = &kernels::fmax, .retain = kRetainXs, .gradient = [](int target, const Values& v) {
      return chosen(target, v, kernels::greater_equal);
    }};
constexpr ElementwiseFunction kFmin = {
    .label = "fmin", .kernel = &kernels::fmin, .retain = kRetainXs, .gradient = [](int target, const Values& v) {
      return chosen(target, v, kernels::less_equal);
    }};
constexpr ElementwiseFunction kCopysign = {.label = "copysign",
                                           .kernel = &kernels::copysign,
                                           .retain = kRetainXs | kRetainY,
                                           .gradient = [](int target, const Values& v) -> Variable {
                                             if (target != 0) return zeros_of(v.gy);
                                             const Array signs =
                                                 both(apply(kernels::sign, {v.x0.data()}),
                                                      apply(kernels::sign, {v.y.data()}), kernels::multiply);
                                             return v.gy * signs;
                                           }};

}  // namespace

namespace internal {

VariableAndConstant as_variables(const Variable& x, const Constant& c) {
  Variable converted;
  const Variable& a = beside(c, x, converted);
  return {a, branch(c, a)};
}

Variable rounded_quotient(const Variable& x, const Variable& y, std::string_view mode) {
  check<ValueError>(mode == "trunc" || mode == "floor", "div", "the rounding mode is \"", mode,
                    "\"; it must be \"trunc\", \"floor\" or empty");
  if (mode == "floor") return floor_divide(x, y);
  if (catena::is_exact(x.dtype()) && catena::is_exact(y.dtype()))
    return floor_divide(absolute(x), absolute(y)) * sign(x) * sign(y);
  return fix(x / y);
}
Variable rounded_quotient(const Variable& x, const Constant& c, std::string_view mode) {
  const auto [a, b] = as_variables(x, c);
  return rounded_quotient(a, b, mode);
}
Variable rounded_quotient(const Constant& c, const Variable& x, std::string_view mode) {
  const auto [a, b] = as_variables(x, c);
  return rounded_quotient(b, a, mode);
}

}  // namespace internal

Variable remainder(const Variable& x, const Variable& y) { return elementwise(kRemainder, x, y); }
Variable floor_divide(const Variable& x, const Variable& y) { return elementwise(kFloorDivide, x, y); }
Variable fmax(const Variable& x, const Variable& y) { return elementwise(kFmax, x, y); }
Variable fmin(const Variable& x, const Variable& y) { return elementwise(kFmin, x, y); }
Variable copysign(const Variable& x, const Variable& y) { return elementwise(kCopysign, x, y); }
Variable ldexp(const Variable& given, const Variable& exponent) {
  const Variable x = catena::is_floating(given.dtype()) ? given : cast(given, Dtype::float32);
  return x * exp2(cast(exponent, x.dtype()));
}

Variable lerp(const Variable& start, const Variable& end, const Variable& weight) {
  return start + weight * (end - start);
}
Variable lerp(const Variable& start, const Variable& end, double weight) {
  // From the nearer end, so that a weight of 1 gives the end exactly.
  if (std::abs(weight) < 0.5) return start + (end - start) * weight;
  return end - (end - start) * (1 - weight);
}
Variable addcmul(const Variable& x, const Variable& a, const Variable& b, const ValueOption& o) {
  return x + a * b * o.value;
}
Variable addcdiv(const Variable& x, const Variable& a, const Variable& b, const ValueOption& o) {
  return x + a / b * o.value;
}

Variable reciprocal(const Variable& x) { return 1 / x; }
Variable frac(const Variable& x) { return x - fix(x); }
Variable deg2rad(const Variable& x) { return x * (std::numbers::pi / 180); }
Variable rad2deg(const Variable& x) { return x * (180 / std::numbers::pi); }
Variable round(const Variable& x, const RoundOption& o) {
  if (o.decimals == 0) return round(x);
  const double scale = std::pow(10.0, std::abs(o.decimals));
  return o.decimals > 0 ? round(x * scale) / scale : round(x / scale) * scale;
}
Variable logit(const Variable& x, double eps) { return logit(clip(x, eps, 1 - eps)); }

namespace {

double greatest(Dtype dtype) {
  switch (dtype) {
    case Dtype::float16: return 65504;
    case Dtype::bfloat16: return 0x1.fep127;
    case Dtype::float32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

}  // namespace

Variable nan_to_num(const Variable& x, const NanToNumOptions& o) {
  internal::check_input_types("NanToNum", {x}, [](const type_check::TypeInfoTuple& in_types) {
    using namespace type_check;
    expect(in_types[0].dtype.kind() == 'f');
  });
  const Array& a = x.data();
  const double most = greatest(a.dtype());
  const double infinity = std::numeric_limits<double>::infinity();
  Variable y = where(apply(kernels::isnan, {a}), o.nan.value_or(0), x);
  y = where(apply(kernels::equal, {a, infinity}), o.posinf.value_or(most), y);
  return where(apply(kernels::equal, {a, -infinity}), o.neginf.value_or(-most), y);
}

}  // namespace autograd
