#include <catena/training/extensions/hyperparameter_shift.h>

#include <catena/training/schedules.h>
#include <catena/training/stored_number.h>

namespace training {

HyperparameterShift::HyperparameterShift(std::string attr, Optimizer* optimizer)
    : attr_(std::move(attr)), optimizer_(optimizer) {
  invoke_before_training = true;
}

void HyperparameterShift::operator()(Trainer& trainer) {
  Optimizer& optimizer = optimizer_ != nullptr ? *optimizer_ : trainer.updater().get_optimizer("main");
  if (!init_ || attr_.empty()) attr_ = internal::hyper_to_set(optimizer, attr_, default_name());
  if (!init_) init_ = optimizer.get_hyper(attr_);
  const auto& before = trainer.previous_position();
  const bool before_training = !before || before->iteration == trainer.updater().iteration();
  optimizer.set_hyper(attr_, value(before_training ? t_ - 1 : t_, *init_));
  if (!before_training) ++t_;
}

void HyperparameterShift::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, t_, init_);
  internal::serialize_count(s, "_t", t_, default_name());
  const auto own = s["_catena"];
  double init = init_.value_or(0);
  if (s.is_writer() ? init_.has_value() : own->contains("init")) {
    (*own)("init", init);
    init_ = init;
  }
}

}  // namespace training
