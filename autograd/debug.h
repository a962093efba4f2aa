// Debugging aids: recorded call stacks, warnings, readable type names. Debug mode itself is in flag.h.
#pragma once

#include <string>
#include <string_view>
#include <typeinfo>

#include <catena/autograd/flag.h>
#include <catena/kernels/base/warning.h>

namespace autograd {

using catena::disable_experimental_feature_warning;
using catena::experimental;
using catena::set_disable_experimental_feature_warning;
using catena::set_warning_handler;
using catena::warn;
using catena::WarningHandler;

// Warns, once per process, if a loss is NaN: all parameters become NaN after the next update. `name` is the text for
// the number. Variable::backward does this for a loss in host memory. On other devices it does not wait for the value,
// so a training loop passes the values that it copies to the host anyway.
CATENA_EXPORT void warn_of_nan_loss(double loss, std::string_view name = "the loss");
// While an object of this class exists, Variable::backward on this thread does not warn of a NaN loss, because the
// caller, a training loop, gives a more detailed warning.
struct OwnLossWarning : catena::ScopedValue<bool> {
  OwnLossWarning() : ScopedValue(internal::modes().has_own_loss_warning, true) {}
  static bool is_active() noexcept { return internal::modes().has_own_loss_warning; }
};

// Without a scope of this class, a backward rule that reads an array that was changed in place since forward throws a
// RuntimeError. Within a scope, rules of this thread compute with the new values. An optimizer may update a parameter
// without a scope: as in Chainer, a loss whose graph was made before the update may be backpropagated once more.
struct InPlaceChanges : catena::ScopedValue<bool> {
  InPlaceChanges() : ScopedValue(internal::modes().allows_in_place_changes, true) {}
  static bool are_allowed() noexcept { return internal::modes().allows_in_place_changes; }
};
// const auto scope = allow_in_place_changes();
[[nodiscard]] inline InPlaceChanges allow_in_place_changes() { return {}; }

// PyTorch's names of the debug mode: for the process, and as a scope, const autograd::detect_anomaly scope.
inline void set_detect_anomaly(bool mode) noexcept { set_debug(mode); }
class [[nodiscard]] detect_anomaly : public DebugMode {
 public:
  explicit detect_anomaly(bool mode = true) : DebugMode(mode) {}
};

namespace internal {
CATENA_EXPORT std::string capture_stack();                         // one frame per line, innermost first
CATENA_EXPORT std::string class_name(const std::type_info& type);  // readable, without namespaces
}  // namespace internal

}  // namespace autograd
