// PyTorch's module torch.nn.utils.prune: elements of parameters that are 0 and stay 0 in training.
//
//   nn::utils::prune::l1_unstructured(net.fc1, "weight", {.amount = 0.3});
//   nn::utils::prune::remove(net.fc1, "weight");                            // the zeros stay, the mask goes
//
// A pruned parameter keeps its name: its elements become 0, the mask is a buffer of the module ("W_mask" of W) and is
// saved with it, and gradients of the elements are 0. The names "weight" and "bias" are the parameters W and b, or
// gamma and beta.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/named.h>
#include <catena/nn/link_hooks/weight_hook.h>

namespace nn::link_hooks {

// Lets a link compute with the product of a parameter and its mask.
class CATENA_EXPORT Pruning : public WeightHook {
 public:
  explicit Pruning(std::string weight_name) : WeightHook(std::move(weight_name), 0) {}
  std::string name() const override { return "Pruning"; }

 protected:
  Variable weight(Link& link, const Variable& W) const override;
  std::vector<std::string> added_names() const override { return {weight_name() + "_mask"}; }
};

}  // namespace nn::link_hooks

namespace nn::utils::prune {

// How many of the elements that are left become 0: a number of them, or a fraction between 0 and 1 (ValueError).
struct Amount {
  double value = 0;
  bool is_number = false;
  Amount() = default;
  template <class T>
  Amount(T v) requires std::is_arithmetic_v<T> : value(double(v)), is_number(std::is_integral_v<T>) {}
};

struct PruneOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::string name = "weight";
  Amount amount = {};
};
struct StructuredPruneOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::string name = "weight";
  Amount amount = {};
  double n = 2;  // the order of the norm, positive, also infinity
  int dim = -1;
};

// All of them return the module. KeyError for a parameter that it does not have; RuntimeError for one without a shape.
// Without elements that become 0, such as before masks of an own.
CATENA_EXPORT Link& identity(Link& module, const std::string& name = "weight");
// The elements with the least absolute values.
CATENA_EXPORT Link& l1_unstructured(Link& module, const std::string& name, Amount amount);
CATENA_EXPORT Link& random_unstructured(Link& module, const std::string& name, Amount amount);
// The slices along an axis with the least norms. ValueError for an axis that the parameter does not have, and for an
// order n that is not positive.
CATENA_EXPORT Link& ln_structured(Link& module, const std::string& name, Amount amount, double n, int dim);
CATENA_EXPORT Link& random_structured(Link& module, const std::string& name, Amount amount, int dim);
// The elements where the mask, of the shape of the parameter (ValueError), is 0.
CATENA_EXPORT Link& custom_from_mask(Link& module, const std::string& name, const Variable& mask);
// l1_unstructured(fc, "weight", {.amount = 0.5}), l1_unstructured(fc, {.name = "bias", .amount = 3}), and so on
#define CATENA_PRUNE_OPTIONS(function, Options, ...)                                                               \
  template <std::same_as<Options> O = Options> Link& function(Link& module, const std::string& name, const O& o) { \
    return function(module, name, __VA_ARGS__);                                                                    \
  }                                                                                                                \
  template <std::same_as<Options> O = Options> Link& function(Link& module, const O& o) {                          \
    return function(module, o.name, __VA_ARGS__);                                                                  \
  }
CATENA_PRUNE_OPTIONS(l1_unstructured, PruneOptions, o.amount)
CATENA_PRUNE_OPTIONS(random_unstructured, PruneOptions, o.amount)
CATENA_PRUNE_OPTIONS(ln_structured, StructuredPruneOptions, o.amount, o.n, o.dim)
CATENA_PRUNE_OPTIONS(random_structured, StructuredPruneOptions, o.amount, o.dim)
#undef CATENA_PRUNE_OPTIONS

// A parameter of a module, for global_unstructured.
struct PrunedParameter {
  Link& module;
  std::string name = "weight";
};
enum class Method { L1Unstructured, RandomUnstructured };
inline constexpr Method L1Unstructured = Method::L1Unstructured, RandomUnstructured = Method::RandomUnstructured;
struct GlobalPruneOptions {
  Method pruning_method = L1Unstructured;
  Amount amount = {};
};
// Chooses among the elements of all parameters together.
CATENA_EXPORT void global_unstructured(const std::vector<PrunedParameter>& parameters, Method method, Amount amount);
template <std::same_as<GlobalPruneOptions> O = GlobalPruneOptions>
void global_unstructured(const std::vector<PrunedParameter>& parameters, const O& o) {
  global_unstructured(parameters, o.pruning_method, o.amount);
}

// Removes the mask and writes its zeros, also where an optimizer has moved an element. ValueError for a parameter that
// is not pruned.
CATENA_EXPORT Link& remove(Link& module, const std::string& name = "weight");
// Whether a parameter of the module, or of one below it, is pruned.
CATENA_EXPORT bool is_pruned(Link& module);

}  // namespace nn::utils::prune
