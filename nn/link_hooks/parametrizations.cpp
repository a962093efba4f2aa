#include <catena/nn/link_hooks/parametrizations.h>

#include <string_view>

#include <catena/nn/link_hook.h>
#include <catena/nn/link_hooks/spectral_normalization.h>
#include <catena/nn/link_hooks/weight_normalization.h>
#include <catena/nn/link_parameters.h>

namespace nn::utils::internal {

std::string name_in(const Link& link, const std::string& name) {
  std::string found = name;
  bool has_name = false;
  link.for_each_param([&](std::string_view path, const Variable&) {
    const std::string_view own = path.substr(1);
    has_name |= own == name;
    if (nn::internal::layer_name_of(own) == name) found = own;
  });
  return has_name ? name : found;
}

std::string key_of(const std::string& hook, const std::string& parameter) {
  return parameter == "W" ? hook : hook + "_" + parameter;
}

namespace {

template <class H> void add(Link& module, H hook) {
  const std::string key = key_of(hook.name(), hook.weight_name());
  module.add_hook(std::move(hook), key);
}

}  // namespace

void add_weight_norm(Link& module, const WeightNormOptions& o) {
  add(module, link_hooks::WeightNormalization(
                  {.weight_name = name_in(module, o.name), .axis = o.dim == -1 ? std::optional<int>() : o.dim}));
}

void add_spectral_norm(Link& module, const SpectralNormOptions& o) {
  add(module, link_hooks::SpectralNormalization({.n_power_iteration = o.n_power_iterations,
                                                 .eps = o.eps,
                                                 .weight_name = name_in(module, o.name),
                                                 .axis = o.dim}));
}

void remove_hook(const char* op, const char* hook_name, Link& module, const std::string& name) {
  const std::string key = key_of(hook_name, name_in(module, name));
  if (const auto* const hooks = nn::internal::hooks_of(module))
    for (const auto& [own, hook] : *hooks)
      if (const auto* const of_weight = dynamic_cast<const link_hooks::WeightHook*>(hook.get());
          own == key && of_weight) {
        of_weight->make_permanent(module);
        module.delete_hook(key);
        return;
      }
  catena::fail<catena::ValueError>(op, "the module has no ", hook_name, " of \"", name, "\"");
}

}  // namespace nn::utils::internal
