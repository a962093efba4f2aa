#include <catena/ndarray/routines/math.h>

#include <cmath>
#include <cstdlib>

#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/engine/clip_bounds.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/operand.h>

namespace nd {

using catena::check;

#define CATENA_UNARY(name)                                                 \
  Array name(const Operand& x, const UfuncOptions& options) {              \
    return internal::apply_ufunc(catena::kernels::name, {&x, 1}, options); \
  }
#define CATENA_BINARY(name)                                                       \
  Array name(const Operand& x1, const Operand& x2, const UfuncOptions& options) { \
    const Operand in[2] = {x1, x2};                                               \
    return internal::apply_ufunc(catena::kernels::name, in, options);             \
  }
#include <catena/kernels/lists/elementwise.inc>
#undef CATENA_UNARY
#undef CATENA_BINARY

std::pair<Array, Array> divmod(const Operand& x1, const Operand& x2, const UfuncPairOptions& options) {
  const Operand in[2] = {x1, x2};
  return internal::apply_ufunc(catena::kernels::divmod, in, options);
}

std::pair<Array, Array> modf(const Operand& x, const UfuncPairOptions& options) {
  return internal::apply_ufunc(catena::kernels::modf, {&x, 1}, options);
}
std::pair<Array, Array> frexp(const Operand& x, const UfuncPairOptions& options) {
  return internal::apply_ufunc(catena::kernels::frexp, {&x, 1}, options);
}

Array nextafter(const Operand& x1, const Operand& x2, const UfuncOptions& options) {
  const Operand in[2] = {x1, x2};
  return internal::apply_ufunc(catena::kernels::nextafter, in, options);
}

Array clip(const Operand& a, const Operand& a_min, const Operand& a_max, const UfuncOptions& options) {
  Operand in[3] = {a, a_min, a_max};
  const internal::ClipBounds bounds = internal::clip_bounds(a, a_min, a_max);
  if (!a_min.is_array()) in[1] = bounds.low.scalar();
  if (!a_max.is_array()) in[2] = bounds.high.scalar();
  return internal::apply_ufunc(catena::kernels::clip, in, options);
}

Array real(const Array& a) {
  if (!catena::is_complex_dtype(a.dtype())) return a;
  return internal::make_view(a, a.shape(), a.strides(), 0, catena::real_dtype(a.dtype()));
}
Array imag(const Array& a) try {
  const Dtype part = catena::real_dtype(a.dtype());
  if (part == a.dtype()) {
    const Array zeros(internal::new_array(a.shape(), part, a.device()));
    zeros.fill(0);
    return zeros;
  }
  return internal::make_view(a, a.shape(), a.strides(), std::int64_t(catena::itemsize(part)), part);
} catch (...) {
  internal::rethrow_out_of_memory("imag");
}
Array Array::real() const { return nd::real(*this); }
Array Array::imag() const { return nd::imag(*this); }
Array Array::conjugate() const { return nd::conjugate(*this); }

Array around(const Array& a, int decimals) try {
  if (catena::is_complex_dtype(a.dtype())) {
    const Array parts = a.copy();
    internal::assign("round", parts.real(), around(a.real(), decimals));
    internal::assign("round", parts.imag(), around(a.imag(), decimals));
    return parts;
  }
  const bool whole = catena::is_integer(a.dtype());
  if (whole && decimals >= 0) return a.copy();
  if (decimals == 0) return rint(a);
  const Scalar power(std::pow(10.0, std::abs(decimals)));
  if (decimals > 0) return true_divide(rint(multiply(a, power)), power);
  return multiply(rint(true_divide(a, power)), power).astype(a.dtype(), {.copy = false});
} catch (...) {
  internal::rethrow_out_of_memory("around");
}
Array around(const Array& a, const RoundOptions& options) {
  const Array& out = options.out;
  if (out.is_null()) return around(a, options.decimals);
  check<ValueError>(out.shape() == a.shape(), "around", "the output has shape ", out.shape(), ", the array ",
                    a.shape());
  check<TypeError>(catena::can_cast(a.dtype(), out.dtype(), Casting::same_kind), "around", "elements of ", a.dtype(),
                   " do not cast to ", out.dtype(), " under casting 'same_kind'");
  internal::assign("around", out, around(a, options.decimals));
  return out;
}
Array Array::round(int decimals) const { return nd::around(*this, decimals); }

Array where(const Operand& condition, const Operand& x, const Operand& y) try {
  // The condition takes no part in promotion and a scalar condition is not weak, so it is first converted to a bool
  // array on the device of the others.
  Array test;
  if (condition.is_array()) {
    test = condition.array().astype(Dtype::bool_, {.copy = false});
  } else {
    const Operand others[2] = {x, y};
    test = Array(internal::new_array({}, Dtype::bool_, internal::common_device("where", others)));
    internal::convert_into("where", condition.scalar(), *test.get());
  }
  const Operand in[3] = {test, x, y};
  return internal::apply_ufunc(catena::kernels::where, in, UfuncOptions{});
} catch (...) {
  internal::rethrow_out_of_memory("where");
}

Array internal::clip_to_bounds(const Operand& a, const std::optional<Operand>& a_min,
                               const std::optional<Operand>& a_max, const UfuncOptions& options) {
  check<ValueError>(a_min || a_max, "clip", "there are no bounds; give a_min, a_max or both");
  if (a_min && a_max) return clip(a, *a_min, *a_max, options);
  return a_min ? maximum(a, *a_min, options) : minimum(a, *a_max, options);
}

namespace {

Dtype own_dtype(const Operand& x) { return x.is_array() ? x.header()->dtype : x.scalar().natural_dtype(); }

// One function of floats; integers are converted to float64.
Array of_floats(const catena::KernelDef& def, const Operand& x, const UfuncOptions& options) {
  const Dtype t = own_dtype(x);
  check<TypeError>(!catena::is_complex_dtype(t), def.name, "complex numbers are not supported");
  UfuncOptions as_float = options;
  if (!catena::is_floating(t) && !options.dtype) as_float.dtype = Dtype::float64;
  return internal::apply_ufunc(def, {&x, 1}, as_float);
}
// As an array that has parts.
Array with_parts(const Operand& z) {
  const Dtype t = own_dtype(z);
  return internal::as_arrays(z, z).first.astype(catena::is_integer(t) || t == Dtype::bool_ ? Dtype::float64 : t,
                                                {.copy = false});
}
Array equals(std::string_view op, const Operand& x, double number, const UfuncOptions& options) {
  check<TypeError>(!catena::is_complex_dtype(own_dtype(x)), op, "complex numbers are not ordered");
  return equal(x, number, options);
}

}  // namespace

Array positive(const Operand& x, const UfuncOptions& options) {
  check<TypeError>(own_dtype(x) != Dtype::bool_, "positive", "there is no loop for bools; write x.copy()");
  return internal::apply_ufunc(catena::kernels::copy, {&x, 1}, options);
}
Array float_power(const Operand& x1, const Operand& x2, const UfuncOptions& options) {
  UfuncOptions wide = options;
  const bool complex = catena::is_complex_dtype(own_dtype(x1)) || catena::is_complex_dtype(own_dtype(x2));
  if (!options.dtype) wide.dtype = complex ? Dtype::complex128 : Dtype::float64;
  return power(x1, x2, wide);
}
Array sinc(const Operand& x, const UfuncOptions& options) { return of_floats(catena::kernels::sinc, x, options); }
Array i0(const Operand& x, const UfuncOptions& options) { return of_floats(catena::kernels::i0, x, options); }

Array isneginf(const Operand& x, const UfuncOptions& options) { return equals("isneginf", x, -inf, options); }
Array isposinf(const Operand& x, const UfuncOptions& options) { return equals("isposinf", x, inf, options); }
Array isreal(const Operand& x) { return imag(internal::as_arrays(x, x).first) == 0; }
Array iscomplex(const Operand& x) { return imag(internal::as_arrays(x, x).first) != 0; }
Array angle(const Operand& z, bool deg) try {
  const Array a = with_parts(z), radians = arctan2(imag(a), real(a));
  return deg ? rad2deg(radians) : radians;
} catch (...) {
  internal::rethrow_out_of_memory("angle");
}
bool iscomplexobj(const Operand& x) { return catena::is_complex_dtype(own_dtype(x)); }

Array fabs(const Operand& x, const UfuncOptions& options) {
  const Dtype t = own_dtype(x);
  check<TypeError>(!catena::is_complex_dtype(t), "fabs", "complex numbers have absolute()");
  if (catena::is_floating(t) || options.dtype) return absolute(x, options);
  UfuncOptions as_float = options;
  as_float.dtype = catena::itemsize(t) == 1   ? Dtype::float16
                   : catena::itemsize(t) == 2 ? Dtype::float32
                                              : Dtype::float64;
  return absolute(x, as_float);
}

Array Array::clip(const Operand& a_min, const Operand& a_max) const { return clip(a_min, a_max, {}); }
Array Array::clip_to_bounds(const std::optional<Operand>& a_min, const std::optional<Operand>& a_max) const {
  return internal::clip_to_bounds(*this, a_min, a_max, {});
}
Array Array::clip(const Operand& a_min, const Operand& a_max, const UfuncOptions& options) const {
  return nd::clip(*this, a_min, a_max, options);
}

// ---- bits ---------------------------------------------------------------------------------------
namespace {

// Runs a kernel with a raw input and returns its result of n elements.
Array read_anywhere(const catena::KernelDef& def, const Array& a, std::int64_t n) {
  const Array out(internal::new_array(Shape{n}, Dtype::uint8, a.device()));
  const catena::Input input(*a.get());
  catena::ArrayHeader* const output = out.get();
  const catena::EagerProgram program(def, 0);
  internal::execute(catena::call::Elementwise{&program, {&input, 1}, {&output, 1}, def.name});
  return out;
}

}  // namespace

Array packbits(const Array& a) try {
  check<TypeError>(catena::is_integer(a.dtype()) || a.dtype() == Dtype::bool_, "packbits", "the array has dtype ",
                   a.dtype(), ", must have integers or bools");
  const Array bits = a.ravel().astype(Dtype::bool_, {.copy = false});
  return read_anywhere(catena::kernels::packbits, bits, bits.size() / 8 + (bits.size() % 8 != 0));
} catch (...) {
  internal::rethrow_out_of_memory("packbits");
}

Array unpackbits(const Array& a) try {
  check<TypeError>(a.dtype() == Dtype::uint8, "unpackbits", "the array has dtype ", a.dtype(), ", must have uint8");
  std::int64_t n = 0;
  check<ValueError>(!__builtin_mul_overflow(a.size(), std::int64_t(8), &n), "unpackbits", "an array of ", a.size(),
                    " bytes has too many bits");
  return read_anywhere(catena::kernels::unpackbits, a.ravel(), n);
} catch (...) {
  internal::rethrow_out_of_memory("unpackbits");
}

// ---- operators ----------------------------------------------------------------------------------
using internal::apply_binary;
using internal::apply_in_place;
namespace kernels = catena::kernels;

Array operator+(const Operand& a, const Operand& b) { return apply_binary(kernels::add, a, b); }
Array operator-(const Operand& a, const Operand& b) { return apply_binary(kernels::subtract, a, b); }
Array operator*(const Operand& a, const Operand& b) { return apply_binary(kernels::multiply, a, b); }
Array operator/(const Operand& a, const Operand& b) { return apply_binary(kernels::true_divide, a, b); }
Array operator%(const Operand& a, const Operand& b) { return apply_binary(kernels::remainder, a, b); }
Array operator&(const Operand& a, const Operand& b) { return apply_binary(kernels::bitwise_and, a, b); }
Array operator|(const Operand& a, const Operand& b) { return apply_binary(kernels::bitwise_or, a, b); }
Array operator^(const Operand& a, const Operand& b) { return apply_binary(kernels::bitwise_xor, a, b); }
Array operator<<(const Operand& a, const Operand& b) { return apply_binary(kernels::left_shift, a, b); }
Array operator>>(const Operand& a, const Operand& b) { return apply_binary(kernels::right_shift, a, b); }
Array operator==(const Operand& a, const Operand& b) { return apply_binary(kernels::equal, a, b); }
Array operator!=(const Operand& a, const Operand& b) { return apply_binary(kernels::not_equal, a, b); }
Array operator<(const Operand& a, const Operand& b) { return apply_binary(kernels::less, a, b); }
Array operator<=(const Operand& a, const Operand& b) { return apply_binary(kernels::less_equal, a, b); }
Array operator>(const Operand& a, const Operand& b) { return apply_binary(kernels::greater, a, b); }
Array operator>=(const Operand& a, const Operand& b) { return apply_binary(kernels::greater_equal, a, b); }

Array& Array::operator+=(const Operand& b) & { return apply_in_place(kernels::add, *this, b), *this; }
Array& Array::operator-=(const Operand& b) & { return apply_in_place(kernels::subtract, *this, b), *this; }
Array& Array::operator*=(const Operand& b) & { return apply_in_place(kernels::multiply, *this, b), *this; }
Array& Array::operator/=(const Operand& b) & { return apply_in_place(kernels::true_divide, *this, b), *this; }
Array& Array::operator%=(const Operand& b) & { return apply_in_place(kernels::remainder, *this, b), *this; }
Array& Array::operator&=(const Operand& b) & { return apply_in_place(kernels::bitwise_and, *this, b), *this; }
Array& Array::operator|=(const Operand& b) & { return apply_in_place(kernels::bitwise_or, *this, b), *this; }
Array& Array::operator^=(const Operand& b) & { return apply_in_place(kernels::bitwise_xor, *this, b), *this; }
Array& Array::operator<<=(const Operand& b) & { return apply_in_place(kernels::left_shift, *this, b), *this; }
Array& Array::operator>>=(const Operand& b) & { return apply_in_place(kernels::right_shift, *this, b), *this; }

void Array::operator+=(const Operand& b) && { apply_in_place(kernels::add, *this, b); }
void Array::operator-=(const Operand& b) && { apply_in_place(kernels::subtract, *this, b); }
void Array::operator*=(const Operand& b) && { apply_in_place(kernels::multiply, *this, b); }
void Array::operator/=(const Operand& b) && { apply_in_place(kernels::true_divide, *this, b); }
void Array::operator%=(const Operand& b) && { apply_in_place(kernels::remainder, *this, b); }
void Array::operator&=(const Operand& b) && { apply_in_place(kernels::bitwise_and, *this, b); }
void Array::operator|=(const Operand& b) && { apply_in_place(kernels::bitwise_or, *this, b); }
void Array::operator^=(const Operand& b) && { apply_in_place(kernels::bitwise_xor, *this, b); }
void Array::operator<<=(const Operand& b) && { apply_in_place(kernels::left_shift, *this, b); }
void Array::operator>>=(const Operand& b) && { apply_in_place(kernels::right_shift, *this, b); }

Array Array::operator-() const { return internal::apply_unary(kernels::negative, *this); }
Array Array::operator~() const { return internal::apply_unary(kernels::invert, *this); }

}  // namespace nd
