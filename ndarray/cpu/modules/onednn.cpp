#include <oneapi/dnnl/dnnl.h>

#include <catena/kernels/base/config.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/module.h>
#include <catena/ndarray/cpu/modules/gemm.h>

namespace nd::cpu {
namespace {

bool multiply(catena::Dtype /* float32 */, const Gemm& g) {
  if (!catena::internal::has_space_for_onednn()) return false;
  const auto f = [](auto* p) { return reinterpret_cast<const float*>(p); };
  const dnnl_status_t status =
      dnnl_sgemm(g.transpose_a ? 'T' : 'N', g.transpose_b ? 'T' : 'N', g.m, g.n, g.k, 1.0f, f(g.a), g.lda, f(g.b),
                 g.ldb, g.accumulate ? 1.0f : 0.0f, reinterpret_cast<float*>(g.c), g.ldc);
  catena::check<catena::OutOfMemoryError>(status != dnnl_out_of_memory, "matmul", "oneDNN has no memory for ", g.m,
                                          " x ", g.k, " @ ", g.k, " x ", g.n);
  return status == dnnl_success;
}

std::string description() {
  const dnnl_version_t* const v = dnnl_version();
  return catena::concat("oneDNN ", v->major, '.', v->minor, '.', v->patch, ", ",
                        catena::internal::file_of(reinterpret_cast<const void*>(&dnnl_sgemm)));
}

}  // namespace

const OnednnModule* catena_ndarray_onednn() {
  static constexpr OnednnModule module{multiply, description};
  return &module;
}

}  // namespace nd::cpu
