// CUDA's mathematical and conversion intrinsics, and the CUDA functions that the C library lacks, for kernels given as
// text on the CPU. Values equal CUDA's where it specifies them exactly; the approximate functions (__expf, __sinf...)
// are at least as accurate as CUDA's and have their special values. Empty for NVRTC, which has all of them.
#pragma once

#if !defined(__CUDACC_RTC__)

#include <math.h>

#include <catena/kernels/device/user_rounding.h>

// ---- arithmetic with a given rounding -----------------------------------------------------------
// CATENA_USER_ROUNDED(name, mode) defines the functions of one rounding; `_rn` uses the operators of the language.
#define CATENA_USER_ROUNDED(_, mode)                                                                           \
  inline float __fadd##_(float a, float b) { return catena::user::add(a, b, mode); }                           \
  inline float __fsub##_(float a, float b) { return catena::user::add(a, -b, mode); }                          \
  inline float __fmul##_(float a, float b) { return catena::user::multiply(a, b, mode); }                      \
  inline float __fmaf##_(float a, float b, float c) { return catena::user::multiply_add(a, b, c, mode); }      \
  inline float __fmaf_ieee##_(float a, float b, float c) { return catena::user::multiply_add(a, b, c, mode); } \
  inline float __fdiv##_(float a, float b) { return catena::user::divide(a, b, mode); }                        \
  inline float __frcp##_(float a) { return catena::user::divide(1.0f, a, mode); }                              \
  inline float __fsqrt##_(float a) { return catena::user::square_root(a, mode); }                              \
  inline double __dadd##_(double a, double b) { return catena::user::add(a, b, mode); }                        \
  inline double __dsub##_(double a, double b) { return catena::user::add(a, -b, mode); }                       \
  inline double __dmul##_(double a, double b) { return catena::user::multiply(a, b, mode); }                   \
  inline double __fma##_(double a, double b, double c) { return catena::user::multiply_add(a, b, c, mode); }   \
  inline double __ddiv##_(double a, double b) { return catena::user::divide(a, b, mode); }                     \
  inline double __drcp##_(double a) { return catena::user::divide(1.0, a, mode); }                             \
  inline double __dsqrt##_(double a) { return catena::user::square_root(a, mode); }
CATENA_USER_ROUNDED(_rz, catena::user::Rounding::zero)
CATENA_USER_ROUNDED(_ru, catena::user::Rounding::up)
CATENA_USER_ROUNDED(_rd, catena::user::Rounding::down)
#undef CATENA_USER_ROUNDED
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fmaf_ieee_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1 / a; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
// No quotient is so close to the middle between two floats that rounding to double first matters (all were tested).
inline float __frsqrt_rn(float a) { return float(1 / sqrt(double(a))); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double a) { return 1 / a; }
inline double __dsqrt_rn(double a) { return sqrt(a); }

// ---- conversions --------------------------------------------------------------------------------
#define CATENA_USER_CONVERSIONS(_, mode)                                                                              \
  inline int __float2int##_(float v) { return catena::user::to_integer<int>(v, mode); }                               \
  inline unsigned __float2uint##_(float v) { return catena::user::to_integer<unsigned>(v, mode); }                    \
  inline long long __float2ll##_(float v) { return catena::user::to_integer<long long>(v, mode); }                    \
  inline unsigned long long __float2ull##_(float v) { return catena::user::to_integer<unsigned long long>(v, mode); } \
  inline int __double2int##_(double v) { return catena::user::to_integer<int>(v, mode); }                             \
  inline unsigned __double2uint##_(double v) { return catena::user::to_integer<unsigned>(v, mode); }                  \
  inline long long __double2ll##_(double v) { return catena::user::to_integer<long long>(v, mode); }                  \
  inline unsigned long long __double2ull##_(double v) {                                                               \
    return catena::user::to_integer<unsigned long long>(v, mode);                                                     \
  }                                                                                                                   \
  inline float __double2float##_(double v) { return catena::user::narrowed(v, mode); }                                \
  inline float __int2float##_(int v) { return catena::user::from_integer<float>(v, mode); }                           \
  inline float __uint2float##_(unsigned v) { return catena::user::from_integer<float>(v, mode); }                     \
  inline float __ll2float##_(long long v) { return catena::user::from_integer<float>(v, mode); }                      \
  inline float __ull2float##_(unsigned long long v) { return catena::user::from_integer<float>(v, mode); }            \
  inline double __ll2double##_(long long v) { return catena::user::from_integer<double>(v, mode); }                   \
  inline double __ull2double##_(unsigned long long v) { return catena::user::from_integer<double>(v, mode); }
