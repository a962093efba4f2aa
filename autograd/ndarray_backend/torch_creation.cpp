#include <catena/autograd/ndarray_backend/torch_creation.h>

#include <cmath>
#include <limits>
#include <optional>

#include <catena/autograd/array.h>
#include <catena/autograd/config.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/ndarray_backend/torch_complex.h>
#include <catena/autograd/random_state.h>
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/routines/random.h>

namespace autograd {

using catena::check;
using catena::TypeError;
using catena::ValueError;
namespace kernels = catena::kernels;

namespace {

Dtype floating_dtype(const TensorOptions& o) { return o.dtype ? *o.dtype : get_dtype(); }
Array uniform(const Shape& shape, Device device, const GeneratorOption& generator = {}) {
  return random_uniform(shape, 0, 1, Dtype::float64, generator.get(), device);
}

}  // namespace

namespace internal {

Variable made(Filling filling, const Shape& shape, const TensorOptions& o) {
  const Dtype dtype = floating_dtype(o);
  Array a;
  if (filling == Filling::empty) a = arrays::empty(shape, dtype, o.device);
  else if (filling == Filling::zeros) a = arrays::full(shape, 0, dtype, o.device);
  else if (filling == Filling::ones) a = arrays::full(shape, 1, dtype, o.device);
  else if (filling == Filling::normal) a = random_normal(shape, 0, 1, dtype, o.generator.get(), o.device);
  else a = random_uniform(shape, 0, 1, dtype, o.generator.get(), o.device);
  return tensor_root(a, o);
}
TensorOptions like(const Variable& x, TensorOptions o) {
  if (!o.dtype) o.dtype = x.dtype();
  if (!o.device) o.device = x.device();
  return o;
}
Variable made_like(Filling filling, const Variable& x, const TensorOptions& o) {
  return made(filling, x.shape(), like(x, o));
}
Variable filled_with(const Shape& shape, const Scalar& value, const TensorOptions& o) {
  Dtype dtype = value.natural_dtype();
  if (value.is_floating()) dtype = get_dtype();
  if (value.is_complex()) dtype = complex_of(get_dtype());
  return tensor_root(arrays::full(shape, value, o.dtype.value_or(dtype), o.device), o);
}
Variable scalar_of(const Scalar& value, const TensorOptions& given) {
  TensorOptions o = given;
  if (!o.dtype && !value.is_complex()) o.dtype = get_dtype();
  return filled_with({}, value, o);
}

Variable random_integers(std::int64_t low, std::int64_t high, const Shape& shape, const TensorOptions& o) {
  check<ValueError>(low < high, "randint", "the range from ", low, " to ", high, " is empty");
  check<ValueError>(double(high) - double(low) <= 0x1p53, "randint", "the range from ", low, " to ", high,
                    " has more than 2^53 numbers");
  Array a = random_uniform(shape, 0, 1, Dtype::float64, o.generator.get(), o.device);
  a *= double(high) - double(low);
  a = astype(apply(kernels::floor, {a}), Dtype::int64);
  a += low;
  return tensor_root(astype(a, o.dtype.value_or(Dtype::int64)), o);
}
Variable permutation(std::int64_t n, const TensorOptions& o) {
  check<ValueError>(n >= 0, "randperm", "n is ", n, ", it must not be negative");
  const Array keys = random_uniform({n}, 0, 1, Dtype::float64, o.generator.get(), o.device);
  const Array order = argsort(as_variable(keys)).data();
  return tensor_root(astype(order, o.dtype.value_or(Dtype::int64)), o);
}

Variable range_of(const Scalar& start, const Scalar& stop, const Scalar& step, const TensorOptions& o) {
  const bool floating = start.is_floating() || stop.is_floating() || step.is_floating();
  const Dtype dtype = o.dtype.value_or(floating ? get_dtype() : Dtype::int64);
  check<ValueError>(step != Scalar(0), "arange", "the step is 0");
  const nd::DeviceScope scope(o.device.value_or(nd::current_device()));
  // Computed in the widest dtype of its kind and rounded once, as in PyTorch.
  const nd::Array wide = nd::arange(start, stop, step, {.dtype = floating ? Dtype::float64 : Dtype::int64});
  return tensor_root(wide.astype(dtype), o);
}
Variable evenly_spaced(double start, double end, std::int64_t steps, const TensorOptions& o) {
  const nd::DeviceScope scope(o.device.value_or(nd::current_device()));
  return tensor_root(nd::linspace(start, end, steps, {.dtype = floating_dtype(o)}), o);
}
Variable identity_matrix(std::int64_t rows, std::int64_t columns, const TensorOptions& o) {
  const nd::DeviceScope scope(o.device.value_or(nd::current_device()));
  return tensor_root(nd::eye(rows, {.M = columns, .dtype = floating_dtype(o)}), o);
}

Variable from_memory(void* data, const Shape& shape, Dtype dtype) {
  return as_variable(nd::internal::wrap(data, shape, dtype, {}, nullptr, nullptr));
}
Variable converted_to(const Variable& x, const TensorOptions& o) {
  // Keeps the graph; both return x itself if nothing changes.
  if (x.requires_grad()) return x.astype(o.dtype.value_or(x.dtype())).to(o.device.value_or(x.device()));
  const Array a = astype(x.data(), o.dtype.value_or(x.dtype()));
  const bool same = a.get() == x.data().get() && (!o.device || *o.device == x.device());
  return same && o.requires_grad == x.requires_grad() ? x : tensor_root(a, o);
}

}  // namespace internal

Variable normal(double mean, double std, const Shape& shape, const TensorOptions& o) {
  check<ValueError>(std >= 0, "normal", "the standard deviation is ", std, ", it must not be negative");
  return internal::tensor_root(random_normal(shape, mean, std, floating_dtype(o), o.generator.get(), o.device), o);
}
Variable normal(const Variable& mean, const Variable& std, const GeneratorOptions& o) {
  const Shape shape = catena::broadcast_shapes("normal", mean.shape(), std.shape());
  const Array z = random_normal(shape, 0, 1, mean.dtype(), o.generator.get(), mean.device());
  return as_variable(mean.data() + std.data() * z);
}
Variable bernoulli(const Variable& x, const BernoulliOptions& o) {
  check<ValueError>(!o.p || (*o.p >= 0 && *o.p <= 1), "bernoulli", "p is ", o.p.value_or(0),
                    ", it must be from 0 to 1");
  const Array u = uniform(x.shape(), x.device(), o.generator);
  const Array drawn = o.p ? apply(kernels::less, {u, *o.p}) : apply(kernels::less, {u, x.data()});
  return as_variable(astype(drawn, x.dtype()));
}
Variable bernoulli(const Variable& x) { return bernoulli(x, BernoulliOptions{}); }
Variable bernoulli(const Variable& x, double p) { return bernoulli(x, BernoulliOptions{.p = p}); }
Variable randint(const RandintOptions& o) {
  return internal::random_integers(
      o.low, o.high, o.size,
      {.dtype = o.dtype, .device = o.device, .requires_grad = o.requires_grad, .generator = o.generator});
}
Variable randint_like(const Variable& x, std::int64_t low, std::int64_t high, const TensorOptions& given) {
  TensorOptions o = given;
  if (!o.dtype) o.dtype = x.dtype();
  if (!o.device) o.device = x.device();
  return internal::random_integers(low, high, x.shape(), o);
}
Variable poisson(const Variable& x) {
  const nd::DeviceScope scope(x.device());
  return as_variable(nd::Array(nd::random::poisson(nd::Array(x.data()))).astype(x.dtype()));
}
Variable poisson(const Variable& x, const GeneratorOptions& o) {
  Generator& g = o.generator.get();
  const RandomScope random(derived_seed(g.seed, g.take(x.size())));
  return poisson(x);
}
Variable multinomial(const Variable& weights, std::int64_t samples, const MultinomialOptions& o) {
  const int rank = weights.ndim();
  check<ValueError>(rank == 1 || rank == 2, "multinomial", "the weights have the shape ", weights.shape(),
                    ", their rank must be 1 or 2");
  const Array w = astype(rank == 2 ? weights.data() : expand_dims(weights.data(), 0), Dtype::float64);
  const std::int64_t rows = w.shape(0), n = w.shape(1);
  check<ValueError>(samples >= 0 && n > 0, "multinomial", "there are ", samples, " samples of ", n, " positions");
  const Array positive = apply(kernels::greater, {w, 0});
  if (rows > 0) {
    check<ValueError>(item(amin(w)).to_double() >= 0, "multinomial", "a weight is negative or NaN");
    const double least = item(amin(sum(astype(positive, Dtype::float64), 1))).to_double();
    check<ValueError>(least >= (o.replacement ? 1 : double(samples)), "multinomial", samples, " samples ",
                      o.replacement ? "with" : "without", " replacement of a row in which ", least,
                      " weights are above 0");
  }
  Array at;
  if (o.replacement) {
    const Array sums = cumsum(as_variable(w), 1).data();
    const Array total = slice(sums, 1, n - 1, n);
    const Array v = uniform({rows, samples}, w.device(), o.generator) * total;
    // The number of running sums that are not above v; the last one, and equal ones before it, do not count.
    const Array below =
        apply(kernels::logical_and, {apply(kernels::less_equal, {expand_dims(sums, 1), expand_dims(v, 2)}),
                                     expand_dims(apply(kernels::less, {sums, total}), 1)});
    at = sum(astype(below, Dtype::int64), 2);
  } else {
    // The first of an exponential race (Efraimidis and Spirakis 2006).
    const Array times = -apply(kernels::log1p, {-uniform({rows, n}, w.device(), o.generator)}) / w;
    const Array keys = where(positive, times, std::numeric_limits<double>::infinity());
    at = topk(as_variable(keys), samples, 1, false).indices.data();
  }
  return as_variable(rank == 2 ? at : squeeze(at, 0));
}

Variable logspace(double start, double end, std::int64_t steps, double base, const TensorOptions& o) {
  const nd::DeviceScope scope(o.device.value_or(nd::current_device()));
  return internal::tensor_root(nd::logspace(start, end, steps, {.base = base, .dtype = floating_dtype(o)}), o);
}
Variable from_numpy(const nd::Array& a) { return as_variable(a); }

Dtype get_default_dtype() noexcept { return get_dtype(); }
void set_default_dtype(Dtype dtype) { config.dtype = DefaultDtype(dtype); }

}  // namespace autograd
