#include <catena/nn/functions/torch_normalization.h>

#include <cstdint>
#include <utility>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functions/composed.h>

namespace nn::functions {

using autograd::Dtype;
using catena::check;
using catena::ValueError;

namespace {

// Returns the parameter, or a constant in its place.
Variable or_filled(const Variable& parameter, double value, const Shape& shape, const Variable& x) {
  if (parameter) return parameter;
  return autograd::as_variable(autograd::arrays::full(shape, value, x.dtype(), x.device()));
}

void check_last_axes(const char* op, const Variable& x, const Shape& shape) {
  check<catena::TypeError>(bool(x), op, "the input is null");
  bool fits = shape.size() >= 1 && shape.size() <= x.ndim();
  for (int a = 0; fits && a < shape.size(); ++a) fits = shape[a] == x.shape(x.ndim() - shape.size() + a);
  if (!fits)
    throw catena::InvalidType(catena::concat("the last axes of x are normalized_shape ", shape),
                              catena::concat("x has the shape ", x.shape()),
                              catena::concat("Invalid operation is performed in: ", op, "\n\n"));
}

void check_channels(const char* op, const Variable& x) {
  check<catena::TypeError>(bool(x), op, "the input is null");
  if (x.ndim() < 2)
    throw catena::InvalidType("x.ndim >= 2", catena::concat(x.ndim(), " < 2"),
                              catena::concat("Invalid operation is performed in: ", op, "\n\n"));
}

Variable with_running_statistics(const char* op, const Variable& x, const Variable& gamma, const Variable& beta,
                                 const Array& mean, const Array& var, double eps) {
  check<ValueError>(mean && var, op,
                    "running_mean and running_var are null; without them the statistics are those of x");
  return fixed_batch_normalization(x, gamma, beta, autograd::as_variable(mean), autograd::as_variable(var), eps);
}

double epsilon_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64: return 2.220446049250313e-16;
    case Dtype::float16: return 9.765625e-4;
    case Dtype::bfloat16: return 7.8125e-3;
    default: return 1.1920928955078125e-7;
  }
}

void move_towards(const Array& running, const Variable& now, double momentum) {
  const Array next = running * (1 - momentum) + autograd::astype(now.data(), running.dtype()) * momentum;
  autograd::assign(running, next);
}

}  // namespace

Variable layer_norm(const Variable& x, const Shape& normalized_shape, const Variable& weight, const Variable& bias,
                    double eps) {
  check_last_axes("layer_norm", x, normalized_shape);
  return layer_normalization(x, or_filled(weight, 1, normalized_shape, x), or_filled(bias, 0, normalized_shape, x),
                             eps);
}

Variable rms_norm(const Variable& x, const Shape& normalized_shape, const Variable& weight, std::optional<double> eps) {
  check_last_axes("rms_norm", x, normalized_shape);
  return rms_normalization(x, or_filled(weight, 1, normalized_shape, x), eps.value_or(epsilon_of(x.dtype())));
}

Variable batch_norm(const Variable& x, const Array& running_mean, const Array& running_var, const Variable& weight,
                    const Variable& bias, bool training, double momentum, double eps) {
  constexpr const char* kOp = "batch_norm";
  check_channels(kOp, x);
  const Variable gamma = or_filled(weight, 1, {x.shape(1)}, x), beta = or_filled(bias, 0, {x.shape(1)}, x);
  if (!training) return with_running_statistics(kOp, x, gamma, beta, running_mean, running_var, eps);
  check<ValueError>(bool(running_mean) == bool(running_var), kOp,
                    "running_mean and running_var are given together or not at all");
  BatchNormalizationOptions options{.eps = eps, .decay = 1 - momentum};
  if (!running_mean) return batch_normalization(x, gamma, beta, options);
  options.running_mean = running_mean;
  options.running_var = running_var;
  return nn::internal::moving_batch_normalization(x, gamma, beta, options);
}

Variable instance_norm(const Variable& x, const InstanceNormFuncOptions& o) {
  constexpr const char* kOp = "instance_norm";
  check_channels(kOp, x);
  check<ValueError>(bool(o.running_mean) == bool(o.running_var), kOp,
                    "running_mean and running_var are given together or not at all");
  const Variable gamma = or_filled(o.weight, 1, {x.shape(1)}, x), beta = or_filled(o.bias, 0, {x.shape(1)}, x);
  if (!o.use_input_stats) return with_running_statistics(kOp, x, gamma, beta, o.running_mean, o.running_var, o.eps);
  const Variable y = instance_normalization(x, gamma, beta, o.eps);
  if (!o.running_mean) return y;
  autograd::Dims spatial;
  for (int a = 2; a < x.ndim(); ++a) spatial.push_back(a);
  const Variable constant = nn::internal::wide(x.detach());
  move_towards(o.running_mean, autograd::mean(autograd::mean(constant, autograd::Axes(spatial)), 0), o.momentum);
  move_towards(
      o.running_var,
      autograd::mean(autograd::var(constant, autograd::Axes(spatial), autograd::VarianceOptions{.ddof = 1}), 0),
      o.momentum);
  return y;
}

Variable local_response_norm(const Variable& x, int size, const LocalResponseNormFuncOptions& o) {
  constexpr const char* kOp = "local_response_norm";
  check<ValueError>(size >= 1, kOp, "size is ", size, "; at least 1 is needed");
  if (size % 2 == 1) return local_response_normalization(x, size, o.k, o.alpha / size, o.beta);
  check_channels(kOp, x);
  const Variable z = nn::internal::wide(x);
  std::vector<std::pair<std::int64_t, std::int64_t>> sides(std::size_t(x.ndim()), {0, 0});
  sides[1] = {size / 2, (size - 1) / 2};
  const Variable squares = autograd::unfold(autograd::pad(autograd::square(z), sides, "constant"), 1, size);
  const Variable divisor = pow(autograd::mean(squares, x.ndim()) * o.alpha + o.k, o.beta);
  return nn::internal::narrowed(z / divisor, x.dtype());
}

}  // namespace nn::functions
