// Schedulers of the learning rate by PyTorch's names: Scheduler with one of the functions of schedules.h.
//
//   training::StepLR scheduler(optimizer, {.step_size = 30});
//   for (...) { train(); scheduler.step(); }
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/training/schedules.h>

namespace training {

namespace internal {
// Returns the function. ValueError if it is empty.
CATENA_EXPORT catena::Function<double(int)> given(catena::Function<double(int)> f, const char* who);
// Waves of a cosine between the base and `end`, each of which takes 2 length steps.
CATENA_EXPORT Schedule waves(double length, double end);
}  // namespace internal

// PyTorch's name of the base of schedulers.
using LRScheduler = Scheduler;

// A factor for the rate after `step` steps: LambdaLR(optimizer, [](int step) { return 1 / (1.0 + step); }).
struct LambdaLR : Scheduler {
  template <class F>
  LambdaLR(Optimizer& optimizer, F factor) requires std::is_invocable_r_v<double, F&, int>
      : Scheduler(optimizer, [factor = std::move(factor)](double base, double step) mutable {
        return base * double(factor(int(step)));
      }) {}
  struct Options {
    catena::Function<double(int step)> lr_lambda = {};  // ValueError if it is empty
    std::int64_t last_epoch = -1;                       // of a training that is continued
  };
  template <std::same_as<Options> O = Options>
  LambdaLR(Optimizer& optimizer, const O& o) : LambdaLR(optimizer, internal::given(o.lr_lambda, "LambdaLR")) {
    continue_after(o.last_epoch);
  }
  template <class F, std::same_as<Options> O = Options>
  LambdaLR(Optimizer& optimizer, F factor, const O& o) requires std::is_invocable_r_v<double, F&, int>
      : LambdaLR(optimizer, std::move(factor)) {
    continue_after(o.last_epoch);
  }
};

// The rate times factor(1) factor(2) ... factor(step): MultiplicativeLR(optimizer, [](int) { return 0.95; }).
struct MultiplicativeLR : Scheduler {
  template <class F>
  MultiplicativeLR(Optimizer& optimizer, F factor) requires std::is_invocable_r_v<double, F&, int>
      : Scheduler(optimizer, [factor = std::move(factor)](double base, double step) mutable {
        double value = base;
        for (int i = 1; i <= int(step); ++i) value *= double(factor(i));
        return value;
      }) {}
  using Options = LambdaLR::Options;
  template <std::same_as<Options> O = Options>
  MultiplicativeLR(Optimizer& optimizer, const O& o)
      : MultiplicativeLR(optimizer, internal::given(o.lr_lambda, "MultiplicativeLR")) {
    continue_after(o.last_epoch);
  }
  template <class F, std::same_as<Options> O = Options>
  MultiplicativeLR(Optimizer& optimizer, F factor, const O& o) requires std::is_invocable_r_v<double, F&, int>
      : MultiplicativeLR(optimizer, std::move(factor)) {
    continue_after(o.last_epoch);
  }
};

struct StepLROptions {
  double step_size = 1;
  double gamma = 0.1;
  std::int64_t last_epoch = -1;  // of a training that is continued
};
// The rate times gamma after every step_size steps.
struct StepLR : Scheduler {
  using Options = StepLROptions;
  StepLR(Optimizer& optimizer, const Options& o) : Scheduler(optimizer, schedules::step(o.step_size, o.gamma)) {
    continue_after(o.last_epoch);
  }
  StepLR(Optimizer& optimizer, double step_size, double gamma = 0.1) : StepLR(optimizer, Options{step_size, gamma}) {}
  template <std::same_as<Options> O = Options>  // StepLR(optimizer, 30, {.gamma = 0.5}), and so below
  StepLR(Optimizer& optimizer, double step_size, O o) : StepLR(optimizer, (o.step_size = step_size, o)) {}
};

struct MultiStepLROptions {
  std::vector<double> milestones = {};
  double gamma = 0.1;
  std::int64_t last_epoch = -1;  // of a training that is continued
};
// The rate times gamma after each milestone, a number of steps.
struct MultiStepLR : Scheduler {
  using Options = MultiStepLROptions;
  MultiStepLR(Optimizer& optimizer, const Options& o)
      : Scheduler(optimizer, schedules::multi_step(o.milestones, o.gamma)) {
    continue_after(o.last_epoch);
  }
  template <std::same_as<std::vector<double>> M = std::vector<double>>  // so that {.milestones = ...} means the options
  MultiStepLR(Optimizer& optimizer, M milestones, double gamma = 0.1)
      : MultiStepLR(optimizer, Options{std::move(milestones), gamma}) {}
  template <std::same_as<std::vector<double>> M = std::vector<double>, std::same_as<Options> O = Options>
  MultiStepLR(Optimizer& optimizer, M milestones, O o)
      : MultiStepLR(optimizer, (o.milestones = std::move(milestones), std::move(o))) {}
};

struct ConstantLROptions {
  double factor = 1.0 / 3, total_iters = 5;
  std::int64_t last_epoch = -1;  // of a training that is continued
};
// The rate times `factor` for total_iters steps, and then the rate.
struct ConstantLR : Scheduler {
  using Options = ConstantLROptions;
  explicit ConstantLR(Optimizer& optimizer, const Options& o = {})
      : Scheduler(optimizer, [o](double base, double step) { return step < o.total_iters ? base * o.factor : base; }) {
    continue_after(o.last_epoch);
  }
  ConstantLR(Optimizer& optimizer, double factor, double total_iters)
      : ConstantLR(optimizer, Options{factor, total_iters}) {}
};

struct ExponentialLROptions {
  double gamma = 0.9;
  std::int64_t last_epoch = -1;  // of a training that is continued
};
// The rate times gamma after every step.
struct ExponentialLR : Scheduler {
  using Options = ExponentialLROptions;
  ExponentialLR(Optimizer& optimizer, const Options& o) : Scheduler(optimizer, schedules::exponential(o.gamma)) {
    continue_after(o.last_epoch);
  }
  ExponentialLR(Optimizer& optimizer, double gamma) : ExponentialLR(optimizer, Options{gamma}) {}
  template <std::same_as<Options> O = Options>
  ExponentialLR(Optimizer& optimizer, double gamma, O o) : ExponentialLR(optimizer, (o.gamma = gamma, o)) {}
};

struct LinearLROptions {
  double start_factor = 1.0 / 3, end_factor = 1;
  double total_iters = 5;
  std::int64_t last_epoch = -1;  // of a training that is continued
};
// From start_factor to end_factor times the rate in total_iters steps.
struct LinearLR : Scheduler {
  using Options = LinearLROptions;
  explicit LinearLR(Optimizer& optimizer, const Options& o = {})
      : Scheduler(optimizer, schedules::linear(o.start_factor, o.end_factor, o.total_iters)) {
    continue_after(o.last_epoch);
  }
};

struct PolynomialLROptions {
  double total_iters = 5, power = 1;
  std::int64_t last_epoch = -1;  // of a training that is continued
};
// (1 - step / total_iters)^power times the rate; then 0.
struct PolynomialLR : Scheduler {
  using Options = PolynomialLROptions;
  explicit PolynomialLR(Optimizer& optimizer, const Options& o = {})
      : Scheduler(optimizer, schedules::polynomial(o.total_iters, o.power)) {
    continue_after(o.last_epoch);
  }
};

struct CosineAnnealingLROptions {
  double t_max = 1;
  std::optional<double> T_max = {};  // PyTorch's name of t_max; takes its place
  double eta_min = 0;
  std::int64_t last_epoch = -1;  // of a training that is continued
};
// Half a wave of a cosine from the rate to eta_min in t_max steps. After them it rises again; schedules::cosine stays.
struct CosineAnnealingLR : Scheduler {
  using Options = CosineAnnealingLROptions;
  CosineAnnealingLR(Optimizer& optimizer, const Options& o)
      : Scheduler(optimizer, internal::waves(o.T_max.value_or(o.t_max), o.eta_min)) {
    continue_after(o.last_epoch);
  }
  CosineAnnealingLR(Optimizer& optimizer, double t_max, double eta_min = 0)
      : CosineAnnealingLR(optimizer, Options{.t_max = t_max, .eta_min = eta_min}) {}
  template <std::same_as<Options> O = Options>
  CosineAnnealingLR(Optimizer& optimizer, double t_max, O o) : CosineAnnealingLR(optimizer, (o.T_max = t_max, o)) {}
};

struct CosineAnnealingWarmRestartsOptions {
  double t_0 = 1;
  std::optional<double> T_0 = {};  // PyTorch's name of t_0; takes its place
  double t_mult = 1;
  std::optional<double> T_mult = {};  // PyTorch's name of t_mult; takes its place
  double eta_min = 0;
  std::int64_t last_epoch = -1;  // of a training that is continued
};
// Half waves as of CosineAnnealingLR again and again: the first period has t_0 steps, and each further one t_mult times
// those of the one before.
struct CosineAnnealingWarmRestarts : Scheduler {
  using Options = CosineAnnealingWarmRestartsOptions;
  CosineAnnealingWarmRestarts(Optimizer& optimizer, double t_0, double t_mult = 1, double eta_min = 0)
      : CosineAnnealingWarmRestarts(optimizer, Options{.t_0 = t_0, .t_mult = t_mult, .eta_min = eta_min}) {}
  template <std::same_as<Options> O = Options>
  CosineAnnealingWarmRestarts(Optimizer& optimizer, double t_0, O o)
      : CosineAnnealingWarmRestarts(optimizer, (o.T_0 = t_0, o)) {}
  CosineAnnealingWarmRestarts(Optimizer& optimizer, const Options& o)
      : Scheduler(optimizer,
                  schedules::cosine_restarts(o.T_0.value_or(o.t_0), o.T_mult.value_or(o.t_mult), o.eta_min)) {
    continue_after(o.last_epoch);
  }
};

struct OneCycleLROptions {
  double max_lr = 0, total_steps = 1;
  double epochs = 0, steps_per_epoch = 0;
  double pct_start = 0.3;
  std::string anneal_strategy = "cos";
  std::optional<bool> cycle_momentum = {};
  double base_momentum = 0.85, max_momentum = 0.95, div_factor = 25, final_div_factor = 1e4;
  bool three_phase = false;
  std::int64_t last_epoch = -1;  // of a training that is continued
};
// From max_lr / div_factor up to max_lr within pct_start of the steps, and down to max_lr / (div_factor
// final_div_factor), on waves of a cosine, or on lines ("linear"). three_phase: down to max_lr / div_factor as fast as
// it went up, and then to the end. Sets the rate of the optimizer and of its groups to max_lr first. total_steps, or
// epochs and steps_per_epoch. (Smith, Topin: arXiv:1708.07120, in PyTorch's form.)
//
// cycle_momentum: the hyperparameter "momentum", or "beta1" if the optimizer has that instead, goes from max_momentum
// to base_momentum and back. By default it is scheduled if there is one; with true, an optimizer without is a
// ValueError.
struct CATENA_EXPORT OneCycleLR : Scheduler {
  using Options = OneCycleLROptions;
  // ValueError for a max_lr that is not positive, another strategy, and a number of steps below 1
  OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& o);
  template <std::same_as<OneCycleLROptions> O = OneCycleLROptions>  // OneCycleLR(optimizer, 0.1, {.total_steps = 100})
  OneCycleLR(Optimizer& optimizer, double max_lr, O o) : OneCycleLR(optimizer, (o.max_lr = max_lr, std::move(o))) {}

