#include <catena/nn/parameter.h>

#include <catena/autograd/capture.h>

namespace nn {

using catena::check;
using catena::RuntimeError;

// Shape and dtype are set by initialize().
Parameter::Parameter(Initializer initializer) : Variable(Pending()), initializer_(std::move(initializer)) {}

Parameter::Parameter(Initializer initializer, const Shape& shape) : Parameter(std::move(initializer)) {
  initialize(shape);
}

Parameter::Parameter(const Array& data)
    : Variable(data, {.volatile_ = autograd::AUTO}), initializer_([](const Array&) {}, data.dtype()) {}

Parameter::Parameter(const Parameter& o) : Parameter(o.initializer_) { *this = o; }

Parameter& Parameter::operator=(const Parameter& o) {
  if (this == &o || is_same(o)) return *this;
  const Array data = o.is_initialized() ? autograd::copy(o.data()) : Array();
  const Array grad = o.grad() ? autograd::copy(o.grad()) : Array();
  initializer_ = o.initializer_;
  device_ = o.device_;
  drop_data();
  if (data) set_data(data);
  if (grad) set_grad(grad);
  set_name(o.name());
  return *this;
}

// A replay would write the initial values again.
static void forbid_capture(const char* op, const Shape& shape) {
  check<RuntimeError>(!autograd::is_capturing(), op, "a parameter of shape ", shape,
                      " is made in work that is being captured (run the work once before)");
}

bool Parameter::is_initialized() const noexcept { return bool(data()); }

void Parameter::initialize(const Shape& shape) {
  check<RuntimeError>(!is_initialized(), "Parameter.initialize", "the parameter ", name(),
                      " has a shape already; it cannot become ", shape);
  forbid_capture("Parameter.initialize", shape);
  const Array fresh = autograd::empty(shape, initializer_.dtype().value_or(Dtype::float32), device_);
  init_weight(fresh, initializer_);
  set_data(fresh);
}

void Parameter::initialize_from(const Array& values) {
  check<RuntimeError>(!is_initialized(), "Parameter.initialize_from", "the parameter ", name(), " has data already");
  forbid_capture("Parameter.initialize_from", values.shape());
  const Array fresh = autograd::empty(values.shape(), values.dtype(), device_);
  autograd::copy_across(fresh, values);
  set_data(fresh);
}

void Parameter::to_device(Device device) {
  if (is_initialized()) Variable::to_device(device);  // first, because it may throw
  device_ = device;
}

}  // namespace nn
