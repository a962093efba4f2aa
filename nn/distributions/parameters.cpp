#include <catena/nn/distributions/parameters.h>

#include <algorithm>
#include <limits>
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
Array uniform(const Shape& shape, const Variable& like) {
  const Array u = autograd::random_uniform(shape, 0, 1, like.dtype(), autograd::default_generator(), like.device());
  return autograd::apply(catena::kernels::maximum, {u, std::numeric_limits<float>::min()});
}
Variable without_graph(const Variable& v) { return Variable(v.data(), {.requires_grad = false}); }
Variable last_sum(const Variable& x) { return autograd::sum(x, x.ndim() - 1); }
Variable even(const Shape& shape, const Variable& like) {
  const Array u = uniform(shape, like);
  return Variable(binary(kernels::minimum, u, 1 - (like.dtype() == Dtype::float64 ? 0x1p-53 : kEps / 2)),
                  {.requires_grad = false});
}
Variable normal_numbers(const Shape& shape, const Variable& like) {
  return Variable(autograd::random_normal(shape, 0, 1, like.dtype(), autograd::default_generator(), like.device()),
                  {.requires_grad = false});
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
Shape joined(const Shape& first, const Shape& second) { return extended(first, second); }
Variable logits_of(const char* name, const ProbsOptions& o) {
  catena::check<catena::ValueError>(o.p.has_value() != o.logit.has_value(), name, "give either probs or logits");
  if (o.logit) return floating(o.logit->value());
  const Variable p = autograd::clip(floating(o.p->value()), kEps, 1 - kEps);
  return autograd::log(p) - autograd::log1p(-p);
}
Variable class_logits_of(const char* name, const ProbsOptions& o) {
  catena::check<catena::ValueError>(o.p.has_value() != o.logit.has_value(), name, "give either probs or logits");
  const Variable v = floating((o.logit ? o.logit : o.p)->value());
  catena::check<catena::ValueError>(v.ndim() >= 1, name, "the ", o.logit ? "logits" : "probs",
                                    " have no axis of classes");
  if (o.logit) return v;
  return autograd::log(autograd::clip(v / autograd::sum(v, catena::Axes{v.ndim() - 1}, true), kEps, 1 - kEps));
}

}  // namespace nn::distributions::internal
