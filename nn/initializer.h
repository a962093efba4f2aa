// Initializers fill new parameters. An Initializer is a value with any callable that fills an array, and optionally a
// dtype.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <catena/autograd/array.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/named.h>

namespace nn {

namespace internal {
// As a number, the bool of PyTorch's `.bias = false` would be the initial value of a bias.
template <class T> void reject_bool() {
  static_assert(!std::is_same_v<T, bool>, "a bool is no initial value; a layer without a bias: {.nobias = true}");
}

// The number with which a bias begins, in options.
class BiasValue {
 public:
  constexpr BiasValue(double value) noexcept : value_(value) {}
  template <std::same_as<bool> B> BiasValue(B value) : value_(value) { reject_bool<B>(); }
  constexpr operator double() const noexcept { return value_; }

 private:
  double value_;
};
}  // namespace internal

namespace internal {
// The type of the argument of an object with one call operator.
template <class F, class A> A argument_of(void (F::*)(A) const);
template <class F, class A> A argument_of(void (F::*)(A));
template <class F> using ArgumentOf = std::remove_cvref_t<decltype(argument_of(&F::operator()))>;
// A function of an array, which it fills: [](nd::Array& a) { a.fill(1); }
template <class F>
concept FillsArray = std::is_class_v<F> && requires {
  typename ArgumentOf<F>;
} &&(autograd::ForeignArray<ArgumentOf<F>> || std::is_same_v<ArgumentOf<F>, autograd::Array>);
}  // namespace internal

class CATENA_EXPORT Initializer {
 public:
  using Fill = catena::Function<void(const autograd::Array&)>;

  Initializer() = default;  // null: the caller's default (init_weight: HeNormal(1 / sqrt 2))
  Initializer(double constant);
  template <std::same_as<bool> B> Initializer(B) { internal::reject_bool<B>(); }
  Initializer(const autograd::Array& values);  // broadcast to the parameter; array() is `values`
  template <autograd::ForeignArray T> Initializer(const T& values) : Initializer(autograd::Array(values)) {}
  Initializer(Fill fill, std::optional<autograd::Dtype> dtype = {}) : fill_(std::move(fill)), dtype_(dtype) {}

  template <class F>
  Initializer(F f) requires(!std::is_base_of_v<Initializer, F> && internal::FillsArray<F>)
      : Initializer(Fill([f = std::move(f)](const autograd::Array& a) mutable {
          internal::ArgumentOf<F> target(a);  // refers to the same elements
          f(target);
        })) {}

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
// Returns a new array of `shape` in the initializer's dtype (that of the configuration if it has none), filled by the
// initializer.
CATENA_EXPORT autograd::Array generate_array(const Initializer& initializer, const autograd::Shape& shape,
                                             std::optional<autograd::Device> device = {});
namespace internal {
CATENA_EXPORT autograd::Array generate_array_of(const Initializer& initializer, const autograd::Shape& shape,
                                                autograd::Dtype dtype, std::optional<autograd::Device> device);
}
// The same in a dtype. ValueError if the initializer has another one.
template <std::same_as<autograd::Dtype> D>
autograd::Array generate_array(const Initializer& initializer, const autograd::Shape& shape, D dtype,
                               std::optional<autograd::Device> device = {}) {
  return internal::generate_array_of(initializer, shape, dtype, device);
}
// Fills `weights` and multiplies by `scale`; a null initializer is HeNormal(1 / sqrt 2).
CATENA_EXPORT void init_weight(const autograd::Array& weights, const Initializer& initializer = {}, double scale = 1.0);
// Returns an initializer that calls init_weight with these arguments; links pass the square root of `wscale`.
CATENA_EXPORT Initializer scaled_initializer(const Initializer& initializer, double scale);

namespace initializers {
// The dtype of the array that an initializer makes, and the generator from which it draws; that of the thread
// (autograd::seed) unless given. The generator must exist as long as the initializer is used.
struct Options {
  std::optional<autograd::Dtype> dtype = {};
  autograd::Generator* rng = nullptr;
};
CATENA_EXPORT Initializer Constant(double value, Options o = {});
CATENA_EXPORT Initializer Zero(Options o = {});
CATENA_EXPORT Initializer One(Options o = {});
CATENA_EXPORT Initializer NaN(Options o = {});  // marks what must be set before it is used
// N(0, scale^2) cut to [lower, upper], in units of the values. ValueError unless lower < upper and scale > 0.
CATENA_EXPORT Initializer TruncatedNormal(double scale, double lower, double upper, Options o = {});
CATENA_EXPORT Initializer TruncatedNormal(double scale = 0.05, Options o = {});  // cut at two deviations

// The scale and the options by name: HeNormal({.scale = 2.0}).
struct ScaleOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<double> scale = {};
  std::optional<autograd::Dtype> dtype = {};
  autograd::Generator* rng = nullptr;
};
namespace internal {
// An initializer with a scale: HeNormal(), HeNormal(2.0, {.dtype = ..}) or HeNormal({.scale = 2.0}).
struct ScaledInitializer {
  Initializer (*make)(double scale, Options o);
  double scale;  // by default

