// PyTorch's functions that make tensors: randn, rand, zeros, arange, eye and their relatives.
//
//   Variable x = autograd::randn({2, 3}), w = autograd::zeros({3}, {.requires_grad = true});
//   Variable y = autograd::rand(2, 3), i = autograd::randint(0, 10, {4}), p = autograd::randperm(5);
//
// They return leaves that require no gradient unless the options say so (TypeError for a dtype without gradients). The
// dtype is that of the configuration, float32 at first, unless it is given; the options may be a dtype alone. Lengths
// may be written as separate integers. Random numbers come from the generator of the thread
// (autograd::default_generator), and are on the current device unless one is given. Arrays without a graph are made by
// autograd::arrays::zeros and its relatives (autograd/array.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>

#include <catena/autograd/ndarray_backend/tensor.h>
#include <catena/autograd/operators.h>

namespace autograd {

namespace internal {
enum class Filling : unsigned char { empty, zeros, ones, normal, uniform };
// The options with the dtype and the device of x where none are given.
CATENA_EXPORT TensorOptions like(const Variable& x, TensorOptions options);
CATENA_EXPORT Variable made(Filling filling, const Shape& shape, const TensorOptions& options);
CATENA_EXPORT Variable made_like(Filling filling, const Variable& x, const TensorOptions& options);
CATENA_EXPORT Variable filled_with(const Shape& shape, const Scalar& value, const TensorOptions& options);
CATENA_EXPORT Variable scalar_of(const Scalar& value, const TensorOptions& options);
CATENA_EXPORT Variable random_integers(std::int64_t low, std::int64_t high, const Shape& shape,
                                       const TensorOptions& options);
CATENA_EXPORT Variable range_of(const Scalar& start, const Scalar& stop, const Scalar& step,
                                const TensorOptions& options);
CATENA_EXPORT Variable permutation(std::int64_t n, const TensorOptions& options);
CATENA_EXPORT Variable identity_matrix(std::int64_t rows, std::int64_t columns, const TensorOptions& options);
CATENA_EXPORT Variable evenly_spaced(double start, double end, std::int64_t steps, const TensorOptions& options);
CATENA_EXPORT Variable from_memory(void* data, const Shape& shape, Dtype dtype);
CATENA_EXPORT Variable converted_to(const Variable& x, const TensorOptions& options);
template <class O> TensorOptions tensor_options(const O& options) {
  return nd::internal::with_dtype<TensorOptions>(options);
}
template <class O>
concept TensorOptionsOrDtype = nd::internal::DtypeOr<O, TensorOptions>;
}  // namespace internal

// Sets the seed of the random numbers of this library and of nd::random.
inline void manual_seed(std::uint64_t seed) { autograd::seed(seed); }

// By lengths, name(2, 3), with options behind up to four of them: name(2, 3, {.requires_grad = true}).
#define CATENA_TENSOR_BY_LENGTHS(name, filling)                                                                 \
  template <std::integral I, std::integral J, std::integral... K> Variable name(I first, J second, K... more) { \
    return internal::made(internal::Filling::filling, Shape{first, second, more...}, {});                       \
  }                                                                                                             \
  template <std::same_as<TensorOptions> O = TensorOptions>                                                      \
  Variable name(std::int64_t a, std::int64_t b, const O& options) {                                             \
    return internal::made(internal::Filling::filling, Shape{a, b}, options);                                    \
  }                                                                                                             \
  template <std::same_as<TensorOptions> O = TensorOptions>                                                      \
  Variable name(std::int64_t a, std::int64_t b, std::int64_t c, const O& options) {                             \
    return internal::made(internal::Filling::filling, Shape{a, b, c}, options);                                 \
  }                                                                                                             \
  template <std::same_as<TensorOptions> O = TensorOptions>                                                      \
  Variable name(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, const O& options) {             \
    return internal::made(internal::Filling::filling, Shape{a, b, c, d}, options);                              \
  }
#define CATENA_FILLED_TENSOR(name, filling)                                                      \
  template <internal::TensorOptionsOrDtype O = TensorOptions>                                    \
  Variable name(const Shape& shape, const O& options = {}) {                                     \
    return internal::made(internal::Filling::filling, shape, internal::tensor_options(options)); \
  }                                                                                              \
  CATENA_TENSOR_BY_LENGTHS(name, filling)
// zeros({2, 3}), zeros({2, 3}, nd::float64), zeros({3}, {.requires_grad = true}), zeros(2, 3). The numbers of rand are
// uniform in [0, 1), and of randn normal with mean 0 and deviation 1; the elements of empty are arbitrary.
CATENA_FILLED_TENSOR(empty, empty)
CATENA_FILLED_TENSOR(zeros, zeros)
CATENA_FILLED_TENSOR(ones, ones)
CATENA_FILLED_TENSOR(randn, normal)
CATENA_FILLED_TENSOR(rand, uniform)
#undef CATENA_FILLED_TENSOR
#undef CATENA_TENSOR_BY_LENGTHS
// The dtype is int64 for an integer, bool for a bool, and for a complex number complex128 beside a default dtype of
// float64, else complex64, unless it is given.
template <internal::TensorOptionsOrDtype O = TensorOptions>
Variable full(const Shape& shape, const Scalar& value, const O& options = {}) {
  return internal::filled_with(shape, value, internal::tensor_options(options));
}

// Of the shape, the dtype and the device of a variable unless others are given.
#define CATENA_TENSOR_LIKE(name, filling)                                                                            \
  template <VariableLike V, internal::TensorOptionsOrDtype O = TensorOptions>                                        \
  Variable name(const V& x, const O& options = {}) {                                                                 \
    return internal::made_like(internal::Filling::filling, internal::operand(x), internal::tensor_options(options)); \
  }
CATENA_TENSOR_LIKE(empty_like, empty)
CATENA_TENSOR_LIKE(zeros_like, zeros)
CATENA_TENSOR_LIKE(ones_like, ones)
#undef CATENA_TENSOR_LIKE
// The same with normal and with uniform numbers.
template <internal::TensorOptionsOrDtype O = TensorOptions>
Variable randn_like(const Variable& x, const O& options = {}) {
  return internal::made_like(internal::Filling::normal, x, internal::tensor_options(options));
}
template <internal::TensorOptionsOrDtype O = TensorOptions>
Variable rand_like(const Variable& x, const O& options = {}) {
  return internal::made_like(internal::Filling::uniform, x, internal::tensor_options(options));
}
template <VariableLike V, internal::TensorOptionsOrDtype O = TensorOptions>
Variable full_like(const V& like, const Scalar& value, const O& options = {}) {
  const Variable& x = internal::operand(like);
  return internal::filled_with(x.shape(), value, internal::like(x, internal::tensor_options(options)));
}

// Integers from low to high, exclusively, int64 unless a dtype is given: randint(10, {3}), randint(0, 10, {2, 3}).
// ValueError for an empty range.
template <internal::TensorOptionsOrDtype O = TensorOptions>
Variable randint(std::int64_t low, std::int64_t high, const Shape& shape, const O& options = {}) {
  return internal::random_integers(low, high, shape, internal::tensor_options(options));
}
template <internal::TensorOptionsOrDtype O = TensorOptions>
Variable randint(std::int64_t high, std::initializer_list<catena::Integer> shape, const O& options = {}) {
  return internal::random_integers(0, high, shape, internal::tensor_options(options));
}
// Bounds and shape by name: randint(0, 10, {.size = {2, 3}}), randint({.high = 10, .size = {2}}).
struct RandintOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::int64_t low = 0, high = 0;
  Shape size = {};
  GeneratorOption generator = {};
  std::optional<Dtype> dtype = {};
  DeviceOption device = {};
  bool requires_grad = false;
};
CATENA_EXPORT Variable randint(const RandintOptions& o);
template <std::same_as<RandintOptions> O = RandintOptions>
Variable randint(std::int64_t low, std::int64_t high, const O& o) {
  RandintOptions all = o;
  all.low = low, all.high = high;
  return randint(all);
}
template <std::same_as<RandintOptions> O = RandintOptions> Variable randint(std::int64_t high, const O& o) {
  return randint(o.low, high, o);
}
CATENA_EXPORT Variable randint_like(const Variable& x, std::int64_t low, std::int64_t high,
                                    const TensorOptions& options = {});
