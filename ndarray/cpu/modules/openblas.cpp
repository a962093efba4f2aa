#include <cblas.h>

#include <string_view>

#include <catena/ndarray/cpu/modules/gemm.h>

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
                reinterpret_cast<const double*>(g.b), i(g.ldb), 0.0, reinterpret_cast<double*>(g.c), i(g.ldc));
  } else {
    cblas_sgemm(CblasRowMajor, ta, tb, i(g.m), i(g.n), i(g.k), 1.0f, reinterpret_cast<const float*>(g.a), i(g.lda),
                reinterpret_cast<const float*>(g.b), i(g.ldb), 0.0f, reinterpret_cast<float*>(g.c), i(g.ldc));
  }
  return true;
}

bool knows_processor() {
#ifdef __x86_64__
  return std::string_view(openblas_get_corename()) != "Prescott" || !__builtin_cpu_supports("avx2");
#else
  return true;
#endif
}

}  // namespace

const OpenblasModule* catena_ndarray_openblas() {
  static constexpr OpenblasModule module{multiply, knows_processor};
  return &module;
}

}  // namespace nd::cpu
