// Elementwise functions: arithmetic, exponentials, trigonometry, rounding, bits, comparisons and tests, selection.
//
// The functions take arrays and host scalars, broadcast them, and return a new C-contiguous array of the common shape,
// or options.out. The result dtype is the output dtype of the first loop that holds the inputs without loss: functions
// with loops for floats only convert bool and 8-bit integers to float16, 16-bit integers to float32 and wider integers
// to float64. A scalar does not promote an array of its kind.
//   nd::exp(x)   nd::add(a, 1, {.out = a})   nd::multiply(a, b, {.dtype = nd::float64})
// Functions with bool results choose their loop by the inputs, so options.dtype must be bool.
// Comparisons, logical functions and true_divide accept integer scalars that the arrays' dtype cannot hold.
// Errors: ValueError for shapes that do not broadcast, an output of another shape, arrays on different devices;
// OverflowError for an integer scalar that does not fit the arrays' dtype; TypeError if there is no loop or if the
// result does not cast to the output under options.casting.
//
// Most functions are lines of kernels/lists/elementwise.inc, which state the results of special cases.
#pragma once

#include <catena/kernels/registry/families.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/ufunc_methods.h>

namespace nd {

namespace internal {
CATENA_EXPORT Array clip_to_bounds(const Operand& a, const std::optional<Operand>& a_min,
                                   const std::optional<Operand>& a_max, const UfuncOptions& options);
}  // namespace internal

#define CATENA_UNARY(name) CATENA_EXPORT Array name(const Operand& x, const UfuncOptions& options = {});
#define CATENA_BINARY(name)                                                                         \
  CATENA_EXPORT Array name(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}); \
  namespace ufuncs {                                                                                \
  inline constexpr BinaryUfunc name{catena::kernels::name};                                         \
  }
#include <catena/kernels/lists/elementwise.inc>
#undef CATENA_UNARY
#undef CATENA_BINARY
namespace ufuncs {
// Other names of the objects above; see ufunc_methods.h.
inline constexpr const BinaryUfunc& divide = true_divide;
inline constexpr const BinaryUfunc& mod = remainder;
inline constexpr const BinaryUfunc& pow = power;
inline constexpr const BinaryUfunc& atan2 = arctan2;
}  // namespace ufuncs

// floor_divide and remainder in one pass.
CATENA_EXPORT std::pair<Array, Array> divmod(const Operand& x1, const Operand& x2,
                                             const UfuncPairOptions& options = {});
// (fraction, integral part), both with the sign of x; x is converted to a float if it is not one.
CATENA_EXPORT std::pair<Array, Array> modf(const Operand& x, const UfuncPairOptions& options = {});
// (mantissa in [0.5, 1), int32 exponent) with x = mantissa * 2^exponent; (0, 0) for 0.
CATENA_EXPORT std::pair<Array, Array> frexp(const Operand& x, const UfuncPairOptions& options = {});
// The next float after x1 in the direction of x2; x1 itself if they are equal.
CATENA_EXPORT Array nextafter(const Operand& x1, const Operand& x2, const UfuncOptions& options = {});
// a_min where x < a_min, a_max where x > a_max; a_max wins if the bounds cross. NaN stays NaN, NaN bounds do not clip.
// An integer bound beyond all values of the dtype, such as -1 for unsigned elements, does not clip either.
CATENA_EXPORT Array clip(const Operand& a, const Operand& a_min, const Operand& a_max,
                         const UfuncOptions& options = {});
// As above with one bound: clip(a, {}, 1). ValueError without both.
template <class Bound = std::optional<Operand>>
Array clip(const Operand& a, const std::type_identity_t<Bound>& a_min, const std::type_identity_t<Bound>& a_max,
           const UfuncOptions& options = {}) {
  return internal::clip_to_bounds(a, a_min, a_max, options);
}
// x where the condition (any dtype, nonzero is true) holds, else y; all three broadcast. The dtype is the promotion of
// x and y.
CATENA_EXPORT Array where(const Operand& condition, const Operand& x, const Operand& y);

// The parts of complex elements as arrays of floats: views, which may be written. A real array is its own real part,
// and its imaginary part is a new array of zeros.
CATENA_EXPORT Array real(const Array& a);
CATENA_EXPORT Array imag(const Array& a);

// Rounds to `decimals` places after the point, halves to even; a negative number rounds before the point. Floats are
// multiplied by 10^|decimals|, rounded and divided (or the reverse), as in NumPy; integers stay unchanged unless
// `decimals` is negative. Both parts of complex numbers are rounded.
// options.out: any dtype to which the result casts under 'same_kind' (TypeError), the shape of `a` (ValueError).
struct RoundOptions {
  [[no_unique_address]] Named named = Named();
  int decimals = 0;
  Array out = {};
};
CATENA_EXPORT Array around(const Array& a, int decimals = 0);
CATENA_EXPORT Array around(const Array& a, const RoundOptions& options);
inline Array around(const Array& a, int decimals, const Array& out) {
  return around(a, RoundOptions{.decimals = decimals, .out = out});
}
inline Array round(const Array& a, int decimals = 0) { return around(a, decimals); }
inline Array round(const Array& a, const RoundOptions& options) { return around(a, options); }
inline Array round(const Array& a, int decimals, const Array& out) { return around(a, decimals, out); }

