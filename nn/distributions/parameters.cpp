#include <catena/nn/distributions/parameters.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/activation.h>

namespace nn::distributions::internal {

namespace {

using autograd::Dtype;
namespace kernels = catena::kernels;

constexpr const char* kOp = "Distribution";

Dtype floating_dtype(Dtype dtype) { return catena::is_floating(dtype) ? dtype : Dtype::float32; }
// The promoted dtype of arrays; those with axes decide alone if they are floating. Numbers have no say.
Dtype common_dtype(std::initializer_list<Parameter> parameters) {
  std::optional<Dtype> of_all, with_axes;
  const auto promote = [](std::optional<Dtype>& dtype, Dtype other) {
    dtype = dtype ? catena::promote_types(*dtype, other) : other;
  };
  for (const Parameter& p : parameters) {
    if (p.number()) continue;
    const Variable v = p.value();
    promote(of_all, v.dtype());
    if (v.ndim() > 0) promote(with_axes, v.dtype());
  }
  if (with_axes && catena::is_floating(*with_axes)) return *with_axes;
  return floating_dtype(of_all.value_or(Dtype::float32));
}
Variable placed(const Parameter& p, Dtype dtype, autograd::Device device) {
  if (p.number()) return autograd::as_variable(autograd::arrays::full({}, *p.number(), dtype, device));
  return in_dtype(p.value(), dtype);
}

}  // namespace

double eps(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64: return 0x1p-52;
    case Dtype::float16: return 0x1p-10;
    case Dtype::bfloat16: return 0x1p-7;
    default: return 0x1p-23;
  }
}
double tiny(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64: return 0x1p-1022;
    case Dtype::float16: return 0x1p-14;
    default: return 0x1p-126;
  }
}
Variable in_dtype(const Variable& v, autograd::Dtype dtype) { return v.dtype() == dtype ? v : v.astype(dtype); }
Variable in_dtype(const Parameter& p, const Variable& like) { return placed(p, like.dtype(), like.device()); }
Variable floating(const Variable& v) { return in_dtype(v, floating_dtype(v.dtype())); }
autograd::Variables broadcast(std::initializer_list<Parameter> parameters) {
  const Dtype dtype = common_dtype(parameters);
  const Parameter* const array =
      std::find_if(parameters.begin(), parameters.end(), [](const Parameter& p) { return !p.number(); });
  const autograd::Device device = (array == parameters.end() ? parameters.begin() : array)->value().device();
  autograd::Variables values;
  std::vector<Array> arrays;
  Shape shape;
  for (const Parameter& p : parameters) {
    values.push_back(placed(p, dtype, device));
    arrays.push_back(values.back().data());
    shape = catena::broadcast_shapes(kOp, shape, values.back().shape());
  }
  autograd::check_same_device(kOp, arrays);
  for (Variable& v : values)
    if (v.shape() != shape) v = autograd::broadcast_to(v, shape);
  return values;
}
Shape extended(const Shape& shape, const Shape& batch) {
  Shape all = shape;
  for (int k = 0; k < batch.size(); ++k) all.push_back(batch[k]);
  return all;
}
Shape without_last(const Shape& shape) { return catena::reduced_shape(shape, shape.size() - 1, false); }
Array uniform(const Shape& shape, const Array& like) {
  const Array u = autograd::random_uniform(shape, 0, 1, like.dtype(), autograd::default_generator(), like.device());
  return binary(kernels::maximum, u, tiny(like.dtype()));
}
Array normal(const Shape& shape, const Array& like) {
  return autograd::random_normal(shape, 0, 1, like.dtype(), autograd::default_generator(), like.device());
}
Variable without_graph(const Variable& v) { return Variable(v.data(), {.requires_grad = false}); }
Variable last_sum(const Variable& x) { return autograd::sum(x, x.ndim() - 1); }
Variable even(const Shape& shape, const Variable& like) {
  const Array u = uniform(shape, like.data());
  return Variable(binary(kernels::minimum, u, 1 - eps(like.dtype()) / 2), {.requires_grad = false});
}
Variable normal_numbers(const Shape& shape, const Variable& like) {
  return Variable(normal(shape, like.data()), {.requires_grad = false});
}
Variable gumbel_numbers(const Shape& shape, const Variable& like) {
  return -autograd::log(-autograd::log(even(shape, like)));
}
Array unary(const catena::KernelDef& kernel, const Array& a) { return autograd::apply(kernel, {a}); }
Array binary(const catena::KernelDef& kernel, const autograd::Operand& a, const autograd::Operand& b) {
  return autograd::apply(kernel, {a, b});
}
Array at_least(const Variable& x, const autograd::Operand& bound) {
  return binary(kernels::greater_equal, x.data(), bound);
}
Variable constant(const Shape& shape, double value, const Variable& like) {
  return Variable(autograd::arrays::full(shape, value, like.dtype(), like.device()), {.requires_grad = false});
}
Variable numbers_below(std::int64_t n, const Variable& like) {
  std::vector<double> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0.0);
  const Array on_device = autograd::to_device(autograd::array(numbers, Shape{n}), like.device());
  return Variable(autograd::astype(on_device, like.dtype()), {.requires_grad = false});
}
Variable counted_support(std::int64_t n, const Distribution& d, const Variable& like, bool expand) {
  Shape ones{n};
  for (int k = 0; k < d.batch_shape().size(); ++k) ones.push_back(1);
  const Variable values = autograd::reshape(numbers_below(n, like), ones);
  return expand ? autograd::broadcast_to(values, extended(Shape{n}, d.batch_shape())) : values;
}
Variable within(const Array& inside, const Variable& v, double outside) { return autograd::where(inside, v, outside); }
Variable clipped_sigmoid(const Variable& x) {
  return autograd::clip(nn::sigmoid(x), tiny(x.dtype()), 1 - eps(x.dtype()));
}
Variable positive_part(const Variable& x) { return autograd::clip(x, 0, kInfinity); }
Variable log_diagonal(const Variable& m) { return autograd::log(autograd::diagonal(m, 0, m.ndim() - 2, m.ndim() - 1)); }
Variable log_det(const Variable& m) { return last_sum(log_diagonal(m)); }

