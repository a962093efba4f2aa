// The module `catena`: dtypes, errors, devices, and the submodules linalg, fft and random.
#include "convert.h"

#include <catena/kernels/base/error.h>

namespace nd::python {

namespace {

// The classes of errors of both libraries as those of Python; derived classes come first.
void translate(std::exception_ptr p) {
  const auto set = [](PyObject* type, const std::exception& e) { PyErr_SetString(type, e.what()); };
  try {
    std::rethrow_exception(p);
  } catch (const catena::OverflowError& e) {
    set(PyExc_OverflowError, e);
  } catch (const catena::ValueError& e) {
    set(PyExc_ValueError, e);
  } catch (const catena::LinAlgError& e) {
    set(PyExc_ValueError, e);  // numpy.linalg.LinAlgError is a ValueError, too
  } catch (const catena::TypeError& e) {
    set(PyExc_TypeError, e);
  } catch (const catena::InvalidType& e) {
    set(PyExc_TypeError, e);
  } catch (const catena::IndexError& e) {
    set(PyExc_IndexError, e);
  } catch (const catena::KeyError& e) {
    set(PyExc_KeyError, e);
  } catch (const catena::AttributeError& e) {
    set(PyExc_AttributeError, e);
  } catch (const catena::AssertionError& e) {
    set(PyExc_AssertionError, e);
  } catch (const catena::NotImplementedError& e) {
    set(PyExc_NotImplementedError, e);
  } catch (const catena::IOError& e) {
    set(PyExc_OSError, e);
  } catch (const catena::OutOfMemoryError& e) {
    set(PyExc_MemoryError, e);
  } catch (const catena::Error& e) {
    set(PyExc_RuntimeError, e);
  }
}

void define_dtypes(py::module_& m) {
  py::class_<DtypeObject> c(m, "dtype");
  c.def(py::init([](py::handle x) { return DtypeObject{dtype_of(x).value_or(Dtype::float64)}; }));
  c.def_property_readonly("name", [](const DtypeObject& t) { return std::string(catena::name_of(t.value)); });
  c.def_property_readonly("itemsize", [](const DtypeObject& t) { return catena::itemsize(t.value); });
  c.def_property_readonly("kind", [](const DtypeObject& t) { return std::string(1, catena::kind_char(t.value)); });
  c.def_property_readonly("char", [](const DtypeObject& t) { return std::string(1, catena::char_of(t.value)); });
  c.def("__eq__", [](const DtypeObject& t, py::handle other) {
    try {
      return !other.is_none() && dtype_of(other) == t.value;
    } catch (const catena::Error&) {
      return false;  // an object that is no dtype
    }
  });
  c.def("__hash__", [](const DtypeObject& t) { return py::hash(py::str(std::string(catena::name_of(t.value)))); });
  c.def("__str__", [](const DtypeObject& t) { return std::string(catena::name_of(t.value)); });
  c.def("__repr__", [](const DtypeObject& t) { return catena::concat("dtype('", t.value, "')"); });
  for (int i = 0; i < catena::kNumDtypes; ++i) {
    const DtypeObject t{static_cast<Dtype>(i)};
    m.attr(i == 0 ? "bool_" : std::string(catena::name_of(t.value)).c_str()) = py::cast(t);
  }
  m.attr("bool") = m.attr("bool_");
  m.def("result_type", [](const py::args& args) {
    std::optional<Dtype> dtype;
    for (const auto& x : args) {
      const Dtype t = py::isinstance<Array>(x) ? py::cast<Array>(x).dtype() : *dtype_of(x);
      dtype = dtype ? catena::promote_types(*dtype, t) : t;
    }
    catena::check<ValueError>(dtype.has_value(), "result_type", "at least one dtype or array is needed");
    return DtypeObject{*dtype};
  });
}

struct DeviceGuard {
  std::string name;
  std::optional<DeviceScope> scope;
};

void define_devices(py::module_& m) {
  py::class_<DeviceGuard>(m, "device", "with catena.device('cuda:0'): new arrays are on that device.")
      .def(py::init([](const std::string& name) {
        auto guard = std::make_unique<DeviceGuard>();
        guard->name = name;
        return guard;
      }))
      .def("__enter__", [](DeviceGuard& g) { g.scope.emplace(device_from_name(g.name)); })
      .def("__exit__", [](DeviceGuard& g, const py::args&) { g.scope.reset(); });
  m.def("current_device", [] { return to_string(nd::current_device()); });
  m.def("set_current_device", [](const std::string& name) { set_current_device(device_from_name(name)); });
  m.def("is_available",
        [](const std::string& kind) { return is_available(kind == "cuda" ? Device::Kind::cuda : Device::Kind::cpu); });
  m.def(
      "synchronize", [] { nd::synchronize(); }, py::call_guard<py::gil_scoped_release>());
}

void define_linalg(py::module_& m) {
  py::module_ la = m.def_submodule("linalg");
  la.def(
      "inv", [](const Like& a) { return linalg::inv(a); }, py::arg("a"));
  la.def(
      "pinv", [](const Like& a) { return linalg::pinv(a); }, py::arg("a"));
  la.def(
      "det", [](const Like& a) { return linalg::det(a); }, py::arg("a"));
  la.def(
      "solve", [](const Like& a, const Like& b) { return linalg::solve(a, b); }, py::arg("a"), py::arg("b"));
  la.def(
      "cholesky", [](const Like& a) { return linalg::cholesky(a); }, py::arg("a"));
  la.def(
      "eigvalsh", [](const Like& a) { return linalg::eigvalsh(a); }, py::arg("a"));
  la.def(
      "eigh",
      [](const Like& a) {
        const linalg::EighResult r = linalg::eigh(a);
        return py::make_tuple(r.eigenvalues, r.eigenvectors);
      },
      py::arg("a"));
  la.def(
      "qr",
      [](const Like& a) {
        const linalg::QRResult r = linalg::qr(a);
        return py::make_tuple(r.Q, r.R);
      },
      py::arg("a"));
  la.def(
      "svd",
      [](const Like& a, bool full_matrices) {
        const linalg::SVDResult r = linalg::svd(a, full_matrices);
        return py::make_tuple(r.U, r.S, r.Vh);
      },
      py::arg("a"), py::arg("full_matrices") = true);
  la.def(
      "norm",
      [](const Like& a, const AxesArgument& axis, bool keepdims) {
        return linalg::norm(a, linalg::NormOptions{.axis = axis, .keepdims = keepdims});
      },
      py::arg("x"), py::arg("axis") = py::none(), py::arg("keepdims") = false);
  la.def(
      "matrix_rank", [](const Like& a) { return linalg::matrix_rank(a); }, py::arg("A"));
  la.def(
      "matrix_power", [](const Like& a, std::int64_t n) { return linalg::matrix_power(a, n); }, py::arg("a"),
      py::arg("n"));
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
    transforms.def(
        name,
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
    transforms.def(
        name,
        [f = f](const Like& a, const std::optional<Lengths>& s, const AxesArgument& axes, const std::string& norm) {
          return f(a, {.s = s ? std::optional(s->value) : std::nullopt, .axes = axes, .norm = norm});
        },
        py::arg("a"), py::arg("s") = py::none(), py::arg("axes") = py::none(), py::arg("norm") = "backward");
  transforms.def(
      "fftfreq", [](std::int64_t n, double d) { return fft::fftfreq(n, d); }, py::arg("n"), py::arg("d") = 1.0);
  transforms.def(
      "rfftfreq", [](std::int64_t n, double d) { return fft::rfftfreq(n, d); }, py::arg("n"), py::arg("d") = 1.0);
  transforms.def(
      "fftshift", [](const Like& a, const AxesArgument& axes) { return fft::fftshift(a, axes); }, py::arg("x"),
      py::arg("axes") = py::none());
  transforms.def(
      "ifftshift", [](const Like& a, const AxesArgument& axes) { return fft::ifftshift(a, axes); }, py::arg("x"),
      py::arg("axes") = py::none());
}

void define_random(py::module_& m) {
  py::module_ numbers = m.def_submodule("random");
  py::class_<random::Generator>(numbers, "Generator")
      .def(
          "random",
          [](random::Generator& g, const std::optional<Lengths>& size) {
            return g.random(size ? size->value : Shape{});
          },
          py::arg("size") = py::none())
      .def(
          "standard_normal",
          [](random::Generator& g, const std::optional<Lengths>& size) {
            return g.standard_normal(size ? size->value : Shape{});
          },
          py::arg("size") = py::none())
      .def(
          "uniform",
          [](random::Generator& g, const Value& low, const Value& high, const std::optional<Lengths>& size) {
            return size ? g.uniform(Operand(low), Operand(high), size->value) : g.uniform(Operand(low), Operand(high));
          },
          py::arg("low") = 0.0, py::arg("high") = 1.0, py::arg("size") = py::none())
      .def(
          "normal",
          [](random::Generator& g, const Value& loc, const Value& scale, const std::optional<Lengths>& size) {
            return size ? g.normal(Operand(loc), Operand(scale), size->value) : g.normal(Operand(loc), Operand(scale));
          },
          py::arg("loc") = 0.0, py::arg("scale") = 1.0, py::arg("size") = py::none())
      .def(
          "integers",
          [](random::Generator& g, std::int64_t low, std::optional<std::int64_t> high,
             const std::optional<Lengths>& size) {
            return g.integers(Scalar(low), high ? std::optional(Scalar(*high)) : std::nullopt,
                              size ? size->value : Shape{});
          },
          py::arg("low"), py::arg("high") = py::none(), py::arg("size") = py::none());
  numbers.def(
      "default_rng",
      [](std::optional<std::uint64_t> seed) { return seed ? random::Generator(*seed) : random::Generator(); },
      py::arg("seed") = py::none());
}

}  // namespace
}  // namespace nd::python

PYBIND11_MODULE(catena, m) {
  namespace py = pybind11;
  using namespace nd::python;
  m.doc() = "NumPy's arrays on the CPU and on NVIDIA GPUs.";
  py::register_exception_translator(&translate);
  define_dtypes(m);
  define_array(m);
  define_functions(m, m.attr("Array"));
  define_linalg(m);
  define_fft(m);
  define_random(m);
  define_devices(m);
  m.attr("pi") = nd::pi;
  m.attr("e") = nd::e;
  m.attr("inf") = nd::inf;
  m.attr("nan") = nd::nan;
  m.attr("newaxis") = py::none();
  m.attr("__version__") = std::string(catena::version());
}
