#include <catena/autograd/ndarray_backend/cuda.h>

#include <atomic>

#include <catena/autograd/ndarray_backend/cudnn_extension.h>
#include <catena/autograd/ndarray_backend/cudnn_library.h>
#include <catena/autograd/ndarray_backend/cudnn_plans.h>
#include <catena/kernels/base/warning.h>

namespace autograd::cuda {

bool cudnn_enabled() { return available() && internal::cudnn_extension() != nullptr; }

void check_cuda_available() {
  nd::cuda::check_available();
  if (internal::cudnn_is_disabled() || internal::cudnn::is_available()) return;
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true))
    catena::warn(
        "RuntimeWarning",
        "cuDNN is not found: convolutions and the like use the library's own kernels. Install cuDNN for faster "
        "ones, or set CHAINER_CUDNN=0 to silence this warning.");
}

void set_max_workspace_size(std::int64_t size) { internal::cudnn::set_max_workspace_size(size); }
std::int64_t get_max_workspace_size() noexcept { return internal::cudnn::max_workspace_size(); }

}  // namespace autograd::cuda
