#include <catena/kernels/base/module.h>
#include <catena/ndarray/cpu/modules/gemm.h>

namespace nd::cpu {

#ifdef CATENA_HAS_ONEDNN

bool onednn_takes(catena::Dtype dtype) { return dtype == catena::Dtype::float32; }

bool gemm_onednn(catena::Dtype dtype, const Gemm& g) {
  if (!onednn_takes(dtype)) return false;
  static const OnednnModule& module = *CATENA_LOAD_MODULE(catena_ndarray_onednn);
  return module.multiply(g);
}

#else

bool onednn_takes(catena::Dtype) { return false; }
bool gemm_onednn(catena::Dtype, const Gemm&) { return false; }

#endif

}  // namespace nd::cpu
