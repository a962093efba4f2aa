#include <catena/autograd/ndarray_backend/onednn/convolution.h>

#if CATENA_HAS_ONEDNN
#include <catena/autograd/ndarray_backend/onednn/modules/onednn.h>
#include <catena/kernels/base/module.h>
#endif

namespace autograd::internal {

#if CATENA_HAS_ONEDNN
Array onednn_convolution(const Convolution& c) {
  static const OnednnModule& module = *CATENA_LOAD_MODULE(catena_autograd_ndarray_onednn);
  return module.convolution(c);
}
#else
Array onednn_convolution(const Convolution&) { return {}; }
#endif

}  // namespace autograd::internal
