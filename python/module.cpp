// The module `catena`: errors, devices and random numbers.
#include "convert.h"

#include <catena/kernels/base/error.h>

namespace nd::python {

namespace {

PyObject* axis_error = nullptr;

// The classes of errors of both libraries as those of Python; derived classes come first.
void translate(std::exception_ptr p) {
  const auto set = [](PyObject* type, const std::exception& e) { PyErr_SetString(type, e.what()); };
  try {
    std::rethrow_exception(p);
  } catch (const catena::AxisError& e) {
    const py::object error = py::reinterpret_borrow<py::object>(axis_error)(e.what());
    error.attr("axis") = e.axis();
    error.attr("ndim") = e.ndim();
    PyErr_SetObject(axis_error, error.ptr());
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

void define_errors(py::module_& m) {
  const py::tuple bases = py::make_tuple(py::handle(PyExc_ValueError), py::handle(PyExc_IndexError));
  axis_error = PyErr_NewException("catena.AxisError", bases.ptr(), nullptr);
  m.attr("AxisError") = py::handle(axis_error);
  py::register_exception_translator(&translate);
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
  define_errors(m);
  define_dtypes(m);
  define_array(m);
  define_functions(m, m.attr("Array"));
  define_standard(m);
  define_linalg(m);
  define_fft(m);
  define_random(m);
  define_devices(m);
  m.attr("pi") = nd::pi;
  m.attr("e") = nd::e;
  m.attr("inf") = nd::inf;
  m.attr("nan") = nd::nan;
  m.attr("newaxis") = py::none();
  m.attr("__array_api_version__") = kApiVersion;
  m.attr("__version__") = std::string(catena::version());
}
