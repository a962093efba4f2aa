#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/module.h>
#include <catena/kernels/base/text.h>
#include <catena/ndarray/cpu/modules/gemm.h>

namespace nd::cpu {

#ifdef CATENA_HAS_OPENBLAS

namespace {

// Throws if the address space is too small for OpenBLAS. The library maps work space for every thread when it is
// loaded, and for the caller of its first product; if a limit (ulimit -v) forbids this, it tries for ever.
void check_address_space() {
  constexpr std::size_t kWorkSpace = std::size_t(128) << 20, kLibrary = std::size_t(64) << 20;
  const long processors = std::max(1L, sysconf(_SC_NPROCESSORS_CONF));
  const char* const given = std::getenv("OMP_NUM_THREADS");
  const std::int64_t wanted = given == nullptr ? 0 : catena::leading_integer(given);
  const std::int64_t threads = wanted > 0 ? std::min<std::int64_t>(wanted, processors) : processors;
  const std::size_t bytes = std::size_t(threads + 1) * kWorkSpace + kLibrary;
  catena::check<catena::OutOfMemoryError>(catena::internal::can_map(bytes), "OpenBLAS", "it needs ", bytes,
                                          " bytes of addresses for ", threads,
                                          " threads, which this process cannot have (ulimit -v); "
                                          "OMP_NUM_THREADS=1 needs the fewest");
}

// Loads OpenBLAS. On a processor newer than the library, it would use its SSE3 kernels, which are much slower for
// LAPACK, so other kernels are chosen. If the program has loaded the library before, its choice stays, because the
// library may be in use.
const OpenblasModule& load_openblas() {
  void* const loaded = dlopen("libopenblas.so.0", RTLD_NOLOAD | RTLD_LAZY);
  if (loaded == nullptr) check_address_space();
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
