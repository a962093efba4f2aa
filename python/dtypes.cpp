// Dtypes: catena.dtype, catena.float32..., and the functions on them.
#include "convert.h"

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/bind.h>

namespace nd::python {

using catena::check;

namespace {

// The dtype of an array, or the one that an object names.
Dtype dtype_or_of_array(py::handle x) {
  if (py::isinstance<Array>(x)) return py::cast<const Array&>(x).dtype();
  const std::optional<Dtype> dtype = dtype_of(x);
  check<TypeError>(dtype.has_value(), "dtype", "None is no dtype");
  return *dtype;
}

// Numbers of Python do not promote arrays and dtypes of their kind.
DtypeObject result_type(const py::args& args) {
  std::optional<Dtype> dtype;
  for (const auto& x : args)
    if (!is_number(x)) {
      const Dtype t = dtype_or_of_array(x);
      dtype = dtype ? catena::promote_types(*dtype, t) : t;
    }
  for (const auto& x : args)
    if (is_number(x)) dtype = dtype ? nd::result_type(*dtype, scalar_of(x)) : nd::result_type(scalar_of(x));
  check<ValueError>(dtype.has_value(), "result_type", "at least one dtype, array or number is needed");
  return {*dtype};
}

bool is_of_kind(Dtype t, py::handle kind) {
  if (py::isinstance<py::tuple>(kind)) {
    for (const auto& k : py::reinterpret_borrow<py::tuple>(kind))
      if (is_of_kind(t, k)) return true;
    return false;
  }
  if (!py::isinstance<py::str>(kind)) return dtype_or_of_array(kind) == t;
  const auto name = py::cast<std::string>(kind);
  if (name == "bool") return t == Dtype::bool_;
  if (name == "signed integer") return issubdtype(t, nd::signedinteger);
  if (name == "unsigned integer") return issubdtype(t, nd::unsignedinteger);
  if (name == "integral") return issubdtype(t, nd::integer);
  if (name == "real floating") return issubdtype(t, nd::floating);
  if (name == "complex floating") return issubdtype(t, nd::complexfloating);
  if (name == "numeric") return issubdtype(t, Kind::number);
  catena::fail<ValueError>("isdtype", "'", name,
                           "' is not one of bool, signed integer, unsigned integer, integral, real floating, complex "
                           "floating and numeric");
}

void define_limits(py::module_& m) {
  py::class_<nd::finfo>(m, "finfo", "The limits of a floating dtype, or of the parts of a complex one.")
      .def(py::init([](py::handle type) { return nd::finfo(dtype_or_of_array(type)); }), py::arg("type"),
           py::pos_only())
      .def_property_readonly("dtype", [](const nd::finfo& f) { return DtypeObject{f.dtype}; })
      .def_readonly("bits", &nd::finfo::bits)
      .def_readonly("eps", &nd::finfo::eps)
      .def_readonly("epsneg", &nd::finfo::epsneg)
      .def_readonly("max", &nd::finfo::max)
      .def_readonly("min", &nd::finfo::min)
      .def_readonly("tiny", &nd::finfo::tiny)
      .def_readonly("smallest_normal", &nd::finfo::smallest_normal)
      .def_readonly("smallest_subnormal", &nd::finfo::smallest_subnormal)
      .def_readonly("resolution", &nd::finfo::resolution)
      .def_readonly("precision", &nd::finfo::precision)
      .def("__repr__", [](const nd::finfo& f) { return catena::concat("finfo(dtype='", f.dtype, "')"); });
  py::class_<nd::iinfo>(m, "iinfo", "The limits of an integer dtype.")
      .def(py::init([](py::handle type) { return nd::iinfo(dtype_or_of_array(type)); }), py::arg("type"),
           py::pos_only())
      .def_property_readonly("dtype", [](const nd::iinfo& i) { return DtypeObject{i.dtype}; })
      .def_readonly("bits", &nd::iinfo::bits)
      .def_readonly("max", &nd::iinfo::max)
      .def_readonly("min", &nd::iinfo::min)
      .def("__repr__", [](const nd::iinfo& i) { return catena::concat("iinfo(dtype='", i.dtype, "')"); });
}

}  // namespace

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
  define(m, "result_type", &result_type);
  define(
      m, "isdtype",
      [](const py::object& dtype, const py::object& kind) { return is_of_kind(dtype_or_of_array(dtype), kind); },
      py::arg("dtype"), py::arg("kind"));
  define(
      m, "can_cast",
      [](const py::object& from, const py::object& to, const std::string& casting) {
        return catena::can_cast(dtype_or_of_array(from), dtype_or_of_array(to), casting_of(casting));
      },
      py::arg("from_"), py::arg("to"), py::arg("casting") = "safe");
  define(
      m, "astype",
      [](const Array& x, const MaybeDtype& dtype, bool copy, const MaybeDevice& device) {
        const Array there = device.value ? x.to_device(*device.value) : x;
        return there.astype(dtype.value_or(Dtype::float64), {.copy = copy});
      },
      py::arg("x"), py::arg("dtype"), py::pos_only(), py::kw_only(), py::arg("copy") = true,
      py::arg("device") = py::none());
  define_limits(m);
}

}  // namespace nd::python
