// The submodules linalg and fft.
#include "convert.h"

#include <variant>

namespace nd::python {

namespace {

using Order = std::optional<std::variant<double, std::string>>;  // "fro", "nuc", a number, or None
linalg::NormOrder order_of(const Order& order) {
  if (!order) return {};
  if (const auto* const number = std::get_if<double>(&*order)) return linalg::NormOrder(*number);
  return linalg::NormOrder(std::string_view(std::get<std::string>(*order)));
}

Array as_complex(const Array& a) {
  return a.astype(catena::promote_types(a.dtype(), Dtype::complex64), {.copy = false});
}

void define_decompositions(py::module_& la) {
  define(
      la, "cholesky", [](const Like& a, bool upper) { return linalg::cholesky(a, {.upper = upper}); }, py::arg("x"),
      py::arg("upper") = false);
  define(
      la, "eigh", [](const Like& a, const std::string& uplo) { return linalg::eigh(a, uplo); }, py::arg("a"),
      py::arg("UPLO") = "L");
  define(
      la, "eigvalsh", [](const Like& a, const std::string& uplo) { return linalg::eigvalsh(a, uplo); }, py::arg("a"),
      py::arg("UPLO") = "L");
  define(
      la, "eig",
      [](const Like& a) {
        const linalg::EigResult r = linalg::eig(a);  // the standard asks for complex results of real matrices, too
        return linalg::EigResult{as_complex(r.eigenvalues), as_complex(r.eigenvectors)};
      },
      py::arg("a"));
  define(
      la, "eigvals", [](const Like& a) { return as_complex(linalg::eigvals(a)); }, py::arg("a"));
  define(
      la, "qr", [](const Like& a, const std::string& mode) { return linalg::qr(a, mode); }, py::arg("a"),
      py::arg("mode") = "reduced");
  define(
      la, "svd", [](const Like& a, bool full_matrices) { return linalg::svd(a, full_matrices); }, py::arg("a"),
      py::arg("full_matrices") = true);
  define(
      la, "svdvals", [](const Like& a) { return linalg::svdvals(a); }, py::arg("x"));
}

void define_equations(py::module_& la) {
  define(
      la, "inv", [](const Like& a) { return linalg::inv(a); }, py::arg("a"));
  define(
      la, "pinv",
      [](const Like& a, const std::optional<Value>& rcond, const std::optional<Value>& rtol) {
        linalg::PinvOptions options;
        if (rcond) options.rcond = Operand(*rcond);
        if (rtol) options.rtol = Operand(*rtol);
        return linalg::pinv(a, options);
      },
      py::arg("a"), py::arg("rcond") = py::none(), py::kw_only(), py::arg("rtol") = py::none());
  define(
      la, "solve", [](const Like& a, const Like& b) { return linalg::solve(a, b); }, py::arg("a"), py::arg("b"));
  define(
      la, "matrix_power", [](const Like& a, std::int64_t n) { return linalg::matrix_power(a, n); }, py::arg("a"),
      py::arg("n"));
  define(
      la, "det", [](const Like& a) { return linalg::det(a); }, py::arg("a"));
  define(
      la, "slogdet", [](const Like& a) { return linalg::slogdet(a); }, py::arg("a"));
  define(
      la, "matrix_rank",
      [](const Like& a, const std::optional<Value>& tol, const std::optional<Value>& rtol) {
        linalg::MatrixRankOptions options;
        if (tol) options.tol = Operand(*tol);
        if (rtol) options.rtol = Operand(*rtol);
        return linalg::matrix_rank(a, options);
      },
      py::arg("A"), py::arg("tol") = py::none(), py::kw_only(), py::arg("rtol") = py::none());
}

void define_norms(py::module_& la) {
  define(
      la, "norm",
      [](const Like& a, const Order& ord, const AxesArgument& axis, bool keepdims) {
        return linalg::norm(a, linalg::NormOptions{.ord = order_of(ord), .axis = axis, .keepdims = keepdims});
      },
      py::arg("x"), py::arg("ord") = py::none(), py::arg("axis") = py::none(), py::arg("keepdims") = false);
  define(
      la, "vector_norm",
      [](const Like& a, const AxesArgument& axis, bool keepdims, const Order& ord) {
        return linalg::vector_norm(a, {.axis = axis, .keepdims = keepdims, .ord = order_of(ord)});
      },
      py::arg("x"), py::pos_only(), py::kw_only(), py::arg("axis") = py::none(), py::arg("keepdims") = false,
      py::arg("ord") = 2);
  define(
      la, "matrix_norm",
      [](const Like& a, bool keepdims, const Order& ord) {
        return linalg::matrix_norm(a, {.keepdims = keepdims, .ord = order_of(ord)});
      },
      py::arg("x"), py::pos_only(), py::kw_only(), py::arg("keepdims") = false, py::arg("ord") = "fro");
}

void define_products(py::module_& la) {
  define(
      la, "cross", [](const Like& a, const Like& b, int axis) { return linalg::cross(a, b, axis); }, py::arg("x1"),
      py::arg("x2"), py::pos_only(), py::kw_only(), py::arg("axis") = -1);
  define(
      la, "outer", [](const Like& a, const Like& b) { return linalg::outer(a, b); }, py::arg("x1"), py::arg("x2"),
      py::pos_only());
  define(
      la, "diagonal", [](const Like& x, std::int64_t offset) { return linalg::diagonal(x, offset); }, py::arg("x"),
      py::pos_only(), py::kw_only(), py::arg("offset") = 0);
  define(
      la, "trace",
      [](const Like& x, std::int64_t offset, const MaybeDtype& dtype) { return linalg::trace(x, offset, dtype); },
      py::arg("x"), py::pos_only(), py::kw_only(), py::arg("offset") = 0, py::arg("dtype") = py::none());
}

}  // namespace

// The functions of the array API standard that are in both namespaces are those of the module.
void define_linalg(py::module_& m) {
  py::module_ la = m.def_submodule("linalg");
  define_decompositions(la);
  define_equations(la);
  define_norms(la);
  define_products(la);
  for (const char* const name : {"matmul", "matrix_transpose", "tensordot", "vecdot"}) la.attr(name) = m.attr(name);
}

void define_fft(py::module_& m) {
  py::module_ transforms = m.def_submodule("fft");
  using Transform = Array (*)(const Array&, const fft::FftOptions&);
  for (const auto& [name, f] : std::initializer_list<std::pair<const char*, Transform>>{{"fft", &fft::fft},
                                                                                        {"ifft", &fft::ifft},
                                                                                        {"rfft", &fft::rfft},
                                                                                        {"irfft", &fft::irfft},
                                                                                        {"hfft", &fft::hfft},
                                                                                        {"ihfft", &fft::ihfft}})
    define(
        transforms, name,
        [f = f](const Like& a, std::optional<std::int64_t> n, int axis, const std::string& norm) {
          return f(a, {.n = n, .axis = axis, .norm = norm});
        },
        py::arg("a"), py::arg("n") = py::none(), py::arg("axis") = -1, py::arg("norm") = "backward");
  using TransformOfAxes = Array (*)(const Array&, const fft::FftnOptions&);
  for (const auto& [name, f] : std::initializer_list<std::pair<const char*, TransformOfAxes>>{{"fftn", &fft::fftn},
                                                                                              {"ifftn", &fft::ifftn},
                                                                                              {"rfftn", &fft::rfftn},
                                                                                              {"irfftn", &fft::irfftn},
                                                                                              {"fft2", &fft::fft2},
                                                                                              {"ifft2", &fft::ifft2}})
    define(
        transforms, name,
        [f = f](const Like& a, const std::optional<Lengths>& s, const AxesArgument& axes, const std::string& norm) {
          return f(a, {.s = s ? std::optional(s->value) : std::nullopt, .axes = axes, .norm = norm});
        },
        py::arg("a"), py::arg("s") = py::none(), py::arg("axes") = py::none(), py::arg("norm") = "backward");
  using Frequencies = Array (*)(std::int64_t, double);
  for (const auto& [name, f] : std::initializer_list<std::pair<const char*, Frequencies>>{{"fftfreq", &fft::fftfreq},
                                                                                          {"rfftfreq", &fft::rfftfreq}})
    define(
        transforms, name,
        [f = f](std::int64_t n, double d, const MaybeDtype& dtype, const MaybeDevice& device) {
          const OnDevice there(device);
          return f(n, d).astype(dtype.value_or(Dtype::float64), {.copy = false});
        },
        py::arg("n"), py::arg("d") = 1.0, py::arg("dtype") = py::none(), py::arg("device") = py::none());
  define(
      transforms, "fftshift", [](const Like& a, const AxesArgument& axes) { return fft::fftshift(a, axes); },
      py::arg("x"), py::arg("axes") = py::none());
  define(
      transforms, "ifftshift", [](const Like& a, const AxesArgument& axes) { return fft::ifftshift(a, axes); },
      py::arg("x"), py::arg("axes") = py::none());
}

}  // namespace nd::python
