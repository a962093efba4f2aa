// One stage of Fourier transforms, in the order of Stockham: a transform is one launch for each factor of its length.
#pragma once

#include <catena/kernels/device/lane.h>
#include <catena/kernels/turn.h>

namespace catena::device {

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
      if (p.radix <= 5) w = w * by;
      else w = turn(k * (j + p.m * (l + 1)) % (p.radix * p.m), p.radix * p.m);
    }
    to[2 * i] = R(p.scale) * re;
    to[2 * i + 1] = R(p.scale) * im;
  }
}

}  // namespace catena::device
