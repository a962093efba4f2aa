// Parameter: a Variable that a link owns and an optimizer updates. Its shape may be determined by the first call.
#pragma once

#include <optional>
#include <vector>

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
  // Allocated on the default device and filled at once; pending if a size is -1 (found by initialize()).
  Parameter(Initializer initializer, const Shape& shape);
  // Holds an existing array; CopyMode::init does not change its values.
  explicit Parameter(const Array& data);
  template <autograd::ForeignArray T> explicit Parameter(const T& data) : Parameter(Array(data)) {}

  Parameter(const Parameter& o);
  Parameter(Parameter&& o) noexcept;
  Parameter& operator=(const Parameter& o);  // deep copy; the variable keeps its identity
  Parameter& operator=(Parameter&& o) noexcept;
  ~Parameter();

  bool is_initialized() const noexcept;
  // The sizes, -1 for those that are found by initialize(); empty when not even their number is known.
  Shape known_shape() const { return is_initialized() ? Variable::shape() : Shape(known_); }
  // Whether the parameter has this shape, or may get it.
  bool accepts(const Shape& shape) const noexcept;
  // Allocates the array on the device to which the link was moved (else the default device) and fills it. RuntimeError
  // when it is initialised already, ValueError for a shape that it does not accept.
  void initialize(const Shape& shape);
  // The same with a copy of `values`, which may be on any device. The dtype is the initializer's unless given.
  void initialize_from(const Array& values, std::optional<Dtype> dtype = {});
  void uninitialize() { drop_data(); }  // back to the pending state, without gradient
  // The dtype that initialize() gives: the initializer's, float32 if it has none.
  Dtype own_dtype() const noexcept { return initializer_.dtype().value_or(Dtype::float32); }
  const Initializer& initializer() const noexcept { return initializer_; }
  void set_initializer(Initializer i) { initializer_ = std::move(i); }
  // Moves data and gradient; a pending parameter stores the device for its initialisation.
  void to_device(Device device);

 private:
  void check_pending(const char* op, const Shape& shape) const;

  Initializer initializer_;
  std::vector<std::int64_t> known_;  // the sizes, -1 where unknown; empty: nothing is known, not even their number
  std::optional<Device> device_;
};

// An independent variable with copies of data and gradient, of the same name and flags. It has no creator.
CATENA_EXPORT Variable copy(const Variable& v);

}  // namespace nn
