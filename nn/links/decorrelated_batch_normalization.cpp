#include <catena/nn/links/decorrelated_batch_normalization.h>

#include <catena/autograd/config.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/filters.h>

namespace nn {
namespace {

Array unit_matrices(std::int64_t groups, std::int64_t n, Dtype dtype) {
  const Array all = autograd::arrays::empty({groups, n, n}, dtype);
  for (std::int64_t g = 0; g < groups; ++g)
    initializers::Identity()(autograd::squeeze(autograd::slice(all, 0, g, g + 1), 0));
  return all;
}

}  // namespace

DecorrelatedBatchNormalization::DecorrelatedBatchNormalization(int size, const Options& o)
    : groups(o.groups), decay(o.decay), eps(o.eps) {
  const std::int64_t n = internal::grouped("DecorrelatedBatchNormalization", "size", size, groups);
  const Dtype dtype = autograd::get_dtype(o.dtype, Dtype::float32);
  avg_mean = autograd::arrays::zeros({groups, n}, dtype);
  avg_projection = unit_matrices(groups, n, dtype);
}

Variable DecorrelatedBatchNormalization::operator()(const Variable& x, const BatchNormalizationCallOptions& o) {
  LinkCall called(*this, x);
  if (o.test ? *o.test : !autograd::internal::trains("DecorrelatedBatchNormalization")) {
    const auto constant = [](const Array& a) { return Variable(a, {.volatile_ = autograd::AUTO}); };
    return called(fixed_decorrelated_batch_normalization(x, constant(avg_mean), constant(avg_projection), groups));
  }
  if (o.finetune) ++N;
  return called(decorrelated_batch_normalization(x, {.groups = groups,
                                                     .eps = eps,
                                                     .running_mean = avg_mean,
                                                     .running_projection = avg_projection,
                                                     .decay = o.finetune ? 1.0 - 1.0 / double(N) : decay}));
}

}  // namespace nn
