// PyTorch's torch.cuda, torch.backends and functions for seeds, beside Chainer's module `cuda` (cuda.h).
//
//   autograd::Device device = autograd::device(autograd::cuda::is_available() ? "cuda" : "cpu");
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <catena/autograd/autocast.h>
#include <catena/autograd/config.h>
#include <catena/autograd/ndarray_backend/cuda.h>
#include <catena/autograd/random_state.h>

namespace autograd {

// "cpu", "cuda" (= cuda:0) or "cuda:1"; ValueError for other names.
CATENA_EXPORT Device device(std::string_view name);
inline Device device(Device same) { return same; }
// device("cuda", 1)
template <std::integral I> Device device(std::string_view type, I index) {
  return device(std::string(type) + ":" + std::to_string(index));
}

// The state of this thread's default generator and of those of nd::random, as a value, and back.
inline RandomState get_rng_state() { return {}; }
inline void set_rng_state(const RandomState& state) { state.restore(); }

// Only algorithms whose order of summation is fixed, on this thread: using_config's cudnn_deterministic.
CATENA_EXPORT void use_deterministic_algorithms(bool deterministic);
CATENA_EXPORT bool are_deterministic_algorithms_enabled();
// "highest": products of float32 matrices on CUDA in float32. "high", "medium": TF32 is allowed. ValueError for others.
CATENA_EXPORT void set_float32_matmul_precision(std::string_view precision);
CATENA_EXPORT std::string get_float32_matmul_precision();

// The number of threads that compute on the CPU: catena::set_max_threads.
CATENA_EXPORT void set_num_threads(int n);
CATENA_EXPORT int get_num_threads();

namespace cuda {

inline bool is_available() noexcept { return available(); }
CATENA_EXPORT int device_count();    // 0 without a CUDA device
CATENA_EXPORT int current_device();  // RuntimeError without a CUDA device, here and where a device is meant below
// Makes a device the current one of this thread.
inline void set_device(nd::cuda::Device number) { number.use(); }
CATENA_EXPORT std::string get_device_name(int number = 0);  // "NVIDIA H200"
// Wait for all work on the current CUDA device, or on one; do nothing without a CUDA device.
CATENA_EXPORT void synchronize();
CATENA_EXPORT void synchronize(nd::cuda::Device number);

// One seed sets all generators: that of autograd::manual_seed.
CATENA_EXPORT void manual_seed(std::uint64_t seed);
inline void manual_seed_all(std::uint64_t seed) { manual_seed(seed); }

// Bytes of the memory pool, of all CUDA devices or of one; 0 without a CUDA device. Allocated: in blocks in use;
// reserved: also in free blocks, which empty_cache() returns to the devices.
CATENA_EXPORT std::size_t memory_allocated(int number = -1);
CATENA_EXPORT std::size_t max_memory_allocated(int number = -1);
CATENA_EXPORT std::size_t memory_reserved(int number = -1);
CATENA_EXPORT std::size_t max_memory_reserved(int number = -1);
CATENA_EXPORT void reset_peak_memory_stats();
CATENA_EXPORT void empty_cache();

namespace amp {
// autocast for CUDA, with float16 by default.
struct [[nodiscard]] autocast : AutocastScope {
  explicit autocast(bool enabled = true, Dtype dtype = Dtype::float16) : AutocastScope(dtype, enabled) {}
  template <std::same_as<AutocastOptions> O = AutocastOptions>
  explicit autocast(const O& options) : AutocastScope(options.with("cuda")) {}
};
}  // namespace amp
}  // namespace cuda

namespace internal {
// A setting that is assigned and read like a bool.
class Setting {
 public:
  using Get = bool (*)();
  using Set = void (*)(bool);
  constexpr Setting(Get get, Set set) noexcept : get_(get), set_(set) {}
  Setting(const Setting&) = delete;
  const Setting& operator=(bool value) const {
    set_(value);
    return *this;
  }
  operator bool() const { return get_(); }

 private:
  Get get_;
  Set set_;
};
CATENA_EXPORT bool uses_cudnn();
CATENA_EXPORT void set_uses_cudnn(bool enabled);
CATENA_EXPORT bool allows_tf32();
CATENA_EXPORT void set_allows_tf32(bool allow);
}  // namespace internal

// Settings: autograd::backends::cudnn::deterministic = true.
namespace backends {
namespace cudnn {
// The entry cudnn_deterministic of this thread's configuration.
inline constexpr const auto& deterministic = config.cudnn_deterministic;
// Whether its entry use_cudnn is not "never".
inline constexpr internal::Setting enabled{internal::uses_cudnn, internal::set_uses_cudnn};
// Without effect: cuDNN's heuristics choose the algorithms.
inline bool benchmark = false;
// Whether TF32 is allowed: in convolutions and in products of matrices.
inline constexpr internal::Setting allow_tf32{internal::allows_tf32, internal::set_allows_tf32};
}  // namespace cudnn
namespace cuda::matmul {
// Whether TF32 is allowed in products of matrices and in convolutions.
inline constexpr internal::Setting allow_tf32{internal::allows_tf32, internal::set_allows_tf32};
}  // namespace cuda::matmul
}  // namespace backends

}  // namespace autograd
