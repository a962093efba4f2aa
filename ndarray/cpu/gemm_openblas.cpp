#include <dlfcn.h>

#include <algorithm>
#include <climits>

#include <catena/kernels/base/module.h>
#include <catena/ndarray/cpu/modules/gemm.h>

namespace nd::cpu {

#ifdef CATENA_HAS_OPENBLAS

namespace {

// A processor newer than the library gets its SSE3 kernels, with which LAPACK takes two to eight times as long. A
// library that the program has loaded before, and may be using, keeps its choice.
const OpenblasModule& load_openblas() {
  void* const loaded = dlopen("libopenblas.so.0", RTLD_NOLOAD | RTLD_LAZY);
  const OpenblasModule& module = *CATENA_LOAD_MODULE(catena_ndarray_openblas);
  if (loaded == nullptr) module.choose_kernels();
  else dlclose(loaded);
  return module;
}
const OpenblasModule& openblas() {
  static const OpenblasModule& module = load_openblas();
  return module;
}

}  // namespace

bool openblas_takes(catena::Dtype dtype, const Gemm& g) {
  const catena::Dtype real = catena::real_dtype(dtype);
  if (real != catena::Dtype::float32 && real != catena::Dtype::float64) return false;
  return std::max({g.m, g.n, g.k, g.lda, g.ldb, g.ldc}) <= INT_MAX;
}

Multiply openblas_gemm() { return openblas().multiply; }
std::string openblas_description() { return openblas().description(); }

bool openblas_knows_processor() {
  static const bool knows = openblas().knows_processor();
  return knows;
}

const Lapack* lapack() { return &openblas().lapack; }

#else

const Lapack* lapack() { return nullptr; }
bool openblas_takes(catena::Dtype, const Gemm&) { return false; }
Multiply openblas_gemm() { return nullptr; }
std::string openblas_description() { return {}; }
bool openblas_knows_processor() { return true; }

#endif

}  // namespace nd::cpu
