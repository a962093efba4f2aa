#include "nn/parameter.h"

namespace nn {

using catena::check;
using catena::RuntimeError;

// A body without data: what it will be is known at initialize().
Parameter::Parameter(Initializer initializer) : Variable(Array(), {.volatile_ = autograd::AUTO}), initializer_(std::move(initializer)) {}

Parameter::Parameter(Initializer initializer, const Shape& shape) : Parameter(std::move(initializer)) { initialize(shape); }

Parameter::Parameter(const Array& data) : Variable(data, {.volatile_ = autograd::AUTO}) {}

Parameter::Parameter(const Parameter& o) : Parameter(o.initializer_) { *this = o; }

Parameter& Parameter::operator=(const Parameter& o) {
  if (this == &o || is_same(o)) return *this;
  initializer_ = o.initializer_;
  device_ = o.device_;
  set_grad({});
  set_data(o.is_initialized() ? autograd::copy(o.data()) : Array());
  if (const Array g = o.grad()) set_grad(autograd::copy(g));
  set_name(o.name());
  return *this;
}

bool Parameter::is_initialized() const noexcept { return bool(data()); }

void Parameter::initialize(const Shape& shape) {
  check<RuntimeError>(!is_initialized(), "Parameter.initialize", "the parameter ", name(), " has the shape ", data().shape(),
                      " already; it cannot become ", shape);
  Array fresh = autograd::empty(shape, initializer_.dtype().value_or(Dtype::float32), device_);
  init_weight(fresh, initializer_);
  set_data(fresh);
}

void Parameter::to_device(Device device) {
  device_ = device;
  if (is_initialized()) Variable::to_device(device);
}

}  // namespace nn
