// Special functions in float64, for kernel bodies: gamma, digamma, beta, zeta, modified Bessel functions and the
// inverse of the error function. They use only sums, products, quotients and roots, which are rounded in the same way
// everywhere, so results have the same bits on every device. Coefficients are in special_coefficients.h.
#pragma once

#include <catena/kernels/exp_log.h>
#include <catena/kernels/numeric.h>
#include <catena/kernels/special_coefficients.h>

// A function that a CUDA kernel calls. Inlined into each other, the functions of gamma would occupy NVRTC for minutes.
#if CATENA_DEVICE
#define ND_CALLED __device__ __noinline__
#else
#define ND_CALLED ND_FN
#endif
// The longest functions, which contain several of the others. A source of CPU loops may define it so that one copy is
// called by all loops.
#ifndef ND_SHARED
#define ND_SHARED ND_CALLED
#endif

namespace catena::special {

// A number as a sum of two float64, of which the second is at most half a unit of the first.
struct Pair {
  double high, low;
};
ND_FN double multiply_add(double a, double b, double c) { return ::fma(a, b, c); }
// The exact sum.
ND_FN Pair sum_of(double a, double b) {
  const double s = a + b, of_b = s - a;
  return {s, (a - (s - of_b)) + (b - of_b)};
}
// The product with a pair, with some ten bits more than float64 has.
ND_FN Pair product_of(double a, Pair b) {
  const double p = a * b.high;
  return {p, multiply_add(a, b.high, -p) + a * b.low};
}
ND_FN double infinity() { return limits<double>::max(); }
ND_FN double nan() { return not_a_number<double>(); }

// ---- exponentials and logarithms ----------------------------------------------------------------
// e^(x + low), where `low` is small.
ND_FN double exp_of(double x, double low = 0) {
  using C = exact::constants<double>;
  if (!(x < 709.9)) return x != x ? x : infinity();
  if (x < -746) return 0;
  const double n = exact::nearest_integer(x * 1.44269504088896340735992468100);
  const double r = ((x - n * C::ln2_high()) - n * C::ln2_low()) + low, half = exact::nearest_integer(n * 0.5);
  return (1 + (r + r * r * exact::exp_rest(r))) * exact::power_of_two(half) * exact::power_of_two(n - half);
}

// The logarithm of a positive finite number x = 2^k m with m near 1, as 2 s + s (s^2 / 3 + ...) for
// s = (m - 1) / (m + 1).
ND_FN Pair log_pair(double x) {
  using C = exact::constants<double>;
  const bool subnormal = x < 2.2250738585072014e-308;
  const int64_t bits = bit_cast<int64_t>(subnormal ? x * 18014398509481984.0 : x);
  const int64_t k = (bits - 0x3fe6a09e00000000) >> 52;  // m is between the roots of 1/2 and 2
  const double m = bit_cast<double>(bits - (k << 52)), f = m - 1, power = double(k - (subnormal ? 54 : 0));
  const Pair t = sum_of(m, 1);
  const double s = f / t.high, s_low = (multiply_add(-s, t.high, f) - s * t.low) / t.high;
  const Pair main = sum_of(power * C::ln2_high(), 2 * s);
  const double low = main.low + ((2 * s_low + s * exact::log_rest(s * s)) + power * C::ln2_low());
  const double high = main.high + low;
  return {high, low - (high - main.high)};
}
ND_FN double log_of(double x) {
  if (x > 0 && x < infinity()) return log_pair(x).high;
  return x == 0 ? -infinity() : (x > 0 ? x : nan());
}
// log(1 + x) for a finite x > -1.
ND_FN double log1p_of(double x) {
  const Pair u = sum_of(1, x), log = log_pair(u.high);
  return log.high + (log.low + u.low / u.high);
}
// x^y for a positive finite x and a finite y.
ND_FN double power_of(double x, double y) {
  const Pair p = product_of(y, log_pair(x));
  return exp_of(p.high, p.low);
}

// ---- sines of multiples of pi -------------------------------------------------------------------
// sin(pi x) and cos(pi x): x is split exactly into quarters of a turn and a rest of at most 1/4.
ND_FN double quarter_sine(double x, int turned) {
  const double n = m::rint(2 * x), r = x - 0.5 * n, z = r * r;
  const int quarter = (int(n - 4 * m::floor(0.25 * n)) + turned) & 3;
  const double y = (quarter & 1) != 0 ? cosine_of_half_turns(z) : r * sine_of_half_turns(z);
  return quarter >= 2 ? -y : y;
}
ND_FN double sin_pi(double x) { return m::fabs(x) < infinity() ? quarter_sine(x, 0) : nan(); }
ND_FN double cos_pi(double x) { return m::fabs(x) < infinity() ? quarter_sine(x, 1) : nan(); }

// ---- gamma --------------------------------------------------------------------------------------
// log(gamma(x)) - log(2 pi) / 2 for x >= 10, by Stirling's series.
ND_CALLED Pair stirling(double x) {
  const Pair p = product_of(x - 0.5, log_pair(x)), s = sum_of(p.high, -x);
  return {s.high, (p.low + s.low) + stirling_rest(1 / x / x) / x};
}

// Below 23 the argument is moved to [2, 3) by factors, so that the factorials are exact; below -22 by reflection.
ND_CALLED double gamma(double x) {
  if (x != x || x == infinity()) return x;
  if (x > 171.7) return infinity();
  if (x == 0) return m::copysign(infinity(), x);
  if (x < 0 && x == m::floor(x)) return nan();
  if (x >= 23) {
    const Pair s = stirling(x);
    return 2.5066282746310005 * exp_of(s.high, s.low);
  }
  if (x < -22) {
    if (x < -190) return 0;
    const Pair s = stirling(-x);
    return exp_of(-s.high, -s.low) * -1.2533141373155003 / (x * sin_pi(x));
  }
  double above = 1, below = 1;
  for (; x >= 3; above *= x) x -= 1;
  for (; x < 2; x += 1) below *= x;
  return above * (1 + (x - 2) * gamma_rest(x - 2)) / below;
}

// log(|gamma(x)|). Near the roots 1 and 2 every term has the factor x - 1 or x - 2.
ND_CALLED double log_gamma_of_positive(double x) {
  if (x < 0.5) return (x * log_gamma_rest(x) - log1p_of(x)) - log_of(m::fabs(x));
  if (x < 1.5) return (x - 1) * log_gamma_rest(x - 1) - log1p_of(x - 1);
  if (x < 10) {
    double factors = 1;
    for (; x >= 3; factors *= x) x -= 1;
    return (x - 2) * log_gamma_rest(x - 2) + log_of(factors);
  }
  if (x > 2.556e305) return infinity();
  const Pair s = stirling(x);
  return s.high + (s.low + 0.918938533204672742);
}
ND_FN double log_gamma(double x) {
  if (x != x) return x;
  if (x <= 0 && x == m::floor(x)) return infinity();
  if (x > -0.5) return log_gamma_of_positive(x);
  return log_of(3.141592653589793 / (m::fabs(x) * m::fabs(sin_pi(x)))) - log_gamma_of_positive(-x);
}

// The derivative of log_gamma.
ND_FN double digamma(double x) {
  if (x != x || x == infinity()) return x;
  if (x == 0) return m::copysign(infinity(), -x);
  if (x < 0 && x == m::floor(x)) return nan();
  double sum = 0;
  if (x < 0) {
    sum = -3.141592653589793 * cos_pi(x) / sin_pi(x);
    x = 1 - x;
  }
  if (x >= 10) return ((log_of(x) - 0.5 / x) - digamma_tail(1 / x / x) / x / x) + sum;
  if (x < 1) {
    sum -= 1 / x;
    x += 1;
  }
  for (; x > 2; sum += 1 / x) x -= 1;
  return (x - 1.4616321449683622 - 9.549995429965697e-17) * digamma_rest(x - 1.5) + sum;
}

// ---- beta ---------------------------------------------------------------------------------------
// log(gamma(b) / gamma(a + b)) for b >= 10 and a > 0: the difference of two of Stirling's series, without the terms
// that cancel.
ND_CALLED double log_gamma_step(double a, double b) {
  const double c = a + b, rest = stirling_rest(1 / b / b) / b - stirling_rest(1 / c / c) / c;
  return rest - ((c - 0.5) * log1p_of(a / b) + a * (log_of(b) - 1));
}
// log(beta(a, b)) of 0 < a <= b, b >= 10 (Didonato and Morris, ACM Transactions on Mathematical Software 18, 1992).
ND_CALLED double log_beta_of_large(double a, double b) {
  if (a < 10) return log_gamma_of_positive(a) + log_gamma_step(a, b);
  const double h = a / b, c = a + b;
  const double rest = (stirling_rest(1 / a / a) / a + stirling_rest(1 / b / b) / b) - stirling_rest(1 / c / c) / c;
  return ((0.918938533204672742 - 0.5 * log_of(b)) + rest) + ((a - 0.5) * log_of(h / (1 + h)) - b * log1p_of(h));
}
// The rounding of a + b, which changes the logarithm of gamma(a + b) by its product with digamma(a + b), is taken into
// account.
ND_SHARED double beta(double a, double b) {
  if (a != a || b != b) return a + b;
  const double low = a < b ? a : b, high = a < b ? b : a;
  if (low > 0 && high == infinity()) return 0;
  const Pair c = sum_of(low, high);
  if (low > 0 && high >= 20) {
    if (c.high >= 1000)
      return low < 10 ? gamma(low) * exp_of(log_gamma_step(low, high)) : exp_of(log_beta_of_large(low, high));
    const Pair of_high = stirling(high), of_c = stirling(c.high), step = sum_of(of_high.high, -of_c.high);
    const double rest = step.low + (of_high.low - of_c.low) - c.low * (log_of(c.high) - 0.5 / c.high);
    if (low < 10) return gamma(low) * exp_of(step.high, rest);
    const Pair of_low = stirling(low), all = sum_of(step.high, of_low.high);
    return 2.5066282746310005 * exp_of(all.high, all.low + (of_low.low + rest));
  }
  if (c.high <= 0 && c.high == m::floor(c.high)) return gamma(low) * gamma(high) * 0;
  const double unrounded = c.high > 2 ? c.low * (log_of(c.high) - 0.5 / c.high) : 0;
  return gamma(high) / gamma(c.high) * gamma(low) * (1 - unrounded);
}
ND_SHARED double log_beta(double a, double b) {
  if (a != a || b != b) return a + b;
  const double low = a < b ? a : b, high = a < b ? b : a;
  if (low > 0 && high >= 10) return high == infinity() ? -infinity() : log_beta_of_large(low, high);
  if (low > 1e-300) return log_of(beta(low, high));
  return log_gamma(low) + log_gamma(high) - log_gamma(low + high);
}

// ---- zeta ---------------------------------------------------------------------------------------
// The sum of (q + n)^-x over n >= 0 for q > 0 and x > 0, x != 1: ten terms or more, until q + n is 10, and the rest by
// the Euler-Maclaurin formula.
ND_CALLED double zeta_sum(double x, double q) {
  double sum = 0, a = q;
  for (int n = 0; n < 10 || a < 10; ++n, a += 1) {
    const double term = power_of(a, -x);
    sum += term;
    if (!(term > sum * 1e-18)) return sum;
  }
  const double term = power_of(a, -x);
  return sum + (term * a / (x - 1) + (0.5 * term + x * term / a * zeta_corrections(x, a)));
}
// The Hurwitz zeta function of x > 1 and q > 0; infinite at the poles q = 0, -1, ..., NaN for other q below 0.
ND_FN double zeta(double x, double q) {
  if (x != x || q != q) return x + q;
  if (x == 1) return infinity();
  if (x < 1) return nan();
  if (q <= 0) return q == m::floor(q) ? infinity() : nan();
  if (q == infinity()) return 0;
  if (x == infinity()) return q == 1 ? 1 : (q < 1 ? infinity() : 0);
  if (q > 1e8) return (1 / (x - 1) + 1 / (2 * q)) * power_of(q, 1 - x);
  return zeta_sum(x, q);
}
// Riemann's zeta function; below 0 by its functional equation.
ND_FN double riemann_zeta(double x) {
  if (x != x) return x;
  if (x >= 1) return zeta(x, 1);
  if (x == 0) return -0.5;
  if (x > 0) return zeta_sum(x, 1);
  if (x == 2 * m::floor(0.5 * x)) return x == -infinity() ? nan() : 0;
  const double h = 1 - x, rest = 2 * sin_pi(0.5 * x) * zeta(h, 1);
  if (h < 23) return rest * power_of(6.283185307179586, -h) * gamma(h);
  const Pair s = stirling(h), p = product_of(-h, {1.8378770664093453, 1.4e-16}), both = sum_of(s.high, p.high);
  return rest * 2.5066282746310005 * exp_of(both.high, both.low + (s.low + p.low));
}

// ---- modified Bessel functions ------------------------------------------------------------------
ND_FN double bessel_i0e(double x) {
  const double a = m::fabs(x);
  return a <= 8 ? exp_of(-a) * i0_series(0.25 * a * a) : i0_tail(1 / a) / m::sqrt(a);
}
ND_FN double bessel_i1e(double x) {
  const double a = m::fabs(x);
  const double y = a <= 8 ? exp_of(-a) * (0.5 * a * i1_series(0.25 * a * a)) : i1_tail(1 / a) / m::sqrt(a);
  return m::copysign(y, x);
}
// e^a y, where e^a may be beyond the largest number.
ND_FN double scaled_by_exp(double y, double a) {
  const double root = exp_of(0.5 * a);
  return a > 720 ? infinity() : root * y * root;
}
ND_FN double bessel_i0(double x) {
  const double a = m::fabs(x);
  return a <= 8 ? i0_series(0.25 * a * a) : scaled_by_exp(i0_tail(1 / a) / m::sqrt(a), a);
}
ND_FN double bessel_i1(double x) {
  const double a = m::fabs(x);
  const double y = a <= 8 ? 0.5 * a * i1_series(0.25 * a * a) : scaled_by_exp(i1_tail(1 / a) / m::sqrt(a), a);
  return m::copysign(y, x);
}

// ---- inverse error functions --------------------------------------------------------------------
// erfinv(x) / x of w = -log(1 - x^2), a smooth function (Giles, GPU Computing Gems, Jade Edition, 2011).
ND_FN double erfinv_quotient(double w) {
  if (w < 6) return erfinv_low(w - 3);
  const double v = m::sqrt(w);
  if (v < 4) return erfinv_root0(v - 3.21875);
  if (v < 7) return erfinv_root1(v - 5.5);
  return v < 14 ? erfinv_root2(v - 10.5) : erfinv_root3(v - 21);
}
ND_FN double erfinv(double x) {
  const double a = m::fabs(x);
  if (!(a < 1)) return a == 1 ? m::copysign(infinity(), x) : nan();
  return x * erfinv_quotient(-log_of((1 - a) * (1 + a)));
}
ND_FN double erfcinv(double q) {
  if (!(q > 0 && q < 2)) return q == 0 ? infinity() : (q == 2 ? -infinity() : nan());
  return (1 - q) * erfinv_quotient(-log_of(q * (2 - q)));
}

// ---- the normal distribution --------------------------------------------------------------------
// erfc(-x / sqrt(2)) / 2. The rounding error of the argument is corrected to first order, because erfc falls steeply.
ND_FN double normal_cdf(double x) {
  const double a = x * -0.7071067811865476, y = 0.5 * m::erfc(a);
  if (!(m::fabs(x) < 40)) return y;
  const double low = multiply_add(x, -0.7071067811865476, -a) + x * 4.833646656726457e-17;
  return y - 0.5641895835477563 * m::exp(-a * a) * low;
}
// Its logarithm; far below 0 by the asymptotic series of the tail.
ND_FN double log_normal_cdf(double x) {
  if (x != x) return x;
  if (x > 0) return log1p_of(-normal_cdf(-x));
  if (x > -20) return log_of(normal_cdf(x));
  if (x == -infinity()) return x;
  const double z = 1 / (x * x);
  const double series = z * (-1 + z * (3 + z * (-15 + z * (105 + z * (-945 + z * 10395)))));
  return (-0.5 * x * x - 0.9189385332046728) - (log_of(-x) - log1p_of(series));
}

}  // namespace catena::special
