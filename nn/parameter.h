// Parameter: a Variable that a link owns and an optimizer updates. Its shape may be determined by the first call.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
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

// A Parameter has value semantics: a copy copies data and gradient, so copying a model is a deep copy. Where a Variable
// is expected, a Parameter converts to a handle of the same variable, which stays valid when data is later initialised
// or replaced.
class CATENA_EXPORT Parameter : public Variable {
 public:
  // Makes a parameter of unknown shape, which is pending until initialize(). The initializer determines the dtype
  // (float32 if it has none).
  Parameter() : Parameter(Initializer()) {}
  explicit Parameter(Initializer initializer);
  // Allocates the data on the default device and fills it; if a size is -1, the parameter is pending until
  // initialize().
  Parameter(Initializer initializer, const Shape& shape);
  // Holds an existing array; CopyMode::init does not change the values.
  explicit Parameter(const Array& data);
  template <autograd::PlainVariable V> explicit Parameter(const V& v) : Parameter(v.data()) {}
  template <autograd::ForeignArray T> explicit Parameter(const T& data) : Parameter(Array(data)) {}

  Parameter(const Parameter& o);
  Parameter(Parameter&& o) noexcept;
  Parameter& operator=(const Parameter& o);  // deep copy; the variable keeps its identity
  Parameter& operator=(Parameter&& o) noexcept;
  ~Parameter();

  bool is_initialized() const noexcept;
  // Returns the sizes, -1 for those that initialize() determines; empty if not even their number is known.
  Shape known_shape() const { return is_initialized() ? Variable::shape() : Shape(known_); }
  // True if the parameter has this shape or can be initialised with it.
  bool accepts(const Shape& shape) const noexcept;
  // Allocates the array on the device to which the link was moved (else the default device) and fills it. RuntimeError
  // if it is already initialised, ValueError for a shape that it does not accept.
  void initialize(const Shape& shape);
  // Initialises with a copy of `values`, which may be on any device. The dtype is that of the initializer unless given.
  void initialize_from(const Array& values, std::optional<Dtype> dtype = {});
  void uninitialize() { drop_data(); }  // back to the pending state, without a gradient
  // Returns the dtype for initialize(): that of the initializer, or float32 if it has none.
  Dtype own_dtype() const noexcept { return initializer_.dtype().value_or(Dtype::float32); }
  const Initializer& initializer() const noexcept { return initializer_; }
  void set_initializer(Initializer i) { initializer_ = std::move(i); }
  // Moves data and gradient; a pending parameter stores the device for initialize().
  void to_device(Device device);
  void to_dtype(Dtype dtype);  // see Link::to_dtype; has no effect on parameters of other dtypes than floating ones

 private:
  void check_pending(const char* op, const Shape& shape) const;

  Initializer initializer_;
  std::vector<std::int64_t> known_;  // the sizes, -1 where unknown; empty: not even their number is known
  std::optional<Device> device_;
};

// A parameter that a layer may lack, such as the bias with nobias. Where it is present, it has the members of a
// Variable that programs read, and converts to the handle; otherwise these throw an AttributeError.
class CATENA_EXPORT OptionalParameter : public std::optional<Parameter> {
 public:
  using std::optional<Parameter>::optional;
  template <std::same_as<Parameter> P> OptionalParameter& operator=(P parameter) {
    emplace(std::move(parameter));
    return *this;
  }
  OptionalParameter& operator=(std::nullopt_t) noexcept {
    reset();
    return *this;
  }
  const Variable& variable() const;
  operator const Variable&() const { return variable(); }
  const Array& data() const { return variable().data(); }
  const Array& array() const { return variable().data(); }
  Array grad() const { return variable().grad(); }
  const Shape& shape() const { return variable().shape(); }
  std::int64_t shape(int axis) const { return variable().shape(axis); }
  std::int64_t size() const { return variable().size(); }
  int ndim() const { return variable().ndim(); }
  Dtype dtype() const { return variable().dtype(); }
  const std::string& name() const { return variable().name(); }
  bool requires_grad() const { return variable().requires_grad(); }
  void cleargrad() const { variable().cleargrad(); }
};

// Returns an independent variable with copies of data and gradient, and the same name and flags. It has no creator.
CATENA_EXPORT Variable copy(const Variable& v);

}  // namespace nn
