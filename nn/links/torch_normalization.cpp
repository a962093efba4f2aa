#include <catena/nn/links/torch_normalization.h>

#include <catena/nn/link_hook.h>

namespace nn {

BatchNorm2d::BatchNorm2d(int size, const Options& o)
    : BatchNormalization(size, BatchNormalizationLinkOptions{.decay = 1 - o.momentum,
                                                             .eps = o.eps,
                                                             .use_gamma = o.affine,
                                                             .use_beta = o.affine && o.bias,
                                                             .initial_avg_var = 1.0}) {
  internal::place(*this, o.device, o.dtype);
}

LazyBatchNorm2d::LazyBatchNorm2d(const BatchNormOptions& o) : BatchNorm2d(0, o) {
  if (!gamma) return;
  const Initializer of_gamma = gamma->initializer(), of_beta = beta->initializer();
  gamma.emplace(of_gamma, Shape{-1});
  beta.emplace(of_beta, Shape{-1});
  refer_handles();
  name_params();
}

Variable LazyBatchNorm2d::operator()(const Variable& x, const BatchNormalizationCallOptions& options) {
  LinkCall called(*this, x);
  if (avg_mean.array().size() == 0 && x && x.ndim() >= 2 && x.shape(1) > 0) {
    const Array &mean = avg_mean.array(), &var = avg_var.array();
    const Shape channels{x.shape(1)};
    avg_mean = autograd::arrays::full(channels, 0.0, mean.dtype(), mean.device());
    avg_var = autograd::arrays::full(channels, 1.0, var.dtype(), var.device());
    if (gamma && !gamma->is_initialized()) gamma->initialize(channels);
    if (beta && !beta->is_initialized()) beta->initialize(channels);
  }
  return called(BatchNorm2d::operator()(x, options));
}

}  // namespace nn
