#include <catena/nn/clipping.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/autograd/capture.h>
#include <catena/kernels/base/error.h>

namespace nn {

using catena::check;
using catena::ValueError;
namespace kernels = catena::kernels;

namespace {

bool has_grad_to_clip(const Variable& p) { return p.requires_grad() && p.grad(); }

// The square of a 16-bit norm may overflow its dtype.
Array sum_of_squares(const Array& g) {
  const Dtype wide = catena::compute_dtype(g.dtype());
  return autograd::astype(autograd::reduce(kernels::sum_squares, g, {}, false, wide), Dtype::float64);
}

Array gradient_norm(const Array& g, double type) {
  if (type == 2) return autograd::apply(kernels::sqrt, {sum_of_squares(g)});
  if (g.size() == 0) return autograd::arrays::zeros({}, Dtype::float64, g.device());
  const Array sizes = autograd::apply(kernels::absolute, {autograd::astype(g, Dtype::float64)});
  if (std::isinf(type)) return autograd::amax(sizes);
  const Array sum = autograd::sum(autograd::apply(kernels::power, {sizes, type}));
  return autograd::apply(kernels::power, {sum, 1 / type});
}

// Reads from the device once for all.
std::vector<double> norms_on_host(const char* op, const std::vector<Array>& tensors, double type) {
  check<catena::RuntimeError>(!autograd::is_capturing(), op,
                              "it reads the norm from the device and cannot be captured: add the hook "
                              "GradientClipping to the optimizer instead");
  std::vector<Array> norms;
  for (const Array& a : tensors) {
    const Array one = autograd::reshape(gradient_norm(a, type), {1});
    norms.push_back(norms.empty() ? one : autograd::to_device(one, norms[0].device()));
  }
  return norms.empty() ? std::vector<double>() : autograd::to_vector<double>(autograd::concatenate(norms));
}

double greatest_of(const std::vector<double>& norms) {
  double result = 0;
  for (const double n : norms)
    if (!(n <= result)) result = std::isnan(result) ? result : n;  // NaN stays
  return result;
}

double combined(const std::vector<double>& norms, double type) {
  if (std::isinf(type)) return greatest_of(norms);
  double sum = 0;
  for (const double n : norms) sum += std::pow(n, type);
  return std::pow(sum, 1 / type);
}

// Checks the arguments, and returns the parameters whose gradients are to be changed.
Variables params_to_clip(const char* op, const Variables& params, double limit, double norm_type) {
  check<ValueError>(limit >= 0, op, "the limit is ", limit, "; it must be at least 0");
  check<ValueError>(norm_type > 0, op, "norm_type is ", norm_type, "; it must be positive");
  Variables result;
  for (const Variable& p : params)
    if (has_grad_to_clip(p)) result.push_back(p);
  return result;
}

std::vector<double> checked_norms(const char* op, const Variables& params, const ClipGradOptions& options) {
  std::vector<Array> gradients;
  for (const Variable& p : params) gradients.push_back(p.grad());
  std::vector<double> norms = norms_on_host(op, gradients, options.norm_type);
  if (options.non_finite == NonFinite::error || options.error_if_nonfinite)
    for (std::size_t i = 0; i < norms.size(); ++i)
      check<ValueError>(std::isfinite(norms[i]), op, "the norm of the gradient of parameter ", i,
                        params[i].name().empty() ? "" : " ", params[i].name(), " is ", norms[i],
                        " (frozen ones and those without a gradient do not count)");
  return norms;
}

// Multiplies the gradient by the factor that PyTorch uses, if it is less than 1 or NaN.
void scale_down(Variable p, double norm, double max_norm, NonFinite policy) {
  if (policy == NonFinite::skip && !std::isfinite(norm)) return;
  const double factor = max_norm / (norm + 1e-6);
  if (factor >= 1) return;
  const Array g = p.grad();
  p.set_grad(autograd::astype(g * factor, g.dtype()));
}

}  // namespace

Array grads_norm(const Variables& params) {
  Array total;
  for (const Variable& p : params) {
    if (!has_grad_to_clip(p)) continue;
    const Array part = sum_of_squares(p.grad());
    if (!total) total = part;
    else total += autograd::to_device(part, total.device());
  }
  return total ? autograd::apply(kernels::sqrt, {total}) : autograd::arrays::zeros({}, Dtype::float64);
}
Array grads_norm(const Link& link) { return grads_norm(link.params()); }

double clip_grad_norm(const Variables& params, double max_norm, const ClipGradOptions& options) {
  constexpr const char* kOp = "clip_grad_norm";
  const Variables own = params_to_clip(kOp, params, max_norm, options.norm_type);
  const double norm = combined(checked_norms(kOp, own, options), options.norm_type);
  for (const Variable& p : own) scale_down(p, norm, max_norm, options.non_finite);
  return norm;
}
double clip_grad_norm(const Link& link, double max_norm, const ClipGradOptions& options) {
  return clip_grad_norm(link.params(), max_norm, options);
}

double clip_grad_norm_each(const Variables& params, double max_norm, const ClipGradOptions& options) {
  constexpr const char* kOp = "clip_grad_norm_each";
  const Variables own = params_to_clip(kOp, params, max_norm, options.norm_type);
  const std::vector<double> norms = checked_norms(kOp, own, options);
  for (std::size_t i = 0; i < own.size(); ++i) scale_down(own[i], norms[i], max_norm, options.non_finite);
  return greatest_of(norms);
}
double clip_grad_norm_each(const Link& link, double max_norm, const ClipGradOptions& options) {
  return clip_grad_norm_each(link.params(), max_norm, options);
}

void clip_grad_value(const Variables& params, double clip_value) {
  for (Variable p : params_to_clip("clip_grad_value", params, clip_value, 1)) {
    const Array g = p.grad();
    const Array low = autograd::apply(kernels::maximum, {g, -clip_value});
    p.set_grad(autograd::astype(autograd::apply(kernels::minimum, {low, clip_value}), g.dtype()));
  }
}
void clip_grad_value(const Link& link, double clip_value) { clip_grad_value(link.params(), clip_value); }

utils::TotalNorm utils::get_total_norm(const Variables& tensors, double norm_type, bool error_if_nonfinite) {
  constexpr const char* kOp = "get_total_norm";
  check<ValueError>(norm_type > 0, kOp, "norm_type is ", norm_type, "; it must be positive");
  std::vector<Array> arrays;
  for (const Variable& v : tensors) arrays.push_back(v.data());
  const double total = combined(norms_on_host(kOp, arrays, norm_type), norm_type);
  check<ValueError>(!error_if_nonfinite || std::isfinite(total), kOp, "the norm is ", total);
  return total;
}

void utils::clip_grads_with_norm_(const Variables& params, double max_norm, double total_norm) {
  for (const Variable& p : params_to_clip("clip_grads_with_norm_", params, max_norm, 1))
    scale_down(p, total_norm, max_norm, NonFinite::propagate);
}

Array utils::parameters_to_vector(const Variables& params) {
  check<ValueError>(!params.empty(), "parameters_to_vector", "the list of parameters is empty");
  std::vector<Array> parts;
  for (const Variable& p : params) {
    check<ValueError>(p && p.data(), "parameters_to_vector", "a parameter has no data yet");
    parts.push_back(autograd::reshape(p.data(), {-1}));
  }
  return autograd::concatenate(parts);
}

void utils::vector_to_parameters(const Array& vector, const Variables& params) {
  std::int64_t size = 0;
  for (const Variable& p : params) {
    check<ValueError>(p && p.data(), "vector_to_parameters", "a parameter has no data yet");
    size += p.size();
  }
  check<ValueError>(vector && vector.ndim() == 1 && vector.size() == size, "vector_to_parameters",
                    "the parameters have ", size, " elements, and the vector has the shape ",
                    vector ? catena::to_string(vector.shape()) : std::string("of a null array"));
  std::int64_t at = 0;
  for (const Variable& p : params) {
    autograd::assign(p.data(), autograd::reshape(autograd::slice(vector, 0, at, at + p.size()), p.shape()));
    at += p.size();
  }
}

}  // namespace nn
