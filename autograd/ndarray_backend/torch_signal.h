// Signals and samples with PyTorch's names: window functions, spectra over time, derivatives of samples, histograms.
// Operands are floating (TypeError).
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <catena/autograd/ndarray_backend/tensor.h>
#include <catena/autograd/variable.h>

namespace autograd {

// ---- windows of n samples: hann_window(n), hann_window(n, false), hann_window(n, {.dtype = nd::float64}) ----
// Periodic ones, the first n samples of a symmetric window of n + 1, unless periodic is false; computed in float64, in
// the dtype of the configuration unless another one is given. With r from -1 to 1 over the samples:
//   bartlett  1 - |r|                                hann    0.5 + 0.5 cos(pi r)
//   hamming   alpha + beta cos(pi r)                 kaiser  I0(beta sqrt(1 - r^2)) / I0(beta)
//   blackman  0.42 + 0.5 cos(pi r) + 0.08 cos(2 pi r)
// ValueError for a negative n.
#define CATENA_WINDOW(name)                                                                             \
  CATENA_EXPORT Variable name(std::int64_t n, bool periodic = true, const TensorOptions& options = {}); \
  template <std::same_as<TensorOptions> O> Variable name(std::int64_t n, const O& options) {            \
    return name(n, true, options);                                                                      \
  }
CATENA_WINDOW(bartlett_window)
CATENA_WINDOW(blackman_window)
CATENA_WINDOW(hann_window)
#undef CATENA_WINDOW
CATENA_EXPORT Variable hamming_window(std::int64_t n, bool periodic = true, double alpha = 0.54, double beta = 0.46,
                                      const TensorOptions& options = {});
CATENA_EXPORT Variable kaiser_window(std::int64_t n, bool periodic = true, double beta = 12,
                                     const TensorOptions& options = {});
template <std::same_as<TensorOptions> O> Variable hamming_window(std::int64_t n, const O& options) {
  return hamming_window(n, true, 0.54, 0.46, options);
}
template <std::same_as<TensorOptions> O> Variable kaiser_window(std::int64_t n, const O& options) {
  return kaiser_window(n, true, 12, options);
}
// With all arguments by name: hann_window(n, {.periodic = false}), kaiser_window(n, {.beta = 8}).
struct WindowOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  bool periodic = true;
  std::optional<Dtype> dtype = {};
  DeviceOption device = {};
  bool requires_grad = false;
};
struct HammingWindowOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  bool periodic = true;
  double alpha = 0.54, beta = 0.46;
  std::optional<Dtype> dtype = {};
  DeviceOption device = {};
  bool requires_grad = false;
};
struct KaiserWindowOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  bool periodic = true;
  double beta = 12;
  std::optional<Dtype> dtype = {};
  DeviceOption device = {};
  bool requires_grad = false;
};
#define CATENA_WINDOW(name, Options, ...)                                                                   \
  template <std::same_as<Options> O = Options> Variable name(std::int64_t n, const O& o) {                  \
    return name(n, o.periodic,                                                                              \
                __VA_ARGS__ __VA_OPT__(, )                                                                  \
                    TensorOptions{.dtype = o.dtype, .device = o.device, .requires_grad = o.requires_grad}); \
  }
CATENA_WINDOW(bartlett_window, WindowOptions)
CATENA_WINDOW(blackman_window, WindowOptions)
CATENA_WINDOW(hann_window, WindowOptions)
CATENA_WINDOW(hamming_window, HammingWindowOptions, o.alpha, o.beta)
CATENA_WINDOW(kaiser_window, KaiserWindowOptions, o.beta)
#undef CATENA_WINDOW

