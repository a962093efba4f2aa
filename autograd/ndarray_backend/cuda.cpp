#include <catena/autograd/ndarray_backend/cuda.h>

#include <catena/autograd/ndarray_backend/cudnn/extension.h>
#include <catena/autograd/ndarray_backend/cudnn/plans.h>

namespace autograd::cuda {

bool cudnn_enabled() { return available() && internal::cudnn_extension() != nullptr; }

void check_cuda_available() {
  nd::cuda::check_available();
  internal::warn_without_cudnn();
}

void set_max_workspace_size(std::int64_t size) { internal::cudnn::set_max_workspace_size(size); }
std::int64_t get_max_workspace_size() { return internal::cudnn::max_workspace_size(nd::current_device()); }

}  // namespace autograd::cuda
