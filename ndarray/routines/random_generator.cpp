#include <catena/ndarray/routines/random_generator.h>

#include <cmath>
#include <string>

#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/call.h>
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/random_parameters.h>
#include <catena/ndarray/routines/reduction.h>

namespace nd::random {

using catena::check;

Array draw::as_array(const Operand& x, Dtype dtype) {
  return x.is_array() ? x.array().astype(dtype, {.copy = false}) : full({}, x.scalar(), {.dtype = dtype});
}

Shape draw::sample_shape(std::string_view op, std::initializer_list<const Operand*> parameters, const Size& size) {
  catena::SmallVector<catena::Input, 4> inputs;
  for (const Operand* p : parameters) inputs.push_back(*p);
  const Shape common = catena::broadcast_shape(op, {inputs.data(), inputs.size()});
  const Shape shape = size.shape().value_or(common);
  check<ValueError>(catena::broadcast_shapes(op, common, shape) == shape, op, "parameters of shape ", common,
                    " cannot be broadcast to the size ", shape);
  return shape;
}

void draw::check_range(std::string_view op, std::string_view name, const Operand& parameter, const Range& range) {
  const auto inside = [&](double v) {
    return (range.above_low ? v > range.low : v >= range.low) && (range.below_high ? v < range.high : v <= range.high);
  };
  const auto check_value = [&](double v) {
    if (inside(v)) return;
    std::string rule = catena::concat(range.above_low ? "> " : ">= ", range.low);
    if (range.high != INFINITY) rule += catena::concat(range.below_high ? " and < " : " and <= ", range.high);
    catena::fail<ValueError>(op, name, " is ", v, ", which is not ", rule);
  };
  if (!parameter.is_array()) return check_value(parameter.scalar().to_double());
  const Array a = parameter.array();
  if (a.size() == 0) return;
  check_value(a.min().item<double>());
  check_value(a.max().item<double>());
}

using draw::as_array, draw::check_range, draw::kInteger, draw::kNotNegative, draw::kPositive, draw::kReal, draw::Range,
    draw::sample_shape;

namespace {

// Draws one number per element, each from its own counters, by a kernel whose inputs are seed, offset and the
// parameters.
Array draw_elements(BitGenerator& g, const catena::KernelDef& row, std::string_view op,
                    std::initializer_list<const Operand*> parameters, const Size& size) {
  const Array out = empty(sample_shape(op, parameters, size), row.loop_table[0].type[row.nin]);
  if (out.size() == 0) return out;
  const auto [seed, offset] = g.reserve(4 * out.size());
  catena::SmallVector<catena::Input, 8> inputs;
  inputs.push_back(Scalar(seed));
  inputs.push_back(Scalar(offset));
  for (const Operand* p : parameters) inputs.push_back(*p);
  catena::ArrayHeader* const outputs[] = {out.get()};
  const catena::EagerProgram program(row, 0);
  internal::execute(catena::call::Elementwise{&program, {inputs.data(), inputs.size()}, outputs, op});
  return out;
}

Dtype checked_dtype(std::string_view op, const FillOptions& options) {
  const Dtype dtype = options.dtype.value_or(options.out.is_null() ? kReal : options.out.dtype());
  check<TypeError>(catena::is_floating(dtype), op, "samples cannot have the dtype ", dtype, ", which is not floating");
  if (!options.out.is_null())
    check<TypeError>(options.out.dtype() == dtype, op, "out has the dtype ", options.out.dtype(), ", not ", dtype);
  return dtype;
}
Shape checked_size(std::string_view op, const Size& size, const FillOptions& options) {
  if (options.out.is_null()) return size.shape().value_or(Shape());
  const Shape shape = options.out.shape();
  check<ValueError>(!size.shape() || *size.shape() == shape, op, "out has the shape ", shape, ", not the size ",
                    size.shape().value_or(shape));
  return shape;
}

Array fill_or_create(BitGenerator& g, catena::RandomKind kind, std::string_view op, const Size& size,
                     const FillOptions& options) {
  const Dtype dtype = checked_dtype(op, options);
  const Shape shape = checked_size(op, size, options);
  const Array& out = options.out;
  if (out.is_null()) return g.sample(kind, shape, dtype);
  if (out.flags().c_contiguous && out.device() == current_device()) {
    g.fill(kind, out);
  } else {
    const DeviceScope scope(out.device());
    copyto(out, g.sample(kind, shape, dtype));
  }
  return out;
}

// The bits of integers low to last of a dtype, as int64; uint64 numbers above INT64_MAX are negative.
struct Bounds {
  std::int64_t low, last;
};
Bounds checked_bounds(const Scalar& low, const std::optional<Scalar>& high, const IntegersOptions& options) {
  const Dtype dtype = options.dtype;
  check<TypeError>(catena::is_integer(dtype), "integers", "samples cannot have the dtype ", dtype,
                   ", which is no integer dtype");
  const Scalar first = high ? low : Scalar(0), end = high ? *high : low;
  for (const Scalar& s : {first, end})
    check<TypeError>(!s.is_floating() && !s.is_complex(), "integers", "the bound ", s, " is no integer");
  const bool empty = options.endpoint ? first > end : first >= end;
  check<ValueError>(!empty, "integers", "low ", first, options.endpoint ? " is above high " : " is not below high ",
                    end);
  const Scalar last = options.endpoint ? end : end - Scalar(1);
  const int bits = static_cast<int>(8 * itemsize(dtype));
  const bool is_unsigned = kind_of(dtype) == DtypeKind::unsigned_;
  const Scalar least = is_unsigned ? Scalar(0) : Scalar(INT64_MIN >> (64 - bits));
  const Scalar most = is_unsigned ? Scalar(UINT64_MAX >> (64 - bits)) : Scalar(INT64_MAX >> (64 - bits));
  check<ValueError>(first >= least && last <= most, "integers", "the range from ", first, " to ", last,
                    " does not fit ", dtype);
  const auto bits_of = [&](const Scalar& s) {
    return is_unsigned ? static_cast<std::int64_t>(s.to<std::uint64_t>()) : s.to<std::int64_t>();
  };
  return {bits_of(first), bits_of(last)};
}

}  // namespace

// ---- uniform ------------------------------------------------------------------------------------
Array Generator::random(const Size& size, const FillOptions& options) {
  return fill_or_create(*this, catena::RandomKind::uniform, "random", size, options);
}

Array Generator::uniform(const Operand& low, const Operand& high, const Size& size) {
  if (!low.is_array() && !high.is_array())
    return draw::uniform(*this, low.scalar().to_double(), high.scalar().to_double(), size.shape().value_or(Shape()),
                         kReal);
  const Shape shape = sample_shape("uniform", {&low, &high}, size);
  const Array from = as_array(low, kReal), to = as_array(high, kReal);
  check<ValueError>(all(isfinite(to - from)).item<bool>(), "uniform",
                    "a range of the arrays low and high is not finite");
  const Array u = from + (to - from) * sample(catena::RandomKind::uniform, shape, kReal);
  // Replaces `high`, which rounding may have produced.
  return where((u == to) & (from != to), nextafter(u, from), u);
}

Array Generator::integers(const Scalar& low, const std::optional<Scalar>& high, const Size& size,
                          const IntegersOptions& options) {
  const Bounds bounds = checked_bounds(low, high, options);
  const Shape shape = size.shape().value_or(Shape());
  // The end of the range may exceed int64. A range of uint64 is drawn in the order of the bits, from 0; the empty range
  // 0, 0 means all 64-bit numbers.
  const std::uint64_t length = std::uint64_t(bounds.last) - std::uint64_t(bounds.low) + 1;
  const bool fits = bounds.last != INT64_MAX && bounds.low <= bounds.last;
  if (fits) return sample(catena::RandomKind::integers, shape, options.dtype, bounds.low, bounds.last + 1);
  if (length == 0) return sample(catena::RandomKind::integers, shape, options.dtype, 0, 0);
  const std::int64_t start = INT64_MIN;
  Array a = sample(catena::RandomKind::integers, shape, options.dtype, start,
                   static_cast<std::int64_t>(std::uint64_t(start) + length));
  a += full({}, Scalar(std::uint64_t(bounds.low) - std::uint64_t(start)), {.dtype = Dtype::uint64})
           .astype(options.dtype);
  return a;
}

// ---- normal -------------------------------------------------------------------------------------
Array Generator::standard_normal(const Size& size, const FillOptions& options) {
  return fill_or_create(*this, catena::RandomKind::normal, "standard_normal", size, options);
}
Array Generator::normal(const Operand& loc, const Operand& scale, const Size& size) {
  check_range("normal", "scale", scale, kNotNegative);
  return draw::normal(*this, loc, scale, size.shape(), kReal);
}
Array Generator::lognormal(const Operand& mean, const Operand& sigma, const Size& size) {
  check_range("lognormal", "sigma", sigma, kNotNegative);
  return draw::lognormal(*this, mean, sigma, size.shape(), kReal);
}

// ---- exponential, gamma -------------------------------------------------------------------------
Array Generator::standard_exponential(const Size& size, const FillOptions& options) {
  const Dtype dtype = checked_dtype("standard_exponential", options);
  const Shape shape = checked_size("standard_exponential", size, options);
  const Array e = -log1p(-sample(catena::RandomKind::uniform, shape, dtype));
  if (options.out.is_null()) return e;
  copyto(options.out, e);
  return options.out;
}
Array Generator::exponential(const Operand& scale, const Size& size) {
  check_range("exponential", "scale", scale, kNotNegative);
  return standard_exponential(sample_shape("exponential", {&scale}, size)) * scale;
}
Array Generator::standard_gamma(const Operand& shape, const Size& size, const FillOptions& options) {
  check_range("standard_gamma", "shape", shape, kNotNegative);
  const Dtype dtype = checked_dtype("standard_gamma", options);
  const Size wanted = options.out.is_null() ? size : Size(checked_size("standard_gamma", size, options));
  const Array y = draw_elements(*this, catena::kernels::random_gamma, "standard_gamma", {&shape}, wanted);
  if (options.out.is_null()) return y.astype(dtype, {.copy = false});
  copyto(options.out, y);
  return options.out;
}
Array Generator::gamma(const Operand& shape, const Operand& scale, const Size& size) {
  check_range("gamma", "shape", shape, kNotNegative);
  check_range("gamma", "scale", scale, kNotNegative);
  const Shape wanted = sample_shape("gamma", {&shape, &scale}, size);
  return draw_elements(*this, catena::kernels::random_gamma, "gamma", {&shape}, wanted) * scale;
}
// Computes the ratio of a gamma variate to the sum of two from their logarithms, because they underflow for small
// shapes.
Array Generator::beta(const Operand& a, const Operand& b, const Size& size) {
  check_range("beta", "a", a, kPositive);
  check_range("beta", "b", b, kPositive);
  const Shape shape = sample_shape("beta", {&a, &b}, size);
  const Array x = draw_elements(*this, catena::kernels::random_log_gamma, "beta", {&a}, shape);
  const Array y = draw_elements(*this, catena::kernels::random_log_gamma, "beta", {&b}, shape);
  return 1.0 / (1.0 + exp(y - x));
}
Array Generator::chisquare(const Operand& df, const Size& size) {
  check_range("chisquare", "df", df, kPositive);
  const Array half = as_array(df, kReal) * 0.5;
  const Operand shape(half);
  return draw_elements(*this, catena::kernels::random_gamma, "chisquare", {&shape}, size) * 2.0;
}
Array Generator::f(const Operand& dfnum, const Operand& dfden, const Size& size) {
  check_range("f", "dfnum", dfnum, kPositive);
  check_range("f", "dfden", dfden, kPositive);
  const Shape shape = sample_shape("f", {&dfnum, &dfden}, size);
  const Array num = as_array(dfnum, kReal), den = as_array(dfden, kReal);
  const Array half_num = num * 0.5, half_den = den * 0.5;
  const Operand shape_num(half_num), shape_den(half_den);
  const Array x = draw_elements(*this, catena::kernels::random_log_gamma, "f", {&shape_num}, shape);
  const Array y = draw_elements(*this, catena::kernels::random_log_gamma, "f", {&shape_den}, shape);
  return exp(x - y) * (den / num);
}
Array Generator::power(const Operand& a, const Size& size) {
  check_range("power", "a", a, kPositive);
  const Array e = standard_exponential(sample_shape("power", {&a}, size));
  return nd::power(-expm1(-e), 1.0 / as_array(a, kReal));
}
Array Generator::dirichlet(const Array& alpha, const Size& size) {
  check<ValueError>(alpha.ndim() == 1 && alpha.size() > 0, "dirichlet", "alpha has the shape ", alpha.shape(),
                    ", not (k,) with k > 0");
  check_range("dirichlet", "alpha", alpha, kPositive);
  Shape shape = size.shape().value_or(Shape());
  shape.push_back(alpha.size());
  const Operand each(alpha);
  const Array x = draw_elements(*this, catena::kernels::random_log_gamma, "dirichlet", {&each}, shape);
  const Array y = exp(x - x.max({.axis = -1, .keepdims = true}));
  return y / y.sum({.axis = -1, .keepdims = true});
}

// ---- integers -----------------------------------------------------------------------------------
Array Generator::poisson(const Operand& lam, const Size& size) {
  check_range("poisson", "lam", lam, {.low = 0, .high = 9.2e18});
  return draw_elements(*this, catena::kernels::random_poisson, "poisson", {&lam}, size);
}
Array Generator::binomial(const Operand& n, const Operand& p, const Size& size) {
  check_range("binomial", "n", n, kNotNegative);
  check_range("binomial", "p", p, {.low = 0, .high = 1});
  return draw_elements(*this, catena::kernels::random_binomial, "binomial", {&n, &p}, size);
}
// Returns the number of steps of length -log(1 - p) in an exponential time, rounded up.
Array Generator::geometric(const Operand& p, const Size& size) {
  check_range("geometric", "p", p, {.low = 0, .high = 1, .above_low = true});
  const Array e = standard_exponential(sample_shape("geometric", {&p}, size));
  return clip(ceil(e / -log1p(-as_array(p, kReal))), 1.0, 9.2e18).astype(kInteger);
}
Array Generator::logseries(const Operand& p, const Size& size) {
  check_range("logseries", "p", p, {.low = 0, .high = 1, .above_low = true, .below_high = true});
  return draw_elements(*this, catena::kernels::random_logseries, "logseries", {&p}, size);
}
Array Generator::hypergeometric(const Operand& ngood, const Operand& nbad, const Operand& nsample, const Size& size) {
  constexpr double kMost = 1e9;
  check_range("hypergeometric", "ngood", ngood, {.low = 0, .high = kMost});
  check_range("hypergeometric", "nbad", nbad, {.low = 0, .high = kMost});
  check_range("hypergeometric", "nsample", nsample, {.low = 0, .high = kMost});
  const Array all_items = as_array(ngood, kInteger) + as_array(nbad, kInteger);
  check_range("hypergeometric", "ngood + nbad", all_items, {.low = 0, .high = kMost});
  check_range("hypergeometric", "ngood + nbad - nsample", all_items - as_array(nsample, kInteger), kNotNegative);
  return draw_elements(*this, catena::kernels::random_hypergeometric, "hypergeometric", {&ngood, &nbad, &nsample},
                       size);
}

}  // namespace nd::random
