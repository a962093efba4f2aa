// Parameter: a Variable that a link owns and an optimizer updates. Its shape may be found on the first call.
#pragma once

#include <memory>
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

// As a member of a link a Parameter has value semantics: copying it copies data and gradient (so copying a model copies
// it deeply). Where a Variable is expected it converts to a handle of the same variable, which stays valid when data is
// initialised or replaced later.
class CATENA_EXPORT Parameter : public Variable {
 public:
  // Shape unknown: reserved until initialize(). The initializer decides the dtype (float32 when it has none).
  Parameter() : Parameter(Initializer()) {}
  explicit Parameter(Initializer initializer);
  // Allocated and filled at once, on the default device.
  Parameter(Initializer initializer, const Shape& shape);
  // Around an array that is there already; CopyMode::init leaves such a parameter's values alone.
  explicit Parameter(const Array& data);

  Parameter(const Parameter& o);
  Parameter(Parameter&& o) noexcept = default;
  Parameter& operator=(const Parameter& o);  // deep, too; the variable keeps its identity
  Parameter& operator=(Parameter&& o) noexcept = default;

  bool is_initialized() const noexcept;
  // Allocates on the device the link was sent to (the default device when it was sent nowhere) and fills; RuntimeError
  // when it is initialised already.
  void initialize(const Shape& shape);
  // The same with the values, shape and dtype of an array, which is copied and may live anywhere.
  void initialize_from(const Array& values);
  const Initializer& initializer() const noexcept { return initializer_; }
  void set_initializer(Initializer i) { initializer_ = std::move(i); }
  // Moves data and gradient; a pending parameter remembers the device for its initialisation.
  void to_device(Device device);

 private:
  Initializer initializer_;
  std::optional<Device> device_;
};

}  // namespace nn
