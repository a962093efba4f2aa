#include <catena/nn/links/batch_normalization.h>

namespace nn {
namespace {

Initializer with_dtype(const Initializer& initializer, autograd::Dtype dtype) {
  return {[initializer](const Array& a) { initializer(a); }, dtype};
}

}  // namespace

BatchNormalization::BatchNormalization(const Shape& size, const Options& o)
    : avg_mean(generate_array(with_dtype(o.initial_avg_mean, o.dtype), size)),
      avg_var(generate_array(with_dtype(o.initial_avg_var, o.dtype), size)),
      decay(o.decay),
      eps(o.eps),
      use_cudnn(o.use_cudnn) {
  if (o.use_gamma) gamma.emplace(with_dtype(o.initial_gamma, o.dtype), size);
  if (o.use_beta) beta.emplace(with_dtype(o.initial_beta, o.dtype), size);
  name_params();
}

Variable BatchNormalization::operator()(const Variable& x, const BatchNormalizationCallOptions& o) {
  const Array& mean = avg_mean.array();
  const Array& var = avg_var.array();
  const Variable scale = gamma ? Variable(*gamma) : Variable(autograd::ones_like(mean), {.volatile_ = autograd::AUTO});
  const Variable shift = beta ? Variable(*beta) : Variable(autograd::zeros_like(mean), {.volatile_ = autograd::AUTO});
  if (o.test ? *o.test : !autograd::internal::trains("BatchNormalization")) {
    return fixed_batch_normalization(x, scale, shift, Variable(mean, {.volatile_ = autograd::AUTO}),
                                     Variable(var, {.volatile_ = autograd::AUTO}),
                                     {.eps = eps, .use_cudnn = use_cudnn});
  }
  double keep = decay;
  if (o.finetune) {
    ++N;
    keep = 1.0 - 1.0 / double(N);
  }
  // In the link's own arrays, whose addresses captured work keeps.
  return internal::moving_batch_normalization(
      x, scale, shift, {.eps = eps, .running_mean = mean, .running_var = var, .decay = keep, .use_cudnn = use_cudnn});
}

}  // namespace nn
