// Initializers fill new parameters. An Initializer is a value with any callable that fills an array, and optionally a
// dtype.
#pragma once

#include <optional>
#include <utility>

#include <catena/autograd/array.h>
#include <catena/kernels/base/function.h>

namespace nn {

class CATENA_EXPORT Initializer {
 public:
  using Fill = catena::Function<void(const autograd::Array&)>;

  Initializer() = default;  // null: the caller's default (init_weight: HeNormal(1 / sqrt 2))
  Initializer(double constant);
  Initializer(const autograd::Array& values);  // broadcast to the parameter; array() is `values`
  template <autograd::ForeignArray T> Initializer(const T& values) : Initializer(autograd::Array(values)) {}
  Initializer(Fill fill, std::optional<autograd::Dtype> dtype = {}) : fill_(std::move(fill)), dtype_(dtype) {}

  explicit operator bool() const noexcept { return bool(fill_); }
  // Fills the array. AssertionError if the initializer has a dtype and the array another one.
  void operator()(const autograd::Array& a) const;
  std::optional<autograd::Dtype> dtype() const noexcept { return dtype_; }
  const autograd::Array& array() const noexcept { return array_; }  // null unless it was made from an array

 private:
  Fill fill_;
  autograd::Array array_;
  std::optional<autograd::Dtype> dtype_;
};

// The numbers of inputs and outputs of a unit, by the shape of a weight.
struct Fans {
  std::int64_t fan_in, fan_out;
};
// Returns the fans (product of shape[1:], shape[0]). ValueError for fewer than 2 axes.
CATENA_EXPORT Fans get_fans(const autograd::Shape& shape);
// Returns a new array of `shape` in the initializer's dtype (float32 if it has none), filled by the initializer.
CATENA_EXPORT autograd::Array generate_array(const Initializer& initializer, const autograd::Shape& shape,
                                             std::optional<autograd::Device> device = {});
// Fills `weights` and multiplies by `scale`; a null initializer is HeNormal(1 / sqrt 2).
CATENA_EXPORT void init_weight(const autograd::Array& weights, const Initializer& initializer = {}, double scale = 1.0);
// Returns an initializer that calls init_weight with these arguments; links pass the square root of `wscale`.
CATENA_EXPORT Initializer scaled_initializer(const Initializer& initializer, double scale);

namespace initializers {
// The dtype of the array that an initializer makes.
struct Options {
  std::optional<autograd::Dtype> dtype = {};
};
CATENA_EXPORT Initializer Constant(double value, Options o = {});
CATENA_EXPORT Initializer Zero(Options o = {});
CATENA_EXPORT Initializer One(Options o = {});
CATENA_EXPORT Initializer Identity(double scale = 1.0, Options o = {});      // square 2-d only: ValueError
CATENA_EXPORT Initializer Normal(double scale = 0.05, Options o = {});       // N(0, scale^2)
CATENA_EXPORT Initializer GlorotNormal(double scale = 1.0, Options o = {});  // std scale sqrt(2 / (fan_in + fan_out))
CATENA_EXPORT Initializer HeNormal(double scale = 1.0, Options o = {});      // std scale sqrt(2 / fan_in)
CATENA_EXPORT Initializer Orthogonal(double scale = 1.1, Options o = {});    // rows orthogonal, Q Q^T = scale^2 I
CATENA_EXPORT Initializer Uniform(double scale = 0.05, Options o = {});      // U[-scale, scale]
CATENA_EXPORT Initializer LeCunUniform(double scale = 1.0, Options o = {});  // bound scale sqrt(3 / fan_in)
CATENA_EXPORT Initializer GlorotUniform(double scale = 1.0,
                                        Options o = {});                  // bound scale sqrt(6 / (fan_in + fan_out))
CATENA_EXPORT Initializer HeUniform(double scale = 1.0, Options o = {});  // bound scale sqrt(6 / fan_in)
}  // namespace initializers

}  // namespace nn
