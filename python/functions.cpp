// The functions of the module by NumPy's names and with NumPy's arguments: one line for each.
#include "convert.h"

namespace nd::python {

namespace {

using Unary = Array (*)(const Operand&, const UfuncOptions&);
using Binary = Array (*)(const Operand&, const Operand&, const UfuncOptions&);

Casting casting_of(const std::string& name) {
  for (const Casting c : {Casting::no, Casting::equiv, Casting::safe, Casting::same_kind, Casting::unsafe})
    if (catena::name_of(c) == name) return c;
  catena::fail<ValueError>("casting", "'", name, "' is not one of no, equiv, safe, same_kind and unsafe");
}

void elementwise(py::module_& m, const char* name, Unary f) {
  m.def(
      name,
      [f](const Value& x, const Out& out, const MaybeDtype& dtype, const std::string& casting) {
        return f(x, {.out = out, .dtype = dtype, .casting = casting_of(casting)});
      },
      py::arg("x"), py::pos_only(), py::arg("out") = py::none(), py::kw_only(), py::arg("dtype") = py::none(),
      py::arg("casting") = "same_kind");
}
void elementwise(py::module_& m, const char* name, Binary f) {
  m.def(
      name,
      [f](const Value& x1, const Value& x2, const Out& out, const MaybeDtype& dtype, const std::string& casting) {
        return f(x1, x2, {.out = out, .dtype = dtype, .casting = casting_of(casting)});
      },
      py::arg("x1"), py::arg("x2"), py::pos_only(), py::arg("out") = py::none(), py::kw_only(),
      py::arg("dtype") = py::none(), py::arg("casting") = "same_kind");
}

// A reduction as a function of the module and as a method of the class.
template <class F> void everywhere(py::module_& m, py::object& array_class, const char* name, F f, auto... arguments) {
  m.def(name, f, py::arg("a"), arguments...);
  array_class.attr(name) = py::cpp_function(f, py::name(name), py::is_method(array_class), arguments...);
}

const auto kAxis = [] { return py::arg("axis") = py::none(); };

template <class Options, class F> void reduction(py::module_& m, py::object& c, const char* name, F f) {
  if constexpr (std::is_same_v<Options, ReduceOptions>) {
    everywhere(
        m, c, name,
        [f](const Like& a, const AxesArgument& axis, const MaybeDtype& dtype, const Out& out, bool keepdims,
            const std::optional<Value>& initial, const std::optional<Like>& where) {
          ReduceOptions o{.axis = axis, .dtype = dtype, .out = out, .keepdims = keepdims};
          if (initial) o.initial = initial->array.is_null() ? initial->scalar : initial->array.item();
          if (where) o.where = where->array;
          return f(a, o);
        },
        kAxis(), py::arg("dtype") = py::none(), py::arg("out") = py::none(), py::arg("keepdims") = false,
        py::arg("initial") = py::none(), py::arg("where") = py::none());
  } else if constexpr (std::is_same_v<Options, VarOptions>) {
    everywhere(
        m, c, name,
        [f](const Like& a, const AxesArgument& axis, const MaybeDtype& dtype, const Out& out, int ddof, bool keepdims,
            std::optional<int> correction) {
          return f(
              a,
              Options{
                  .axis = axis, .dtype = dtype, .out = out, .ddof = correction.value_or(ddof), .keepdims = keepdims});
        },
        kAxis(), py::arg("dtype") = py::none(), py::arg("out") = py::none(), py::arg("ddof") = 0,
        py::arg("keepdims") = false, py::arg("correction") = py::none());
  } else {  // argmax and any
    everywhere(
        m, c, name,
        [f](const Like& a, const AxesArgument& axis, const Out& out, bool keepdims) {
          Options o;
          o.axis = axis;
          o.out = out;
          o.keepdims = keepdims;
          return f(a, o);
        },
        kAxis(), py::arg("out") = py::none(), py::arg("keepdims") = false);
  }
}

Dtype float_or(const MaybeDtype& dtype) { return dtype.value_or(Dtype::float64); }

py::object one_or_tuple(const UniqueResult& r, bool index, bool inverse, bool counts) {
  if (!index && !inverse && !counts) return py::cast(r.values);
  py::list results;
  results.append(py::cast(r.values));
  if (index) results.append(py::cast(r.indices));
  if (inverse) results.append(py::cast(r.inverse_indices));
  if (counts) results.append(py::cast(r.counts));
  return py::tuple(results);
}

py::tuple tuple_of(const std::vector<Array>& arrays) { return py::tuple(py::cast(arrays)); }

void define_creation(py::module_& m) {
  const auto dtype = [] { return py::arg("dtype") = py::none(); };
  m.def(
      "array",
      [](py::handle object, const MaybeDtype& t, bool copy) {
        return asarray(object, t, copy ? std::optional(true) : std::nullopt);
      },
      py::arg("object"), dtype(), py::kw_only(), py::arg("copy") = true);
  m.def(
      "asarray", [](py::handle a, const MaybeDtype& t, std::optional<bool> copy) { return asarray(a, t, copy); },
      py::arg("a"), dtype(), py::kw_only(), py::arg("copy") = py::none());
  m.def(
      "from_dlpack",
      [](py::handle x, const std::optional<std::string>& device, std::optional<bool> copy) {
        return from_dlpack(x, device ? std::optional(device_from_name(*device)) : std::nullopt, copy);
      },
      py::arg("x"), py::pos_only(), py::kw_only(), py::arg("device") = py::none(), py::arg("copy") = py::none());
  m.def(
      "empty", [](const Lengths& s, const MaybeDtype& t) { return nd::empty(s.value, float_or(t)); }, py::arg("shape"),
      dtype());
  m.def(
      "zeros", [](const Lengths& s, const MaybeDtype& t) { return nd::zeros(s.value, float_or(t)); }, py::arg("shape"),
      dtype());
  m.def(
      "ones", [](const Lengths& s, const MaybeDtype& t) { return nd::ones(s.value, float_or(t)); }, py::arg("shape"),
      dtype());
  m.def(
      "full",
      [](const Lengths& s, const Value& x, const MaybeDtype& t) {
        if (x.array.is_null()) return nd::full(s.value, x.scalar, {.dtype = t.value_or(x.scalar.natural_dtype())});
        return nd::broadcast_to(x.array, s.value).astype(t.value_or(x.array.dtype()));
      },
      py::arg("shape"), py::arg("fill_value"), dtype());
}

void define_likes_and_ranges(py::module_& m) {
  const auto dtype = [] { return py::arg("dtype") = py::none(); };
  m.def(
      "empty_like", [](const Like& a, const MaybeDtype& t) { return nd::empty_like(a.array, LikeOptions{.dtype = t}); },
      py::arg("a"), dtype());
  m.def(
      "zeros_like", [](const Like& a, const MaybeDtype& t) { return nd::zeros_like(a.array, LikeOptions{.dtype = t}); },
      py::arg("a"), dtype());
  m.def(
      "ones_like", [](const Like& a, const MaybeDtype& t) { return nd::ones_like(a.array, LikeOptions{.dtype = t}); },
      py::arg("a"), dtype());
  m.def(
      "full_like",
      [](const Like& a, const Value& x, const MaybeDtype& t) {
        return nd::full_like(a.array, x.array.is_null() ? x.scalar : x.array.item(), LikeOptions{.dtype = t});
      },
      py::arg("a"), py::arg("fill_value"), dtype());
  m.def(
      "arange",
      [](const Value& start, const std::optional<Value>& stop, const Value& step, const MaybeDtype& t) {
        const auto number = [](const Value& v) { return v.array.is_null() ? v.scalar : v.array.item(); };
        return stop ? nd::arange(number(start), number(*stop), number(step), CreateOptions{.dtype = t})
                    : nd::arange(Scalar(0), number(start), number(step), CreateOptions{.dtype = t});
      },
      py::arg("start"), py::arg("stop") = py::none(), py::arg("step") = 1, dtype());
  m.def(
      "linspace",
      [](const Value& start, const Value& stop, std::int64_t num, bool endpoint, const MaybeDtype& t, int axis) {
        return nd::linspace(Operand(start), Operand(stop), num,
                            SpacingOptions{.endpoint = endpoint, .dtype = t, .axis = axis});
      },
      py::arg("start"), py::arg("stop"), py::arg("num") = 50, py::arg("endpoint") = true, dtype(), py::arg("axis") = 0);
  m.def(
      "eye",
      [](std::int64_t n, std::optional<std::int64_t> columns, std::int64_t k, const MaybeDtype& t) {
        return nd::eye(n, EyeOptions{.M = columns, .k = k, .dtype = float_or(t)});
      },
      py::arg("N"), py::arg("M") = py::none(), py::arg("k") = 0, dtype());
  m.def(
      "meshgrid",
      [](const py::args& xi, const std::string& indexing) {
        return tuple_of(nd::meshgrid(arrays_of(py::cast<Likes>(py::list(xi))), MeshgridOptions{.indexing = indexing}));
      },
      py::arg("indexing") = "xy");
  m.def(
      "tril", [](const Like& a, std::int64_t k) { return nd::tril(a, k); }, py::arg("m"), py::arg("k") = 0);
  m.def(
      "triu", [](const Like& a, std::int64_t k) { return nd::triu(a, k); }, py::arg("m"), py::arg("k") = 0);
}

void define_shapes(py::module_& m) {
  m.def(
      "reshape", [](const Like& a, const Lengths& s) { return a.array.reshape(s.value); }, py::arg("a"),
      py::arg("shape"));
  m.def(
      "ravel", [](const Like& a) { return a.array.ravel(); }, py::arg("a"));
  m.def(
      "squeeze", [](const Like& a, const AxesArgument& x) { return a.array.squeeze(x); }, py::arg("a"),
      py::arg("axis") = py::none());
  m.def(
      "expand_dims", [](const Like& a, int axis) { return nd::expand_dims(a, axis); }, py::arg("a"), py::arg("axis"));
  m.def(
      "transpose",
      [](const Like& a, const std::optional<Lengths>& x) {
        return x ? a.array.transpose(x->value) : a.array.transpose();
      },
      py::arg("a"), py::arg("axes") = py::none());
  m.def(
      "permute_dims", [](const Like& a, const Lengths& x) { return a.array.transpose(x.value); }, py::arg("a"),
      py::arg("axes"));
  m.def(
      "matrix_transpose", [](const Like& a) { return nd::matrix_transpose(a); }, py::arg("a"));
  m.def(
      "swapaxes", [](const Like& a, int i, int j) { return a.array.swapaxes(i, j); }, py::arg("a"), py::arg("axis1"),
      py::arg("axis2"));
  m.def(
      "moveaxis", [](const Like& a, const AxesArgument& i, const AxesArgument& j) { return nd::moveaxis(a, i, j); },
      py::arg("a"), py::arg("source"), py::arg("destination"));
}

void define_joining(py::module_& m) {
  m.def(
      "broadcast_to", [](const Like& a, const Lengths& s) { return nd::broadcast_to(a, s); }, py::arg("array"),
      py::arg("shape"));
  m.def("broadcast_arrays",
        [](const py::args& a) { return tuple_of(nd::broadcast_arrays(arrays_of(py::cast<Likes>(py::list(a))))); });
  m.def(
      "concatenate",
      [](const Likes& a, std::optional<int> axis) {
        if (axis) return nd::concatenate(arrays_of(a), *axis);
        std::vector<Array> flat;
        for (const Like& x : a) flat.push_back(x.array.ravel());
        return nd::concatenate(flat, 0);
      },
      py::arg("arrays"), py::arg("axis") = 0);
  m.attr("concat") = m.attr("concatenate");
  m.def(
      "stack", [](const Likes& a, int axis) { return nd::stack(arrays_of(a), axis); }, py::arg("arrays"),
      py::arg("axis") = 0);
  m.def(
      "vstack", [](const Likes& a) { return nd::vstack(arrays_of(a)); }, py::arg("tup"));
  m.def(
      "hstack", [](const Likes& a) { return nd::hstack(arrays_of(a)); }, py::arg("tup"));
  m.def(
      "tile", [](const Like& a, const Lengths& n) { return nd::tile(a, n.value); }, py::arg("A"), py::arg("reps"));
  m.def(
      "repeat", [](const Like& a, std::int64_t n, std::optional<int> axis) { return nd::repeat(a, n, axis); },
      py::arg("a"), py::arg("repeats"), py::arg("axis") = py::none());
  m.def(
      "flip", [](const Like& a, const AxesArgument& axis) { return nd::flip(a, axis.value); }, py::arg("m"),
      py::arg("axis") = py::none());
  m.def(
      "roll", [](const Like& a, std::int64_t n, std::optional<int> axis) { return nd::roll(a, n, axis); }, py::arg("a"),
      py::arg("shift"), py::arg("axis") = py::none());
  m.def(
      "take",
      [](const Like& a, const Like& i, std::optional<int> axis) {
        return nd::take(a, IndexKey(i.array), TakeOptions{.axis = axis});
      },
      py::arg("a"), py::arg("indices"), py::arg("axis") = py::none());
  m.def(
      "take_along_axis",
      [](const Like& a, const Like& i, std::optional<int> axis) { return nd::take_along_axis(a, i, axis); },
      py::arg("arr"), py::arg("indices"), py::arg("axis") = -1);
  m.def(
      "diagonal", [](const Like& a, std::int64_t k) { return a.array.diagonal(k); }, py::arg("a"),
      py::arg("offset") = 0);
}

void define_searching(py::module_& m) {
  m.def(
      "sort", [](const Like& a, std::optional<int> axis) { return nd::sort(a, axis); }, py::arg("a"),
      py::arg("axis") = -1);
  m.def(
      "argsort", [](const Like& a, std::optional<int> axis) { return nd::argsort(a, axis); }, py::arg("a"),
      py::arg("axis") = -1);
  m.def(
      "searchsorted",
      [](const Like& a, const Value& v, const std::string& side) {
        return nd::searchsorted(a, Operand(v), SearchOptions{.side = side});
      },
      py::arg("a"), py::arg("v"), py::arg("side") = "left");
  m.def(
      "nonzero", [](const Like& a) { return tuple_of(nd::nonzero(a)); }, py::arg("a"));
  m.def(
      "where",
      [](const Value& condition, const std::optional<Value>& x, const std::optional<Value>& y) -> py::object {
        if (x && y) return py::cast(nd::where(condition, *x, *y));
        catena::check<ValueError>(!x && !y, "where", "either both or neither of x and y are given");
        return tuple_of(nd::nonzero(Operand(condition).array()));
      },
      py::arg("condition"), py::arg("x") = py::none(), py::arg("y") = py::none());
  m.def(
      "unique",
      [](const Like& a, bool index, bool inverse, bool counts, std::optional<int> axis) {
        return one_or_tuple(
            nd::unique(
                a.array,
                UniqueOptions{.return_index = index, .return_inverse = inverse, .return_counts = counts, .axis = axis}),
            index, inverse, counts);
      },
      py::arg("ar"), py::arg("return_index") = false, py::arg("return_inverse") = false,
      py::arg("return_counts") = false, py::arg("axis") = py::none());
  m.def(
      "isin", [](const Like& a, const Like& b) { return nd::isin(a.array, b.array); }, py::arg("element"),
      py::arg("test_elements"));
}

void define_comparisons(py::module_& m) {
  m.def(
      "clip",
      [](const Value& a, const std::optional<Value>& low, const std::optional<Value>& high) {
        const auto bound = [](const std::optional<Value>& v) {
          return v ? std::optional<Operand>(Operand(*v)) : std::nullopt;
        };
        return nd::internal::clip_to_bounds(a, bound(low), bound(high), {});
      },
      py::arg("a"), py::arg("a_min") = py::none(), py::arg("a_max") = py::none());
  m.def(
      "round", [](const Like& a, int decimals) { return nd::round(a, decimals); }, py::arg("a"),
      py::arg("decimals") = 0);
  m.def(
      "allclose",
      [](const Value& a, const Value& b, double rtol, double atol, bool nan) {
        return nd::allclose(a, b, rtol, atol, nan).item<bool>();
      },
      py::arg("a"), py::arg("b"), py::arg("rtol") = 1e-5, py::arg("atol") = 1e-8, py::arg("equal_nan") = false);
  m.def(
      "isclose",
      [](const Value& a, const Value& b, double rtol, double atol, bool nan) {
        return nd::isclose(a, b, rtol, atol, nan);
      },
      py::arg("a"), py::arg("b"), py::arg("rtol") = 1e-5, py::arg("atol") = 1e-8, py::arg("equal_nan") = false);
  m.def(
      "array_equal", [](const Value& a, const Value& b) { return nd::array_equal(a, b).item<bool>(); }, py::arg("a1"),
      py::arg("a2"));
}

void define_statistics(py::module_& m, py::object& c) {
  everywhere(
      m, c, "cumsum",
      [](const Like& a, std::optional<int> axis, const MaybeDtype& t) {
        return nd::cumsum(a, ScanOptions{.axis = axis, .dtype = t});
      },
      kAxis(), py::arg("dtype") = py::none());
  everywhere(
      m, c, "cumprod",
      [](const Like& a, std::optional<int> axis, const MaybeDtype& t) {
        return nd::cumprod(a, ScanOptions{.axis = axis, .dtype = t});
      },
      kAxis(), py::arg("dtype") = py::none());
  m.def(
      "diff", [](const Like& a, std::int64_t n, int axis) { return nd::diff(a.array, n, axis); }, py::arg("a"),
      py::arg("n") = 1, py::arg("axis") = -1);
  m.def(
      "median",
      [](const Like& a, const AxesArgument& axis, bool keepdims) {
        return nd::median(a, MedianOptions{.axis = axis, .keepdims = keepdims});
      },
      py::arg("a"), kAxis(), py::arg("keepdims") = false);
  m.def(
      "percentile",
      [](const Like& a, const Like& q, const AxesArgument& axis, const std::string& method, bool keepdims) {
        return nd::percentile(a, q.array, QuantileOptions{.axis = axis, .method = method, .keepdims = keepdims});
      },
      py::arg("a"), py::arg("q"), kAxis(), py::arg("method") = "linear", py::arg("keepdims") = false);
  m.def(
      "quantile",
      [](const Like& a, const Like& q, const AxesArgument& axis, const std::string& method, bool keepdims) {
        return nd::quantile(a, q.array, QuantileOptions{.axis = axis, .method = method, .keepdims = keepdims});
      },
      py::arg("a"), py::arg("q"), kAxis(), py::arg("method") = "linear", py::arg("keepdims") = false);
}

void define_products(py::module_& m) {
  m.def(
      "dot", [](const Like& a, const Like& b) { return nd::dot(a, b); }, py::arg("a"), py::arg("b"));
  m.def(
      "matmul", [](const Like& a, const Like& b) { return nd::matmul(a, b); }, py::arg("x1"), py::arg("x2"));
  m.def(
      "vdot", [](const Like& a, const Like& b) { return nd::vdot(a, b); }, py::arg("a"), py::arg("b"));
  m.def(
      "inner", [](const Like& a, const Like& b) { return nd::inner(a, b); }, py::arg("a"), py::arg("b"));
  m.def(
      "outer", [](const Like& a, const Like& b) { return nd::outer(a, b); }, py::arg("a"), py::arg("b"));
  m.def(
      "tensordot", [](const Like& a, const Like& b, int axes) { return nd::tensordot(a, b, axes); }, py::arg("a"),
      py::arg("b"), py::arg("axes") = 2);
  m.def(
      "einsum",
      [](const std::string& subscripts, const py::args& operands) {
        const Likes held = py::cast<Likes>(py::list(operands));
        std::vector<Operand> list;
        for (const Like& x : held) list.push_back(x.array);
        return nd::einsum(subscripts, list);
      },
      py::arg("subscripts"));
  m.def(
      "trace", [](const Like& a, std::int64_t k) { return a.array.trace(k); }, py::arg("a"), py::arg("offset") = 0);
}

}  // namespace

void define_functions(py::module_& m, py::object c) {
#define CATENA_UNARY(name) elementwise(m, #name, static_cast<Unary>(&nd::name));
#define CATENA_BINARY(name) elementwise(m, #name, static_cast<Binary>(&nd::name));
#include <catena/kernels/lists/elementwise.inc>
#undef CATENA_UNARY
#undef CATENA_BINARY
#define CATENA_MEMBER(name, Options) \
  reduction<Options>(m, c, #name, [](const Array& a, const Options& options) { return nd::name(a, options); });
#include <catena/kernels/lists/members.inc>
#undef CATENA_MEMBER
  // Other names of the same functions.
  for (const auto& [other, name] :
       std::initializer_list<std::pair<const char*, const char*>>{{"abs", "absolute"},
                                                                  {"divide", "true_divide"},
                                                                  {"conj", "conjugate"},
                                                                  {"pow", "power"},
                                                                  {"bitwise_invert", "invert"},
                                                                  {"bitwise_not", "invert"},
                                                                  {"bitwise_left_shift", "left_shift"},
                                                                  {"bitwise_right_shift", "right_shift"},
                                                                  {"acos", "arccos"},
                                                                  {"acosh", "arccosh"},
                                                                  {"asin", "arcsin"},
                                                                  {"asinh", "arcsinh"},
                                                                  {"atan", "arctan"},
                                                                  {"atanh", "arctanh"},
                                                                  {"atan2", "arctan2"},
                                                                  {"mod", "remainder"},
                                                                  {"amax", "max"},
                                                                  {"amin", "min"}})
    m.attr(other) = m.attr(name);
  define_creation(m);
  define_likes_and_ranges(m);
  define_shapes(m);
  define_joining(m);
  define_searching(m);
  define_comparisons(m);
  define_statistics(m, c);
  define_products(m);
}

}  // namespace nd::python
