// Discrete Fourier transforms, as in numpy.fft:
//
//   nd::fft::fft(a)              along the last axis
//   nd::fft::fft(a, {.axis = 0})
//   nd::fft::rfft(a, 512)        of the first 512 numbers, or of as many with zeros behind them
//
// A transform computes X[k] = sum_j x[j] exp(-2 pi i j k / n), its inverse x[j] = 1/n sum_k X[k] exp(2 pi i j k / n).
// `norm` is "backward" (1/n for the inverse), "ortho" (1/sqrt(n) for both) or "forward" (1/n for the transform).
// float16, bfloat16, float32 and complex64 are transformed in single precision, all other dtypes in double precision.
// Any length takes O(n log n) operations. On the CPU, results do not depend on the number of threads.
//
// ValueError for a length below 1, another norm, and an axis out of range.
//
// Thread safety: may be called from any thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include <catena/ndarray/core/array.h>

namespace nd::fft {

struct FftOptions {
  std::optional<std::int64_t> n = {};  // numbers that are transformed (hfft, irfft: of the result); default: all
  int axis = -1;
  std::string_view norm = "backward";
};
struct FftnOptions {
  std::optional<Shape> s = {};  // lengths along `axes`; -1: that of the array. Default: those of the array
  Axes axes = {};               // default: the last s.size() axes, or all
  std::string_view norm = "backward";
};

// Complex transforms. The result has the shape of `a`, with the length n along the axis.
CATENA_EXPORT Array fft(const Array& a, const FftOptions& options = {});
CATENA_EXPORT Array ifft(const Array& a, const FftOptions& options = {});
// Of real numbers (TypeError for complex ones): the first n / 2 + 1 numbers; the others are their conjugates.
CATENA_EXPORT Array rfft(const Array& a, const FftOptions& options = {});
// The inverse: n real numbers of n / 2 + 1 complex ones; default: n = 2 (length - 1). Imaginary parts of the first
// number and, if n is even, of the last one are ignored.
CATENA_EXPORT Array irfft(const Array& a, const FftOptions& options = {});
// Of signals that are Hermitian in time and have a real spectrum: the real spectrum of n numbers of n / 2 + 1 complex
// ones, and the inverse.
CATENA_EXPORT Array hfft(const Array& a, const FftOptions& options = {});
CATENA_EXPORT Array ihfft(const Array& a, const FftOptions& options = {});

// Along several axes, the last one first. ValueError if `s` and `axes` have different lengths. In rfftn and irfftn, the
// last axis is the one with half of the numbers.
CATENA_EXPORT Array fftn(const Array& a, const FftnOptions& options = {});
CATENA_EXPORT Array ifftn(const Array& a, const FftnOptions& options = {});
CATENA_EXPORT Array rfftn(const Array& a, const FftnOptions& options = {});
CATENA_EXPORT Array irfftn(const Array& a, const FftnOptions& options = {});
// The same with the last two axes as default.
CATENA_EXPORT Array fft2(const Array& a, const FftnOptions& options = {});
CATENA_EXPORT Array ifft2(const Array& a, const FftnOptions& options = {});
CATENA_EXPORT Array rfft2(const Array& a, const FftnOptions& options = {});
CATENA_EXPORT Array irfft2(const Array& a, const FftnOptions& options = {});

// The functions with n and axis by place: fft(a, 512), fft(a, 512, 0, "ortho").
#define ND_FFT_BY_PLACE(name)                                                                                     \
  template <std::integral N> Array name(const Array& a, N n, int axis = -1, std::string_view norm = "backward") { \
    return name(a, FftOptions{.n = static_cast<std::int64_t>(n), .axis = axis, .norm = norm});                    \
  }
ND_FFT_BY_PLACE(fft)
ND_FFT_BY_PLACE(ifft)
ND_FFT_BY_PLACE(rfft)
ND_FFT_BY_PLACE(irfft)
ND_FFT_BY_PLACE(hfft)
ND_FFT_BY_PLACE(ihfft)
#undef ND_FFT_BY_PLACE

// Returns the frequencies of the numbers of a transform of n samples that are d apart, in cycles per unit of d:
// 0, 1, ..., then the negative ones, divided by n d. rfftfreq: those of rfft. ValueError for n < 1.
CATENA_EXPORT Array fftfreq(std::int64_t n, double d = 1.0);
CATENA_EXPORT Array rfftfreq(std::int64_t n, double d = 1.0);
// Moves frequency 0 to the middle of the given axes (default: all), and back; exact inverses for odd lengths, too.
CATENA_EXPORT Array fftshift(const Array& x, const Axes& axes = {});
CATENA_EXPORT Array ifftshift(const Array& x, const Axes& axes = {});

}  // namespace nd::fft