 protected:
  void set(double step) override;

 private:
  std::optional<Scheduler> momentum_;
};

struct CyclicLROptions {
  double base_lr = 0, max_lr = 0;
  double step_size_up = 2000;
  std::optional<double> step_size_down = {};
  std::string mode = "triangular";
  double gamma = 1;
  catena::Function<double(double)> scale_fn = {};
  std::string scale_mode = "cycle";
  std::optional<bool> cycle_momentum = {};
  double base_momentum = 0.8, max_momentum = 0.9;
  std::int64_t last_epoch = -1;  // of a training that is continued
};
// Between base_lr and max_lr on lines, up in step_size_up steps and down in step_size_down (by default as many), again
// and again. mode: "triangular"; "triangular2", each cycle half as high; "exp_range", times gamma^step. scale_fn, in
// place of the mode, gets the number of the cycle, from 1, or of the step (scale_mode "iterations"). The momentum goes
// from max_momentum to base_momentum and back, as for OneCycleLR. (Smith: arXiv:1506.01186, in PyTorch's form.)
struct CATENA_EXPORT CyclicLR : Scheduler {
  using Options = CyclicLROptions;
  // ValueError for steps that are not positive, and for another mode or scale_mode
  CyclicLR(Optimizer& optimizer, const CyclicLROptions& o);
  template <std::same_as<CyclicLROptions> O = CyclicLROptions>
  CyclicLR(Optimizer& optimizer, double base_lr, double max_lr, O o = {})
      : CyclicLR(optimizer, (o.base_lr = base_lr, o.max_lr = max_lr, std::move(o))) {}