// ---- spectra over time ----
struct StftOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<std::int64_t> hop_length = {};  // between frames; default: n_fft / 4
  std::optional<std::int64_t> win_length = {};  // default: n_fft
  Variable window = {};                         // (win_length); default: ones
  bool center = true;                           // frame k is around the sample k hop_length, of the padded signal
  std::string_view pad_mode = "reflect";        // or "constant", "replicate", "circular"
  bool normalized = false;                      // divided by sqrt(n_fft)
  bool onesided = true;                         // n_fft / 2 + 1 frequencies, not n_fft
  bool return_complex = true;                   // false: the parts are a last axis of length 2
};
// The Fourier transforms of the windowed frames of a real signal (L) or (B, L): (frequencies, frames) or (B,
// frequencies, frames). Differentiable. ValueError for other ranks, a window of another length, a signal that is too
// short, and a hop below 1.
CATENA_EXPORT Variable stft(const Variable& x, std::int64_t n_fft, const StftOptions& options = {});
// The distance of frames by position: stft(x, 400, 160, {.window = w}).
template <std::integral I>
Variable stft(const Variable& x, std::int64_t n_fft, I hop_length, StftOptions options = {}) {
  options.hop_length = hop_length;
  return stft(x, n_fft, options);
}
struct IstftOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<std::int64_t> hop_length = {}, win_length = {};
  Variable window = {};
  bool center = true, normalized = false, onesided = true;
  std::optional<std::int64_t> length = {};  // of the signal; default: as the frames give
};
// The signal (L) or (B, L) of the complex spectra that stft returns, by least squares. Differentiable. ValueError where
// the windows add up to 0 at a sample.
CATENA_EXPORT Variable istft(const Variable& x, std::int64_t n_fft, const IstftOptions& options = {});
template <std::integral I>
Variable istft(const Variable& x, std::int64_t n_fft, I hop_length, IstftOptions options = {}) {
  options.hop_length = hop_length;
  return istft(x, n_fft, options);
}

// ---- derivatives of samples ----
// The distance of the samples: one number, or for each axis a number or the coordinates, a vector.
class GradientSpacing {
 public:
  template <class E>
  requires(std::is_arithmetic_v<E>) GradientSpacing(E step) : steps_{static_cast<double>(step)} {}
  GradientSpacing(const std::vector<double>& steps) : steps_(steps) {}
  GradientSpacing(const Variables& coordinates) : coordinates_(coordinates) {}
  const std::vector<double>& steps() const noexcept { return steps_; }
  const Variables& coordinates() const noexcept { return coordinates_; }

 private:
  std::vector<double> steps_;
  Variables coordinates_;
};
struct GradientOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  GradientSpacing spacing = 1;
  Axes dim = {};       // default: all
  int edge_order = 1;  // or 2: of the accuracy at the ends
};
// The estimates of the derivatives along each axis, by central differences: gradient(x, {.spacing = 0.1})[0].
// Differentiable. ValueError for another edge_order, fewer than edge_order + 1 samples, and spacings that do not fit.
CATENA_EXPORT Variables gradient(const Variable& x, const GradientOptions& options = {});

// ---- histograms: without a gradient ----
struct HistogramResult {
  Variable hist, bin_edges;
};
struct HistogramOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::vector<double> range = {};  // the least and the greatest edge; default: those of the elements
  Variable weight = {};            // of the shape of x
  bool density = false;            // the integral over all bins is 1
};
// The sums of weights, or numbers of elements, of equal bins or of bins with given edges, in the dtype of x.
CATENA_EXPORT HistogramResult histogram(const Variable& x, std::int64_t bins, const HistogramOptions& options = {});
CATENA_EXPORT HistogramResult histogram(const Variable& x, const Variable& edges, const HistogramOptions& options = {});
struct NamedHistogramOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::int64_t bins = 100;
  std::vector<double> range = {};
  Variable weight = {};
  bool density = false;
};
template <std::same_as<NamedHistogramOptions> O = NamedHistogramOptions>
HistogramResult histogram(const Variable& x, const O& o) {
  return histogram(x, o.bins, HistogramOptions{.range = o.range, .weight = o.weight, .density = o.density});
}
// Of points (N, D), in D axes.
struct HistogramddResult {
  Variable hist;
  Variables bin_edges;
};
struct HistogramddOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::vector<double> range = {};  // two numbers for each axis
  Variable weight = {};            // (N)
  bool density = false;
};
namespace internal {
CATENA_EXPORT HistogramddResult histogram_of_edges(const Variable& points, const Variables& edges,
                                                   const HistogramddOptions& options);
}
CATENA_EXPORT HistogramddResult histogramdd(const Variable& points, const std::vector<std::int64_t>& bins,
                                            const HistogramddOptions& options = {});
template <std::same_as<Variables> V>
HistogramddResult histogramdd(const Variable& points, const V& edges, const HistogramddOptions& options = {}) {
  return internal::histogram_of_edges(points, edges, options);
}

}  // namespace autograd
