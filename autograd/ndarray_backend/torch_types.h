// Names of torch that are types, constants and settings, and functions that make tensors from memory, files and types.
//
//   Variable x = autograd::FloatTensor({1.0, 2.0}), i = autograd::LongTensor(2, 3);
//   autograd::set_default_device("cuda");
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <catena/autograd/autocast.h>
#include <catena/autograd/debug.h>
#include <catena/autograd/ndarray_backend/torch_cuda.h>
#include <catena/autograd/ndarray_backend/torch_functions.h>
#include <catena/kernels/base/error.h>
#include <catena/ndarray/core/dtype.h>

namespace autograd {

// ---- constants and types ----
using nd::e, nd::inf, nd::nan, nd::pi;
// torch.Size is a shape, and torch.dtype a dtype.
using Size = Shape;
using dtype = Dtype;
using catena::OutOfMemoryError;
using nd::Event, nd::Stream;
namespace cuda {
using catena::OutOfMemoryError;
}

// A function that makes tensors of one dtype, of values or, uninitialized, of lengths: FloatTensor({1.0, 2.0}),
// FloatTensor(xs), FloatTensor(2, 3). It converts to its dtype: x.astype(LongTensor).
class TensorType {
 public:
  constexpr explicit TensorType(Dtype of) noexcept : dtype_(of) {}
  constexpr operator Dtype() const noexcept { return dtype_; }
  Variable operator()(const nd::Values& values) const { return tensor(values, dtype_); }
  template <std::convertible_to<nd::Array> A>
  requires(!std::integral<A>) Variable operator()(const A& values) const { return tensor(values, dtype_); }
  template <std::integral... I>
  requires(sizeof...(I) > 0) Variable operator()(I... lengths) const {
    return internal::made(internal::Filling::empty, Shape{lengths...}, {.dtype = dtype_});
  }

 private:
  Dtype dtype_;
};
inline constexpr TensorType FloatTensor(Dtype::float32), DoubleTensor(Dtype::float64), HalfTensor(Dtype::float16),
    BFloat16Tensor(Dtype::bfloat16), LongTensor(Dtype::int64), IntTensor(Dtype::int32), ShortTensor(Dtype::int16),
    CharTensor(Dtype::int8), ByteTensor(Dtype::uint8), BoolTensor(Dtype::bool_);
// set_default_dtype, by a function: set_default_tensor_type(DoubleTensor).
inline void set_default_tensor_type(const TensorType& type) { set_default_dtype(type); }

// ---- promotion ----
// Returns the dtype of an operation by PyTorch's rules: numbers promote arrays only to a higher kind (bool, integer,
// floating, complex), and so do arrays without axes beside those with axes; integers never widen floating dtypes.
CATENA_EXPORT Dtype result_type(const TensorArgument& x, const TensorArgument& y);
// Whether the kind of `to` holds that of `from`.
CATENA_EXPORT bool can_cast(Dtype from, Dtype to);

// ---- settings ----
// The current device of this thread, on which new arrays are.
CATENA_EXPORT Device get_default_device();
CATENA_EXPORT void set_default_device(const DeviceOption& device);
inline std::uint64_t initial_seed() { return default_generator().seed; }
// Sets a seed that differs from call to call, and returns it.
CATENA_EXPORT std::uint64_t seed();
namespace random {
using autograd::get_rng_state, autograd::initial_seed, autograd::manual_seed, autograd::seed, autograd::set_rng_state;
// A scope whose random numbers leave the generators as they were: { random::fork_rng scope; ... }
class fork_rng {
 public:
  [[nodiscard]] fork_rng() : scope_(RandomState()) {}

