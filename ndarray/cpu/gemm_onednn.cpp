#include <catena/kernels/base/module.h>
#include <catena/ndarray/cpu/modules/gemm.h>

namespace nd::cpu {

#ifdef CATENA_HAS_ONEDNN

bool onednn_takes(catena::Dtype dtype) { return dtype == catena::Dtype::float32; }

Multiply onednn_gemm() {
  static const OnednnModule& module = *CATENA_LOAD_MODULE(catena_ndarray_onednn);
  return module.multiply;
}

#else

bool onednn_takes(catena::Dtype) { return false; }
Multiply onednn_gemm() { return nullptr; }

#endif

}  // namespace nd::cpu
