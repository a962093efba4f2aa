#include <catena/training/extensions/schedule_shift.h>

#include <catena/kernels/base/error.h>

namespace training {

ScheduleShift::ScheduleShift(Schedule schedule, Options options)
    : HyperparameterShift(std::move(options.hyper), options.optimizer), schedule_(std::move(schedule)) {
  shift_groups(std::move(options.group));
  catena::check<catena::ValueError>(bool(schedule_), "ScheduleShift", "the schedule is empty");
}

double ScheduleShift::value(std::int64_t t, double init) const { return schedule_(init, double(t)); }

PlateauShift::PlateauShift(std::string key, Options options)
    : key_(std::move(key)), optimizer_(options.optimizer), state_(std::move(options.plateau)) {
  trigger = {1, epoch};
}

void PlateauShift::operator()(Trainer& trainer) {
  Optimizer& optimizer = optimizer_ != nullptr ? *optimizer_ : trainer.updater().get_optimizer("main");
  const std::string hyper = internal::hyper_to_set(optimizer, state_.options.hyper, "PlateauShift");
  state_.step(trainer.observation().at(key_).value(), optimizer, hyper);
}

void PlateauShift::serialize(nn::Serializer& s) { state_.serialize(s); }

}  // namespace training