template <std::same_as<TensorOptions> O = TensorOptions>
Variable randint_like(const Variable& x, std::int64_t high, const O& options = {}) {
  return randint_like(x, 0, high, options);
}
// The numbers from 0 to n - 1 in random order, int64.
template <internal::TensorOptionsOrDtype O = TensorOptions> Variable randperm(std::int64_t n, const O& options = {}) {
  return internal::permutation(n, internal::tensor_options(options));
}
struct GeneratorOptions {
  GeneratorOption generator = {};
};
// Normal numbers: normal(0, 1, {2, 3}), or of means and deviations that broadcast, normal(mean, std). ValueError for a
// negative number as deviation.
CATENA_EXPORT Variable normal(double mean, double std, const Shape& shape, const TensorOptions& options = {});
CATENA_EXPORT Variable normal(const Variable& mean, const Variable& std, const GeneratorOptions& o = {});
inline Variable normal(const Variable& mean, double std = 1) {
  return normal(mean, Variable(arrays::full(mean.shape(), std, mean.dtype(), mean.device()), {.requires_grad = false}));
}
// 1 with the probability x or p, else 0, in the dtype of x.
CATENA_EXPORT Variable bernoulli(const Variable& x);
CATENA_EXPORT Variable bernoulli(const Variable& x, double p);
struct BernoulliOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<double> p = {};
  GeneratorOption generator = {};
};
CATENA_EXPORT Variable bernoulli(const Variable& x, const BernoulliOptions& o);
// Poisson numbers of the rates x, in its dtype.
CATENA_EXPORT Variable poisson(const Variable& x);
CATENA_EXPORT Variable poisson(const Variable& x, const GeneratorOptions& o);
// Positions drawn with the probabilities of weights (n) or (m, n), which need not add up to 1: int64, (samples) or (m,
// samples). ValueError for other ranks, negative weights, a row without weight, and more samples than positions of a
// weight above 0 without replacement.
struct MultinomialOptions {
  bool replacement = false;
  GeneratorOption generator = {};
};
CATENA_EXPORT Variable multinomial(const Variable& weights, std::int64_t samples, const MultinomialOptions& o = {});
struct MultinomialSamples {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::int64_t num_samples = 1;
  bool replacement = false;
  GeneratorOption generator = {};
};
inline Variable multinomial(const Variable& weights, const MultinomialSamples& o) {
  return multinomial(weights, o.num_samples, MultinomialOptions{o.replacement, o.generator});
}
template <std::same_as<bool> B> Variable multinomial(const Variable& weights, std::int64_t samples, B replacement) {
  return multinomial(weights, samples, MultinomialOptions{replacement});
}

