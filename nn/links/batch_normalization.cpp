#include <catena/nn/links/batch_normalization.h>

#include <algorithm>

#include <catena/autograd/config.h>
#include <catena/kernels/base/view_layout.h>
#include <catena/nn/functions/array.h>
#include <catena/nn/links/batch_function.h>

namespace nn {

const internal::BatchFunctionHook* internal::batch_function_of(const Link& link) noexcept {
  const NamedLinkHooks* const hooks = hooks_of(link);
  if (hooks == nullptr) return nullptr;
  for (const auto& named : *hooks)
    if (const auto* const found = dynamic_cast<const BatchFunctionHook*>(named.second.get())) return found;
  return nullptr;
}

namespace {

Initializer with_dtype(const Initializer& initializer, std::optional<autograd::Dtype> dtype) {
  return {[initializer](const Array& a) { initializer(a); }, autograd::get_dtype(dtype, autograd::Dtype::float32)};
}

}  // namespace

BatchNormalization::BatchNormalization(const Shape& size, const Options& o)
    : ScaleAndShift({}, {}),
      avg_mean(generate_array(with_dtype(o.initial_avg_mean, o.dtype), size)),
      avg_var(generate_array(with_dtype(o.initial_avg_var, o.dtype), size)),
      decay(o.decay),
      eps(o.eps),
      use_cudnn(o.use_cudnn),
      axis(o.axis) {
  if (o.use_gamma) gamma.emplace(with_dtype(o.initial_gamma, o.dtype), size);
  if (o.use_beta) beta.emplace(with_dtype(o.initial_beta, o.dtype), size);
  refer_handles();
  name_params();
}

namespace {

bool is_test(const BatchNormalizationCallOptions& o) {
  return o.test ? *o.test : !autograd::internal::trains("BatchNormalization");
}
// Returns the parameters, or constants for a link without them.
Variable scale_of(const BatchNormalization& link) {
  if (link.gamma) return *link.gamma;
  return Variable(autograd::ones_like(link.avg_mean.array()), {.volatile_ = autograd::AUTO});
}
Variable shift_of(const BatchNormalization& link) {
  if (link.beta) return *link.beta;
  return Variable(autograd::zeros_like(link.avg_mean.array()), {.volatile_ = autograd::AUTO});
}
// Counts the call if it finetunes. Returns the weight of the old averages.
double kept_share(BatchNormalization& link, const BatchNormalizationCallOptions& o) {
  if (!o.finetune) return link.decay;
  ++link.N;
  return 1.0 - 1.0 / double(link.N);
}

}  // namespace

Variable BatchNormalization::normalized(const Variable& x, const BatchNormalizationCallOptions& o) {
  const Array& mean = avg_mean.array();
  const Array& var = avg_var.array();
  if (is_test(o)) {
    return fixed_batch_normalization(x, scale_of(*this), shift_of(*this), Variable(mean, {.volatile_ = autograd::AUTO}),
                                     Variable(var, {.volatile_ = autograd::AUTO}),
                                     {.eps = eps, .use_cudnn = use_cudnn});
  }
  const double keep = kept_share(*this, o);
  // In the link's own arrays, whose addresses captured work keeps.
  const BatchNormalizationOptions options{
      .eps = eps, .running_mean = mean, .running_var = var, .decay = keep, .use_cudnn = use_cudnn};
  if (const internal::BatchFunctionHook* const other = internal::batch_function_of(*this))
    return other->normalize(x, scale_of(*this), shift_of(*this), options);
  return internal::moving_batch_normalization(x, scale_of(*this), shift_of(*this), options);
}

namespace {

// The order of axes in which `over` has first an axis over which statistics are taken, then those that are kept, then
// the others.
autograd::Dims kept_behind_first(const catena::Axes& over, const Variable& x) {
  const autograd::Dims reduced = catena::normalize_axes("BatchNormalization", over, x.ndim());
  catena::check<catena::ValueError>(reduced.size() > 0, "BatchNormalization", "axis has no axes");
  autograd::Dims order{reduced[0]};
  for (int k = 0; k < x.ndim(); ++k)
    if (std::find(reduced.begin(), reduced.end(), k) == reduced.end()) order.push_back(k);
  for (int k = 1; k < reduced.size(); ++k) order.push_back(reduced[k]);
  return order;
}

}  // namespace

Variable BatchNormalization::operator()(const Variable& x, const BatchNormalizationCallOptions& o) {
  update_handles();
  LinkCall called(*this, x);
  if (!axis.given()) return called(normalized(x, o));
  const autograd::Dims order = kept_behind_first(axis, x);
  return called(autograd::transpose(normalized(autograd::transpose(x, order), o), catena::inverse_axes(order)));
}

BatchRenormalization::BatchRenormalization(const Shape& size, const Options& o)
    : BatchNormalization(size, {.decay = o.decay,
                                .eps = o.eps,
                                .dtype = o.dtype,
                                .use_gamma = o.use_gamma,
                                .use_beta = o.use_beta,
                                .initial_gamma = o.initial_gamma,
                                .initial_beta = o.initial_beta,
                                .initial_avg_mean = o.initial_avg_mean,
                                .initial_avg_var = o.initial_avg_var}),
      rmax(o.rmax),
      dmax(o.dmax) {}

Variable BatchRenormalization::operator()(const Variable& x, const BatchNormalizationCallOptions& o) {
  LinkCall called(*this, x);
  if (is_test(o)) return called(BatchNormalization::operator()(x, {.test = true}));
  const Array &mean = avg_mean.array(), &var = avg_var.array();
  return called(batch_renormalization(x, scale_of(*this), shift_of(*this), rmax, dmax,
                                      {.eps = eps,
                                       .running_mean = mean,
                                       .running_var = var,
                                       .decay = kept_share(*this, o),
                                       .update_statistics = true}));
}

}  // namespace nn