CATENA_USER_CONVERSIONS(_rn, catena::user::Rounding::nearest)
CATENA_USER_CONVERSIONS(_rz, catena::user::Rounding::zero)
CATENA_USER_CONVERSIONS(_ru, catena::user::Rounding::up)
CATENA_USER_CONVERSIONS(_rd, catena::user::Rounding::down)
#undef CATENA_USER_CONVERSIONS
inline double __int2double_rn(int v) { return v; }
inline double __uint2double_rn(unsigned v) { return v; }
inline double __hiloint2double(int high, int low) {
  return __builtin_bit_cast(double, (unsigned long long)(unsigned)high << 32 | (unsigned)low);
}
inline int __double2hiint(double v) { return int(__builtin_bit_cast(unsigned long long, v) >> 32); }
inline int __double2loint(double v) { return int(unsigned(__builtin_bit_cast(unsigned long long, v))); }

// ---- approximate functions ----------------------------------------------------------------------
// glibc reserves some of these names, as functions that do not throw.
inline float __expf(float x) noexcept { return expf(x); }
inline float __exp10f(float x) noexcept { return powf(10.0f, x); }
inline float __logf(float x) noexcept { return logf(x); }
inline float __log2f(float x) noexcept { return log2f(x); }
inline float __log10f(float x) noexcept { return log10f(x); }
inline float __sinf(float x) noexcept { return sinf(x); }
inline float __cosf(float x) noexcept { return cosf(x); }
inline float __tanf(float x) noexcept { return tanf(x); }
inline float __tanhf(float x) noexcept { return tanhf(x); }
inline void __sincosf(float x, float* s, float* c) noexcept {
  *s = sinf(x);
  *c = cosf(x);
}
// Defined by CUDA as 2 to the power y * log2(x), so NaN for a negative x.
inline float __powf(float x, float y) noexcept { return float(exp2(double(y) * log2(double(x)))); }
// As on CUDA: 0 for divisors above 2^126, and NaN if the dividend is infinite, too.
inline float __fdividef(float a, float b) {
  const float magnitude = fabsf(b);
  if (magnitude > 0x1p126f && magnitude <= __FLT_MAX__) return a * 0.0f;
  return a / b;
}
inline float __saturatef(float x) { return x >= 1 ? 1.0f : x > 0 ? x : 0.0f; }

