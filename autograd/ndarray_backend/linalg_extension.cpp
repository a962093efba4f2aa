#include <catena/autograd/ndarray_backend/linalg_extension.h>

#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/ndarray/routines/fft.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/matrix_functions.h>

namespace autograd::internal {
namespace {

class NdarrayLinalg final : public LinalgExtension {
 protected:
  Array do_inv(const Array& a, bool check) override { return nd::linalg::inv(a, {.check = check}); }
  Array do_det(const Array& a) override { return nd::linalg::det(a); }
  Array do_cholesky(const Array& a) override { return nd::linalg::cholesky(a); }
  LUFactors do_lu(const Array& a) override {
    const auto [lu, pivots] = nd::linalg::lu_factor(a);
    return {lu, pivots};
  }
  Array do_lu_solve(const LUFactors& factors, const Array& b, bool transposed) override {
    return nd::linalg::lu_solve({factors.lu, factors.pivots}, b, transposed ? 1 : 0);
  }
  Array do_solve_triangular(const Array& a, const Array& b, const Triangle& triangle, bool transposed) override {
    return nd::linalg::solve_triangular(
        a, b, {.trans = transposed ? 1 : 0, .lower = triangle.lower, .unit_diagonal = triangle.unit});
  }
  Arrays do_eigh(const Array& a) override {
    const auto [values, vectors] = nd::linalg::eigh(a);
    return {values, vectors};
  }
  Arrays do_svd(const Array& a) override {
    const auto [u, s, vh] = nd::linalg::svd(a, false);
    return {u, s, vh};
  }
  Arrays do_qr(const Array& a) override {
    const auto [q, r] = nd::linalg::qr(a);
    return {q, r};
  }
  Array do_expm(const Array& a) override { return nd::linalg::expm(a); }
  Arrays do_fourier(const Array& real, const Array& imag, bool inverse) override {
    const nd::Array x = nd::Array(real).astype(real.dtype() == Dtype::float64 ? nd::complex128 : nd::complex64);
    nd::copyto(x.imag(), nd::Array(imag));
    const nd::Array y = inverse ? nd::fft::ifft(x, {.norm = "forward"}) : nd::fft::fft(x);
    return {y.real().copy(), y.imag().copy()};
  }
};

}  // namespace

LinalgExtension* ndarray_linalg_extension([[maybe_unused]] Device device) {
#ifndef CATENA_HAS_OPENBLAS
  if (device.kind == Device::Kind::cpu) return nullptr;
#endif
  static LinalgExtension* const extension = new NdarrayLinalg;
  return extension;
}

}  // namespace autograd::internal
