// catena.Array.
#include <sstream>

#include "convert.h"

namespace nd::python {

namespace {

using Binary = Array (*)(const Operand&, const Operand&, const UfuncOptions&);

Array unlocked(Binary f, const Value& a, const Value& b, const Array& out = {}) {
  const py::gil_scoped_release other_threads_run;
  return f(a, b, {.out = out});
}

// __add__, __radd__ and __iadd__ of a function of two arrays.
void operators(py::class_<Array>& c, const std::string& name, Binary f) {
  const auto apply = [f](py::handle a, py::handle b) -> py::object {
    if (!is_value(a) || !is_value(b)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
    return py::cast(unlocked(f, value_of(a), value_of(b)));
  };
  c.def(("__" + name + "__").c_str(), [apply](py::handle a, py::handle b) { return apply(a, b); });
  c.def(("__r" + name + "__").c_str(), [apply](py::handle a, py::handle b) { return apply(b, a); });
  c.def(("__i" + name + "__").c_str(), [f](py::object self, const Value& b) {
    const auto a = py::cast<Array>(self);
    unlocked(f, Value{a, {}}, b, a);
    return self;
  });
}

void comparison(py::class_<Array>& c, const char* name, Binary f) {
  c.def(name, [f](const Array& a, py::handle b) -> py::object {
    if (!is_value(b)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
    return py::cast(unlocked(f, Value{a, {}}, value_of(b)));
  });
}

Array matrix_product(const Operand& a, const Operand& b, const UfuncOptions& options) {
  const auto array = [](const Operand& x) { return x.is_array() ? x.array() : full(Shape{}, x.scalar()); };
  return matmul(array(a), array(b), {.out = options.out});
}

py::object number_of(const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::bool_: return py::bool_(s.to<bool>());
    case Scalar::Kind::integer: return py::int_(s.to<std::int64_t>());
    case Scalar::Kind::unsigned_: return py::int_(s.to<std::uint64_t>());
    case Scalar::Kind::floating: return py::float_(s.to<double>());
    default: return py::cast(s.to<std::complex<double>>());
  }
}

py::object list_of(const List& list) {
  if (list.is_number()) return number_of(list.number());
  py::list items;
  for (const List& item : list) items.append(list_of(item));
  return items;
}

// The shape of reshape(2, 3), reshape((2, 3)).
Shape shape_of(const py::args& lengths) {
  return lengths_of(lengths.size() == 1 ? lengths[0] : py::object(lengths)).value;
}

void define_operators(py::class_<Array>& c) {
  operators(c, "add", &nd::add);
  operators(c, "sub", &nd::subtract);
  operators(c, "mul", &nd::multiply);
  operators(c, "truediv", &nd::true_divide);
  operators(c, "floordiv", &nd::floor_divide);
  operators(c, "mod", &nd::remainder);
  operators(c, "pow", &nd::power);
  operators(c, "and", &nd::bitwise_and);
  operators(c, "or", &nd::bitwise_or);
  operators(c, "xor", &nd::bitwise_xor);
  operators(c, "lshift", &nd::left_shift);
  operators(c, "rshift", &nd::right_shift);
  operators(c, "matmul", &matrix_product);
  comparison(c, "__eq__", &nd::equal);
  comparison(c, "__ne__", &nd::not_equal);
  comparison(c, "__lt__", &nd::less);
  comparison(c, "__le__", &nd::less_equal);
  comparison(c, "__gt__", &nd::greater);
  comparison(c, "__ge__", &nd::greater_equal);
  c.def("__neg__", [](const Array& a) { return nd::negative(a); });
  c.def("__pos__", [](const Array& a) { return a.copy(); });
  c.def("__abs__", [](const Array& a) { return nd::absolute(a); });
  c.def("__invert__", [](const Array& a) { return nd::invert(a); });
  c.def("__divmod__", [](const Array& a, const Value& b) { return nd::divmod(a, b); });
  c.def("__bool__", [](const Array& a) { return static_cast<bool>(a); });
  c.def("__int__", [](const Array& a) { return py::int_(py::cast<py::object>(number_of(a.item()))); });
  c.def("__float__", [](const Array& a) { return static_cast<double>(a); });
  c.def("__complex__", [](const Array& a) { return a.item<std::complex<double>>(); });
  c.def("__index__", [](const Array& a) {
    catena::check<TypeError>(a.ndim() == 0 && catena::is_integer(a.dtype()), "index",
                             "only a 0-d array of integers is an index, not one of shape ", a.shape(), " of ",
                             a.dtype());
    return number_of(a.item());
  });
  c.attr("__hash__") = py::none();
  c.attr("__array_ufunc__") = py::none();  // operators with arrays of NumPy are those of this class
}

void define_attributes(py::class_<Array>& c) {
  c.def_property(
      "shape", [](const Array& a) { return tuple_of(a.shape()); },
      [](const Array& a, const Lengths& shape) { a.set_shape(shape); });
  c.def_property_readonly("strides", [](const Array& a) { return tuple_of(a.strides()); });
  c.def_property_readonly("ndim", &Array::ndim);
  c.def_property_readonly("size", [](const Array& a) { return a.size(); });
  c.def_property_readonly("itemsize", &Array::itemsize);
  c.def_property_readonly("nbytes", &Array::nbytes);
  c.def_property_readonly("dtype", [](const Array& a) { return DtypeObject{a.dtype()}; });
  c.def_property_readonly("device", [](const Array& a) { return to_string(a.device()); });
  c.def_property_readonly("T", [](const Array& a) { return a.transpose(); });
  c.def_property_readonly("mT", [](const Array& a) { return nd::matrix_transpose(a); });
  c.def_property_readonly("real", &Array::real);
  c.def_property_readonly("imag", &Array::imag);
}

void define_exchange(py::class_<Array>& c) {
  c.def("__dlpack_device__", [](const Array& a) {
    const dlpack::Device d = dlpack_device(a);
    return py::make_tuple(d.device_type, d.device_id);
  });
  c.def("__dlpack__", &to_dlpack, py::kw_only(), py::arg("stream") = py::none(), py::arg("max_version") = py::none(),
        py::arg("dl_device") = py::none(), py::arg("copy") = py::none());
  c.def(
      "__array__",
      [](const Array& a, const py::object& dtype, const py::object& copy) {
        const Array host = a.to_device(cpu_device);
        const Array numbers = host.dtype() == Dtype::bfloat16 ? host.astype(Dtype::float32) : host;
        const py::object view = py::module_::import("numpy").attr("asarray")(py::memoryview(py::cast(numbers)), dtype);
        return copy.is_none() || !py::cast<bool>(copy) ? view : py::object(view.attr("copy")());
      },
      py::arg("dtype") = py::none(), py::arg("copy") = py::none());
  c.def(
      "to_device",
      [](const Array& a, const std::string& device, const py::object& stream) {
        catena::check<ValueError>(stream.is_none(), "to_device", "work runs on the current stream; leave out `stream`");
        return a.to_device(device_from_name(device));
      },
      py::arg("device"), py::pos_only(), py::kw_only(), py::arg("stream") = py::none());
  c.def(
      "__array_namespace__",
      [](const Array&, const std::optional<std::string>& version) {
        catena::check<ValueError>(!version || (*version >= "2021.12" && *version <= kApiVersion), "__array_namespace__",
                                  "the module implements version ", kApiVersion, " of the standard");
        return py::module_::import("catena");
      },
      py::kw_only(), py::arg("api_version") = py::none());
  c.def("to_host", [](const Array& a) { return a.to_device(cpu_device); });
  c.def("tobytes", [](const Array& a) { return py::bytes(a.tobytes()); });
  c.def("tolist", [](const Array& a) { return list_of(a.tolist()); });
  c.def("item", [](const Array& a, const py::args& at) {
    if (at.empty()) return number_of(a.item());
    std::vector<IndexKey> keys = keys_of(at);
    if (keys.size() == 1) return number_of(getitem(a.ravel(), keys).item());
    return number_of(getitem(a, keys).item());
  });
}

}  // namespace

void define_array(py::module_& m) {
  py::class_<Array> c(m, "Array", py::buffer_protocol(), "An n-dimensional array on the CPU or on a GPU.");
  add_buffer_protocol(c);
  define_operators(c);
  define_attributes(c);
  define_exchange(c);
  c.def("__getitem__", [](const Array& a, py::handle key) { return getitem(a, keys_of(key)); });
  c.def("__setitem__", [](const Array& a, py::handle key, const Value& value) { setitem(a, keys_of(key), value); });
  c.def("__len__", &Array::len);
  c.def("__iter__", [](const Array& a) {
    py::list rows;
    for (std::int64_t i = 0; i < a.len(); ++i) rows.append(py::cast(a(i)));
    return py::iter(rows);
  });
  c.def("__contains__", [](const Array& a, const Value& x) { return nd::any(nd::equal(a, x)).item<bool>(); });
  c.def("__repr__", [](const Array& a) { return array_repr(a); });
  c.def("__str__", [](const Array& a) { return array_str(a); });
  c.def("__copy__", [](const Array& a) { return a.copy(); });
  c.def("__deepcopy__", [](const Array& a, const py::dict&) { return a.copy(); });
  c.def("reshape", [](const Array& a, const py::args& lengths) { return a.reshape(shape_of(lengths)); });
  c.def("transpose", [](const Array& a, const py::args& axes) {
    if (axes.empty() || axes[0].is_none()) return a.transpose();
    return a.transpose(shape_of(axes));
  });
  c.def(
      "astype",
      [](const Array& a, const MaybeDtype& dtype, bool copy) {
        return a.astype(dtype.value_or(Dtype::float64), {.copy = copy});
      },
      py::arg("dtype"), py::arg("copy") = true);
  c.def(
      "view", [](const Array& a, const MaybeDtype& dtype) { return dtype.value ? a.view(*dtype.value) : a.view(); },
      py::arg("dtype") = py::none());
  c.def("fill", [](const Array& a, const Value& x) { a.fill(x.array.is_null() ? x.scalar : x.array.item()); });
}

}  // namespace nd::python