 protected:
  void set(double step) override;

 private:
  std::optional<Scheduler> momentum_;
};

struct SequentialLROptions {
  std::vector<double> milestones = {};
};
// One scheduler after the other, each up to its milestone: SequentialLR(optimizer, {warmup, cosine}, {.milestones =
// {5}}). Each begins with the rate from which the first one was made. The schedulers that are given are not stepped.
struct CATENA_EXPORT SequentialLR : Scheduler {
  // ValueError unless there is one milestone between each two schedulers, and they increase from above 0.
  SequentialLR(Optimizer& optimizer, const std::vector<Scheduler>& schedulers, const SequentialLROptions& o);
  template <std::same_as<std::vector<double>> M = std::vector<double>>  // so that {.milestones = ...} means the options
  SequentialLR(Optimizer& optimizer, const std::vector<Scheduler>& schedulers, M milestones)
      : SequentialLR(optimizer, schedulers, SequentialLROptions{std::move(milestones)}) {}
};

// Several schedulers at once: each takes the value of the one before as its base, so that factors are multiplied.
// Begins with the rate from which the first one was made. The schedulers that are given are not stepped.
struct CATENA_EXPORT ChainedScheduler : Scheduler {
  explicit ChainedScheduler(const std::vector<Scheduler>& schedulers);
  // With PyTorch's second argument; ValueError for another optimizer than that of the schedulers.
  ChainedScheduler(const std::vector<Scheduler>& schedulers, const Optimizer& optimizer);
};

