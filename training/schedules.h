// Schedules: the values of a hyperparameter, mostly the learning rate, as functions of the number of steps. A schedule
// has no state, so a resumed training continues exactly.
//
// In a loop of one's own:
//   training::Scheduler scheduler(optimizer, training::schedules::warmup(100, training::schedules::cosine(10000)));
//   for (...) { optimizer.update(...); scheduler.step(); }
// As an extension of a trainer, a step being an iteration or, by the trigger, an epoch:
//   trainer.extend(training::ScheduleShift(training::schedules::multi_step({30, 60})), {.trigger = {1,
//   training::epoch}});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/training/optimizer.h>

namespace training {

// Returns the value after `step` steps (0: at the start) for the value `base` at the start.
using Schedule = catena::Function<double(double base, double step)>;

// The functions below throw a ValueError for lengths that are not positive and for milestones that decrease.
namespace schedules {

CATENA_EXPORT Schedule constant();  // base
// base gamma^k after k periods.
CATENA_EXPORT Schedule step(double period, double gamma = 0.1);
// base gamma^k after k milestones.
CATENA_EXPORT Schedule multi_step(std::vector<double> milestones, double gamma = 0.1);
CATENA_EXPORT Schedule exponential(double gamma);                // base gamma^step
CATENA_EXPORT Schedule inverse(double gamma, double power = 1);  // base (1 + gamma step)^-power
// From base to `end` within `length` steps, and then `end`: end + (base - end) (1 - step / length)^power.
CATENA_EXPORT Schedule polynomial(double length, double power = 1, double end = 0);
// From base start_factor to base end_factor on a line of `length` steps, and then base end_factor.
CATENA_EXPORT Schedule linear(double start_factor, double end_factor, double length);
// From base to `end` on half a wave of a cosine of `length` steps, and then `end`.
CATENA_EXPORT Schedule cosine(double length, double end = 0);
// The same again and again; each period is `factor` times as long as the one before. (Loshchilov, Hutter:
// arXiv:1608.03983.)
CATENA_EXPORT Schedule cosine_restarts(double length, double factor = 1, double end = 0);
struct OneCycleOptions {
  double warmup = 0.3, start_factor = 1.0 / 25, end_factor = 1e-4 / 25;
  bool lines = false;
};
// From base start_factor up to base within `warmup` of the length, then down to base end_factor, both on waves of a
// cosine, or on lines. base is the greatest value. (Smith, Topin: arXiv:1708.07120.)
CATENA_EXPORT Schedule one_cycle(double length, const OneCycleOptions& options = {});
// From base start_factor to base on a line of `length` steps; then `next`, whose steps begin there.
CATENA_EXPORT Schedule warmup(double length, Schedule next = constant(), double start_factor = 0);
// Each schedule for its number of steps, counted from its begin; the last one goes on for ever.
CATENA_EXPORT Schedule sequence(std::vector<std::pair<Schedule, double>> parts);

}  // namespace schedules

// Sets a hyperparameter of an optimizer: to the value for 0 steps when it is made, and to the next one at each step().
// The base is the optimizer's value when it is made. Parameter groups that have a value of their own then follow the
// schedule from that value, as in PyTorch; with a group instead of the optimizer, that group alone does:
//   training::Scheduler scheduler(optimizer.param_group("encoder"), training::schedules::cosine(1000));
// `hyper` is by default "lr", or "alpha" if the optimizer has no "lr" to set. ValueError for an empty schedule,
// KeyError for a hyperparameter that the optimizer lacks. The optimizer must outlive it.
class CATENA_EXPORT Scheduler {
 public:
  Scheduler(Optimizer& optimizer, Schedule schedule, std::string hyper = {});
  Scheduler(ParamGroup group, Schedule schedule, std::string hyper = {});
  Scheduler(const Scheduler&) = default;
  Scheduler(Scheduler&&) = default;
  Scheduler& operator=(const Scheduler&) = default;
  Scheduler& operator=(Scheduler&&) = default;
  virtual ~Scheduler() = default;
  virtual void step();
  // To the value after `epoch` steps, which may be a fraction: scheduler.step(epoch + double(i) / batches).
  void step(double epoch);
  double value() const;
  // PyTorch's name: the values of the groups, in the order of param_groups(); without groups, the optimizer's own.
  std::vector<double> get_last_lr() const;
  std::int64_t t() const noexcept { return t_; }
  std::int64_t last_epoch() const noexcept { return t_; }  // PyTorch's name
  // "t", "base" and "bases/<group>"; loading sets the values.
  void serialize(Serializer& s);
  // The same in memory, as for Optimizer.
  nn::StateDict state_dict();
  nn::LoadReport load_state_dict(const nn::StateDict& state);

