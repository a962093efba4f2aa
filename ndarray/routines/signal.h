// Convolution and correlation of signals, and window functions.
#pragma once

#include <cstdint>
#include <string_view>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/creation.h>

namespace nd {

struct ConvolveOptions {
  std::string_view mode = "full";
};
struct CorrelateOptions {
  std::string_view mode = "valid";
};
// The convolution of two signals: element k is the sum of a[j] v[k - j]. With n and m samples there are
//   full   n + m - 1 elements
//   same   max(n, m) elements, those in the middle
//   valid  max(n, m) - min(n, m) + 1 elements, those for which all samples of the shorter signal are used
// The dtype is the promotion of both. Integers wrap; for bools a product is "and" and a sum is "or". float16 and
// bfloat16 are computed in float32 and rounded once.
// Long signals of floats or complex numbers are transformed (nd::fft), unless one has an infinity or NaN; to find that
// out waits for the device. Their errors are relative to the largest elements of the result.
// ValueError for a rank above 1, a signal without samples, and another mode; TypeError for a null array.
CATENA_EXPORT Array convolve(const ArrayLike& a, const ArrayLike& v, const ConvolveOptions& options = {});
inline Array convolve(const ArrayLike& a, const ArrayLike& v, std::string_view mode) {
  return convolve(a, v, ConvolveOptions{.mode = mode});
}
// The correlation of two signals: element k is the sum of a[j + k] conj(v[j]), for k from 0 on if the mode is "valid"
// and a is the longer one. The other modes, dtypes and errors are those of convolve.
CATENA_EXPORT Array correlate(const ArrayLike& a, const ArrayLike& v, const CorrelateOptions& options = {});
inline Array correlate(const ArrayLike& a, const ArrayLike& v, std::string_view mode) {
  return correlate(a, v, CorrelateOptions{.mode = mode});
}

// Windows of M samples: symmetric, float64, with the value 1 in the middle; without elements for M < 1, and 1 for M =
// 1. With r = 2 k / (M - 1) - 1, which runs from -1 to 1:
//   bartlett  1 - |r|                            hanning   0.5 + 0.5 cos(pi r)
//   hamming   0.54 + 0.46 cos(pi r)              blackman  0.42 + 0.5 cos(pi r) + 0.08 cos(2 pi r)
//   kaiser    I0(beta sqrt(1 - r^2)) / I0(beta) with the modified Bessel function I0
CATENA_EXPORT Array bartlett(std::int64_t M);
CATENA_EXPORT Array blackman(std::int64_t M);
CATENA_EXPORT Array hamming(std::int64_t M);
CATENA_EXPORT Array hanning(std::int64_t M);
CATENA_EXPORT Array kaiser(std::int64_t M, double beta);

}  // namespace nd
