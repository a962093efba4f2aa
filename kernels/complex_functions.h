// Logarithms, powers, trigonometric and hyperbolic functions of complex numbers, and their inverses. Values at zeros,
// infinities and NaN are those of C99, annex G. Numbers of float32 are computed in float64 and rounded once.
#pragma once

#include <catena/kernels/complex_math.h>

namespace catena::m {

ND_FN double infinite() { return limits<double>::max(); }
ND_FN bool is_finite(double x) { return fabs(x) < infinite(); }
ND_FN bool is_infinite(double x) { return fabs(x) == infinite(); }
ND_FN double ln2() { return 0.693147180559945309417232121458; }
ND_FN double half_pi() { return 1.57079632679489661923132169164; }
// i z and -i z
ND_FN complex128 turned_left(complex128 z) { return {-z.im, z.re}; }
ND_FN complex128 turned_right(complex128 z) { return {z.im, -z.re}; }
// sqrt(x^2 + y^2) for numbers whose squares neither overflow nor vanish beside each other.
ND_FN double distance(double x, double y) { return abs(complex128(x, y)); }

// ---- logarithms ---------------------------------------------------------------------------------
// a^2 + b^2 + c. The squares and the sum have twice the digits of float64, so that digits may cancel.
ND_FN double sum_with_squares(double a, double b, double c) {
  const double p = a * a, p_low = ::fma(a, a, -p), q = b * b, q_low = ::fma(b, b, -q);
  const double s = p + c, s_part = s - p, s_low = (p - (s - s_part)) + (c - s_part);
  const double t = s + q, t_part = t - s, t_low = (s - (t - t_part)) + (q - t_part);
  return t + ((t_low + s_low) + (p_low + q_low));
}
// log |z|
ND_FN double log_modulus(complex128 z) {
  const double x = fabs(z.re), y = fabs(z.im);
  if (x == infinite() || y == infinite()) return infinite();
  const double large = x > y ? x : y, square = x * x + y * y;
  if (square >= 0.5 && square <= 3) return 0.5 * log1p(sum_with_squares(x, y, -1));
  const double scale = large > 0x1p500 ? 0x1p-600 : (large < 0x1p-450 ? 0x1p600 : 1);
  const double power = large > 0x1p500 ? 600 : (large < 0x1p-450 ? -600 : 0);
  const double u = x * scale, v = y * scale;
  return 0.5 * log(u * u + v * v) + power * ln2();
}
ND_FN complex128 log(complex128 z) { return {log_modulus(z), atan2(z.im, z.re)}; }
ND_FN complex128 log2(complex128 z) {
  const complex128 w = log(z);
  return {w.re * 1.44269504088896340735992468100, w.im * 1.44269504088896340735992468100};
}
ND_FN complex128 log10(complex128 z) {
  const complex128 w = log(z);
  return {w.re * 0.434294481903251827651128918917, w.im * 0.434294481903251827651128918917};
}
// |1 + z|^2 - 1 = x^2 + y^2 + 2 x near 0.
ND_FN complex128 log1p(complex128 z) {
  const complex128 next(1 + z.re, z.im);
  if (fabs(z.re) > 0.5 || fabs(z.im) > 0.5 || z.re != z.re || z.im != z.im) return log(next);
  return {0.5 * log1p(sum_with_squares(z.re, z.im, 2 * z.re)), atan2(z.im, next.re)};
}

// ---- exponentials -------------------------------------------------------------------------------
ND_FN complex128 exp2(complex128 z) {
  const double angle = z.im * ln2(), size = exp2(z.re);
  if (z.im == 0) return {size, z.im};
  if (!is_finite(z.im) || !is_finite(z.re)) return exp(complex128(z.re, z.im));
  if (size < infinite()) return {size * cos(angle), size * sin(angle)};
  const double half = exp2(z.re * 0.5);
  return {half * cos(angle) * half, half * sin(angle) * half};
}
// e^x cos(y) - 1 = (e^x - 1) cos(y) - 2 sin(y / 2)^2
ND_FN complex128 expm1(complex128 z) {
  if (z.im == 0) return {expm1(z.re), z.im};
  const complex128 w = exp(z);
  if (!is_finite(z.im) || !(z.re < 40) || z.re == -infinite()) return {w.re - 1, w.im};
  const double s = sin(z.im * 0.5);
  return {expm1(z.re) * cos(z.im) - 2 * s * s, w.im};
}

// ---- hyperbolic and trigonometric functions ----------------------------------------------------------
// The parts cosh(x) cos(y) and sinh(x) sin(y), or sinh(x) cos(y) and cosh(x) sin(y). From 22 on, cosh and |sinh| are
// e^|x| / 2, which is applied in two factors, because a product may be finite even if e^|x| is not.
struct HyperbolicParts {
  double even, odd;  // cosh(x) f, sinh(x) g
  ND_FN HyperbolicParts(double x, double f, double g) {
    if (fabs(x) < 22) {
      even = cosh(x) * f;
      odd = sinh(x) * g;
    } else {
      const double half = exp(fabs(x) * 0.5), sign = copysign(0.5, x);
      even = half * (0.5 * f) * half;
      odd = half * (sign * g) * half;
    }
  }
};
ND_FN complex128 sinh(complex128 z) {
  const double x = z.re, y = z.im;
  if (y == 0) return {sinh(x), y};
  if (!is_finite(y)) {
    const double nan = y - y;
    return {x == 0 || is_infinite(x) ? x : nan, nan};
  }
  if (x == 0) return {x, sin(y)};
  if (x != x) return {x, x};
  const HyperbolicParts parts(x, sin(y), cos(y));
  return {parts.odd, parts.even};
}
ND_FN complex128 cosh(complex128 z) {
  const double x = z.re, y = z.im;
  if (y == 0) return {cosh(x), x != x ? y : copysign(1.0, x) * y};
  if (!is_finite(y)) {
    const double nan = y - y;
    return {is_infinite(x) ? infinite() : nan, x == 0 ? x : nan};
  }
  if (x == 0) return {cos(y), copysign(0.0, x) * sin(y)};
  if (x != x) return {x, x};
  const HyperbolicParts parts(x, cos(y), sin(y));
  return {parts.even, parts.odd};
}
// Kahan: Branch cuts for complex elementary functions, in: The State of the Art in Numerical Analysis, 1987.
ND_FN complex128 tanh(complex128 z) {
  const double x = z.re, y = z.im;
  if (is_infinite(x)) return {copysign(1.0, x), copysign(0.0, is_finite(y) ? sin(y) * cos(y) : y)};
  if (y == 0) return {tanh(x), y};
  if (!is_finite(y)) {
    const double nan = y - y;
    return {x == 0 ? x : nan, nan};
  }
  if (x != x) return {x, x};
  if (fabs(x) >= 22) {
    const double e = exp(-fabs(x));
    return {copysign(1.0, x), 4 * sin(y) * cos(y) * e * e};
  }
  const double t = tan(y), beta = 1 + t * t, s = sinh(x), scale = 1 / (1 + beta * s * s);
  return {beta * sqrt(1 + s * s) * s * scale, t * scale};
}
ND_FN complex128 sin(complex128 z) { return turned_right(sinh(turned_left(z))); }
ND_FN complex128 cos(complex128 z) { return cosh(turned_left(z)); }
ND_FN complex128 tan(complex128 z) { return turned_right(tanh(turned_left(z))); }

// ---- inverse functions ----------------------------------------------------------------------------
// Hull, Fairgrieve, Tang: Implementing the complex arcsine and arccosine functions using exception handling, ACM
// Transactions on Mathematical Software 23(3), 1997. For x, y >= 0, asin(x + iy) = s + i h and acos(x + iy) = c - i h.
struct ArcParts {
  double sine, cosine, height;