// ---- ranges and matrices ----
// arange(0, 1, 0.25), arange(2, 8), arange(0, 8, 2, {.dtype = ..}), arange(5.0): int64 of integers, else floating.
// ValueError for a step of 0.
template <class A, class B, internal::TensorOptionsOrDtype O = TensorOptions>
requires(std::is_arithmetic_v<A>&& std::is_arithmetic_v<B>) Variable arange(A start, B stop, const O& options = {}) {
  return internal::range_of(start, stop, 1, internal::tensor_options(options));
}
template <class A, class B, class C, internal::TensorOptionsOrDtype O = TensorOptions>
requires(std::is_arithmetic_v<A>&& std::is_arithmetic_v<B>&& std::is_arithmetic_v<C>) Variable
    arange(A start, B stop, C step, const O& options = {}) {
  return internal::range_of(start, stop, step, internal::tensor_options(options));
}
template <class A, internal::TensorOptionsOrDtype O = TensorOptions>
requires(std::is_arithmetic_v<A>) Variable arange(A stop, const O& options = {}) {
  return internal::range_of(0, stop, 1, internal::tensor_options(options));
}
template <internal::TensorOptionsOrDtype O = TensorOptions>
Variable linspace(double start, double end, std::int64_t steps, const O& options = {}) {
  return internal::evenly_spaced(start, end, steps, internal::tensor_options(options));
}
// `base` to the powers linspace(start, end, steps).
CATENA_EXPORT Variable logspace(double start, double end, std::int64_t steps, double base = 10,
                                const TensorOptions& options = {});