// Packs the elements of an array of integers or bools (TypeError for others) into the bits of uint8 numbers: a bit is
// set if the element is nonzero. A number has eight elements, the first one in its most significant bit. The array is
// flattened; bits behind its end are 0.
CATENA_EXPORT Array packbits(const Array& a);
// Returns the bits of an array of uint8 (TypeError for others) as an array of rank 1 of the numbers 0 and 1, uint8: the
// reverse of packbits.
CATENA_EXPORT Array unpackbits(const Array& a);

// The absolute value as a float: integers and bools are converted to floats, as by the functions with loops for floats
// only. TypeError for complex numbers.
CATENA_EXPORT Array fabs(const Operand& x, const UfuncOptions& options = {});

// The elements themselves, as a new array. TypeError for bools.
CATENA_EXPORT Array positive(const Operand& x, const UfuncOptions& options = {});
// power computed in float64 at least: integers and narrower floats are converted.
CATENA_EXPORT Array float_power(const Operand& x1, const Operand& x2, const UfuncOptions& options = {});
// sin(pi x) / (pi x), which is 1 at 0 and exactly 0 at the other integers. Integers are converted to float64. TypeError
// for complex numbers.
CATENA_EXPORT Array sinc(const Operand& x, const UfuncOptions& options = {});
// The modified Bessel function of order 0. Integers are converted to float64. TypeError for complex numbers.
CATENA_EXPORT Array i0(const Operand& x, const UfuncOptions& options = {});

// Tests as bool: -inf, +inf (TypeError for complex numbers); an imaginary part that is 0, or is not.
CATENA_EXPORT Array isneginf(const Operand& x, const UfuncOptions& options = {});
CATENA_EXPORT Array isposinf(const Operand& x, const UfuncOptions& options = {});
CATENA_EXPORT Array isreal(const Operand& x);
CATENA_EXPORT Array iscomplex(const Operand& x);
// The angle of a complex number in radians between -pi and pi, or in degrees; of a real number 0, or pi below 0.
CATENA_EXPORT Array angle(const Operand& z, bool deg = false);
// True if the dtype is complex, or is not, whatever the elements are.
CATENA_EXPORT bool iscomplexobj(const Operand& x);
inline bool isrealobj(const Operand& x) { return !iscomplexobj(x); }
// True if the elements are adjacent in Fortran's order and not in that of C.
inline bool isfortran(const Array& a) { return a.flags().f_contiguous && !a.flags().c_contiguous; }

// Aliases.
inline Array asin(const Operand& x, const UfuncOptions& options = {}) { return arcsin(x, options); }
inline Array acos(const Operand& x, const UfuncOptions& options = {}) { return arccos(x, options); }
inline Array atan(const Operand& x, const UfuncOptions& options = {}) { return arctan(x, options); }
inline Array asinh(const Operand& x, const UfuncOptions& options = {}) { return arcsinh(x, options); }
inline Array acosh(const Operand& x, const UfuncOptions& options = {}) { return arccosh(x, options); }
inline Array atanh(const Operand& x, const UfuncOptions& options = {}) { return arctanh(x, options); }
inline Array atan2(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) {
  return arctan2(x1, x2, options);
}
inline Array pow(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) {
  return power(x1, x2, options);
}
inline Array conj(const Operand& x, const UfuncOptions& options = {}) { return conjugate(x, options); }
inline Array abs(const Operand& x, const UfuncOptions& options = {}) { return absolute(x, options); }
inline Array degrees(const Operand& x, const UfuncOptions& options = {}) { return rad2deg(x, options); }
inline Array radians(const Operand& x, const UfuncOptions& options = {}) { return deg2rad(x, options); }
inline Array bitwise_not(const Operand& x, const UfuncOptions& options = {}) { return invert(x, options); }
inline Array bitwise_invert(const Operand& x, const UfuncOptions& options = {}) { return invert(x, options); }
inline Array bitwise_left_shift(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) {
  return left_shift(x1, x2, options);
}
inline Array bitwise_right_shift(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) {
  return right_shift(x1, x2, options);
}
inline Array sqrt_fixed(const Operand& x, const UfuncOptions& options = {}) { return sqrt(x, options); }
inline Array divide(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) {
  return true_divide(x1, x2, options);
}
inline Array mod(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) {
  return remainder(x1, x2, options);
}

}  // namespace nd
