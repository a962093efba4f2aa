#include <algorithm>
#include <climits>

#include <catena/kernels/base/module.h>
#include <catena/ndarray/cpu/modules/gemm.h>

namespace nd::cpu {

#ifdef CATENA_HAS_OPENBLAS

namespace {

const OpenblasModule& openblas() {
  static const OpenblasModule& module = *CATENA_LOAD_MODULE(catena_ndarray_openblas);
  return module;
}

}  // namespace

bool openblas_takes(catena::Dtype dtype, const Gemm& g) {
  const catena::Dtype real = catena::real_dtype(dtype);
  if (real != catena::Dtype::float32 && real != catena::Dtype::float64) return false;
  return std::max({g.m, g.n, g.k, g.lda, g.ldb, g.ldc}) <= INT_MAX;
}

Multiply openblas_gemm() { return openblas().multiply; }

bool openblas_knows_processor() {
  static const bool knows = openblas().knows_processor();
  return knows;
}

#else

bool openblas_takes(catena::Dtype, const Gemm&) { return false; }
Multiply openblas_gemm() { return nullptr; }
bool openblas_knows_processor() { return true; }

#endif

}  // namespace nd::cpu
