#include <cblas.h>

#include <cstdlib>
#include <string_view>

#include <catena/kernels/base/config.h>
#include <catena/kernels/base/error.h>
#include <catena/ndarray/cpu/modules/gemm.h>

// Functions that the library runs when it is loaded and unloaded. They are absent if it was built for one processor.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace nd::cpu {
namespace {

bool multiply(catena::Dtype dtype, const Gemm& g) {
  const auto i = [](std::int64_t x) { return static_cast<int>(x); };
  constexpr double one[2] = {1, 0}, zero[2] = {0, 0};
  constexpr float onef[2] = {1, 0}, zerof[2] = {0, 0};
  const CBLAS_TRANSPOSE ta = g.transpose_a ? CblasTrans : CblasNoTrans, tb = g.transpose_b ? CblasTrans : CblasNoTrans;
  if (dtype == catena::Dtype::complex128) {
    cblas_zgemm(CblasRowMajor, ta, tb, i(g.m), i(g.n), i(g.k), one, g.a, i(g.lda), g.b, i(g.ldb), zero, g.c, i(g.ldc));
  } else if (dtype == catena::Dtype::complex64) {
    cblas_cgemm(CblasRowMajor, ta, tb, i(g.m), i(g.n), i(g.k), onef, g.a, i(g.lda), g.b, i(g.ldb), zerof, g.c,
                i(g.ldc));
  } else if (dtype == catena::Dtype::float64) {
    cblas_dgemm(CblasRowMajor, ta, tb, i(g.m), i(g.n), i(g.k), 1.0, reinterpret_cast<const double*>(g.a), i(g.lda),
                reinterpret_cast<const double*>(g.b), i(g.ldb), g.accumulate ? 1.0 : 0.0,
                reinterpret_cast<double*>(g.c), i(g.ldc));
  } else {
    cblas_sgemm(CblasRowMajor, ta, tb, i(g.m), i(g.n), i(g.k), 1.0f, reinterpret_cast<const float*>(g.a), i(g.lda),
                reinterpret_cast<const float*>(g.b), i(g.ldb), g.accumulate ? 1.0f : 0.0f,
                reinterpret_cast<float*>(g.c), i(g.ldc));
  }
  return true;
}

std::string description() {
  return catena::concat(openblas_get_config(), ", ",
                        catena::internal::file_of(reinterpret_cast<const void*>(&cblas_dgemm)));
}

bool knows_processor() {
#ifdef __x86_64__
  return std::string_view(openblas_get_corename()) != "Prescott" || !__builtin_cpu_supports("avx2");
#else
  return true;
#endif
}

// The library reads the name of its kernels from this environment variable when it initialises.
void choose_kernels() {
#ifdef __x86_64__
  constexpr const char* variable = "OPENBLAS_CORETYPE";
  if (knows_processor() || std::getenv(variable) != nullptr || &gotoblas_dynamic_init == nullptr) return;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  setenv(variable, wide ? "SkylakeX" : "Haswell", 0);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv(variable);
#endif
}

}  // namespace

const OpenblasModule* catena_ndarray_openblas() {
  static const OpenblasModule module{multiply, description, knows_processor, choose_kernels, lapack_of_openblas};
  return &module;
}

}  // namespace nd::cpu
