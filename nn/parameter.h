// Parameter: a Variable that a link owns and an optimizer updates. Its shape may be determined by the first call.
#pragma once

#include <optional>

#include <catena/autograd/variable.h>
#include <catena/nn/initializer.h>

namespace nn {

using autograd::Array;
using autograd::Device;
using autograd::Dtype;
using autograd::Shape;
using autograd::Variable;
using autograd::Variables;

// A Parameter has value semantics: a copy copies data and gradient, so copying a model copies it deeply. Where a
// Variable is expected it converts to a handle of the same variable, which stays valid when data is initialised or
// replaced later.
class CATENA_EXPORT Parameter : public Variable {
 public:
  // Of unknown shape: pending until initialize(). The initializer determines the dtype (float32 if it has none).
  Parameter() : Parameter(Initializer()) {}
  explicit Parameter(Initializer initializer);
  // Allocated on the default device and filled at once.
  Parameter(Initializer initializer, const Shape& shape);
  // Holds an existing array; CopyMode::init does not change its values.
  explicit Parameter(const Array& data);

  Parameter(const Parameter& o);
  Parameter(Parameter&& o) noexcept = default;
  Parameter& operator=(const Parameter& o);  // deep copy; the variable keeps its identity
  Parameter& operator=(Parameter&& o) noexcept = default;

  bool is_initialized() const noexcept;
  // Allocates the array on the device to which the link was moved (else the default device) and fills it. RuntimeError
  // when it is initialised already.
  void initialize(const Shape& shape);
  // The same with a copy of `values`, its shape and its dtype; `values` may be on any device.
  void initialize_from(const Array& values);
  const Initializer& initializer() const noexcept { return initializer_; }
  void set_initializer(Initializer i) { initializer_ = std::move(i); }
  // Moves data and gradient; a pending parameter stores the device for its initialisation.
  void to_device(Device device);

 private:
  Initializer initializer_;
  std::optional<Device> device_;
};

}  // namespace nn
