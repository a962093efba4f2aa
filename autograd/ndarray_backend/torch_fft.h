// The functions of torch.fft, on variables of real and of complex dtypes.
//
//   Variable spectrum = autograd::abs(autograd::fft::rfft(x));
//   fft::fft(x, 8)   fft::fft(x, {}, 0)   fft::fft(x, {.dim = 0, .norm = "ortho"})   fft::fftn(x, {4, 4}, {0, 1})
//
// A transform computes X[k] = sum_j x[j] exp(-2 pi i j k / n), its inverse x[j] = 1/n sum_k X[k] exp(2 pi i j k / n);
// `norm` moves the factor, as in nd::fft. Complex results have the dtype complex128 for float64, else complex64.
// Differentiable; the gradient of a complex variable is the derivative by the real part plus i times that by the
// imaginary part. Functions of pairs of real variables are in autograd::pairs (functions/fft.h).
//
// ValueError for a length below 1, another norm and equal axes, AxisError for an axis out of range, TypeError for a
// complex operand of rfft and ihfft.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>

#include <catena/autograd/ndarray_backend/tensor.h>
#include <catena/autograd/variable.h>

namespace autograd::fft {

struct FftOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<std::int64_t> n = {};  // numbers that are transformed (hfft, irfft: of the result); default: all
  int dim = -1;
  std::string_view norm = "backward";  // or "ortho", "forward"
};
// Lengths, or none.
struct OptionalShape : std::optional<Shape> {
  using std::optional<Shape>::optional;
  OptionalShape(const std::optional<Shape>& shape) : optional(shape) {}
  OptionalShape(std::initializer_list<catena::Integer> lengths) : optional(Shape(lengths)) {}
};
struct FftnOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  OptionalShape s = {};  // lengths along `dim`; -1: that of x. Default: those of x
  Axes dim = {};         // default: the last s.size() axes, or all (the functions with 2: the last two)
  std::string_view norm = "backward";
};

#define CATENA_TRANSFORM(name)                                                           \
  CATENA_EXPORT Variable name(const Variable& x, const FftOptions& options = {});        \
  inline Variable name(const Variable& x, const std::optional<std::int64_t>& n, int dim, \
                       std::string_view norm = "backward") {                             \
    return name(x, FftOptions{.n = n, .dim = dim, .norm = norm});                        \
  }                                                                                      \
  template <std::integral N> Variable name(const Variable& x, N n) {                     \
    return name(x, FftOptions{.n = static_cast<std::int64_t>(n)});                       \
  }
// Along one axis. fft, ifft: complex. rfft: the first n / 2 + 1 numbers of the transform of real ones; irfft: n real
// numbers of these (2 (length - 1) by default). hfft, ihfft: of signals that are Hermitian in time.
CATENA_TRANSFORM(fft)
CATENA_TRANSFORM(ifft)
CATENA_TRANSFORM(rfft)
CATENA_TRANSFORM(irfft)
CATENA_TRANSFORM(hfft)
CATENA_TRANSFORM(ihfft)
#undef CATENA_TRANSFORM
#define CATENA_TRANSFORM(name)                                                             \
  CATENA_EXPORT Variable name(const Variable& x, const FftnOptions& options = {});         \
  template <class S = std::initializer_list<catena::Integer>>                              \
  Variable name(const Variable& x, const std::type_identity_t<S>& s, const Axes& dim = {}, \
                std::string_view norm = "backward") {                                      \
    return name(x, FftnOptions{.s = Shape(s), .dim = dim, .norm = norm});                  \
  }
// Along several axes. Of rfftn, irfftn, hfftn and ihfftn the last axis is the one with half of the numbers.
CATENA_TRANSFORM(fftn)
CATENA_TRANSFORM(ifftn)
CATENA_TRANSFORM(rfftn)
CATENA_TRANSFORM(irfftn)
CATENA_TRANSFORM(hfftn)
CATENA_TRANSFORM(ihfftn)
CATENA_TRANSFORM(fft2)
CATENA_TRANSFORM(ifft2)
CATENA_TRANSFORM(rfft2)
CATENA_TRANSFORM(irfft2)
CATENA_TRANSFORM(hfft2)
CATENA_TRANSFORM(ihfft2)
#undef CATENA_TRANSFORM

// The frequencies of the numbers of a transform of n samples that are d apart, in cycles per unit of d: 0, 1, ..., then
// the negative ones, divided by n d; rfftfreq: those of rfft.
CATENA_EXPORT Variable fftfreq(std::int64_t n, double d = 1, const TensorOptions& options = {});
CATENA_EXPORT Variable rfftfreq(std::int64_t n, double d = 1, const TensorOptions& options = {});
inline Variable fftfreq(std::int64_t n, const TensorOptions& options) { return fftfreq(n, 1, options); }
inline Variable rfftfreq(std::int64_t n, const TensorOptions& options) { return rfftfreq(n, 1, options); }
// The distance by name: fftfreq(n, {.d = 0.5}).
struct FrequencyOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double d = 1;
  std::optional<Dtype> dtype = {};
  DeviceOption device = {};
  bool requires_grad = false;
  TensorOptions others() const { return {.dtype = dtype, .device = device, .requires_grad = requires_grad}; }
};
template <std::same_as<FrequencyOptions> O = FrequencyOptions> Variable fftfreq(std::int64_t n, const O& o) {
  return fftfreq(n, o.d, o.others());
}
template <std::same_as<FrequencyOptions> O = FrequencyOptions> Variable rfftfreq(std::int64_t n, const O& o) {
  return rfftfreq(n, o.d, o.others());
}
// Moves frequency 0 to the middle of the given axes (default: all), and back.
CATENA_EXPORT Variable fftshift(const Variable& x, const Axes& dim = {});
CATENA_EXPORT Variable ifftshift(const Variable& x, const Axes& dim = {});

}  // namespace autograd::fft
