// Mixed precision: within a scope, functions that gain from 16-bit floats compute in them, and those that need range or
// precision in float32. Parameters stay float32, and so do their gradients.
//
//   const auto scope = autograd::autocast(nd::bfloat16);
//   loss = nn::softmax_cross_entropy(model(x), t);      // convolutions and products in bfloat16, the loss in float32
//
// Each function converts its float32 and 16-bit inputs by a table of labels (autocast.cpp):
//   16-bit    convolutions, linear, products of matrices, attention, recurrent networks over sequences
//   float32   exponentials, logarithms, powers, softmax, sums, means, norms, normalization of layers, losses
//   unchanged casts, copies, batch normalization (which computes in float32 beside 16-bit x), forget
//   others    if the dtypes of the inputs differ, float32
// Functions with a float64 input convert nothing. The conversions are nodes of the graph, so a gradient arrives in the
// dtype of the variable. A parameter that is used several times is converted once in the outermost scope, unless it has
// changed: a scope around one training step is right, one around the whole training keeps those copies. Gradients are
// computed in the dtypes of the forward pass, with or without the scope. float16 needs loss scaling as well
// (Optimizer::loss_scaling). A scope affects its own thread.
#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include <catena/autograd/variable.h>

namespace autograd {

namespace internal {
class Autocast;

// Returns the inputs converted for the function of this label; nothing if none is to be converted. Only to be called
// within a scope.
CATENA_EXPORT std::optional<Variables> autocast_inputs(std::string_view label, std::span<const Variable> inputs);
// For checks of the inputs of functions that call other functions: within a scope, gives arrays of 16-bit floats the
// dtype float32 if others have it.
CATENA_EXPORT void autocast_checked(Arrays& inputs);
}  // namespace internal

// PyTorch's arguments.
struct AutocastOptions {
  // "cuda", "cpu" or empty (ValueError for other texts). A scope holds for all devices: the type chooses a dtype only.
  std::string_view device_type = {};
  std::optional<Dtype> dtype = {};  // default: float16 for "cuda", else bfloat16
  bool enabled = true;
  CATENA_EXPORT AutocastOptions with(std::string_view type) const;  // ValueError if there is a device type
};

// The base of autocast.
class CATENA_EXPORT AutocastScope {
 public:
  AutocastScope(Dtype dtype, bool enabled);
  explicit AutocastScope(const AutocastOptions& options);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  internal::Autocast* const before_;
  catena::Owned<internal::Autocast> own_;
};

// Written as a call, const auto scope = autocast(nd::bfloat16), or as an object: autocast guard(nd::bfloat16). With
// PyTorch's arguments: autocast guard("cuda", nd::bfloat16), autocast guard({.dtype = nd::bfloat16}), autocast
// guard("cpu", {.dtype = nd::bfloat16}).
// enabled = false: no conversions in this scope, within another one. ValueError unless dtype is float16 or bfloat16.
struct [[nodiscard]] autocast : AutocastScope {
  explicit autocast(Dtype dtype = Dtype::bfloat16, bool enabled = true) : AutocastScope(dtype, enabled) {}
  explicit autocast(std::string_view device_type, std::optional<Dtype> dtype = {}, bool enabled = true)
      : AutocastScope(AutocastOptions{device_type, dtype, enabled}) {}
  template <std::same_as<AutocastOptions> O = AutocastOptions>
  explicit autocast(const O& options) : AutocastScope(options) {}
  // ValueError if the options name a device type, too.
  template <std::same_as<AutocastOptions> O = AutocastOptions>
  autocast(std::string_view device_type, const O& options) : AutocastScope(options.with(device_type)) {}
};
using Autocast = autocast;
// Returns the 16-bit dtype of the innermost scope of this thread; nothing outside of scopes.
CATENA_EXPORT std::optional<Dtype> autocast_dtype() noexcept;

}  // namespace autograd
