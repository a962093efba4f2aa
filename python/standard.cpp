// Functions with the arguments of the Python array API standard, and the description of the module that it asks for.
#include "convert.h"

namespace nd::python {

namespace {

// ---- the module described -----------------------------------------------------------------------
struct Info {};

std::vector<std::string> devices() {
  std::vector<std::string> names{to_string(cpu_device)};
  const int n = is_available(Device::Kind::cuda) ? device_count(Device::Kind::cuda) : 0;
  for (int i = 0; i < n; ++i) names.push_back(to_string(Device{Device::Kind::cuda, static_cast<std::int16_t>(i)}));
  return names;
}

// The dtypes that the standard knows, by name.
py::dict dtypes(const py::module_& m, const py::object& kind) {
  py::dict all;
  for (const char* const name : {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                 "float32", "float64", "complex64", "complex128"}) {
    const py::object dtype = m.attr(name);
    if (kind.is_none() || py::cast<bool>(m.attr("isdtype")(dtype, kind))) all[name] = dtype;
  }
  return all;
}

void define_info(py::module_& m) {
  py::class_<Info>(m, "Info", "The description of the module in the form of the array API standard.")
      .def("capabilities",
           [](const Info&) {
             py::dict d;
             d["boolean indexing"] = true;
             d["data-dependent shapes"] = true;
             d["max dimensions"] = catena::kMaxRank;
             return d;
           })
      .def("devices", [](const Info&) { return py::tuple(py::cast(devices())); })
      .def("default_device", [](const Info&) { return to_string(current_device()); })
      .def(
          "default_dtypes",
          [](const Info&, const MaybeDevice&) {
            const py::module_ module = py::module_::import("catena");
            py::dict d;
            d["real floating"] = module.attr("float64");
            d["complex floating"] = module.attr("complex128");
            d["integral"] = module.attr("int64");
            d["indexing"] = module.attr("int64");
            return d;
          },
          py::kw_only(), py::arg("device") = py::none())
      .def(
          "dtypes",
          [](const Info&, const MaybeDevice&, const py::object& kind) {
            return dtypes(py::module_::import("catena"), kind);
          },
          py::kw_only(), py::arg("device") = py::none(), py::arg("kind") = py::none());
  m.def("__array_namespace_info__", [] { return Info(); });
}

// ---- functions ----------------------------------------------------------------------------------
void define_sets(py::module_& m) {
  define(
      m, "unique_all", [](const Like& x) { return nd::unique_all(x.array); }, py::arg("x"), py::pos_only());
  define(
      m, "unique_counts", [](const Like& x) { return nd::unique_counts(x.array); }, py::arg("x"), py::pos_only());
  define(
      m, "unique_inverse", [](const Like& x) { return nd::unique_inverse(x.array); }, py::arg("x"), py::pos_only());
  define(
      m, "unique_values", [](const Like& x) { return nd::unique_values(x.array); }, py::arg("x"), py::pos_only());
}

void define_cumulative(py::module_& m) {
  using Cumulative = Array (*)(const Array&, const CumulativeOptions&);
  for (const auto& [name, f] : std::initializer_list<std::pair<const char*, Cumulative>>{
           {"cumulative_sum", &nd::cumulative_sum}, {"cumulative_prod", &nd::cumulative_prod}})
    define(
        m, name,
        [f = f](const Like& x, std::optional<int> axis, const MaybeDtype& dtype, const Out& out, bool include_initial) {
          return f(x, {.axis = axis, .dtype = dtype, .out = out, .include_initial = include_initial});
        },
        py::arg("x"), py::pos_only(), py::kw_only(), py::arg("axis") = py::none(), py::arg("dtype") = py::none(),
        py::arg("out") = py::none(), py::arg("include_initial") = false);
}

void define_others(py::module_& m) {
  define(
      m, "count_nonzero",
      [](const Like& x, const AxesArgument& axis, bool keepdims) {
        return nd::count_nonzero(x, TestOptions{.axis = axis, .keepdims = keepdims});
      },
      py::arg("x"), py::arg("axis") = py::none(), py::kw_only(), py::arg("keepdims") = false);
  define(
      m, "unstack", [](const Like& x, int axis) { return tuple_of(nd::unstack(x, axis)); }, py::arg("x"),
      py::pos_only(), py::kw_only(), py::arg("axis") = 0);
  define(m, "broadcast_shapes", [](const py::args& shapes) {
    std::vector<Shape> list;
    for (const auto& shape : shapes) list.push_back(lengths_of(shape).value);
    return tuple_of(nd::broadcast_shapes(list));
  });
  define(
      m, "vecdot", [](const Like& a, const Like& b, int axis) { return nd::vecdot(a, b, {.axis = axis}); },
      py::arg("x1"), py::arg("x2"), py::pos_only(), py::kw_only(), py::arg("axis") = -1);
  define(
      m, "real", [](const Like& x) { return x.array.real(); }, py::arg("x"), py::pos_only());
  define(
      m, "imag", [](const Like& x) { return x.array.imag(); }, py::arg("x"), py::pos_only());
}

}  // namespace

void define_standard(py::module_& m) {
  define_info(m);
  define_sets(m);
  define_cumulative(m);
  define_others(m);
}

}  // namespace nd::python
