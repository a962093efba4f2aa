#include <catena/ndarray/routines/in_place.h>

#include <vector>

#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/datatype.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/nan_functions.h>
#include <catena/ndarray/routines/random.h>
#include <catena/ndarray/routines/special.h>
#include <catena/ndarray/routines/triangles.h>

namespace nd::internal {
namespace {

using catena::check;
using catena::IndexError;
using catena::TypeError;
using catena::ValueError;

// An array of rank 0 on another device, such as a loss, is taken as its number, as in PyTorch.
Given on_device_of(const Array& to, const Given& x) {
  if (x.is_array() && x.array().ndim() == 0 && x.array().device() != to.device()) return x.array().item();
  return x;
}

// x times a number, in the dtype of x.
Given scaled(const Given& x, const Scalar& factor) {
  if (factor == Scalar(1)) return x;
  if (!x.is_array()) return x.number() * factor;
  return multiply(x, factor);
}

const Array& positions(const char* op, const Given& index, int rank) {
  check<TypeError>(index.is_array(), op, "the positions must be an array");
  check<IndexError>(index.array().ndim() == rank, op, "the index has the shape ", index.array().shape(),
                    ", its rank must be ", rank);
  return index.array();
}

// The key a[:, .., index].
std::vector<IndexKey> at_axis(const char* op, const Array& to, int dim, const Given& index) {
  const int axis = catena::normalize_axis(op, dim, to.ndim());
  std::vector<IndexKey> keys;
  for (int k = 0; k < axis; ++k) keys.emplace_back(_);
  keys.emplace_back(positions(op, index, 1));
  return keys;
}

// A result must cast to the dtype of the array as those of ufuncs do.
void check_cast(const char* op, const Array& to, const Given& x) {
  catena::check_output_cast(op, x.is_array() ? x.array().dtype() : min_scalar_type(x), to.dtype(), Casting::same_kind);
}

void check_floating(const char* op, const Array& to) {
  check<TypeError>(catena::is_floating(to.dtype()), op, "the dtype must be floating, it is ", to.dtype());
}

}  // namespace

#define CATENA_IN_PLACE_UFUNC(name, function) \
  void InPlace::name(const Array& to) { function(to, {.out = to}); }
CATENA_IN_PLACE_UFUNC(abs, nd::absolute)
CATENA_IN_PLACE_UFUNC(neg, nd::negative)
CATENA_IN_PLACE_UFUNC(exp, nd::exp)
CATENA_IN_PLACE_UFUNC(exp2, nd::exp2)
CATENA_IN_PLACE_UFUNC(expm1, nd::expm1)
CATENA_IN_PLACE_UFUNC(log, nd::log)
CATENA_IN_PLACE_UFUNC(log2, nd::log2)
CATENA_IN_PLACE_UFUNC(log10, nd::log10)
CATENA_IN_PLACE_UFUNC(log1p, nd::log1p)
CATENA_IN_PLACE_UFUNC(sqrt, nd::sqrt)
CATENA_IN_PLACE_UFUNC(rsqrt, nd::rsqrt)
CATENA_IN_PLACE_UFUNC(square, nd::square)
CATENA_IN_PLACE_UFUNC(reciprocal, nd::reciprocal)
CATENA_IN_PLACE_UFUNC(sin, nd::sin)
CATENA_IN_PLACE_UFUNC(cos, nd::cos)
CATENA_IN_PLACE_UFUNC(tan, nd::tan)
CATENA_IN_PLACE_UFUNC(asin, nd::arcsin)
CATENA_IN_PLACE_UFUNC(acos, nd::arccos)
CATENA_IN_PLACE_UFUNC(atan, nd::arctan)
CATENA_IN_PLACE_UFUNC(sinh, nd::sinh)
CATENA_IN_PLACE_UFUNC(cosh, nd::cosh)
CATENA_IN_PLACE_UFUNC(tanh, nd::tanh)
CATENA_IN_PLACE_UFUNC(sigmoid, nd::special::expit)
CATENA_IN_PLACE_UFUNC(floor, nd::floor)
CATENA_IN_PLACE_UFUNC(ceil, nd::ceil)
CATENA_IN_PLACE_UFUNC(trunc, nd::trunc)
CATENA_IN_PLACE_UFUNC(sign, nd::sign)
#undef CATENA_IN_PLACE_UFUNC
void InPlace::relu(const Array& to) { nd::maximum(to, 0, {.out = to}); }
void InPlace::round(const Array& to) { nd::around(to, RoundOptions{.out = to}); }
void InPlace::frac(const Array& to) { nd::subtract(to, nd::trunc(to), {.out = to}); }
void InPlace::nan_to_num(const Array& to) { nd::nan_to_num(to, NanToNumOptions{.copy = false}); }
void InPlace::zero(const Array& to) { to.fill(0); }

#define CATENA_IN_PLACE_UFUNC(name, function) \
  void InPlace::name(const Array& to, const Given& other) { function(to, on_device_of(to, other), {.out = to}); }
CATENA_IN_PLACE_UFUNC(mul, nd::multiply)
CATENA_IN_PLACE_UFUNC(pow, nd::power)
CATENA_IN_PLACE_UFUNC(remainder, nd::remainder)
CATENA_IN_PLACE_UFUNC(fmod, nd::fmod)
CATENA_IN_PLACE_UFUNC(floor_divide, nd::floor_divide)
CATENA_IN_PLACE_UFUNC(clamp_min, nd::maximum)
CATENA_IN_PLACE_UFUNC(clamp_max, nd::minimum)
#undef CATENA_IN_PLACE_UFUNC
void InPlace::fill(const Array& to, const Given& value) {
  check<ValueError>(!value.is_array() || value.array().size() == 1, "fill_", "the value has ",
                    value.is_array() ? value.array().size() : 1, " elements, it must have one");
  to.fill(value.is_array() ? value.array().item() : value.number());
}
void InPlace::copy(const Array& to, const Given& from) {
  if (from.is_array()) assign("copy_", to, from.array().to_device(to.device()));
  else to.fill(from.number());
}

void InPlace::add(const Array& to, const Given& other, const Scalar& alpha) {
  nd::add(to, scaled(on_device_of(to, other), alpha), {.out = to});
}
void InPlace::sub(const Array& to, const Given& other, const Scalar& alpha) {
  nd::subtract(to, scaled(on_device_of(to, other), alpha), {.out = to});
}
void InPlace::div(const Array& to, const Given& given, std::string_view mode) {
  const Given other = on_device_of(to, given);
  if (mode.empty()) nd::true_divide(to, other, {.out = to});
  else if (mode == "floor") nd::floor_divide(to, other, {.out = to});
  else if (mode != "trunc")
    catena::fail<ValueError>("div_", "the rounding mode is \"", mode, "\"; it must be \"trunc\", \"floor\" or empty");
  else if (catena::is_floating(to.dtype())) nd::trunc(nd::true_divide(to, other), {.out = to});
  else nd::floor_divide(nd::subtract(to, nd::fmod(to, other)), other, {.out = to});
}
void InPlace::lerp(const Array& to, const Given& end, const Given& weight) {
  const Array way = nd::subtract(end, to);
  // From the nearer end, so that a weight of 1 gives the end exactly.
  if (weight.is_array()) {
    const Array near = nd::add(to, nd::multiply(way, weight));
    const Array far = nd::subtract(end, nd::multiply(way, nd::subtract(1, weight)));
    nd::copyto(to, nd::where(nd::less(nd::absolute(weight), 0.5), near, far));
  } else if (const double w = weight.number().to_double(); w < 0.5 && w > -0.5) {
    nd::add(to, nd::multiply(way, w), {.out = to});
  } else {
    nd::subtract(end, nd::multiply(way, 1 - w), {.out = to});
  }
}
void InPlace::addcmul(const Array& to, const Given& x, const Given& y, const Scalar& value) {
  const Array product = nd::multiply(x, y);
  add(to, product, value);
}
void InPlace::addcdiv(const Array& to, const Given& x, const Given& y, const Scalar& value) {
  const Array quotient = nd::true_divide(x, y);
  add(to, quotient, value);
}
void InPlace::clamp(const Array& to, const catena::ClampRange& range) {
  std::optional<Operand> low, high;
  if (range.min) low.emplace(*range.min);
  if (range.max) high.emplace(*range.max);
  clip_to_bounds(to, low, high, {.out = to});
}

void InPlace::masked_fill(const Array& to, const Given& mask, const Given& value) {
  check<TypeError>(mask.is_array() && mask.array().dtype() == Dtype::bool_, "masked_fill_",
                   "the mask must be an array of bools");
  check<ValueError>(!value.is_array() || value.array().size() == 1, "masked_fill_", "the value must have one element");
  const Given number = value.is_array() ? Given(value.array().item()) : value;
  nd::copyto(to, number, {.where = mask.array()});
}
void InPlace::index_add(const Array& to, int dim, const Given& index, const Given& source, const Scalar& alpha) {
  check_cast("index_add_", to, source);
  nd::scatter_add(to, at_axis("index_add_", to, dim, index), scaled(source, alpha));
}
void InPlace::index_copy(const Array& to, int dim, const Given& index, const Given& source) {
  check_cast("index_copy_", to, source);
  setitem(to, at_axis("index_copy_", to, dim, index), source);
}
void InPlace::scatter(const Array& to, int dim, const Given& given, const Given& src, bool adds) {
  const char* const op = adds ? "scatter_add_" : "scatter_";
  const Array& index = positions(op, given, to.ndim());
  check_cast(op, to, src);
  const int axis = catena::normalize_axis(op, dim, to.ndim());
  std::vector<IndexKey> keys, part;
  for (int k = 0; k < to.ndim(); ++k) {
    const std::int64_t n = index.shape(k);
    check<IndexError>((k == axis || n <= to.shape(k)) && (!src.is_array() || n <= src.array().shape(k)), op,
                      "the index, of the shape ", index.shape(), ", is longer than the array or the source along axis ",
                      k);
    part.emplace_back(Slice(0, n));
    if (k == axis) {
      keys.emplace_back(index);
      continue;
    }
    const DeviceScope scope(to.device());
    Shape along = Shape::filled(to.ndim(), 1);
    along[k] = n;
    keys.emplace_back(nd::arange(n).reshape(along));
  }
  if (index.size() == 0) return;
  const Given values = src.is_array() ? Given(getitem(src.array(), part)) : src;
  if (adds) nd::scatter_add(to, keys, values);
  else setitem(to, keys, values);
}
void InPlace::triangle(const Array& to, std::int64_t diagonal, bool lower) {
  assign(lower ? "tril_" : "triu_", to, lower ? nd::tril(to, diagonal) : nd::triu(to, diagonal));
}
void InPlace::fill_diagonal(const Array& to, const Scalar& value) { nd::fill_diagonal(to, value); }

void InPlace::normal(const Array& to, double mean, double std) {
  check_floating("normal_", to);
  const DeviceScope scope(to.device());
  assign("normal_", to, nd::random::normal(mean, std, to.shape(), to.dtype()));
}
void InPlace::uniform(const Array& to, double from, double to_excluded) {
  check_floating("uniform_", to);
  check<ValueError>(from <= to_excluded, "uniform_", "the range from ", from, " to ", to_excluded, " is empty");
  const DeviceScope scope(to.device());
  assign("uniform_", to, nd::random::uniform(from, to_excluded, to.shape(), to.dtype()));
}
void InPlace::exponential(const Array& to, double lambd) {
  check_floating("exponential_", to);
  check<ValueError>(lambd > 0, "exponential_", "the rate lambd is ", lambd, ", it must be positive");
  const DeviceScope scope(to.device());
  const Array u = nd::random::random_sample(to.shape(), to.dtype());
  assign("exponential_", to, nd::log1p(-u) / -lambd);
}
void InPlace::bernoulli(const Array& to, const Given& p) {
  if (!p.is_array())
    check<ValueError>(p.number().to_double() >= 0 && p.number().to_double() <= 1, "bernoulli_", "the probability is ",
                      p.number().to_double(), ", it must be between 0 and 1");
  const DeviceScope scope(to.device());
  assign("bernoulli_", to, nd::less(nd::random::random_sample(to.shape()), p));
}
void InPlace::random(const Array& to) {
  const Dtype dtype = to.dtype();
  check<TypeError>(!catena::is_complex_dtype(dtype), "random_", "the array is ", dtype, ", it must not be complex");
  if (catena::is_floating(dtype)) random(to, 0, (std::int64_t(1) << (finfo(dtype).nmant + 1)) + 1);
  else if (dtype == Dtype::bool_) random(to, 0, 2);
  else if (dtype == Dtype::int64 || dtype == Dtype::uint64) random(to, 0, INT64_MAX);
  else random(to, 0, Scalar::highest(dtype).to<std::int64_t>() + 1);
}
void InPlace::random(const Array& to, std::int64_t from, std::int64_t to_excluded) {
  check<ValueError>(from < to_excluded, "random_", "the range from ", from, " to ", to_excluded, " is empty");
  if (!catena::is_floating(to.dtype()) && to.dtype() != Dtype::bool_) {
    catena::check_fits("random_", Scalar(from), to.dtype());
    catena::check_fits("random_", Scalar(to_excluded - 1), to.dtype());
  }
  const DeviceScope scope(to.device());
  assign("random_", to, nd::random::randint(from, to_excluded, to.shape()));
}

}  // namespace nd::internal
