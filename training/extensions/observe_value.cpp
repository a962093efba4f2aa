#include <catena/training/extensions/observe_value.h>

#include <catena/kernels/base/error.h>

namespace training {

ObserveValue::ObserveValue(std::string observation_key, catena::Function<nn::Observed(Trainer&)> target_func)
    : key_(std::move(observation_key)), target_func_(std::move(target_func)) {
  catena::check<catena::TypeError>(bool(target_func_), "observe_value", "the function of ", key_, " is not callable");
  trigger = {1, epoch};
  priority = PRIORITY_WRITER;
}

void ObserveValue::operator()(Trainer& trainer) { trainer.observation().set(key_, target_func_(trainer)); }

ObserveValue observe_lr(const ObserveLrOptions& options) {
  return observe_value(options.observation_key, [name = options.optimizer_name](Trainer& trainer) {
    return nn::Observed(trainer.updater().get_optimizer(name).lr());
  });
}

}  // namespace training