  Initializer operator()() const { return make(scale, {}); }
  Initializer operator()(double s, const Options& o = {}) const { return make(s, o); }
  template <std::same_as<ScaleOptions> O = ScaleOptions> Initializer operator()(const O& o) const {
    return make(o.scale.value_or(scale), {o.dtype, o.rng});
  }
};
CATENA_EXPORT Initializer identity(double scale, Options o);
CATENA_EXPORT Initializer normal(double scale, Options o);
CATENA_EXPORT Initializer lecun_normal(double scale, Options o);
CATENA_EXPORT Initializer glorot_normal(double scale, Options o);
CATENA_EXPORT Initializer he_normal(double scale, Options o);
CATENA_EXPORT Initializer orthogonal(double scale, Options o);
CATENA_EXPORT Initializer uniform(double scale, Options o);
CATENA_EXPORT Initializer lecun_uniform(double scale, Options o);
CATENA_EXPORT Initializer glorot_uniform(double scale, Options o);
CATENA_EXPORT Initializer he_uniform(double scale, Options o);
}  // namespace internal
// The scale on the diagonal of a square matrix; ValueError for other arrays.
inline constexpr internal::ScaledInitializer Identity{internal::identity, 1.0};
// N(0, scale^2)
inline constexpr internal::ScaledInitializer Normal{internal::normal, 0.05};
// Normal with the deviation scale sqrt(1 / fan_in), scale sqrt(2 / (fan_in + fan_out)) or scale sqrt(2 / fan_in)
inline constexpr internal::ScaledInitializer LeCunNormal{internal::lecun_normal, 1.0};
inline constexpr internal::ScaledInitializer GlorotNormal{internal::glorot_normal, 1.0};
inline constexpr internal::ScaledInitializer HeNormal{internal::he_normal, 1.0};
// Q with orthogonal rows, Q Q^T = scale^2 I
inline constexpr internal::ScaledInitializer Orthogonal{internal::orthogonal, 1.1};
// U[-scale, scale]
inline constexpr internal::ScaledInitializer Uniform{internal::uniform, 0.05};
// Uniform with the bound scale sqrt(3 / fan_in), scale sqrt(6 / (fan_in + fan_out)) or scale sqrt(6 / fan_in)
inline constexpr internal::ScaledInitializer LeCunUniform{internal::lecun_uniform, 1.0};
inline constexpr internal::ScaledInitializer GlorotUniform{internal::glorot_uniform, 1.0};
inline constexpr internal::ScaledInitializer HeUniform{internal::he_uniform, 1.0};

// Filters of linear interpolation along all spatial axes, for layers that resize: W (out, in, k1, ..., kn). Where out
// and in channel agree, W is the product of triangles, else 0; where axis 1 has length 1, as with groups, it is that
// product everywhere. The up-sampling filter is that of a transposed convolution whose stride is the factor, with
// kernels of 2 factor - factor % 2; the down-sampling filter is divided by its sum, so that constants stay.
// `interpolation` is "linear"; ValueError for other texts, for fewer than 3 axes, and for other numbers of channels.
struct ResamplingOptions {
  std::string_view interpolation = "linear";
  std::optional<autograd::Dtype> dtype = {};
};
CATENA_EXPORT Initializer UpsamplingDeconvFilter(const ResamplingOptions& o = {});
CATENA_EXPORT Initializer DownsamplingConvFilter(const ResamplingOptions& o = {});

// PyTorch's kaiming_normal_, kaiming_uniform_, xavier_normal_ and xavier_uniform_: the deviation is
// gain / sqrt(fan), the bound of the uniform distribution sqrt(3) times that. The gain of Kaiming's follows from the
// nonlinearity: 1 for "linear", "conv" and "sigmoid", 5/3 for "tanh", sqrt(2) for "relu", sqrt(2 / (1 + a^2)) for
// "leaky_relu", 3/4 for "selu"; ValueError for others. fan_in is the product of shape[1:],
// fan_out shape[0] times the positions of the filter.
struct KaimingOptions {
  double a = 0;                      // the negative slope of leaky_relu
  std::string_view mode = "fan_in";  // or "fan_out"; ValueError for others
  std::string_view nonlinearity = "leaky_relu";
  std::optional<autograd::Dtype> dtype = {};
  autograd::Generator* rng = nullptr;
};
CATENA_EXPORT double calculate_gain(std::string_view nonlinearity, double a = 0.01);
CATENA_EXPORT Initializer KaimingNormal(const KaimingOptions& o = {});
CATENA_EXPORT Initializer KaimingUniform(const KaimingOptions& o = {});
CATENA_EXPORT Initializer XavierNormal(double gain = 1.0, Options o = {});
CATENA_EXPORT Initializer XavierUniform(double gain = 1.0, Options o = {});
// The initial values of PyTorch's Linear and convolutions: U[-b, b] with b = 1 / sqrt(fan_in). A bias has a class of
// its own, because its shape does not determine the fan_in of its weight.
//   nn::Linear(in, out, {.initialW = TorchDefault(), .initial_bias = TorchDefaultBias(in)})
CATENA_EXPORT Initializer TorchDefault(Options o = {});
CATENA_EXPORT Initializer TorchDefaultBias(std::int64_t fan_in, Options o = {});

// Where Chainer has it: initializers::generate_array(initializers::Orthogonal(), {3, 3}, nd::float64).
using nn::generate_array;
}  // namespace initializers

}  // namespace nn