template <internal::TensorOptionsOrDtype O = TensorOptions> Variable eye(std::int64_t n, const O& options = {}) {
  return internal::identity_matrix(n, n, internal::tensor_options(options));
}
template <std::integral M, internal::TensorOptionsOrDtype O = TensorOptions>
Variable eye(std::int64_t n, M m, const O& options = {}) {
  return internal::identity_matrix(n, static_cast<std::int64_t>(m), internal::tensor_options(options));
}

// ---- from data ----
// The same memory as the array, without a copy: a leaf that requires no gradient. from_blob: memory of the host that
// lives as long as the variable, in C order.
CATENA_EXPORT Variable from_numpy(const nd::Array& a);
template <nd::Element E> Variable from_blob(E* data, const Shape& shape) {
  return internal::from_memory(const_cast<std::remove_const_t<E>*>(data), shape,
                               catena::dtype_of<std::remove_const_t<E>>);
}
// tensor(), but a variable and an array whose dtype and device are right are not copied.
template <class T, internal::TensorOptionsOrDtype O = TensorOptions>
Variable as_tensor(const T& values, const O& options = {}) {
  if constexpr (VariableLike<T>)
    return internal::converted_to(internal::operand(values), internal::tensor_options(options));
  else if constexpr (std::convertible_to<const T&, nd::Array> && !nd::Element<T>)
    return internal::converted_to(from_numpy(values), internal::tensor_options(options));
  else return tensor(values, options);
}
template <internal::TensorOptionsOrDtype O = TensorOptions>
Variable as_tensor(const nd::Values& values, const O& options = {}) {
  return tensor(values, options);
}
// A number of the default dtype, or of its complex one, unless a dtype is given.
template <nd::Element E> Variable scalar_tensor(E number, const TensorOptions& options = {}) {
  return internal::scalar_of(number, options);
}

// ---- dtypes: PyTorch's names, and libtorch's ----
using nd::bfloat16, nd::bool_, nd::complex128, nd::complex64, nd::double_, nd::float16, nd::float32, nd::float64,
    nd::half, nd::int16, nd::int32, nd::int64, nd::int8, nd::short_, nd::uint16, nd::uint32, nd::uint64, nd::uint8;
inline constexpr Dtype long_ = Dtype::int64, int_ = Dtype::int32, float_ = Dtype::float32, cfloat = Dtype::complex64,
                       cdouble = Dtype::complex128;
inline constexpr Dtype kFloat16 = Dtype::float16, kHalf = kFloat16, kBFloat16 = Dtype::bfloat16,
                       kFloat32 = Dtype::float32, kFloat = kFloat32, kFloat64 = Dtype::float64, kDouble = kFloat64,
                       kInt8 = Dtype::int8, kChar = kInt8, kUInt8 = Dtype::uint8, kByte = kUInt8, kInt16 = Dtype::int16,
                       kShort = kInt16, kInt32 = Dtype::int32, kInt = kInt32, kInt64 = Dtype::int64, kLong = kInt64,
                       kBool = Dtype::bool_, kComplexFloat = cfloat, kComplexDouble = cdouble;

// ---- default dtype ----
// The dtype of the configuration of this thread, and its change until the end of the program or the next change.
CATENA_EXPORT Dtype get_default_dtype() noexcept;
CATENA_EXPORT void set_default_dtype(Dtype dtype);

}  // namespace autograd
