#include <catena/autograd/ndarray_backend/torch_functions.h>

#include <limits>

#include <catena/autograd/array.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/ndarray_backend/torch_complex.h>
#include <catena/autograd/operators.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/comparison.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/element_access.h>
#include <catena/ndarray/routines/histogram.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/sets.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/ndarray/routines/statistics.h>

namespace autograd {

using catena::check;
using catena::TypeError;
using catena::ValueError;

namespace {

Mask mask(const nd::Array& a) { return Mask(Array(a)); }
using internal::array_of;
nd::Array array_of(const TensorArgument& x) { return x.is_array() ? x.array() : nd::array(nd::Operand(x).scalar()); }
Axes axes_of(const ExtremumOptions& o) { return o.value() ? Axes(*o.value()) : Axes(); }

}  // namespace

#define CATENA_TEST(name) \
  Mask name(const TensorArgument& x) { return mask(nd::name(x)); }
CATENA_TEST(isnan)
CATENA_TEST(isinf)
CATENA_TEST(isfinite)
CATENA_TEST(isneginf)
CATENA_TEST(isposinf)
CATENA_TEST(isreal)
CATENA_TEST(signbit)
CATENA_TEST(logical_not)
#undef CATENA_TEST
#define CATENA_TEST(name) \
  Mask name(const TensorArgument& x, const TensorArgument& y) { return mask(nd::name(x, y)); }
CATENA_TEST(logical_and)
CATENA_TEST(logical_or)
CATENA_TEST(logical_xor)
#undef CATENA_TEST
#define CATENA_BITS(name) \
  Variable name(const TensorArgument& x, const TensorArgument& y) { return as_variable(nd::name(x, y)); }
CATENA_BITS(bitwise_and)
CATENA_BITS(bitwise_or)
CATENA_BITS(bitwise_xor)
CATENA_BITS(bitwise_left_shift)
CATENA_BITS(bitwise_right_shift)
CATENA_BITS(gcd)
CATENA_BITS(lcm)
CATENA_BITS(heaviside)
CATENA_BITS(nextafter)
#undef CATENA_BITS
Variable bitwise_not(const TensorArgument& x) { return as_variable(nd::invert(x)); }

Mask isclose(const TensorArgument& x, const TensorArgument& y, const CloseOptions& o) {
  return mask(nd::isclose(x, y, {.rtol = o.rtol, .atol = o.atol, .equal_nan = o.equal_nan}));
}
bool allclose(const TensorArgument& x, const TensorArgument& y, const CloseOptions& o) {
  return bool(nd::allclose(x, y, {.rtol = o.rtol, .atol = o.atol, .equal_nan = o.equal_nan}));
}
bool equal(const TensorArgument& x, const TensorArgument& y) { return bool(nd::array_equal(x, y)); }
Mask isin(const TensorArgument& elements, const TensorArgument& among, const IsinOptions& o) {
  const nd::DeviceScope scope(array_of(elements.is_array() ? elements : among).device());
  return mask(nd::isin(array_of(elements), array_of(among), nd::IsinOptions{.invert = o.invert}));
}

Mask any(const Variable& x, const ExtremumOptions& o) {
  return mask(array_of(x).any(nd::TestOptions{.axis = axes_of(o), .keepdims = o.keeps()}));
}
Mask all(const Variable& x, const ExtremumOptions& o) {
  return mask(array_of(x).all(nd::TestOptions{.axis = axes_of(o), .keepdims = o.keeps()}));
}
Variable count_nonzero(const Variable& x, const ExtremumOptions& o) {
  return as_variable(nd::count_nonzero(array_of(x), nd::TestOptions{.axis = axes_of(o), .keepdims = o.keeps()}));
}

Variable nonzero(const Variable& x) { return as_variable(nd::argwhere(array_of(x))); }
Variables nonzero(const Variable& x, const NonzeroOptions& o) {
  if (!o.as_tuple) return {nonzero(x)};
  Variables positions;
  for (const nd::Array& a : nd::nonzero(array_of(x))) positions.push_back(as_variable(a));
  return positions;
}
Variable searchsorted(const Variable& sorted, const TensorArgument& given, const SearchOptions& o) {
  const nd::DeviceScope scope(sorted.device());
  const std::string_view side = o.right ? "right" : "left";
  const nd::Array a = array_of(sorted);
  if (a.ndim() == 1) return as_variable(nd::searchsorted(a, given, nd::SearchOptions{.side = side}));
  const nd::Array values = array_of(given);
  check<ValueError>(a.ndim() == values.ndim() && a.ndim() > 1, "searchsorted", "the sorted numbers have the shape ",
                    a.shape(), ", the values the shape ", values.shape());
  for (int k = 0; k + 1 < a.ndim(); ++k)
    check<ValueError>(a.shape(k) == values.shape(k), "searchsorted", "the sorted numbers have the shape ", a.shape(),
                      ", the values the shape ", values.shape());
  const nd::Array flat = a.reshape({-1, a.shape(-1)}), rows = values.reshape({-1, values.shape(-1)});
  const nd::Array places = nd::empty(values.shape(), nd::Dtype::int64), into = places.reshape(rows.shape());
  for (std::int64_t k = 0; k < rows.shape(0); ++k)
    into(k) = nd::searchsorted(flat(k), rows(k), nd::SearchOptions{.side = side});
  return as_variable(places);
}
Variable bucketize(const TensorArgument& values, const Variable& boundaries, const SearchOptions& o) {
  check<ValueError>(boundaries.ndim() == 1, "bucketize", "the boundaries have the shape ", boundaries.shape(),
                    ", their rank must be 1");
  return searchsorted(boundaries, values, o);
}
Variables unravel_index(const Variable& indices, const Shape& shape) {
  Variables coordinates;
  for (const nd::Array& a : nd::unravel_index(array_of(indices), shape)) coordinates.push_back(as_variable(a));
  return coordinates;
}

Variable unique(const Variable& x) { return as_variable(nd::unique(array_of(x))); }
ValuesInverseAndCounts unique(const Variable& x, const UniqueOptions& o) {
  const nd::UniqueResult found = nd::unique(
      array_of(x),
      nd::UniqueOptions{.return_inverse = o.return_inverse, .return_counts = o.return_counts, .axis = o.dim});
  ValuesInverseAndCounts result{.output = as_variable(found.values)};
  if (o.return_inverse) result.inverse_indices = as_variable(found.inverse_indices);
  if (o.return_counts) result.counts = as_variable(found.counts);
  return result;
}
ValuesInverseAndCounts unique_consecutive(const Variable& x, const UniqueOptions& o) {
  check<ValueError>(!o.dim, "unique_consecutive", "an axis is not supported; the array is flattened");
  const nd::DeviceScope scope(x.device());
  const nd::Array a = array_of(x).ravel();
  const std::int64_t n = a.size();
  if (n == 0)
    return {as_variable(a), o.return_inverse ? as_variable(nd::zeros(x.shape(), nd::Dtype::int64)) : Variable(),
            o.return_counts ? as_variable(nd::zeros(0, nd::Dtype::int64)) : Variable()};
  nd::Array begins = nd::ones(n, nd::Dtype::bool_);
  if (n > 1) begins(nd::Slice(1, {})) = nd::not_equal(a(nd::Slice(1, {})), a(nd::Slice({}, n - 1)));
  const nd::Array places = nd::flatnonzero(begins);
  ValuesInverseAndCounts result{.output = as_variable(a(places))};
  if (o.return_inverse)
    result.inverse_indices = as_variable((begins.astype(nd::Dtype::int64).cumsum() - 1).reshape(x.shape()));
  if (o.return_counts) {
    const nd::Array ends = nd::empty(places.shape(), nd::Dtype::int64);
    const std::int64_t last = places.size() - 1;
    ends(nd::Slice(0, last)) = places(nd::Slice(1, {}));
    ends(last) = n;
    result.counts = as_variable(ends - places);
  }
  return result;
}
Variable unique_consecutive(const Variable& x) { return unique_consecutive(x, UniqueOptions{}).output; }

Variable bincount(const Variable& x, const BincountOptions& o) {
  check<ValueError>(o.minlength >= 0, "bincount", "minlength is ", o.minlength, ", it must not be negative");
  nd::BincountOptions options;
  if (o.weights) options.weights = array_of(o.weights);
  if (o.minlength > 0) options.minlength = o.minlength;
  const nd::Array counts = nd::bincount(array_of(x), options);
  return as_variable(o.weights && o.weights.dtype() == Dtype::float32 ? counts.astype(Dtype::float32) : counts);
}
Variable histc(const Variable& x, const HistcOptions& o) {
  check<TypeError>(catena::is_floating(x.dtype()), "histc", "the dtype is ", x.dtype(), ", it must be floating");
  check<ValueError>(o.bins > 0, "histc", "the number of bins is ", o.bins, ", it must be positive");
  check<ValueError>(o.min <= o.max, "histc", "the range from ", o.min, " to ", o.max, " is empty");
  const nd::Array a = array_of(x).ravel();
  double low = o.min, high = o.max;
  if (low == high && a.size() > 0) low = a.min().item<double>(), high = a.max().item<double>();
  if (low == high) low -= 1, high += 1;
  const auto [counts, edges] = nd::histogram(a, nd::HistogramOptions{.bins = o.bins, .range = {low, high}});
  return as_variable(counts.astype(x.dtype()));
}

Frexp frexp(const Variable& x) {
  check<TypeError>(catena::is_floating(x.dtype()), "frexp", "the dtype is ", x.dtype(), ", it must be floating");
  const nd::Array exponents = nd::frexp(array_of(x)).second.astype(nd::int32);
  // In two factors, each of which is a finite number of the dtype.
  const nd::Array first = nd::floor_divide(exponents, 2), second = exponents - first;
  const auto power = [&](const nd::Array& e) {
    return as_variable(nd::exp2(nd::negative(e).astype(nd::float64)).astype(x.dtype()));
  };
  return {x * power(first) * power(second), as_variable(exponents)};
}
Variable internal::matrix_adjoint(const Variable& x) {
  check<ValueError>(x.ndim() == 0 || x.ndim() == 2, "H", "the shape is ", x.shape(), ", the rank must be 0 or 2");
  return x.ndim() == 0 ? conj(x) : adjoint(x);
}

namespace {

void check_part(const char* op, Dtype t) {
  check<TypeError>(t == Dtype::float32 || t == Dtype::float64, op, "the dtype is ", t,
                   ", it must be float32 or float64");
}

}  // namespace

Variable complex(const Variable& re, const Variable& im) {
  check<TypeError>(re.dtype() == im.dtype(), "complex", "the dtypes are ", re.dtype(), " and ", im.dtype());
  check_part("complex", re.dtype());
  const Variables parts = broadcast({re, im});
  return internal::to_complex(parts[0]) + internal::from_imaginary(parts[1]);
}
Variable polar(const Variable& abs, const Variable& angle) { return complex(abs * cos(angle), abs * sin(angle)); }
Variable real(const Variable& x) { return x.is_complex() ? internal::real_part(x) : x; }
Variable imag(const Variable& x) {
  check<TypeError>(x.is_complex(), "imag", "the dtype is ", x.dtype(), ", it must be complex");
  return internal::imaginary_part(x);
}
Variable conj(const Variable& x) { return x.is_complex() ? internal::conjugated(x) : x; }
Variable angle(const Variable& x) {
  return x.is_complex() ? arctan2(imag(x), real(x)) : as_variable(nd::angle(array_of(x)));
}
Variable view_as_complex(const Variable& x) {
  check<ValueError>(x.ndim() > 0 && x.shape(-1) == 2, "view_as_complex", "the shape is ", x.shape(),
                    ", the last length must be 2");
  check_part("view_as_complex", x.dtype());
  return internal::linear(
      "view_as_complex", x,
      [](const nd::Array& a) {
        Shape shape;
        for (int k = 0; k + 1 < a.ndim(); ++k) shape.push_back(a.shape(k));
        return a.contiguous().view(internal::complex_of(a.dtype())).reshape(shape);
      },
      [](const Variable& g) { return view_as_real(g); });
}
Variable view_as_real(const Variable& x) {
  check<TypeError>(x.is_complex(), "view_as_real", "the dtype is ", x.dtype(), ", it must be complex");
  return internal::linear(
      "view_as_real", x,
      [](const nd::Array& a) {
        Shape shape = a.shape();
        shape.push_back(2);
        return a.contiguous().ravel().view(catena::real_dtype(a.dtype())).reshape(shape);
      },
      [](const Variable& g) { return view_as_complex(g); });
}

void internal::set_print_profile(const PrintProfile& o) {
  check<ValueError>(o.profile.empty() || o.profile == "default" || o.profile == "short" || o.profile == "full",
                    "set_printoptions", "the profile is \"", o.profile, "\"; it is \"default\", \"short\" or \"full\"");
  catena::PrintOptions p = o.profile.empty() ? get_printoptions() : catena::PrintOptions{};
  if (o.profile == "short") p.precision = 2, p.edgeitems = 2;
  if (o.profile == "full") p.threshold = std::numeric_limits<std::int64_t>::max();
  p.precision = o.precision.value_or(p.precision);
  p.threshold = o.threshold.value_or(p.threshold);
  p.edgeitems = o.edgeitems.value_or(p.edgeitems);
  p.linewidth = o.linewidth.value_or(p.linewidth);
  if (o.sci_mode) p.suppress_small = !*o.sci_mode;
  catena::set_printoptions(p);
}

}  // namespace autograd
