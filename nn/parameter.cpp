#include <catena/nn/parameter.h>

#include <algorithm>

#include <catena/autograd/capture.h>
#include <catena/autograd/config.h>
#include <catena/autograd/unbatched.h>
#include <catena/autograd/variable_node.h>

namespace nn {

using catena::check;
using catena::RuntimeError;

static void mark(const Variable& v) { autograd::internal::Access::node(v)->is_parameter = true; }

// The initializer with the dtype of the configuration, unless it has one or that is the default.
static Initializer with_configured_dtype(Initializer initializer) {
  if (initializer.dtype()) return initializer;
  const Dtype dtype = autograd::get_dtype();
  if (dtype == Dtype::float32) return initializer;
  if (!initializer) return {Initializer::Fill(), dtype};
  return {[own = std::move(initializer)](const Array& a) { own(a); }, dtype};
}

// initialize() sets shape and dtype.
Parameter::Parameter(Initializer initializer)
    : Variable(Pending()), initializer_(with_configured_dtype(std::move(initializer))) {
  mark(*this);
}

Parameter::Parameter(Initializer initializer, const Shape& shape) : Parameter(std::move(initializer)) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t n) { return n == -1; })) known_ = shape.to_vector();
  else initialize(shape);
}

Parameter::Parameter(const Array& data)
    : Variable(data, {.volatile_ = autograd::AUTO}), initializer_([](const Array&) {}, data.dtype()) {
  mark(*this);
}

// Out of line, because every class with parameters would otherwise contain several copies of this code.
Parameter::Parameter(Parameter&& o) noexcept = default;
Parameter& Parameter::operator=(Parameter&& o) noexcept = default;
Parameter::~Parameter() = default;

Parameter::Parameter(const Parameter& o) : Variable(Pending()), initializer_(o.initializer_) {
  mark(*this);
  *this = o;
}

Parameter& Parameter::operator=(const Parameter& o) {
  if (this == &o || is_same(o)) return *this;
  const Array data = o.is_initialized() ? autograd::copy(o.data()) : Array();
  const Array grad = o.grad() ? autograd::copy(o.grad()) : Array();
  initializer_ = o.initializer_;
  device_ = o.device_;
  known_ = o.known_;
  drop_data();
  if (data) set_data(data);
  if (grad) set_grad(grad);
  set_name(o.name());
  set_requires_grad(o.requires_grad());
  return *this;
}

bool Parameter::is_initialized() const noexcept { return bool(data()); }

bool Parameter::accepts(const Shape& shape) const noexcept {
  if (is_initialized()) return shape == Variable::shape();
  return known_.empty() || std::equal(known_.begin(), known_.end(), shape.begin(), shape.end(),
                                      [](std::int64_t known, std::int64_t n) { return known == -1 || known == n; });
}

void Parameter::check_pending(const char* op, const Shape& shape) const {
  check<RuntimeError>(!is_initialized(), op, "the parameter ", name(), " has a shape already; it cannot become ",
                      shape);
  check<catena::ValueError>(accepts(shape), op, "the parameter ", name(), " has the shape ", known_shape(),
                            ", -1 for what is not known yet; it cannot become ", shape);
  // A replay would write the initial values again.
  check<RuntimeError>(!autograd::is_capturing(), op, "a parameter of shape ", shape,
                      " is made in work that is being captured (run the work once before)");
}

void Parameter::initialize(const Shape& shape) {
  check_pending("Parameter.initialize", shape);
  const autograd::Unbatched one_for_all;
  const Array fresh = autograd::arrays::empty(shape, own_dtype(), device_);
  init_weight(fresh, initializer_);
  set_data(fresh);
}

void Parameter::initialize_from(const Array& values, std::optional<Dtype> dtype) {
  check_pending("Parameter.initialize_from", values.shape());
  const autograd::Unbatched one_for_all;
  const Dtype own = dtype.value_or(own_dtype());
  const Array fresh = autograd::arrays::empty(values.shape(), own, device_);
  autograd::copy_across(fresh, autograd::astype(values, own));
  set_data(fresh);
}

void Parameter::to_device(Device device) {
  if (is_initialized()) Variable::to_device(device);  // first, because it may throw
  device_ = device;
}

Variable copy(const Variable& v) {
  const Array grad = v.grad();
  return Variable(autograd::copy(v.data()), {.volatile_ = v.volatile_flag(),
                                             .name = v.name(),
                                             .grad = grad ? autograd::copy(grad) : Array(),
                                             .requires_grad = v.requires_grad()});
}

const Variable& OptionalParameter::variable() const {
  check<catena::AttributeError>(has_value(), "Link", "the layer was made without this parameter, such as a bias with ",
                                "nobias: its has_value() is false");
  return **this;
}

}  // namespace nn
