// Debugging aids: recorded call stacks, warnings, readable type names. Debug mode itself is in flag.h.
#pragma once

#include <string>
#include <string_view>
#include <typeinfo>

#include <catena/kernels/base/warning.h>

namespace autograd {

using catena::disable_experimental_feature_warning;
using catena::experimental;
using catena::set_disable_experimental_feature_warning;
using catena::set_warning_handler;
using catena::warn;
using catena::WarningHandler;

// Warns, once per process, when a loss is NaN: training goes on with parameters that are all NaN. `name` is what the
// number is called. Variable::backward does this for a loss in host memory. On other devices it does not wait for the
// value, so a training loop passes the values that it copies anyway.
CATENA_EXPORT void warn_of_nan_loss(double loss, std::string_view name = "the loss");
// While one lives, Variable::backward on this thread leaves that warning to the caller, a training loop that tells
// more.
class CATENA_EXPORT OwnLossWarning {
 public:
  OwnLossWarning() noexcept;
  ~OwnLossWarning();
  OwnLossWarning(const OwnLossWarning&) = delete;
  OwnLossWarning& operator=(const OwnLossWarning&) = delete;
  static bool is_active() noexcept;
};

// A rule of backward that reads an array which was changed in place since forward is a RuntimeError; while one of these
// lives, rules of this thread compute with the new values. An optimizer's update of a parameter is permitted without
// it: as in Chainer, a loss whose graph was made before the update may still be backpropagated once.
class CATENA_EXPORT InPlaceChanges {
 public:
  InPlaceChanges() noexcept;
  ~InPlaceChanges();
  InPlaceChanges(const InPlaceChanges&) = delete;
  InPlaceChanges& operator=(const InPlaceChanges&) = delete;
  static bool are_allowed() noexcept;
};
// const auto scope = allow_in_place_changes();
[[nodiscard]] inline InPlaceChanges allow_in_place_changes() { return {}; }

namespace internal {
CATENA_EXPORT std::string capture_stack();                         // one frame per line, innermost first
CATENA_EXPORT std::string class_name(const std::type_info& type);  // readable, without namespaces
}  // namespace internal

}  // namespace autograd
