// Mathematics for kernel bodies: float and double only, the same set under every compiler. A body never calls ::exp or
// std::exp: with an integer argument, such calls compile on the host and are ambiguous under NVRTC.
#pragma once

#include <catena/kernels/prelude.h>

#if !CATENA_DEVICE
#include <math.h>
#endif

#if !CATENA_DEVICE && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 35)
// glibc has vector versions of these functions (libmvec) but declares them only under -ffast-math, which would also
// change results. With these prototypes, loops that call them vectorise under -fno-math-errno alone.
#define CATENA_LIBMVEC1(fn)                                                   \
  extern "C" __attribute__((simd("notinbranch"))) double fn(double) noexcept; \
  extern "C" __attribute__((simd("notinbranch"))) float fn##f(float) noexcept;
#define CATENA_LIBMVEC2(fn)                                                           \
  extern "C" __attribute__((simd("notinbranch"))) double fn(double, double) noexcept; \
  extern "C" __attribute__((simd("notinbranch"))) float fn##f(float, float) noexcept;
// clang-format off
CATENA_LIBMVEC1(exp)
CATENA_LIBMVEC1(exp2)
CATENA_LIBMVEC1(expm1)
CATENA_LIBMVEC1(log)
CATENA_LIBMVEC1(log2)
CATENA_LIBMVEC1(log10)
CATENA_LIBMVEC1(log1p)
CATENA_LIBMVEC1(sin)
CATENA_LIBMVEC1(cos)
CATENA_LIBMVEC1(tan)
CATENA_LIBMVEC1(asin)
CATENA_LIBMVEC1(acos)
CATENA_LIBMVEC1(atan)
CATENA_LIBMVEC1(sinh)
CATENA_LIBMVEC1(cosh)
CATENA_LIBMVEC1(tanh)
CATENA_LIBMVEC1(asinh)
CATENA_LIBMVEC1(acosh)
CATENA_LIBMVEC1(atanh)
CATENA_LIBMVEC1(erf)
CATENA_LIBMVEC1(erfc)
CATENA_LIBMVEC1(cbrt)
CATENA_LIBMVEC2(pow)
CATENA_LIBMVEC2(atan2)
CATENA_LIBMVEC2(hypot)
// clang-format on
#undef CATENA_LIBMVEC1
#undef CATENA_LIBMVEC2
#endif
#endif

namespace catena::m {

#define CATENA_MATH1(name, fn)                     \
  ND_FN float name(float x) { return ::fn##f(x); } \
  ND_FN double name(double x) { return ::fn(x); }
#define CATENA_MATH2(name, fn)                                 \
  ND_FN float name(float x, float y) { return ::fn##f(x, y); } \
  ND_FN double name(double x, double y) { return ::fn(x, y); }
// clang-format off
CATENA_MATH1(exp, exp)
CATENA_MATH1(exp2, exp2)
CATENA_MATH1(expm1, expm1)
CATENA_MATH1(log, log)
CATENA_MATH1(log2, log2)
CATENA_MATH1(log10, log10)
CATENA_MATH1(log1p, log1p)
CATENA_MATH1(sin, sin)
CATENA_MATH1(cos, cos)
CATENA_MATH1(tan, tan)
CATENA_MATH1(asin, asin)
CATENA_MATH1(acos, acos)
CATENA_MATH1(atan, atan)
CATENA_MATH1(sinh, sinh)
CATENA_MATH1(cosh, cosh)
CATENA_MATH1(tanh, tanh)
CATENA_MATH1(asinh, asinh)
CATENA_MATH1(acosh, acosh)
CATENA_MATH1(atanh, atanh)
CATENA_MATH1(erf, erf)
CATENA_MATH1(erfc, erfc)
CATENA_MATH1(cbrt, cbrt)
CATENA_MATH1(lgamma, lgamma)
CATENA_MATH1(tgamma, tgamma)
CATENA_MATH1(sqrt, sqrt)
CATENA_MATH1(fabs, fabs)
CATENA_MATH1(floor, floor)
CATENA_MATH1(ceil, ceil)
CATENA_MATH1(trunc, trunc)
CATENA_MATH1(rint, rint)
CATENA_MATH2(pow, pow)
CATENA_MATH2(atan2, atan2)
CATENA_MATH2(hypot, hypot)
CATENA_MATH2(fmod, fmod)
CATENA_MATH2(copysign, copysign)
CATENA_MATH2(nextafter, nextafter)
// clang-format on
#undef CATENA_MATH1
#undef CATENA_MATH2

}  // namespace catena::m
