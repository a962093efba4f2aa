#include <catena/kernels/base/module.h>
#include <catena/ndarray/cpu/modules/gemm.h>

namespace nd::cpu {

#ifdef CATENA_HAS_ONEDNN

bool onednn_takes(catena::Dtype dtype) { return dtype == catena::Dtype::float32; }

namespace {
const OnednnModule& onednn() {
  static const OnednnModule& module = *CATENA_LOAD_MODULE(catena_ndarray_onednn);
  return module;
}
}  // namespace

Multiply onednn_gemm() { return onednn().multiply; }
std::string onednn_description() { return onednn().description(); }

#else

bool onednn_takes(catena::Dtype) { return false; }
Multiply onednn_gemm() { return nullptr; }
std::string onednn_description() { return {}; }

#endif

}  // namespace nd::cpu
