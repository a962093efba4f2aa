// Points of the unit circle, for Fourier transforms on the host and on devices.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena {

struct Turn {
  double re, im;
};
ND_FN Turn operator*(Turn a, Turn b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

// exp(-2 pi i k / n) for 0 <= k < n. Sine and cosine are taken of at most an eighth of a turn, where they are most
// accurate: k is folded at a half, a quarter and an eighth of a turn.
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

}  // namespace catena
