#include <catena/training/optimizer_hooks.h>

#include <catena/kernels/rows/families.h>

namespace training {

using autograd::Dtype;

void WeightDecay::operator()(Optimizer& optimizer) const {
  optimizer.transform_grads(catena::rows::weight_decay, {rate});
}

void Lasso::operator()(Optimizer& optimizer) const { optimizer.transform_grads(catena::rows::lasso, {rate}); }

void GradientHardClipping::operator()(Optimizer& optimizer) const {
  optimizer.transform_grads(catena::rows::gradient_hard_clip, {lower_bound, upper_bound});
}

Array grads_norm(const Link& target) {
  Array total;
  for (const Variable& p : target.params()) {
    const Array g = p.grad();
    if (!g || !p.requires_grad()) continue;
    // The square of a 16-bit norm may be out of its dtype's range.
    const Dtype wide = catena::compute_dtype(g.dtype());
    const Array part =
        autograd::astype(autograd::reduce(catena::rows::sum_squares, g, {}, false, wide), Dtype::float64);
    if (!total) total = part;
    else total += autograd::to_device(part, total.device());
  }
  return total ? autograd::apply(catena::rows::sqrt, {total}) : autograd::zeros({}, Dtype::float64);
}

void GradientClipping::operator()(Optimizer& optimizer) const {
  const Array rate = threshold / grads_norm(optimizer.target());
  // NaN compares false, so it leaves the gradients alone, as an infinite rate (norm 0) does.
  const Array below_one = autograd::apply(catena::rows::less, {rate, 1.0});
  const Array scale = autograd::where(below_one, rate, 1.0);
  optimizer.transform_grads(catena::rows::scale_by, {}, {&scale, 1});
}

}  // namespace training