 private:
  ReplayedRandom scope_;
};
}  // namespace random
// Scopes hold for all devices; the type chooses a dtype: that of the scope, or the one which autocast has by default.
inline bool is_autocast_enabled() noexcept { return autocast_dtype().has_value(); }
inline bool is_autocast_enabled(std::string_view) noexcept { return is_autocast_enabled(); }
inline bool is_autocast_cpu_enabled() noexcept { return is_autocast_enabled(); }
inline bool is_autocast_cache_enabled() noexcept { return true; }
inline void clear_autocast_cache() noexcept {}  // without effect: the copies go with the scope
inline Dtype get_autocast_dtype(std::string_view device_type) {
  return autocast_dtype().value_or(device_type == "cuda" ? Dtype::float16 : Dtype::bfloat16);
}
inline Dtype get_autocast_gpu_dtype() { return get_autocast_dtype("cuda"); }
inline Dtype get_autocast_cpu_dtype() { return get_autocast_dtype("cpu"); }
// The debug mode, which checks for NaN in any case.
inline void set_anomaly_enabled(bool mode, bool = true) noexcept { set_debug(mode); }
inline bool is_anomaly_enabled() noexcept { return is_debug(); }
inline bool is_anomaly_check_nan_enabled() noexcept { return is_debug(); }
inline bool is_inference_mode_enabled() noexcept { return !is_grad_enabled(); }
// "default" or "error" (ValueError for others): use_deterministic_algorithms.
CATENA_EXPORT void set_deterministic_debug_mode(std::string_view mode);
inline int get_deterministic_debug_mode() { return are_deterministic_algorithms_enabled() ? 2 : 0; }
inline bool is_deterministic_algorithms_warn_only_enabled() noexcept { return false; }
// Without effect: one pool of threads computes, and operations do not run beside each other.
inline void set_num_interop_threads(int) noexcept {}
inline int get_num_interop_threads() noexcept { return 1; }
// Returns false: subnormal numbers are always computed, so that results are the same on every device.
inline bool set_flush_denormal(bool) noexcept { return false; }
// The model itself: kernels are compiled at their first call. mode and the other options have no effect.
struct CompileOptions {
  bool fullgraph = false;
  std::optional<bool> dynamic = {};
  std::string_view backend = "inductor", mode = "default";
};
template <class M> M& compile(M& model, const CompileOptions& = {}) noexcept { return model; }

// ---- new tensors ----
struct AsarrayOptions {
  std::optional<Dtype> dtype = {};
  DeviceOption device = {};
  bool copy = false;  // true: memory of its own in any case
  bool requires_grad = false;
};
// as_tensor with options by name: memory of a variable or an array whose dtype and device are right is shared unless
// copy or requires_grad is true. Values in braces, lists and containers are copied.
template <class T> Variable asarray(const T& values, const AsarrayOptions& o = {}) {
  const Variable x = as_tensor(values, TensorOptions{.dtype = o.dtype, .device = o.device});
  return o.copy || o.requires_grad ? tensor(x.data(), TensorOptions{.requires_grad = o.requires_grad}) : x;
}
inline Variable asarray(const nd::Values& values, const AsarrayOptions& o = {}) {
  return tensor(values, TensorOptions{.dtype = o.dtype, .device = o.device, .requires_grad = o.requires_grad});
}
// The first `size` elements of a file of bytes. ValueError for fewer.
struct FromFileOptions {
  bool shared = false;  // without effect: the elements are a copy
  std::int64_t size = 0;
  Dtype dtype = Dtype::float32;
};
CATENA_EXPORT Variable from_file(const std::string& path, const FromFileOptions& o);
// A copy of bytes as elements; count = -1: all behind the offset.
struct FromBufferOptions {
  Dtype dtype = Dtype::float32;
  std::int64_t count = -1, offset = 0;
  bool requires_grad = false;
};
CATENA_EXPORT Variable frombuffer(std::span<const std::byte> bytes, const FromBufferOptions& o);
// Uninitialized, with given strides in elements; ValueError for negative ones and two lists of different lengths.
// empty_permuted: axis physical[0] has the greatest stride, and so on.
CATENA_EXPORT Variable empty_strided(const Shape& shape, const Dims& strides, const TensorOptions& o = {});
CATENA_EXPORT Variable empty_permuted(const Shape& shape, const Dims& physical, const TensorOptions& o = {});
// arange with the end included; floating unless a dtype is given.
CATENA_EXPORT Variable range(double start, double end, double step = 1, const TensorOptions& o = {});
// nonzero with `size` rows: the first ones, or followed by rows of the fill value.
struct NonzeroStaticOptions {
  std::int64_t size = 0, fill_value = -1;
};
CATENA_EXPORT Variable nonzero_static(const Variable& x, const NonzeroStaticOptions& o);
// The numbers of successes in `count` trials of a probability, in the dtype of count; the operands broadcast.
CATENA_EXPORT Variable binomial(const Variable& count, const Variable& prob);

}  // namespace autograd
