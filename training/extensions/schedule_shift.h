// Extensions that change a hyperparameter by a schedule or by a measure of the training.
#pragma once

#include <string>

#include <catena/training/extensions/hyperparameter_shift.h>
#include <catena/training/schedules.h>

namespace training {

struct ScheduleShiftOptions {
  std::string hyper = {};       // default: "lr", or "alpha" if the optimizer has no "lr" to set
  OptimizerRef optimizer = {};  // default: the updater's "main"
  std::string group = {};       // the name of the parameter group that is shifted alone
};

// Sets a hyperparameter to the schedule's value for the number of calls, for the value at the start of the training:
//   trainer.extend(ScheduleShift(schedules::cosine(100)), {.trigger = {1, training::epoch}})
// Without `group`, parameter groups that have a value of their own follow the schedule from that value. ValueError for
// an empty schedule, KeyError for a group that the optimizer lacks.
class CATENA_EXPORT ScheduleShift : public HyperparameterShift {
 public:
  using Options = ScheduleShiftOptions;
  explicit ScheduleShift(Schedule schedule, Options options = {});
  std::string default_name() const override { return "ScheduleShift"; }

 protected:
  double value(std::int64_t t, double init) const override;

 private:
  Schedule schedule_;
};

struct PlateauShiftOptions {
  PlateauOptions plateau = {};
  OptimizerRef optimizer = {};  // default: the updater's "main"
};

// Calls PlateauScheduler::step with the observation `key` of the iteration, once an epoch unless another trigger is
// given:
//   trainer.extend(PlateauShift("validation/main/loss", {.plateau = {.factor = 0.5, .patience = 3}}))
// KeyError, with the names that there are, if nothing was observed under the key. A snapshot has the measures; the
// value is among the hyperparameters that the updater saves.
class CATENA_EXPORT PlateauShift : public Extension {
 public:
  using Options = PlateauShiftOptions;
  explicit PlateauShift(std::string key, Options options = {});
  void operator()(Trainer& trainer) override;
  void serialize(nn::Serializer& s) override;
  std::string default_name() const override { return "PlateauShift"; }

 private:
  std::string key_;
  Optimizer* optimizer_;
  internal::Plateau state_;
};

}  // namespace training
