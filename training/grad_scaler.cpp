#include <catena/training/grad_scaler.h>

#include <algorithm>
#include <cmath>

#include <catena/autograd/operators.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/stored_number.h>

namespace training {

using catena::check;
using catena::ValueError;

GradScaler::GradScaler(const Options& options) : options_(options), scale_(options.enabled ? options.init_scale : 1) {
  check<ValueError>(options.init_scale > 0, "GradScaler", "init_scale is ", options.init_scale,
                    " and must be positive");
  check<ValueError>(options.growth_factor >= 1, "GradScaler", "growth_factor is ", options.growth_factor,
                    " and must be at least 1");
  check<ValueError>(options.backoff_factor > 0 && options.backoff_factor <= 1, "GradScaler", "backoff_factor is ",
                    options.backoff_factor, " and must be in (0, 1]");
  check<ValueError>(options.growth_interval >= 1, "GradScaler", "growth_interval is ", options.growth_interval,
                    " and must be at least 1");
}

Variable GradScaler::scale(const Variable& loss) const { return options_.enabled ? loss * scale_ : loss; }

void GradScaler::unscale_(Optimizer& optimizer) {
  if (!options_.enabled) return;
  check<catena::RuntimeError>(std::ranges::find(unscaled_, &optimizer) == unscaled_.end(), "GradScaler.unscale_",
                              "the gradients of this optimizer are divided already; call update() after step()");
  const Array norm = grads_norm(optimizer.target());
  if (!std::isfinite(autograd::item(norm).to_double())) found_inf_ = true;
  const Array factor = autograd::full({}, 1 / scale_, autograd::Dtype::float64, norm.device());
  optimizer.transform_grads(catena::kernels::scale_by, {}, {&factor, 1});
  unscaled_.push_back(&optimizer);
}

bool GradScaler::step(Optimizer& optimizer) {
  check<catena::RuntimeError>(optimizer.loss_scale() == 1, "GradScaler.step",
                              "the optimizer has a loss_scaling() of its own, which scales a second time");
  if (std::ranges::find(unscaled_, &optimizer) == unscaled_.end()) unscale_(optimizer);
  if (found_inf_) return false;
  optimizer.update();
  return true;
}

void GradScaler::update() {
  unscaled_.clear();
  if (!options_.enabled) return;
  if (found_inf_) {
    scale_ *= options_.backoff_factor;
    clean_ = 0;
  } else if (++clean_ == options_.growth_interval) {
    scale_ *= options_.growth_factor;
    clean_ = 0;
  }
  found_inf_ = false;
}

void GradScaler::serialize(Serializer& s) {
  internal::restore_on_rollback(s, scale_);
  internal::restore_on_rollback(s, clean_);
  s("scale", scale_);
  internal::serialize_count(s, "growth_tracker", clean_, "GradScaler");
}

}  // namespace training