struct SWALROptions {
  double swa_lr = 0.05, anneal_epochs = 10;
  std::string anneal_strategy = "cos";
};
// From the rate to swa_lr in anneal_epochs steps, on half a wave of a cosine, or on a line ("linear"): for averages of
// weights (AveragedModel). ValueError for another strategy.
struct CATENA_EXPORT SWALR : Scheduler {
  using Options = SWALROptions;
  SWALR(Optimizer& optimizer, const Options& o);
  SWALR(Optimizer& optimizer, double swa_lr) : SWALR(optimizer, Options{.swa_lr = swa_lr}) {}
  template <std::same_as<Options> O = Options>
  SWALR(Optimizer& optimizer, double swa_lr, O o) : SWALR(optimizer, (o.swa_lr = swa_lr, std::move(o))) {}
};

// The schedules of the library Transformers, whose factor grows from 0 to 1 in num_warmup_steps steps: it then stays
// (constant), falls on a line to 0 at num_training_steps (linear), or on num_cycles waves of a cosine, of which half a
// one ends at 0 (cosine).
struct WarmupOptions {
  double num_warmup_steps = 0, num_training_steps = 0;
  double num_cycles = 0.5;
  std::int64_t last_epoch = -1;  // of a training that is continued
};
CATENA_EXPORT LambdaLR get_constant_schedule_with_warmup(Optimizer& optimizer, const WarmupOptions& o);
CATENA_EXPORT LambdaLR get_linear_schedule_with_warmup(Optimizer& optimizer, const WarmupOptions& o);
CATENA_EXPORT LambdaLR get_cosine_schedule_with_warmup(Optimizer& optimizer, const WarmupOptions& o);
inline LambdaLR get_constant_schedule_with_warmup(Optimizer& optimizer, double num_warmup_steps) {
  return get_constant_schedule_with_warmup(optimizer, WarmupOptions{.num_warmup_steps = num_warmup_steps});
}
inline LambdaLR get_linear_schedule_with_warmup(Optimizer& optimizer, double num_warmup_steps,
                                                double num_training_steps) {
  return get_linear_schedule_with_warmup(optimizer, WarmupOptions{num_warmup_steps, num_training_steps});
}
inline LambdaLR get_cosine_schedule_with_warmup(Optimizer& optimizer, double num_warmup_steps,
                                                double num_training_steps, double num_cycles = 0.5) {
  return get_cosine_schedule_with_warmup(optimizer, WarmupOptions{num_warmup_steps, num_training_steps, num_cycles});
}

// PyTorch's name of the scheduler that looks at a measure: scheduler.step(loss).
using ReduceLROnPlateau = PlateauScheduler;

// PyTorch's module.
namespace lr_scheduler {
using namespace training;
}  // namespace lr_scheduler

}  // namespace training
