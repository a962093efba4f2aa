// One stage of Fourier transforms, in the order of Stockham: a transform is one launch for each factor of its length.
#pragma once

#include <catena/kernels/device/lane.h>

namespace catena::device {

struct Turn {
  double re, im;
};

// exp(-2 pi i k / n) for 0 <= k < n. Sine and cosine are taken of at most an eighth of a turn, where they are most
// accurate: n * f is the number k, folded at a half, a quarter and an eighth of a turn.
ND_FN Turn turn(int64_t k, int64_t n) {
  const bool below = 2 * k > n;  // the lower half of the circle
  if (below) k = n - k;
  const bool left = 4 * k > n;
  const int64_t quarter = left ? n - 2 * k : 2 * k;  // of 2 n
  const bool high = 4 * quarter > n;
  const double angle =
      3.141592653589793238462643383279502884 * double(high ? n - 2 * quarter : 2 * quarter) / (2 * double(n));
  const double c = ::cos(angle), s = ::sin(angle);
  Turn t = {high ? s : c, high ? c : s};
  if (left) t.re = -t.re;
  if (!below) t.im = -t.im;
  return t;
}

// to[q + s (radix j + k)] = scale w^(j k) sum_l from[q + s (j + m l)] exp(-2 pi i l k / radix) with w = exp(-2 pi i /
// (radix m)), for j < m, q < s; the conjugate factors for an inverse transform. One thread per result; neighbouring
// threads read neighbouring numbers.
template <class R> ND_FN void fft_stage(const FftStageParameters& p) {
  const R* from = static_cast<const R*>(p.from);
  R* to = static_cast<R*>(p.to);
  const int64_t end = p.rows * p.n, step = int64_t(gridDim.x) * kBlock;
  for (int64_t i = int64_t(blockIdx.x) * kBlock + threadIdx.x; i < end; i += step) {
    const int64_t row = i / p.n, q = i % p.n % p.s, block = i % p.n / p.s, k = block % p.radix, j = block / p.radix;
    const Turn by = turn(k, p.radix);
    Turn w = turn(j * k, p.radix * p.m);
    const R* a = from + 2 * (row * p.n + q + p.s * j);
    R re = 0, im = 0;
    for (int64_t l = 0; l < p.radix; ++l) {
      const R w_re = R(w.re), w_im = R(p.inverse != 0 ? -w.im : w.im);
      re += a[0] * w_re - a[1] * w_im;
      im += a[0] * w_im + a[1] * w_re;
      a += 2 * p.s * p.m;
      // Products of many factors would add up their errors.
      if (p.radix <= 5) w = {w.re * by.re - w.im * by.im, w.re * by.im + w.im * by.re};
      else w = turn(k * (j + p.m * (l + 1)) % (p.radix * p.m), p.radix * p.m);
    }
    to[2 * i] = R(p.scale) * re;
    to[2 * i + 1] = R(p.scale) * im;
  }
}

}  // namespace catena::device
