// Noise: dropout, dropped connections, kept states, samples from normal distributions.
//
// Every function draws new random numbers at each call, from the thread's generator (autograd::seed). The caller can
// pass the numbers instead, so that a call can be repeated.
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/functions/function_with_options.h>

namespace nn {

using autograd::Array;

struct DropoutOptions {
  double ratio = 0.5;
  std::optional<bool> train = {};  // default: the thread's train mode; if false, returns x itself
  Array mask = {};                 // factor of x, used instead of a random mask; must have the shape of x (ValueError)
  std::optional<double> p = {};    // PyTorch's names of ratio and train
  std::optional<bool> training = {};
  bool inplace = false;  // without effect: results are new arrays
};
// x mask / (1 - ratio); an element is kept if its uniform number is >= ratio. The mask is not stored: backward
// recomputes it from (seed, offset) of the thread's generator. ratio < 0 or >= 1: ValueError.
//   dropout(x)  dropout(x, 0.3)  dropout(x, 0.3, false)  dropout(x, {.ratio = 0.3, .train = true})
namespace internal {
CATENA_EXPORT Variable dropout(const Variable& x, const DropoutOptions& options);
}
inline constexpr FunctionWithOptions<internal::dropout, DropoutOptions, double, bool> dropout;

// auto [y, mask] = dropout_with_mask(x, {.ratio = 0.3}). It is not an overload of dropout, so that the name dropout is
// unambiguous in Sequential(Linear(10), dropout).
struct DropoutResult {
  Variable y;
  Array mask;  // the factor of x: 0 or 1 / (1 - ratio), in the dtype of x; ones if y is x itself
};
CATENA_EXPORT DropoutResult dropout_with_mask(const Variable& x, const DropoutOptions& options = {});

// ---- dropout of whole parts ----
struct SharedDropoutOptions {
  double ratio = 0.5;              // ValueError outside [0, 1)
  std::optional<bool> train = {};  // default: the thread's train mode; if false, returns x itself
  std::optional<double> p = {};    // PyTorch's names of ratio and train
  std::optional<bool> training = {};
  bool inplace = false;  // without effect: results are new arrays
};
struct TimeSharedDropoutOptions {
  double ratio = 0.5;
  int axis = 0;
  std::optional<bool> train = {};
};
namespace internal {
CATENA_EXPORT Variable channel_dropout(const Variable& x, const SharedDropoutOptions& options);
CATENA_EXPORT Variable drop_path(const Variable& x, const SharedDropoutOptions& options);
CATENA_EXPORT Variable time_shared_dropout(const Variable& x, const TimeSharedDropoutOptions& options);
CATENA_EXPORT Variable alpha_dropout(const Variable& x, const SharedDropoutOptions& options);
CATENA_EXPORT Variable feature_alpha_dropout(const Variable& x, const SharedDropoutOptions& options);
CATENA_EXPORT Variable dropout1d(const Variable& x, const SharedDropoutOptions& options);
CATENA_EXPORT Variable dropout3d(const Variable& x, const SharedDropoutOptions& options);
}  // namespace internal
// Like dropout, but drops whole channels of x (N, C, ...): PyTorch's dropout1d to dropout3d. At least 2 axes
// (InvalidType).
inline constexpr FunctionWithOptions<internal::channel_dropout, SharedDropoutOptions, double, bool> channel_dropout;
// Drops whole examples of x (N, ...), such as the results of a residual branch: stochastic depth (Huang et al. 2016).
// At least 1 axis (InvalidType).
inline constexpr FunctionWithOptions<internal::drop_path, SharedDropoutOptions, double, bool> drop_path;
// One mask for all positions along an axis: for x (T, N, C) the same units of a sequence at all times (Gal and
// Ghahramani 2016). time_shared_dropout(x, 0.3, 1) for x (N, T, C). InvalidType for an axis out of range.
inline constexpr FunctionWithOptions<internal::time_shared_dropout, TimeSharedDropoutOptions, double, int, bool>
    time_shared_dropout;
// For networks of selu: dropped elements are -1.7581, the limit of selu, and the result is scaled and shifted so that
// mean 0 and variance 1 stay (Klambauer et al. 2017).
inline constexpr FunctionWithOptions<internal::alpha_dropout, SharedDropoutOptions, double, bool> alpha_dropout;
// alpha_dropout of whole channels of x (N, C, ...).
inline constexpr FunctionWithOptions<internal::feature_alpha_dropout, SharedDropoutOptions, double, bool>
    feature_alpha_dropout;
// channel_dropout of x with a batch or without one: dropout1d of (N, C, L) and (C, L), dropout3d of (N, C, D, H, W) and
// (C, D, H, W). dropout2d is channel_dropout, also in PyTorch. InvalidType for other ranks.
inline constexpr FunctionWithOptions<internal::dropout1d, SharedDropoutOptions, double, bool> dropout1d;
inline constexpr auto& dropout2d = channel_dropout;
inline constexpr FunctionWithOptions<internal::dropout3d, SharedDropoutOptions, double, bool> dropout3d;

struct GumbelSoftmaxOptions {
  double tau = 0.1;  // positive (ValueError)
  int axis = 1;
  bool hard = false;            // the sample as 0 and 1, with the gradient of the soft one
  std::optional<int> dim = {};  // PyTorch's name of axis
};
struct RReLUOptions {
  double lower = 1.0 / 8, upper = 1.0 / 3;  // ValueError unless lower <= upper
  std::optional<bool> train = {};           // default: the thread's train mode
  Array r = {};                             // slopes for training or not, of the shape of x (ValueError)
  std::optional<bool> training = {};        // PyTorch's name of train
};
namespace internal {
CATENA_EXPORT Variable gumbel_softmax(const Variable& log_pi, const GumbelSoftmaxOptions& options);
CATENA_EXPORT Variable rrelu(const Variable& x, const RReLUOptions& options);
struct GumbelSoftmaxFunction : FunctionWithOptions<gumbel_softmax, GumbelSoftmaxOptions, double, int, bool> {
  using FunctionWithOptions::operator();
  template <std::same_as<bool> B>
  Variable operator()(const Variable& logits, double tau, B hard, double /*eps*/ = 1e-10, int dim = -1) const {
    return gumbel_softmax(logits, {.tau = tau, .axis = dim, .hard = hard});
  }
};
}  // namespace internal
// softmax((log_pi + g) / tau) along an axis, where g is drawn from the Gumbel distribution: nearly a sample, as a
// vector with one 1, of the classes with the logarithms of probabilities log_pi, which need not be normalised (Jang et
// al. 2017). Floating, any rank of at least 2 (InvalidType).
//   gumbel_softmax(x)  gumbel_softmax(x, 0.5, -1, true)  gumbel_softmax(x, {.hard = true})
//   gumbel_softmax(x, 0.5, true) is PyTorch's order of arguments, along the last axis; eps, the next one, has no
//   effect.
inline constexpr internal::GumbelSoftmaxFunction gumbel_softmax;
// x where x >= 0, else r x, where the slopes r are drawn evenly from [lower, upper); if not in training, they are
// (lower + upper) / 2.
inline constexpr FunctionWithOptions<internal::rrelu, RReLUOptions, double, double> rrelu;

struct ZoneoutOptions {
  double ratio = 0.5;              // the probability of keeping h; ValueError outside [0, 1]
  std::optional<bool> train = {};  // default: the thread's train mode; if false, returns x itself
  Array keep = {};                 // bool, of the shape of h: true where h is kept; replaces the random choice
};
// Returns, element by element, h with the probability `ratio`, else x. Equal shapes and dtypes (InvalidType).
CATENA_EXPORT Variable zoneout(const Variable& h, const Variable& x, const ZoneoutOptions& options = {});
// auto [y, keep] = zoneout(h, x, {.ratio = 0.3}, return_keep);
struct ReturnKeep {};
inline constexpr ReturnKeep return_keep{};
struct ZoneoutResult {
  Variable y;
  Array keep;  // bool, of the shape of h: where y is h; false everywhere if y is x itself
};
CATENA_EXPORT ZoneoutResult zoneout(const Variable& h, const Variable& x, const ZoneoutOptions& options, ReturnKeep);
template <std::convertible_to<double> R>
Variable zoneout(const Variable& h, const Variable& x, R ratio, std::optional<bool> train = {}) {
  return zoneout(h, x, ZoneoutOptions{.ratio = double(ratio), .train = train});
}

// mean + exp(ln_var / 2) eps, where eps is drawn from the standard normal distribution, or given. Equal shapes.
CATENA_EXPORT Variable gaussian(const Variable& mean, const Variable& ln_var, const Array& eps = {});
// auto [y, eps] = gaussian(mean, ln_var, {}, return_eps);
struct ReturnEps {};
inline constexpr ReturnEps return_eps{};
struct GaussianResult {
  Variable y;
  Array eps;
};
CATENA_EXPORT GaussianResult gaussian(const Variable& mean, const Variable& ln_var, const Array& eps, ReturnEps);

struct DropconnectOptions {
  double ratio = 0.5;              // the probability of dropping a connection; ValueError outside [0, 1)
  std::optional<bool> train = {};  // default: the thread's train mode; if false, nothing is dropped
  Array mask = {};  // (N, outputs, inputs), of 0 and 1 or bool: the kept connections; applied in any mode
};
// A linear function that drops other connections for each sample: y_n = (W mask_n / (1 - ratio)) x_n + b. x is
// flattened to (N, inputs); W (outputs, inputs), b (outputs) or null. If train is false, there is no division.
CATENA_EXPORT Variable simplified_dropconnect(const Variable& x, const Variable& W, const Variable& b = {},
                                              const DropconnectOptions& options = {});
// auto [y, mask] = simplified_dropconnect(x, W, b, {.ratio = 0.3}, return_mask);
struct ReturnMask {};
inline constexpr ReturnMask return_mask{};
struct DropconnectResult {
  Variable y;
  Array mask;  // bool (N, outputs, inputs): the kept connections; all true if nothing is dropped
};
CATENA_EXPORT DropconnectResult simplified_dropconnect(const Variable& x, const Variable& W, const Variable& b,
                                                       const DropconnectOptions& options, ReturnMask);
template <std::convertible_to<double> R>
Variable simplified_dropconnect(const Variable& x, const Variable& W, const Variable& b, R ratio,
                                std::optional<bool> train = {}, const Array& mask = {}) {
  return simplified_dropconnect(x, W, b, DropconnectOptions{.ratio = double(ratio), .train = train, .mask = mask});
}

}  // namespace nn
