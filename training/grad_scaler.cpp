#include <catena/training/grad_scaler.h>

#include <algorithm>
#include <cmath>

#include <catena/autograd/operators.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/serializers/state_dict.h>
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

const GradScaler::Unscaled* GradScaler::unscaled(const Optimizer& optimizer) const {
  const auto at = std::ranges::find(unscaled_, &optimizer, &Unscaled::optimizer);
  return at == unscaled_.end() ? nullptr : &*at;
}

void GradScaler::unscale_(Optimizer& optimizer) {
  if (!options_.enabled) return;
  check<catena::RuntimeError>(unscaled(optimizer) == nullptr, "GradScaler.unscale_",
                              "the gradients of this optimizer are divided already; call update() after step()");
  const Array norm = grads_norm(optimizer.target());
  const bool is_finite = std::isfinite(autograd::item(norm).to_double());
  const Array factor = autograd::arrays::full({}, 1 / scale_, autograd::Dtype::float64, norm.device());
  optimizer.transform_grads(catena::kernels::scale_by, {}, {&factor, 1});
  unscaled_.push_back({&optimizer, is_finite});
}

bool GradScaler::step(Optimizer& optimizer) {
  check<catena::RuntimeError>(optimizer.loss_scale() == 1, "GradScaler.step",
                              "the optimizer has a loss_scaling() of its own, which scales a second time");
  if (unscaled(optimizer) == nullptr) unscale_(optimizer);
  if (const Unscaled* const known = unscaled(optimizer); known != nullptr && !known->is_finite) return false;
  optimizer.update();
  return true;
}

void GradScaler::update() {
  const bool all_finite = std::ranges::all_of(unscaled_, &Unscaled::is_finite);
  unscaled_.clear();
  if (!options_.enabled) return;
  if (!all_finite) {
    scale_ *= options_.backoff_factor;
    clean_ = 0;
  } else if (++clean_ >= options_.growth_interval) {  // greater after a load of a count with a longer interval
    if (const double grown = scale_ * options_.growth_factor; std::isfinite(grown)) scale_ = grown;
    clean_ = 0;
  }
}

void GradScaler::update(double new_scale) {
  check<ValueError>(new_scale > 0, "GradScaler.update", "the scale is ", new_scale, " and must be positive");
  unscaled_.clear();
  if (options_.enabled) scale_ = new_scale;
}

nn::StateDict GradScaler::state_dict() { return nn::state_dict(*this); }
nn::LoadReport GradScaler::load_state_dict(const nn::StateDict& state) { return nn::load_state_dict(*this, state); }

void GradScaler::serialize(Serializer& s) {
  internal::restore_on_rollback(s, scale_, clean_);
  s("scale", scale_);
  internal::serialize_count(s, "growth_tracker", clean_, "GradScaler");
}

}  // namespace training
