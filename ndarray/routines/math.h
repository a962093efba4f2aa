// Elementwise functions: arithmetic, exponentials, trigonometry, rounding, bits, selection. (Comparisons and tests: logic.h.)
//
// All take arrays and host scalars, broadcast them, and return a new C-contiguous array of the common shape, or options.out. The dtype
// of the result is that of the first loop that holds the inputs without loss: functions that need floats turn bool and 8-bit integers
// into float16, 16-bit ones into float32, wider ones into float64. A scalar never raises the dtype of an array of its kind.
//   nd::exp(x)   nd::add(a, 1, {.out = a})   nd::multiply(a, b, {.dtype = nd::float64})
// Errors: ValueError for shapes that do not broadcast, an output of another shape, arrays on different devices, an integer scalar that does
// not fit the arrays' dtype; TypeError where there is no loop or the result does not cast to the output under options.casting.
//
// A new function is one line here, beside its kernel.
#pragma once

#include "ndarray/kernel/ufunc.h"

// clang-format off
#define ND_MATH_UNARY(X)                                                                             \
  X(negative)     /* integers wrap; TypeError for bool */                                            \
  X(absolute)     /* the smallest signed integer stays itself */                                     \
  X(reciprocal)   /* integers: 1 / x truncated, and 0 for 0 */                                       \
  X(square)                                                                                          \
  X(sqrt)         /* NaN below 0 */                                                                  \
  X(sign)         /* -1, 0, 1; NaN of NaN */                                                         \
  X(exp)                                                                                             \
  X(expm1)        /* exp(x) - 1, accurate near 0 */                                                  \
  X(exp2)                                                                                            \
  X(log)          /* -inf of 0, NaN below */                                                         \
  X(log10)                                                                                           \
  X(log2)                                                                                            \
  X(log1p)        /* log(1 + x), accurate near 0 */                                                  \
  X(sin)                                                                                             \
  X(cos)                                                                                             \
  X(tan)                                                                                             \
  X(arcsin)       /* NaN outside [-1, 1] */                                                          \
  X(arccos)       /* NaN outside [-1, 1] */                                                          \
  X(arctan)                                                                                          \
  X(sinh)                                                                                            \
  X(cosh)                                                                                            \
  X(tanh)                                                                                            \
  X(arcsinh)                                                                                         \
  X(arccosh)      /* NaN below 1 */                                                                  \
  X(arctanh)      /* infinite at -1 and 1, NaN outside */                                            \
  X(deg2rad)                                                                                         \
  X(rad2deg)                                                                                         \
  X(rint)         /* to the nearest, ties to even; rounding functions give floats for integers */    \
  X(floor)                                                                                           \
  X(ceil)                                                                                            \
  X(trunc)        /* toward zero */                                                                  \
  X(fix)          /* as trunc */                                                                     \
  X(invert)       /* bits; logical not of bools; TypeError for floats */

#define ND_MATH_BINARY(X)                                                                            \
  X(add)          /* integers wrap; bools: or */                                                     \
  X(subtract)     /* integers wrap; TypeError for two bools */                                       \
  X(multiply)     /* integers wrap; bools: and */                                                    \
  X(true_divide)  /* integers give float64; IEEE division by zero */                                 \
  X(floor_divide) /* rounds toward -inf; integer division by zero gives 0 */                         \
  X(remainder)    /* with the sign of the divisor; 0 for an integer divisor of 0 */                  \
  X(fmod)         /* with the sign of the dividend; 0 for an integer divisor of 0 */                 \
  X(power)        /* exact for integers, modulo 2^n; negative exponents give 0 but for bases 1, -1 */ \
  X(logaddexp)    /* log(exp(x1) + exp(x2)) */                                                       \
  X(logaddexp2)   /* log2(2^x1 + 2^x2) */                                                            \
  X(arctan2)      /* angle of the point (x2, x1) */                                                  \
  X(hypot)        /* sqrt(x1^2 + x2^2) without overflow on the way */                                \
  X(copysign)     /* magnitude of x1, sign of x2 */                                                  \
  X(ldexp)        /* x1 * 2^x2; x2 of an integer dtype that int64 can hold (TypeError) */               \
  X(maximum)      /* NaN if either is NaN */                                                         \
  X(minimum)                                                                                         \
  X(fmax)         /* NaN only if both are NaN */                                                     \
  X(fmin)                                                                                            \
  X(bitwise_and)  /* integers and bools; TypeError for floats, as all bit functions */               \
  X(bitwise_or)                                                                                      \
  X(bitwise_xor)                                                                                     \
  X(left_shift)   /* a count outside [0, bits) gives 0 */                                            \
  X(right_shift)  /* arithmetic for signed integers; a count outside [0, bits) shifts everything out */
// clang-format on

namespace nd {

#define ND_DECLARE_UNARY(name) CATENA_EXPORT Array name(const Operand& x, const UfuncOptions& options = {});
#define ND_DECLARE_BINARY(name) CATENA_EXPORT Array name(const Operand& x1, const Operand& x2, const UfuncOptions& options = {});
ND_MATH_UNARY(ND_DECLARE_UNARY)
ND_MATH_BINARY(ND_DECLARE_BINARY)
#undef ND_DECLARE_UNARY
#undef ND_DECLARE_BINARY

// floor_divide and remainder in one pass.
CATENA_EXPORT std::pair<Array, Array> divmod(const Operand& x1, const Operand& x2, const UfuncPairOptions& options = {});
// (fraction, integral part), both with the sign of x, which must be a float or turns into one.
CATENA_EXPORT std::pair<Array, Array> modf(const Operand& x, const UfuncPairOptions& options = {});
// (mantissa in [0.5, 1), int32 exponent) with x = mantissa * 2^exponent; (0, 0) for 0.
CATENA_EXPORT std::pair<Array, Array> frexp(const Operand& x, const UfuncPairOptions& options = {});
// The float after x1 in the direction of x2; x1 itself where they are equal.
CATENA_EXPORT Array nextafter(const Operand& x1, const Operand& x2, const UfuncOptions& options = {});
// a_min where x < a_min, a_max where that is > a_max (which wins if they cross); NaN passes through, NaN bounds do not clip.
CATENA_EXPORT Array clip(const Operand& a, const Operand& a_min, const Operand& a_max, const UfuncOptions& options = {});
// x where the condition (any dtype, tested as nonzero) holds, else y; all three broadcast. The dtype is that of x and y together.
CATENA_EXPORT Array where(const Operand& condition, const Operand& x, const Operand& y);

// Other names.
inline Array abs(const Operand& x, const UfuncOptions& options = {}) { return absolute(x, options); }
inline Array degrees(const Operand& x, const UfuncOptions& options = {}) { return rad2deg(x, options); }
inline Array radians(const Operand& x, const UfuncOptions& options = {}) { return deg2rad(x, options); }
inline Array sqrt_fixed(const Operand& x, const UfuncOptions& options = {}) { return sqrt(x, options); }
inline Array divide(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) { return true_divide(x1, x2, options); }
inline Array mod(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) { return remainder(x1, x2, options); }

}  // namespace nd
