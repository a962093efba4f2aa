// Chainer's extensions that change a hyperparameter by a formula: InverseShift, StepShift, MultistepShift,
// PolynomialShift and WarmupShift. ScheduleShift takes any schedule of schedules.h.
//
//   trainer.extend(MultistepShift("lr", 0.1, {30, 60}), {.trigger = {1, epoch}});
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catena/training/extensions/hyperparameter_shift.h>
#include <catena/training/schedules.h>

namespace training {

struct FormulaShiftOptions {
  std::optional<double> init = {};    // default: the optimizer's value when training begins
  std::optional<double> target = {};  // the value at which the shift stops
  OptimizerRef optimizer = {};        // default: the updater's "main"
};

// The base: attr is a schedule's value for init and the number of calls. It never passes the target.
class CATENA_EXPORT FormulaShift : public HyperparameterShift {
 public:
  using Options = FormulaShiftOptions;
  std::string default_name() const override { return name_; }

 protected:
  // `grows`: whether the values move away from 0.
  FormulaShift(const char* name, std::string attr, Schedule formula, bool grows, const Options& options);
  double value(std::int64_t t, double init) const override;

 private:
  const char* name_;
  Schedule formula_;
  bool grows_;
  std::optional<double> init_, target_;
};

// attr = init (1 + gamma t)^-power. ValueError for a negative gamma.
struct CATENA_EXPORT InverseShift : FormulaShift {
  InverseShift(std::string attr, double gamma, double power, const Options& options = {});
};

// attr = init gamma^floor(t / step). ValueError for a negative gamma and a step that is not positive.
struct CATENA_EXPORT StepShift : FormulaShift {
  StepShift(std::string attr, double gamma, double step, const Options& options = {});
};

// attr = init gamma^k after k of the numbers of calls. ValueError for a negative gamma and numbers that decrease.
struct CATENA_EXPORT MultistepShift : FormulaShift {
  MultistepShift(std::string attr, double gamma, std::vector<double> step_value, const Options& options = {});
  // With init by position, as in Chainer.
  MultistepShift(std::string attr, double gamma, std::vector<double> step_value, double init)
      : MultistepShift(std::move(attr), gamma, std::move(step_value), Options{.init = init}) {}
};

// attr = init max(0, 1 - t / max_count)^rate. ValueError for a max_count that is not positive.
struct CATENA_EXPORT PolynomialShift : FormulaShift {
  PolynomialShift(std::string attr, double rate, double max_count, const Options& options = {});
};

// From warmup_start to init on a line of warmup_iter calls, and then init. ValueError for a warmup_iter that is not
// positive.
struct CATENA_EXPORT WarmupShift : FormulaShift {
  WarmupShift(std::string attr, double warmup_start, double warmup_iter, const Options& options = {});
  // With init by position, as in Chainer.
  WarmupShift(std::string attr, double warmup_start, double warmup_iter, double init)
      : WarmupShift(std::move(attr), warmup_start, warmup_iter, Options{.init = init}) {}
};

}  // namespace training
