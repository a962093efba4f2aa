// The functions of the module by NumPy's names and with NumPy's arguments: one line for each.
#include "convert.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include <catena/kernels/base/error.h>

namespace nd::python {

namespace {

using Unary = Array (*)(const Operand&, const UfuncOptions&);
using Binary = Array (*)(const Operand&, const Operand&, const UfuncOptions&);

void elementwise(py::module_& m, const char* name, Unary f) {
  define(
      m, name,
      [f](const Value& x, const Out& out, const MaybeDtype& dtype, const std::string& casting) {
        return f(x, {.out = out, .dtype = dtype, .casting = casting_of(casting)});
      },
      py::arg("x"), py::pos_only(), py::arg("out") = py::none(), py::kw_only(), py::arg("dtype") = py::none(),
      py::arg("casting") = "same_kind");
}
void elementwise(py::module_& m, const char* name, Binary f) {
  define(
      m, name,
      [f](const Value& x1, const Value& x2, const Out& out, const MaybeDtype& dtype, const std::string& casting) {
        return f(x1, x2, {.out = out, .dtype = dtype, .casting = casting_of(casting)});
      },
      py::arg("x1"), py::arg("x2"), py::pos_only(), py::arg("out") = py::none(), py::kw_only(),
      py::arg("dtype") = py::none(), py::arg("casting") = "same_kind");
}

// A reduction as a function of the module and as a method of the class.
template <class F> void everywhere(py::module_& m, py::object& array_class, const char* name, F f, auto... arguments) {
  define(m, name, f, py::arg("a"), arguments...);
  array_class.attr(name) = py::cpp_function(f, py::name(name), py::is_method(array_class),
                                            py::call_guard<py::gil_scoped_release>(), arguments...);
}

// Makes variances, or standard deviations, of the sums of squares divided by n those divided by n - correction.
Array corrected(Array v, const Array& a, const AxesArgument& axis, double correction, bool is_std) {
  double n = 1;
  for (const std::int64_t k : catena::reduced_axes("var", axis, a.ndim()))
    n *= static_cast<double>(a.shape()[static_cast<int>(k)]);
  const double factor = n / std::max(n - correction, 0.0);
  return nd::multiply(v, is_std ? std::sqrt(factor) : factor, {.out = v});
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
        [f, is_std = std::string_view(name) == "std"](const Like& a, const AxesArgument& axis, const MaybeDtype& dtype,
                                                      const Out& out, int ddof, bool keepdims,
                                                      std::optional<double> correction) {
          VarOptions o{.axis = axis, .dtype = dtype, .out = out, .ddof = ddof, .keepdims = keepdims};
          if (!correction) return f(a, o);
          o.ddof = static_cast<int>(*correction);
          if (o.ddof == *correction) return f(a, o);
          o.ddof = 0;
          return corrected(f(a, o), a, axis, *correction, is_std);
        },
        kAxis(), py::arg("dtype") = py::none(), py::arg("out") = py::none(), py::arg("ddof") = 0,
        py::arg("keepdims") = false, py::kw_only(), py::arg("correction") = py::none());
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

const auto kDtype = [] { return py::arg("dtype") = py::none(); };
const auto kDevice = [] { return py::arg("device") = py::none(); };

void define_creation(py::module_& m) {
  define(
      m, "array",
      [](const py::object& object, const MaybeDtype& t, bool copy) {
        return asarray(object, t, copy ? std::optional(true) : std::nullopt);
      },
      py::arg("object"), kDtype(), py::kw_only(), py::arg("copy") = true);
  define(
      m, "asarray",
      [](const py::object& a, const MaybeDtype& t, const MaybeDevice& device, std::optional<bool> copy) {
        const OnDevice there(device);
        const Array x = asarray(a, t, copy);
        if (!device.value || x.device() == *device.value) return x;
        catena::check<ValueError>(copy != false, "asarray", "the device ", *device.value,
                                  " needs a copy, which copy = False forbids");
        return x.to_device(*device.value);
      },
      py::arg("a"), kDtype(), py::kw_only(), kDevice(), py::arg("copy") = py::none());
  define(
      m, "from_dlpack",
      [](const py::object& x, const MaybeDevice& device, std::optional<bool> copy) {
        return from_dlpack(x, device.value, copy);
      },
      py::arg("x"), py::pos_only(), py::kw_only(), kDevice(), py::arg("copy") = py::none());
  using Filled = Array (*)(const Shape&, Dtype);
  for (const auto& [name, f] : std::initializer_list<std::pair<const char*, Filled>>{
           {"empty", [](const Shape&s, Dtype t) { return nd::empty(s, t); }},
           {"zeros", [](const Shape&s, Dtype t) { return nd::zeros(s, t); }},
           {"ones", [](const Shape&s, Dtype t) { return nd::ones(s, t); }}})
    define(
        m, name,
        [f = f](const Lengths& shape, const MaybeDtype& t, const MaybeDevice& device) {
          const OnDevice there(device);
          return f(shape, float_or(t));
        },
        py::arg("shape"), kDtype(), py::kw_only(), kDevice());
  define(
      m, "full",
      [](const Lengths& s, const Value& x, const MaybeDtype& t, const MaybeDevice& device) {
        const OnDevice there(device);
        if (x.array.is_null()) return nd::full(s.value, x.scalar, {.dtype = t.value_or(x.scalar.natural_dtype())});
        return nd::broadcast_to(x.array, s.value).astype(t.value_or(x.array.dtype()));
      },
      py::arg("shape"), py::arg("fill_value"), kDtype(), py::kw_only(), kDevice());
}

Scalar scalar_value(const Value& v) { return v.array.is_null() ? v.scalar : v.array.item(); }

// An array like `a`, on another device if one is given.
template <class F> Array like(const Like& a, const MaybeDtype& t, const MaybeDevice& device, F make) {
  const Array x = make(a.array, LikeOptions{.dtype = t});
  return device.value ? x.to_device(*device.value) : x;
}

void define_likes(py::module_& m) {
  using Similar = Array (*)(const Array&, const LikeOptions&);
  for (const auto& [name, f] : std::initializer_list<std::pair<const char*, Similar>>{
           {"empty_like", [](const Array&a, const LikeOptions&o) { return nd::empty_like(a, o); }},
           {"zeros_like", [](const Array&a, const LikeOptions&o) { return nd::zeros_like(a, o); }},
           {"ones_like", [](const Array&a, const LikeOptions&o) { return nd::ones_like(a, o); }}})
    define(
        m, name,
        [f = f](const Like& a, const MaybeDtype& t, const MaybeDevice& device) { return like(a, t, device, f); },
        py::arg("a"), kDtype(), py::kw_only(), kDevice());
  define(
      m, "full_like",
      [](const Like& a, const Value& x, const MaybeDtype& t, const MaybeDevice& device) {
        return like(a, t, device,
                    [&](const Array& b, const LikeOptions& o) { return nd::full_like(b, scalar_value(x), o); });
      },
      py::arg("a"), py::arg("fill_value"), kDtype(), py::kw_only(), kDevice());
}

void define_ranges(py::module_& m) {
  define(
      m, "arange",
      [](const Value& start, const std::optional<Value>& stop, const Value& step, const MaybeDtype& t,
         const MaybeDevice& device) {
        const OnDevice there(device);
        return nd::arange(stop ? scalar_value(start) : Scalar(0), scalar_value(stop ? *stop : start),
                          scalar_value(step), CreateOptions{.dtype = t});
      },
      py::arg("start"), py::arg("stop") = py::none(), py::arg("step") = 1, kDtype(), py::kw_only(), kDevice());
  define(
      m, "linspace",
      [](const Value& start, const Value& stop, std::int64_t num, bool endpoint, const MaybeDtype& t, int axis,
         const MaybeDevice& device) {
        const OnDevice there(device);
        return nd::linspace(Operand(start), Operand(stop), num,
                            SpacingOptions{.endpoint = endpoint, .dtype = t, .axis = axis});
      },
      py::arg("start"), py::arg("stop"), py::arg("num") = 50, py::arg("endpoint") = true, kDtype(), py::arg("axis") = 0,
      py::kw_only(), kDevice());
  define(
      m, "eye",
      [](std::int64_t n, std::optional<std::int64_t> columns, const Saturated& k, const MaybeDtype& t,
         const MaybeDevice& device) {
        const OnDevice there(device);
        return nd::eye(n, EyeOptions{.M = columns, .k = k.value, .dtype = float_or(t)});
      },
      py::arg("N"), py::arg("M") = py::none(), py::arg("k") = 0, kDtype(), py::kw_only(), kDevice());
  define(
      m, "meshgrid",
      [](const py::args& xi, const std::string& indexing) {
        return tuple_of(nd::meshgrid(arrays_of(py::cast<Likes>(py::list(xi))), MeshgridOptions{.indexing = indexing}));
      },
      py::arg("indexing") = "xy");
  define(
      m, "tril", [](const Like& a, std::int64_t k) { return nd::tril(a, k); }, py::arg("m"), py::arg("k") = 0);
  define(
      m, "triu", [](const Like& a, std::int64_t k) { return nd::triu(a, k); }, py::arg("m"), py::arg("k") = 0);
}

void define_shapes(py::module_& m) {
  define(
      m, "reshape",
      [](const Like& a, const Lengths& s, std::optional<bool> copy) {
        const Array x = a.array.reshape(s.value);
        const bool is_view = x.size() == 0 || x.data().ptr() == a.array.data().ptr();
        catena::check<ValueError>(copy != false || is_view, "reshape",
                                  "the shape needs a copy, which copy = False forbids");
        return copy == true && is_view ? x.copy() : x;
      },
      py::arg("a"), py::arg("shape"), py::kw_only(), py::arg("copy") = py::none());
  define(
      m, "ravel", [](const Like& a) { return a.array.ravel(); }, py::arg("a"));
  define(
      m, "squeeze", [](const Like& a, const AxesArgument& x) { return a.array.squeeze(x); }, py::arg("a"),
      py::arg("axis") = py::none());
  define(
      m, "expand_dims", [](const Like& a, const AxesArgument& axis) { return nd::expand_dims(a, axis.value.values()); },
      py::arg("a"), py::arg("axis"));
  define(
      m, "transpose",
      [](const Like& a, const std::optional<Lengths>& x) {
        return x ? a.array.transpose(x->value) : a.array.transpose();
      },
      py::arg("a"), py::arg("axes") = py::none());
  define(
      m, "permute_dims", [](const Like& a, const Lengths& x) { return a.array.transpose(x.value); }, py::arg("a"),
      py::arg("axes"));
  define(
      m, "matrix_transpose", [](const Like& a) { return nd::matrix_transpose(a); }, py::arg("a"));
  define(
      m, "swapaxes", [](const Like& a, int i, int j) { return a.array.swapaxes(i, j); }, py::arg("a"), py::arg("axis1"),
      py::arg("axis2"));
  define(
      m, "moveaxis", [](const Like& a, const AxesArgument& i, const AxesArgument& j) { return nd::moveaxis(a, i, j); },
      py::arg("a"), py::arg("source"), py::arg("destination"));
}

void define_joining(py::module_& m) {
  define(
      m, "broadcast_to", [](const Like& a, const Lengths& s) { return nd::broadcast_to(a, s); }, py::arg("array"),
      py::arg("shape"));
  define(m, "broadcast_arrays",
         [](const py::args& a) { return tuple_of(nd::broadcast_arrays(arrays_of(py::cast<Likes>(py::list(a))))); });
  define(
      m, "concatenate",
      [](const Likes& a, std::optional<int> axis) {
        if (axis) return nd::concatenate(arrays_of(a), *axis);
        std::vector<Array> flat;
        for (const Like& x : a) flat.push_back(x.array.ravel());
        return nd::concatenate(flat, 0);
      },
      py::arg("arrays"), py::arg("axis") = 0);
  m.attr("concat") = m.attr("concatenate");
  define(
      m, "stack", [](const Likes& a, int axis) { return nd::stack(arrays_of(a), axis); }, py::arg("arrays"),
      py::arg("axis") = 0);
  define(
      m, "vstack", [](const Likes& a) { return nd::vstack(arrays_of(a)); }, py::arg("tup"));
  define(
      m, "hstack", [](const Likes& a) { return nd::hstack(arrays_of(a)); }, py::arg("tup"));
  define(
      m, "tile", [](const Like& a, const Lengths& n) { return nd::tile(a, n.value); }, py::arg("A"), py::arg("reps"));
  define(
      m, "repeat",
      [](const Like& a, const std::variant<std::int64_t, Like>& repeats, std::optional<int> axis) {
        return std::visit([&](const auto& n) { return nd::repeat(a, n, axis); }, repeats);
      },
      py::arg("a"), py::arg("repeats"), py::arg("axis") = py::none());
  define(
      m, "flip", [](const Like& a, const AxesArgument& axis) { return nd::flip(a, axis.value); }, py::arg("m"),
      py::arg("axis") = py::none());
  define(
      m, "roll",
      [](const Like& a, const AxesArgument& shift, const AxesArgument& axis) {
        if (!axis.value.given()) {
          std::int64_t total = 0;
          for (const std::int64_t n : shift.value.values()) total += n;
          return nd::roll(a, total);
        }
        return nd::roll(a, shift.value.values(), axis.value.values());
      },
      py::arg("a"), py::arg("shift"), py::arg("axis") = py::none());
  define(
      m, "take",
      [](const Like& a, const Like& i, std::optional<int> axis) {
        return nd::take(a, IndexKey(i.array), TakeOptions{.axis = axis});
      },
      py::arg("a"), py::arg("indices"), py::arg("axis") = py::none());
  define(
      m, "take_along_axis",
      [](const Like& a, const Like& i, std::optional<int> axis) { return nd::take_along_axis(a, i, axis); },
      py::arg("arr"), py::arg("indices"), py::arg("axis") = -1);
  define(
      m, "diagonal", [](const Like& a, std::int64_t k) { return a.array.diagonal(k); }, py::arg("a"),
      py::arg("offset") = 0);
}

// The positions of a stable sort in descending order: equal elements keep their order.
Array descending_positions(const Array& a, std::optional<int> axis) {
  const Array x = axis ? a : a.ravel();
  const int k = axis.value_or(0);
  const Array backwards = nd::flip(nd::argsort(nd::flip(x, k), k), k);
  return nd::subtract(x.shape()[catena::normalize_axis("argsort", k, x.ndim())] - 1, backwards);
}

void define_searching(py::module_& m) {
  define(
      m, "sort",
      [](const Like& a, std::optional<int> axis, bool descending, bool) {
        return descending ? nd::flip(nd::sort(a, axis), axis.value_or(-1)) : nd::sort(a, axis);
      },
      py::arg("a"), py::arg("axis") = -1, py::kw_only(), py::arg("descending") = false, py::arg("stable") = true);
  define(
      m, "argsort",
      [](const Like& a, std::optional<int> axis, bool descending, bool) {
        return descending ? descending_positions(a, axis) : nd::argsort(a, axis);
      },
      py::arg("a"), py::arg("axis") = -1, py::kw_only(), py::arg("descending") = false, py::arg("stable") = true);
  define(
      m, "searchsorted",
      [](const Like& a, const Value& v, const std::string& side, const std::optional<Like>& sorter) {
        return nd::searchsorted(a, Operand(v), SearchOptions{.side = side, .sorter = sorter ? sorter->array : Array()});
      },
      py::arg("a"), py::arg("v"), py::arg("side") = "left", py::arg("sorter") = py::none());
  define(
      m, "nonzero",
      [](const Like& a) {
        catena::check<ValueError>(a.array.ndim() > 0, "nonzero", "a 0-d array has no positions; write x.reshape(1)");
        return tuple_of(nd::nonzero(a));
      },
      py::arg("a"));
  define(
      m, "where",
      [](const Value& condition, const std::optional<Value>& x, const std::optional<Value>& y) -> py::object {
        if (x && y) return py::cast(nd::where(condition, *x, *y));
        catena::check<ValueError>(!x && !y, "where", "either both or neither of x and y are given");
        return tuple_of(nd::nonzero(Operand(condition).array()));
      },
      py::arg("condition"), py::arg("x") = py::none(), py::arg("y") = py::none());
  define(
      m, "unique",
      [](const Like& a, bool index, bool inverse, bool counts, std::optional<int> axis) {
        return one_or_tuple(
            nd::unique(
                a.array,
                UniqueOptions{.return_index = index, .return_inverse = inverse, .return_counts = counts, .axis = axis}),
            index, inverse, counts);
      },
      py::arg("ar"), py::arg("return_index") = false, py::arg("return_inverse") = false,
      py::arg("return_counts") = false, py::arg("axis") = py::none());
  define(
      m, "isin",
      [](const Like& a, const Like& b, bool assume_unique, bool invert) {
        return nd::isin(a.array, b.array, assume_unique, invert);
      },
      py::arg("element"), py::arg("test_elements"), py::arg("assume_unique") = false, py::arg("invert") = false);
}

void define_comparisons(py::module_& m) {
  define(
      m, "clip",
      [](const Value& a, const std::optional<Value>& low, const std::optional<Value>& high) {
        const auto bound = [](const std::optional<Value>& v) {
          return v ? std::optional<Operand>(Operand(*v)) : std::nullopt;
        };
        if (!low && !high) return a.array.is_null() ? nd::positive(a) : a.array.copy();
        return nd::internal::clip_to_bounds(a, bound(low), bound(high), {});
      },
      py::arg("a"), py::arg("min") = py::none(), py::arg("max") = py::none());
  define(
      m, "round", [](const Like& a, int decimals) { return nd::round(a, decimals); }, py::arg("a"),
      py::arg("decimals") = 0);
  define(
      m, "allclose",
      [](const Value& a, const Value& b, double rtol, double atol, bool nan) {
        return nd::allclose(a, b, rtol, atol, nan).item<bool>();
      },
      py::arg("a"), py::arg("b"), py::arg("rtol") = 1e-5, py::arg("atol") = 1e-8, py::arg("equal_nan") = false);
  define(
      m, "isclose",
      [](const Value& a, const Value& b, double rtol, double atol, bool nan) {
        return nd::isclose(a, b, rtol, atol, nan);
      },
      py::arg("a"), py::arg("b"), py::arg("rtol") = 1e-5, py::arg("atol") = 1e-8, py::arg("equal_nan") = false);
  define(
      m, "array_equal", [](const Value& a, const Value& b) { return nd::array_equal(a, b).item<bool>(); },
      py::arg("a1"), py::arg("a2"));
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
  define(
      m, "diff",
      [](const Like& a, std::int64_t n, int axis, const std::optional<Like>& prepend,
         const std::optional<Like>& append) {
        DiffOptions options{.n = n, .axis = axis};
        if (prepend) options.prepend = prepend->array;
        if (append) options.append = append->array;
        return nd::diff(a.array, options);
      },
      py::arg("a"), py::arg("n") = 1, py::arg("axis") = -1, py::arg("prepend") = py::none(),
      py::arg("append") = py::none());
  define(
      m, "median",
      [](const Like& a, const AxesArgument& axis, bool keepdims) {
        return nd::median(a, MedianOptions{.axis = axis, .keepdims = keepdims});
      },
      py::arg("a"), kAxis(), py::arg("keepdims") = false);
  define(
      m, "percentile",
      [](const Like& a, const Like& q, const AxesArgument& axis, const std::string& method, bool keepdims) {
        return nd::percentile(a, q.array, QuantileOptions{.axis = axis, .method = method, .keepdims = keepdims});
      },
      py::arg("a"), py::arg("q"), kAxis(), py::arg("method") = "linear", py::arg("keepdims") = false);
  define(
      m, "quantile",
      [](const Like& a, const Like& q, const AxesArgument& axis, const std::string& method, bool keepdims) {
        return nd::quantile(a, q.array, QuantileOptions{.axis = axis, .method = method, .keepdims = keepdims});
      },
      py::arg("a"), py::arg("q"), kAxis(), py::arg("method") = "linear", py::arg("keepdims") = false);
}

void define_products(py::module_& m) {
  define(
      m, "dot", [](const Like& a, const Like& b) { return nd::dot(a, b); }, py::arg("a"), py::arg("b"));
  define(
      m, "matmul", [](const Like& a, const Like& b) { return nd::matmul(a, b); }, py::arg("x1"), py::arg("x2"));
  define(
      m, "vdot", [](const Like& a, const Like& b) { return nd::vdot(a, b); }, py::arg("a"), py::arg("b"));
  define(
      m, "inner", [](const Like& a, const Like& b) { return nd::inner(a, b); }, py::arg("a"), py::arg("b"));
  define(
      m, "outer", [](const Like& a, const Like& b) { return nd::outer(a, b); }, py::arg("a"), py::arg("b"));
  define(
      m, "tensordot",
      [](const Like& a, const Like& b, const std::variant<int, std::pair<Lengths, Lengths>>& axes) {
        if (const int* const n = std::get_if<int>(&axes)) return nd::tensordot(a, b, *n);
        const auto& [of_a, of_b] = std::get<std::pair<Lengths, Lengths>>(axes);
        return nd::tensordot(a, b, TensordotAxes(of_a.value, of_b.value));
      },
      py::arg("a"), py::arg("b"), py::arg("axes") = 2);
  define(
      m, "einsum",
      [](const std::string& subscripts, const py::args& operands) {
        const Likes held = py::cast<Likes>(py::list(operands));
        std::vector<Operand> list;
        for (const Like& x : held) list.push_back(x.array);
        return nd::einsum(subscripts, list);
      },
      py::arg("subscripts"));
  define(
      m, "trace", [](const Like& a, std::int64_t k) { return a.array.trace(k); }, py::arg("a"), py::arg("offset") = 0);
}

}  // namespace

void define_functions(py::module_& m, py::object c) {
#define CATENA_UNARY(name) elementwise(m, #name, static_cast<Unary>(&nd::name));
#define CATENA_BINARY(name) elementwise(m, #name, static_cast<Binary>(&nd::name));
#include <catena/kernels/lists/elementwise.inc>
#undef CATENA_UNARY
#undef CATENA_BINARY
  elementwise(m, "positive", &nd::positive);
  elementwise(m, "nextafter", &nd::nextafter);
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
  define_likes(m);
  define_ranges(m);
  define_shapes(m);
  define_joining(m);
  define_searching(m);
  define_comparisons(m);
  define_statistics(m, c);
  define_products(m);
}

}  // namespace nd::python