void check_axes(int n, const Shape& batch_shape) {
  catena::check<catena::ValueError>(n >= 0 && n <= batch_shape.size(), "Independent", "the number of axes is ", n,
                                    "; the batch has ", batch_shape.size());
}
void check_equal_axes(int p, int q) {
  catena::check<catena::ValueError>(p == q, "kl_divergence", "the events have ", p, " and ", q, " axes of the batch");
}
Variable sum_of_last(const Variable& x, int n) {
  Variable result = x;
  for (int k = 0; k < n; ++k) result = last_sum(result);
  return result;
}
Shape without_last(const Shape& batch, int n) {
  Shape first;
  for (int k = 0; k < batch.size() - n; ++k) first.push_back(batch[k]);
  return first;
}
Shape last_of(const Shape& batch, int n, const Shape& event) {
  Shape last;
  for (int k = batch.size() - n; k < batch.size(); ++k) last.push_back(batch[k]);
  return extended(last, event);
}
namespace {
// The probabilities and the logits of options, of which one is given by one of its names.
struct Given {
  std::optional<Parameter> probs, logits;
};
Given given(const char* name, const ProbsOptions& o) {
  const int number = o.probs.has_value() + o.p.has_value() + o.logits.has_value() + o.logit.has_value();
  catena::check<catena::ValueError>(number == 1, name, "give either probs or logits");
  return {o.probs ? o.probs : o.p, o.logits ? o.logits : o.logit};
}
// Probabilities that have logarithms, as those of their complements.
Variable clipped(const Variable& probs) { return autograd::clip(probs, eps(probs.dtype()), 1 - eps(probs.dtype())); }
}  // namespace
Chances chances_of(const char* name, const ProbsOptions& o) {
  const Given of = given(name, o);
  if (of.logits) {
    const Variable logits = floating(of.logits->value());
    return {logits, nn::sigmoid(logits)};
  }
  const Variable probs = floating(of.probs->value()), inside = clipped(probs);
  return {autograd::log(inside) - autograd::log1p(-inside), probs};
}
Chances class_chances_of(const char* name, const ProbsOptions& o) {
  const Given of = given(name, o);
  const Variable v = floating((of.logits ? of.logits : of.probs)->value());
  catena::check<catena::ValueError>(v.ndim() >= 1, name, "the ", of.logits ? "logits" : "probs",
                                    " have no axis of classes");
  if (of.logits) {
    const Variable logits = nn::log_softmax(v, v.ndim() - 1);
    return {logits, autograd::exp(logits)};
  }
  const Variable probs = v / autograd::sum(v, catena::Axes{v.ndim() - 1}, true);
  return {autograd::log(clipped(probs)), probs};
}

}  // namespace nn::distributions::internal
