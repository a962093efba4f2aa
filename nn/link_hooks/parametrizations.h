// PyTorch's functions that let a layer compute with a normalized weight: the hooks WeightNormalization and
// SpectralNormalization with PyTorch's arguments and defaults.
//
//   auto conv = nn::utils::spectral_norm(nn::Conv2d(3, 8, 3));      // a layer by value is returned
//   nn::utils::weight_norm(net.l1, {.name = "weight", .dim = 0});   // a member of a model, which is changed
//   nn::utils::remove_weight_norm(net.l1);
//
// The names "weight" and "bias" are the parameters W and b, or gamma and beta. W stays the parameter that is trained
// (PyTorch's weight_v), W_g is weight_g. A layer without its input size gets W_g in its first call, which an
// optimizer's setup() must follow.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/named.h>
#include <catena/nn/link.h>

namespace nn::utils {

struct WeightNormOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::string name = "weight";
  std::optional<int> dim = 0;  // see WeightNormalization; nullopt and -1: one norm of all elements
};
struct SpectralNormOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::string name = "weight";
  int n_power_iterations = 1;
  double eps = 1e-12;
  std::optional<int> dim = {};  // default: 0, and 1 for transposed convolutions
};

namespace internal {
// The name of a parameter of the link: Chainer's for PyTorch's, unless the link has one of this name.
std::string name_in(const Link& link, const std::string& name);
// The key of a hook, by which the hooks of several parameters of a link differ.
std::string key_of(const std::string& hook, const std::string& parameter);
CATENA_EXPORT void add_weight_norm(Link& module, const WeightNormOptions& o);
CATENA_EXPORT void add_spectral_norm(Link& module, const SpectralNormOptions& o);
CATENA_EXPORT void remove_hook(const char* op, const char* hook, Link& module, const std::string& name);
template <class L>
concept LinkArgument = std::is_base_of_v<Link, std::remove_cvref_t<L>>;
}  // namespace internal

// Both return the module: a reference of a variable, the object of a temporary. KeyError for a parameter that it does
// not have and for a second call, ValueError for a dim that the parameter does not have, for n_power_iterations < 1 and
// eps < 0.
template <internal::LinkArgument L> L weight_norm(L&& module, const WeightNormOptions& options = {}) {
  internal::add_weight_norm(module, options);
  return std::forward<L>(module);
}
template <internal::LinkArgument L, std::convertible_to<std::string> S>
L weight_norm(L&& module, const S& name, std::optional<int> dim = 0) {
  return weight_norm(std::forward<L>(module), WeightNormOptions{.name = name, .dim = dim});
}
template <internal::LinkArgument L> L spectral_norm(L&& module, const SpectralNormOptions& options = {}) {
  internal::add_spectral_norm(module, options);
  return std::forward<L>(module);
}
template <internal::LinkArgument L, std::convertible_to<std::string> S>
L spectral_norm(L&& module, const S& name, int n_power_iterations = 1, double eps = 1e-12,
                std::optional<int> dim = {}) {
  return spectral_norm(
      std::forward<L>(module),
      SpectralNormOptions{.name = name, .n_power_iterations = n_power_iterations, .eps = eps, .dim = dim});
}

// The other way round: the parameter gets the values with which calls in test mode compute. ValueError for a module
// without such a normalization.
template <internal::LinkArgument L> L remove_weight_norm(L&& module, const std::string& name = "weight") {
  internal::remove_hook("remove_weight_norm", "WeightNormalization", module, name);
  return std::forward<L>(module);
}
template <internal::LinkArgument L> L remove_spectral_norm(L&& module, const std::string& name = "weight") {
  internal::remove_hook("remove_spectral_norm", "SpectralNormalization", module, name);
  return std::forward<L>(module);
}

namespace parametrizations {
using utils::spectral_norm;
using utils::weight_norm;
}  // namespace parametrizations

}  // namespace nn::utils
