#include <catena/autograd/ndarray_backend/torch_cuda.h>

#include <catena/autograd/config.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cuda/vendor/blas.h>
#include <catena/ndarray/memory/memory_pool.h>

namespace autograd {

using Kind = nd::Device::Kind;

Device device(std::string_view name) { return nd::device_from_name(name); }

void use_deterministic_algorithms(bool deterministic) { config.cudnn_deterministic = deterministic; }
bool are_deterministic_algorithms_enabled() { return config.cudnn_deterministic; }

void set_float32_matmul_precision(std::string_view precision) {
  catena::check<catena::ValueError>(precision == "highest" || precision == "high" || precision == "medium",
                                    "set_float32_matmul_precision", "the precision is \"", precision,
                                    "\"; it is \"highest\", \"high\" or \"medium\"");
  internal::set_allows_tf32(precision != "highest");
}
std::string get_float32_matmul_precision() { return internal::allows_tf32() ? "high" : "highest"; }

void set_num_threads(int n) { catena::set_max_threads(n); }
int get_num_threads() { return catena::max_threads(); }

namespace internal {
bool uses_cudnn() { return cudnn_modes().uses_cudnn(); }
void set_uses_cudnn(bool enabled) { cudnn_modes().use_cudnn = enabled ? UseCudnn::kAuto : UseCudnn::kNever; }
bool allows_tf32() { return nd::cuda::tf32_allowed(); }
void set_allows_tf32(bool allow) { nd::cuda::allow_tf32(allow); }
}  // namespace internal

namespace cuda {

namespace {

nd::PoolStatistics statistics(int number) {
  if (!available()) return {};
  return nd::memory_pool(Kind::cuda).statistics(number < 0 ? nd::kAllDevices : number);
}

}  // namespace

int device_count() { return nd::device_count(Kind::cuda); }
int current_device() {
  check_cuda_available();
  const nd::Device current = nd::current_device();
  return current.kind == Kind::cuda ? current.id : 0;
}
std::string get_device_name(int number) {
  check_cuda_available();
  return nd::properties(nd::cuda::Device(number)).name;
}

void synchronize() {
  if (available()) nd::synchronize(nd::cuda::Device(current_device()));
}
void synchronize(nd::cuda::Device number) {
  if (available()) number.synchronize();
}

void manual_seed(std::uint64_t seed) { autograd::seed(seed); }

std::size_t memory_allocated(int number) { return statistics(number).used_bytes; }
std::size_t max_memory_allocated(int number) { return statistics(number).peak_used_bytes; }
std::size_t memory_reserved(int number) { return statistics(number).total_bytes; }
std::size_t max_memory_reserved(int number) { return statistics(number).peak_total_bytes; }
void reset_peak_memory_stats() {
  if (available()) nd::memory_pool(Kind::cuda).reset_peaks();
}
void empty_cache() {
  if (available()) nd::memory_pool(Kind::cuda).free_all_blocks();
}

}  // namespace cuda

}  // namespace autograd