// ---- integers -----------------------------------------------------------------------------------
inline unsigned __brev(unsigned v) {
  v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
  v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
  v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(v);
}
inline unsigned long long __brevll(unsigned long long v) {
  return (unsigned long long)__brev(unsigned(v)) << 32 | __brev(unsigned(v >> 32));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned result = 0;
  for (unsigned k = 0; k < 4; ++k) result |= unsigned(bytes >> 8 * (selector >> 4 * k & 7) & 0xff) << 8 * k;
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return unsigned(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift < 32 ? __funnelshift_l(low, high, shift) : low;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return unsigned(((unsigned long long)high << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift < 32 ? __funnelshift_r(low, high, shift) : high;
}
inline int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline int __mul24(int a, int b) {
  return int(unsigned(int(unsigned(a) << 8) >> 8) * unsigned(int(unsigned(b) << 8) >> 8));
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
inline unsigned __sad(int a, int b, unsigned c) {
  return (a < b ? unsigned(b) - unsigned(a) : unsigned(a) - unsigned(b)) + c;
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
inline int __hadd(int a, int b) { return int(((long long)a + b) >> 1); }
inline int __rhadd(int a, int b) { return int(((long long)a + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return unsigned(((unsigned long long)a + b) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) { return unsigned(((unsigned long long)a + b + 1) >> 1); }
// Returns the position of set bit `offset` of the mask, counted from bit `base`: upwards if it is positive, else
// downwards.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return base < 32 && (mask >> base & 1) != 0 ? base : ~0u;
  int left = offset < 0 ? -offset : offset;
  for (long long at = base; at >= 0 && at < 32; at += offset < 0 ? -1 : 1)
    if ((mask >> at & 1) != 0 && --left == 0) return unsigned(at);
  return ~0u;
}

// ---- functions that the C library lacks ---------------------------------------------------------
// CATENA_USER_FLOATS(name, parameters, arguments) defines the two float variants of a function of doubles. All are
// noexcept, because later C libraries declare some of them so.
#define CATENA_USER_FLOATS(name, parameters, arguments)                      \
  inline float name##f parameters noexcept { return float(name arguments); } \
  inline float name parameters noexcept { return float(name arguments); }
#define CATENA_USER_UNARY(name) CATENA_USER_FLOATS(name, (float x), (double(x)))

// Sine of pi * x. The argument is reduced exactly, so multiples of 1/2 give exact values.
inline double sinpi(double x) noexcept {
  double r = x - 2 * rint(x / 2);  // in [-1, 1]
  if (fabs(r) > 0.5) r = copysign(1 - fabs(r), r);
  return r == 0 ? copysign(0.0, x) : sin(3.14159265358979323846 * r);
}
inline double cospi(double x) noexcept { return sinpi(0.5 - fabs(x - 2 * rint(x / 2))); }
inline double rcbrt(double x) noexcept { return 1 / cbrt(x); }
inline double erfcx(double x) noexcept {
  if (x < 25) return exp(x * x) * erfc(x);
  const double t = 1 / (x * x);
  const double series = 1 - t * (0.5 - t * (0.75 - t * (1.875 - t * (6.5625 - t * (29.53125 - t * 162.421875)))));
  return series / (x * 1.77245385090551602730);
}
// Halley's iteration from an approximation of the quantile of the normal distribution; each step cubes the error.
inline double erfcinv(double y) noexcept {
  if (!(y >= 0 && y <= 2)) return __builtin_nan("");
  if (y == 0 || y == 2) return y == 0 ? __builtin_inf() : -__builtin_inf();
  const double tail = y < 1 ? y : 2 - y, t = sqrt(-2 * log(tail / 2));
  double x = 0.70710678118654752440 * (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)));
  for (int k = 0; k < 4; ++k) {
    const double error = erfc(x) - tail;
    x += error / (1.12837916709551257390 * exp(-x * x) - x * error);
  }
  return y < 1 ? x : -x;
}
inline double erfinv(double y) noexcept {
  if (!(fabs(y) < 0.5)) return y < 0 ? -erfcinv(1 + y) : erfcinv(1 - y);
  double x = 0.88622692545275801365 * y;
  for (int k = 0; k < 4; ++k) {
    const double error = erf(x) - y;
    x -= error / (1.12837916709551257390 * exp(-x * x) + x * error);
  }
  return x;
}
inline double normcdf(double x) noexcept { return erfc(-0.70710678118654752440 * x) / 2; }
inline double normcdfinv(double y) noexcept { return -1.41421356237309504880 * erfcinv(2 * y); }
// Power series of positive terms.
inline double cyl_bessel_i0(double x) noexcept {
  double sum = 1, term = 1;
  for (int k = 1; term > sum * 1e-17; ++k) sum += term *= x / 2 / k * (x / 2 / k);
  return sum;
}
inline double cyl_bessel_i1(double x) noexcept {
  double sum = 1, term = 1;
  for (int k = 1; term > sum * 1e-17; ++k) sum += term *= x / 2 / k * (x / 2 / (k + 1));
  return x / 2 * sum;
}
CATENA_USER_UNARY(sinpi)
CATENA_USER_UNARY(cospi)
CATENA_USER_UNARY(rcbrt)
CATENA_USER_UNARY(erfcx)
CATENA_USER_UNARY(erfcinv)
CATENA_USER_UNARY(erfinv)
CATENA_USER_UNARY(normcdf)
CATENA_USER_UNARY(normcdfinv)
CATENA_USER_UNARY(cyl_bessel_i0)
CATENA_USER_UNARY(cyl_bessel_i1)
inline float exp10(float x) noexcept { return exp10f(x); }
inline void sincospi(double x, double* s, double* c) noexcept {
  *s = sinpi(x);
  *c = cospi(x);
}
inline void sincospif(float x, float* s, float* c) noexcept {
  *s = sinpif(x);
  *c = cospif(x);
}
inline float fdividef(float a, float b) noexcept { return a / b; }
inline double fdivide(double a, double b) noexcept { return a / b; }

// Lengths of vectors, and their reciprocals.
inline double norm3d(double a, double b, double c) noexcept { return hypot(hypot(a, b), c); }
inline double norm4d(double a, double b, double c, double d) noexcept { return hypot(hypot(a, b), hypot(c, d)); }
inline double norm(int n, const double* v) noexcept {
  double length = 0;
  for (int k = 0; k < n; ++k) length = hypot(length, v[k]);
  return length;
}
inline float normf(int n, const float* v) noexcept {
  double length = 0;
  for (int k = 0; k < n; ++k) length = hypot(length, double(v[k]));
  return float(length);
}
inline double rhypot(double a, double b) noexcept { return 1 / hypot(a, b); }
inline double rnorm3d(double a, double b, double c) noexcept { return 1 / norm3d(a, b, c); }
inline double rnorm4d(double a, double b, double c, double d) noexcept { return 1 / norm4d(a, b, c, d); }
inline double rnorm(int n, const double* v) noexcept { return 1 / norm(n, v); }
inline float rnormf(int n, const float* v) noexcept { return 1 / normf(n, v); }
CATENA_USER_FLOATS(rhypot, (float a, float b), (double(a), double(b)))
CATENA_USER_FLOATS(norm3d, (float a, float b, float c), (double(a), double(b), double(c)))
CATENA_USER_FLOATS(rnorm3d, (float a, float b, float c), (double(a), double(b), double(c)))
CATENA_USER_FLOATS(norm4d, (float a, float b, float c, float d), (double(a), double(b), double(c), double(d)))
CATENA_USER_FLOATS(rnorm4d, (float a, float b, float c, float d), (double(a), double(b), double(c), double(d)))
#undef CATENA_USER_UNARY
#undef CATENA_USER_FLOATS

#endif
