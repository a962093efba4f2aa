#include <catena/training/extensions/schedule_shift.h>

#include <algorithm>

#include <catena/kernels/base/error.h>

namespace training {

ScheduleShift::ScheduleShift(Schedule schedule, Options options)
    : HyperparameterShift(std::move(options.attr), options.optimizer), schedule_(std::move(schedule)) {
  catena::check<catena::ValueError>(bool(schedule_), "ScheduleShift", "the schedule is empty");
}

double ScheduleShift::value(std::int64_t t, double init) const { return schedule_(init, double(t)); }

PlateauShift::PlateauShift(std::string key, Options options)
    : key_(std::move(key)), options_(std::move(options)), state_(options_.plateau) {
  trigger = {1, epoch};
}

void PlateauShift::operator()(Trainer& trainer) {
  Optimizer& optimizer = options_.optimizer != nullptr ? *options_.optimizer : trainer.updater().get_optimizer("main");
  const PlateauOptions& plateau = options_.plateau;
  const std::string hyper = internal::hyper_to_set(optimizer, plateau.hyper, "PlateauShift");
  const double measure = trainer.observation().at(key_).value();
  if (state_.reduces(plateau, measure))
    optimizer.set_hyper(hyper, std::max(optimizer.get_hyper(hyper) * plateau.factor, plateau.least));
}

void PlateauShift::serialize(nn::Serializer& s) { state_.serialize(s); }

}  // namespace training