 protected:
  // PyTorch's option last_epoch: the number of the last epoch of a training that is continued; -1: it begins. The base
  // is the optimizer's value, as always. ValueError below -1.
  void continue_after(std::int64_t last_epoch);
  // Sets the values of `step` steps: at every step, and when a state is loaded. A scheduler of several hyperparameters
  // overrides it.
  virtual void set(double step);

 private:
  friend struct SequentialLR;
  friend struct ChainedScheduler;
  // The optimizer of schedulers that are combined, with the values of before the first of them. ValueError for those of
  // different optimizers or hyperparameters, and if there are none.
  static Optimizer& common_optimizer(const char* who, const std::vector<Scheduler>& schedulers);
  Optimizer* optimizer_;  // null if a group is scheduled alone
  Schedule schedule_;
  std::string hyper_;
  double base_ = 0;
  std::vector<std::pair<ParamGroup, double>> groups_;  // with their bases
  std::int64_t t_ = 0;
};

struct PlateauOptions {
  std::string mode = "min";            // PyTorch's option: "max" is maximize = true; ValueError for others
  bool maximize = false;               // whether a greater measure is better
  double factor = 0.1;                 // of the value, when the measure has not improved
  std::int64_t patience = 10;          // number of steps without improvement that are allowed
  double threshold = 1e-4;             // an improvement is greater than this part of the best measure
  std::string threshold_mode = "rel";  // PyTorch's option: "abs" is relative = false; ValueError for others
  bool relative = true;                // with false, greater than this number
  std::int64_t cooldown = 0;           // number of steps after a reduction that are not counted
  double least = 0;                    // the value is not reduced below
  std::optional<double> min_lr = {};   // PyTorch's name of `least`
  double eps = 1e-8;                   // a reduction by less than this is left out
  bool verbose = false;                // without effect: get_last_lr() returns the rate
  std::string hyper = {};              // as for Scheduler
};

namespace internal {
// The measures seen so far, and the rule.
struct CATENA_EXPORT Plateau {
  explicit Plateau(PlateauOptions options);
  // Takes the next measure, and reduces the hyperparameter if it is due, that of groups with a value of their own, too.
  void step(double measure, Optimizer& optimizer, const std::string& hyper);
  void serialize(Serializer& s);
  PlateauOptions options;
  double best;
  std::int64_t bad = 0, cooldown = 0;
};
}  // namespace internal

// Reduces a hyperparameter when a measure has stopped improving: scheduler.step(loss). The rule is that of PyTorch's
// ReduceLROnPlateau; a measure that is NaN is no improvement. ValueError for a factor outside (0, 1).
class CATENA_EXPORT PlateauScheduler {
 public:
  explicit PlateauScheduler(Optimizer& optimizer, PlateauOptions options = {});
  PlateauScheduler(Optimizer& optimizer, const char* mode, PlateauOptions options = {})  // "min" or "max"
      : PlateauScheduler(optimizer, (options.mode = mode, std::move(options))) {}
  void step(double measure);
  void step(const Variable& measure) { step(measure.item<double>()); }
  double value() const { return optimizer_->get_hyper(hyper_); }
  std::vector<double> get_last_lr() const { return {value()}; }  // PyTorch's name
  double best() const noexcept { return state_.best; }
  std::int64_t num_bad_epochs() const noexcept { return state_.bad; }  // since the best measure or the last reduction
  // "best", "bad", "cooldown", "value" and "values/<group>"; loading sets the values.
  void serialize(Serializer& s);
  nn::StateDict state_dict();
  nn::LoadReport load_state_dict(const nn::StateDict& state);

 private:
  Optimizer* optimizer_;
  internal::Plateau state_;
  std::string hyper_;
};

namespace internal {
// Returns `hyper`, or by default "lr", or "alpha" if the optimizer has no "lr" to set. KeyError with the names
// otherwise.
CATENA_EXPORT std::string hyper_to_set(const Optimizer& optimizer, const std::string& hyper, std::string_view who);
// The groups of an optimizer that have a value of their own of a hyperparameter.
CATENA_EXPORT std::vector<ParamGroup> groups_with(Optimizer& optimizer, std::string_view hyper);
}  // namespace internal

}  // namespace training
