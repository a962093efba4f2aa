#include <catena/training/extensions/hyperparameter_shift.h>

#include <catena/training/schedules.h>
#include <catena/training/stored_number.h>

namespace training {

HyperparameterShift::HyperparameterShift(std::string attr, Optimizer* optimizer)
    : attr_(std::move(attr)), optimizer_(optimizer) {
  invoke_before_training = true;
}

void HyperparameterShift::shift_groups(std::string only) {
  shifts_groups_ = true;
  only_group_ = std::move(only);
}

double& HyperparameterShift::init_of(const ParamGroup& group) {
  for (auto& [name, init] : group_inits_)
    if (name == group.name()) return init;
  return group_inits_.emplace_back(group.name(), group.get_hyper(attr_)).second;
}

void HyperparameterShift::operator()(Trainer& trainer) {
  Optimizer& optimizer = optimizer_ != nullptr ? *optimizer_ : trainer.updater().get_optimizer("main");
  if (!init_ || attr_.empty()) attr_ = internal::hyper_to_set(optimizer, attr_, default_name());
  if (!init_) init_ = optimizer.get_hyper(attr_);
  const auto& before = trainer.previous_position();
  const bool before_training = !before || before->iteration == trainer.updater().iteration();
  const std::int64_t t = before_training ? t_ - 1 : t_;
  std::vector<ParamGroup> groups;
  if (!only_group_.empty()) groups = {optimizer.param_group(only_group_)};
  else if (shifts_groups_) groups = internal::groups_with(optimizer, attr_);
  if (only_group_.empty()) optimizer.set_hyper(attr_, value(t, *init_));
  for (ParamGroup& group : groups) group.set_hyper(attr_, value(t, init_of(group)));
  if (!before_training) ++t_;
}

void HyperparameterShift::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, t_, init_, group_inits_);
  internal::serialize_count(s, "_t", t_, default_name());
  const auto own = s["_catena"];
  double init = init_.value_or(0);
  if (s.is_writer() ? init_.has_value() : own->contains("init")) {
    (*own)("init", init);
    init_ = init;
  }
  constexpr std::string_view kInits = "inits/";
  if (!s.is_writer()) {
    group_inits_.clear();
    for (const std::string& key : own->keys())
      if (key.starts_with(kInits)) group_inits_.emplace_back(key.substr(kInits.size()), 0);
  }
  for (auto& [name, of_group] : group_inits_) (*own)(catena::concat(kInits, name), of_group);
}

}  // namespace training
