// Noise: dropout, dropped connections, kept states, samples of normal distributions.
//
// Every function draws anew at each call, from the thread's generator (autograd::seed), and can be given what it would
// draw, so that a call can be repeated.
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/functions/function_with_options.h>

namespace nn {

using autograd::Array;

struct DropoutOptions {
  double ratio = 0.5;
  std::optional<bool> train = {};  // default: the thread's train mode; when false x itself is returned
  Array mask = {};                 // what to multiply by in place of a mask that is drawn: the shape of x (ValueError)
};
// x mask / (1 - ratio); an element is kept if its uniform number is >= ratio. The mask is not stored: backward
// recomputes it from (seed, offset) of the thread's generator. ratio < 0 or >= 1: ValueError.
//   dropout(x)  dropout(x, 0.3)  dropout(x, 0.3, false)  dropout(x, {.ratio = 0.3, .train = true})
namespace internal {
CATENA_EXPORT Variable dropout(const Variable& x, const DropoutOptions& options);
}
inline constexpr FunctionWithOptions<internal::dropout, DropoutOptions, double, bool> dropout;

// auto [y, mask] = dropout_with_mask(x, {.ratio = 0.3}). It is no overload of dropout, so that dropout by itself names
// a function: Sequential(Linear(10), dropout).
struct DropoutResult {
  Variable y;
  Array mask;  // what x was multiplied by: 0 or 1 / (1 - ratio), of the dtype of x; ones when y is x itself
};
CATENA_EXPORT DropoutResult dropout_with_mask(const Variable& x, const DropoutOptions& options = {});

struct ZoneoutOptions {
  double ratio = 0.5;              // the probability of keeping h; outside of [0, 1]: ValueError
  std::optional<bool> train = {};  // default: the thread's train mode; when false x itself is returned
  Array keep = {};                 // bool, of the shape of h: true where h is kept, in place of what is drawn
};
// h with the probability `ratio`, else x, element by element. Equal shapes and dtypes (InvalidType).
CATENA_EXPORT Variable zoneout(const Variable& h, const Variable& x, const ZoneoutOptions& options = {});
// auto [y, keep] = zoneout(h, x, {.ratio = 0.3}, return_keep);
struct ReturnKeep {};
inline constexpr ReturnKeep return_keep{};
struct ZoneoutResult {
  Variable y;
  Array keep;  // bool, of the shape of h: where y is h; false everywhere when y is x itself
};
CATENA_EXPORT ZoneoutResult zoneout(const Variable& h, const Variable& x, const ZoneoutOptions& options, ReturnKeep);
template <std::convertible_to<double> R>
Variable zoneout(const Variable& h, const Variable& x, R ratio, std::optional<bool> train = {}) {
  return zoneout(h, x, ZoneoutOptions{.ratio = double(ratio), .train = train});
}

// mean + exp(ln_var / 2) eps with eps from the standard normal distribution: equal shapes. eps can be given.
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
  double ratio = 0.5;              // the probability of dropping a connection; outside of [0, 1): ValueError
  std::optional<bool> train = {};  // default: the thread's train mode; when false nothing is dropped
  Array mask = {};  // (N, outputs, inputs), of 0 and 1 or bool: the connections that are kept, applied in any mode
};
// A linear function whose connections are dropped for each sample anew: y_n = (W mask_n / (1 - ratio)) x_n + b. x is
// flattened to (N, inputs), W (outputs, inputs), b (outputs) or null. No ratio is divided by when train is false.
CATENA_EXPORT Variable simplified_dropconnect(const Variable& x, const Variable& W, const Variable& b = {},
                                              const DropconnectOptions& options = {});
// auto [y, mask] = simplified_dropconnect(x, W, b, {.ratio = 0.3}, return_mask);
struct ReturnMask {};
inline constexpr ReturnMask return_mask{};
struct DropconnectResult {
  Variable y;
  Array mask;  // bool (N, outputs, inputs): the connections that are kept; all of them where nothing is dropped
};
CATENA_EXPORT DropconnectResult simplified_dropconnect(const Variable& x, const Variable& W, const Variable& b,
                                                       const DropconnectOptions& options, ReturnMask);
template <std::convertible_to<double> R>
Variable simplified_dropconnect(const Variable& x, const Variable& W, const Variable& b, R ratio,
                                std::optional<bool> train = {}, const Array& mask = {}) {
  return simplified_dropconnect(x, W, b, DropconnectOptions{.ratio = double(ratio), .train = train, .mask = mask});
}

}  // namespace nn
