#include <catena/kernels/base/error.h>
#include <catena/ndarray/cpu/gemm.h>

#ifdef CATENA_HAS_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif

namespace nd::cpu {

bool onednn_takes([[maybe_unused]] catena::Dtype dtype) {
#ifdef CATENA_HAS_ONEDNN
  return dtype == catena::Dtype::float32;
#else
  return false;
#endif
}

bool gemm_onednn([[maybe_unused]] catena::Dtype dtype, [[maybe_unused]] const Gemm& g) {
#ifdef CATENA_HAS_ONEDNN
  if (!onednn_takes(dtype)) return false;
  const auto f = [](auto* p) { return reinterpret_cast<const float*>(p); };
  const dnnl_status_t status = dnnl_sgemm(g.transpose_a ? 'T' : 'N', g.transpose_b ? 'T' : 'N', g.m, g.n, g.k, 1.0f,
                                          f(g.a), g.lda, f(g.b), g.ldb, 0.0f, reinterpret_cast<float*>(g.c), g.ldc);
  catena::check<catena::OutOfMemoryError>(status != dnnl_out_of_memory, "matmul", "oneDNN has no memory for ", g.m,
                                          " x ", g.k, " @ ", g.k, " x ", g.n);
  return status == dnnl_success;
#else
  return false;
#endif
}

}  // namespace nd::cpu
