// Loss scaling for own loops, with the steps of PyTorch's torch.amp.GradScaler. update(lossfun) and the Trainer need it
// not: there, optimizer.loss_scaling() does all of it.
//
//   training::GradScaler scaler;
//   scaler.scale(loss).backward();
//   scaler.step(optimizer);                             // skips the update if a gradient is not finite
//   scaler.update();
#pragma once

#include <cstdint>
#include <vector>

#include <catena/training/optimizer.h>

namespace training {

struct GradScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2, backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;  // number of updates in a row without a skip after which the scale grows
  bool enabled = true;                  // false: the scale is 1, and nothing is checked
};

// ValueError for an init_scale that is not positive, a growth_factor below 1, a backoff_factor outside of (0, 1] or a
// growth_interval below 1.
class CATENA_EXPORT GradScaler {
 public:
  using Options = GradScalerOptions;
  GradScaler() : GradScaler(Options{}) {}
  explicit GradScaler(const Options& options);
  // With PyTorch's first argument, the device type; the scale is the same on all devices.
  explicit GradScaler(const char* /*device*/, const Options& options = {}) : GradScaler(options) {}

  Variable scale(const Variable& loss) const;  // the loss times the scale
  // Divides the gradients of the optimizer's model by the scale, for clipping before step(), which then does not.
  // RuntimeError at a second call for this optimizer before update().
  void unscale_(Optimizer& optimizer);
  // Divides the gradients unless unscale_() did, and calls optimizer.update() if all of them are finite, whatever those
  // of other optimizers are. Reads one number from the device. Returns whether the optimizer updated. RuntimeError for
  // an optimizer that has loss_scaling() itself.
  bool step(Optimizer& optimizer);
  // Sets the scale for the next loss: times backoff_factor if gradients were not finite since the last call, times
  // growth_factor after growth_interval calls without that, unless it would become infinite.
  void update();
  // Sets the scale. ValueError for one that is not positive.
  void update(double new_scale);
  double get_scale() const noexcept { return scale_; }
  double get_growth_factor() const noexcept { return options_.growth_factor; }
  double get_backoff_factor() const noexcept { return options_.backoff_factor; }
  std::int64_t get_growth_interval() const noexcept { return options_.growth_interval; }
  bool is_enabled() const noexcept { return options_.enabled; }
  nn::StateDict state_dict();
  nn::LoadReport load_state_dict(const nn::StateDict& state);
  void serialize(Serializer& s);  // "scale" and "growth_tracker"

 private:
  Options options_;
  double scale_;
  std::int64_t clean_ = 0;  // calls of update() in a row without a skip
  struct Unscaled {
    const Optimizer* optimizer;
    bool is_finite;
  };
  const Unscaled* unscaled(const Optimizer& optimizer) const;
  std::vector<Unscaled> unscaled_;  // since the last update()
};

// PyTorch's module.
namespace amp {
using training::GradScaler;
}  // namespace amp

}  // namespace training
