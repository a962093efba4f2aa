#include <algorithm>
#include <climits>
#include <cstdlib>

#include <catena/kernels/base/module.h>
#include <catena/ndarray/cpu/modules/gemm.h>

namespace nd::cpu {

#ifdef CATENA_HAS_OPENBLAS

namespace {

// OpenBLAS before 0.3.22 does not know AMD's processors with AVX-512 and runs them with its AVX2 kernels, at little
// more than half the speed. Its choice can be overridden only by an environment variable, which it reads when it is
// loaded: while this object lives, the variable is set, unless the program's environment already has it. (An OpenBLAS
// that the program has loaded before keeps its choice.)
class KernelChoice {
 public:
  KernelChoice() : set_(std::getenv(kVariable) == nullptr && is_amd_with_avx512()) {
    if (set_) setenv(kVariable, "SkylakeX", 0);
  }
  ~KernelChoice() {
    if (set_) unsetenv(kVariable);
  }
  KernelChoice(const KernelChoice&) = delete;
  KernelChoice& operator=(const KernelChoice&) = delete;

 private:
  static constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  static bool is_amd_with_avx512() {
#ifdef __x86_64__
    return __builtin_cpu_is("amd") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
#else
    return false;
#endif
  }
  bool set_;
};

const OpenblasModule& load_openblas() {
  const KernelChoice choice;
  return *CATENA_LOAD_MODULE(catena_ndarray_openblas);
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