  ND_FN ArcParts(double x, double y) {
    constexpr double largest = 0x1p507, least = 0x1p-509;  // whose squares are far from overflow and underflow
    if (x > least && x < largest && y > least && y < largest) usual(x, y);
    else if (y <= 0x1p-52 * fabs(x - 1)) near_axis(x, y);
    else if (y <= least) near_one(y);
    else if (0x1p-52 * y - 1 >= x) far_up(x, y);
    else if (x > 1) far(x, y);
    else beside_zero(x, y);
  }

 private:
  ND_FN void usual(double x, double y) {
    const double r = distance(x + 1, y), s = distance(x - 1, y), a = 0.5 * (r + s), b = x / a, y2 = y * y;
    if (b <= 0.6417) {
      sine = asin(b);
      cosine = acos(b);
    } else {
      const double t = a + x;
      const double root = x <= 1 ? sqrt(0.5 * t * (y2 / (r + x + 1) + (s + (1 - x))))
                                 : y * sqrt(0.5 * (t / (r + x + 1) + t / (s + (x - 1))));
      sine = atan(x / root);
      cosine = atan(root / x);
    }
    if (a <= 1.5) {
      const double above = 0.5 * (y2 / (r + x + 1) + (x < 1 ? y2 / (s + (1 - x)) : s + (x - 1)));
      height = log1p(above + sqrt(above * (a + 1)));
    } else {
      height = log(a + sqrt(a * a - 1));
    }
  }
  ND_FN void near_axis(double x, double y) {
    if (x < 1) {
      sine = asin(x);
      cosine = acos(x);
      height = y / sqrt((1 - x) * (1 + x));
    } else {
      const double product = sqrt(x - 1) * sqrt(x + 1);
      sine = half_pi();
      cosine = y == 0 ? y : y / product;
      height = x < 0x1p500 ? log1p((x - 1) + product) : ln2() + log(x);
    }
  }
  ND_FN void near_one(double y) {
    height = sqrt(y);
    cosine = height;
    sine = half_pi() - height;
  }
  ND_FN void far_up(double x, double y) {
    sine = x / y;
    cosine = half_pi();
    height = ln2() + log(y);
  }
  ND_FN void far(double x, double y) {
    const double ratio = x / y;
    sine = atan(ratio);
    cosine = atan(y / x);
    height = ln2() + log(y) + 0.5 * log1p(ratio * ratio);
  }
  ND_FN void beside_zero(double x, double y) {
    const double a = sqrt(1 + y * y);
    sine = x / a;
    cosine = half_pi();
    height = 0.5 * log1p(2 * y * (y + a));
  }
};
ND_FN complex128 asin(complex128 z) {
  const double x = fabs(z.re), y = fabs(z.im);
  if (x == infinite() || y == infinite()) return {copysign(atan2(x, y), z.re), copysign(infinite(), z.im)};
  if (x != x || y != y) return {x == 0 ? z.re : x + y, x + y};
  const ArcParts parts(x, y);
  return {copysign(parts.sine, z.re), copysign(parts.height, z.im)};
}
ND_FN complex128 acos(complex128 z) {
  const double x = fabs(z.re), y = fabs(z.im);
  if (x == infinite() || y == infinite()) return {atan2(y, z.re), -copysign(infinite(), z.im)};
  if (x != x || y != y) return {x == 0 ? half_pi() : x + y, x + y};
  const ArcParts parts(x, y);
  const double angle = (bit_cast<uint64_t>(z.re) >> 63) != 0 ? 2 * half_pi() - parts.cosine : parts.cosine;
  return {angle, -copysign(parts.height, z.im)};
}
ND_FN complex128 asinh(complex128 z) { return turned_right(asin(turned_left(z))); }
ND_FN complex128 acosh(complex128 z) {
  const complex128 w = acos(z);
  if (z.re != z.re && z.im != z.im) return w;
  return {w.im != w.im ? w.im : fabs(w.im), copysign(w.re, z.im)};
}
// Half of log((1 + z) / (1 - z)). The angle is pi / 2 where |z| is large.
ND_FN complex128 atanh(complex128 z) {
  const double x = fabs(z.re), y = fabs(z.im);
  if (x == infinite() || y == infinite()) return {copysign(0.0, z.re), copysign(half_pi(), z.im) + (y != y ? y : 0)};
  if (x != x || y != y) return {x == 0 ? z.re : x + y, x + y};
  double height, angle;
  if (x > 0x1p200 || y > 0x1p200) {
    const double larger = x > y ? x : y, u = x / larger, v = y / larger;
    height = u / (u * u + v * v) / larger;
    angle = half_pi();
  } else {
    const double gap = 1 - x, square = gap * gap + y * y;
    if (x == 1 && y < 0x1p-500) height = y == 0 ? infinite() : 0.5 * (ln2() - log(y));
    else height = 0.25 * log1p(4 * x / square);
    angle = 0.5 * atan2(2 * y, gap * (1 + x) - y * y);
  }
  return {copysign(height, z.re), copysign(angle, z.im)};
}
ND_FN complex128 atan(complex128 z) { return turned_right(atanh(turned_left(z))); }

// ---- powers -----------------------------------------------------------------------------------------
// Whole exponents below 100 are computed by products, as NumPy does. 0^w is 0 if the real part of w is positive, and
// NaN otherwise; z^0 is 1.
ND_FN complex128 power_of_integer(complex128 z, int n) {
  complex128 result(1, 0), factor = z;
  for (int k = n < 0 ? -n : n; k != 0; k >>= 1) {
    if ((k & 1) != 0) result = result * factor;
    factor = factor * factor;
  }
  return n < 0 ? complex128(1, 0) / result : result;
}
ND_FN complex128 pow(complex128 z, complex128 w) {
  if (w.re == 0 && w.im == 0) return {1, 0};
  if (z.re == 0 && z.im == 0) {
    const double nan = infinite() - infinite();
    return w.re > 0 ? complex128(0, 0) : complex128(nan, nan);
  }
  if (w.im == 0 && fabs(w.re) < 100 && trunc(w.re) == w.re) return power_of_integer(z, int(w.re));
  return exp(w * log(z));
}

#define CATENA_OF_COMPLEX64(name) \
  ND_FN complex64 name(complex64 z) { return complex64(name(complex128(z))); }
// clang-format off
CATENA_OF_COMPLEX64(log)
CATENA_OF_COMPLEX64(log2)
CATENA_OF_COMPLEX64(log10)
CATENA_OF_COMPLEX64(log1p)
CATENA_OF_COMPLEX64(exp2)
CATENA_OF_COMPLEX64(expm1)
CATENA_OF_COMPLEX64(sinh)
CATENA_OF_COMPLEX64(cosh)
CATENA_OF_COMPLEX64(tanh)
CATENA_OF_COMPLEX64(sin)
CATENA_OF_COMPLEX64(cos)
CATENA_OF_COMPLEX64(tan)
CATENA_OF_COMPLEX64(asin)
CATENA_OF_COMPLEX64(acos)
CATENA_OF_COMPLEX64(atan)
CATENA_OF_COMPLEX64(asinh)
CATENA_OF_COMPLEX64(acosh)
CATENA_OF_COMPLEX64(atanh)
// clang-format on
#undef CATENA_OF_COMPLEX64
ND_FN complex64 pow(complex64 z, complex64 w) { return complex64(pow(complex128(z), complex128(w))); }

}  // namespace catena::m
