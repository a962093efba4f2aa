// Schedulers of the learning rate by PyTorch's names: Scheduler with one of the functions of schedules.h.
//
//   training::StepLR scheduler(optimizer, {.step_size = 30});
//   for (...) { train(); scheduler.step(); }
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/training/schedules.h>

namespace training {

// A factor for the rate after `step` steps: LambdaLR(optimizer, [](int step) { return 1 / (1.0 + step); }).
struct LambdaLR : Scheduler {
  template <class F>
  LambdaLR(Optimizer& optimizer, F factor) requires std::is_invocable_r_v<double, F&, int>
      : Scheduler(optimizer, [factor = std::move(factor)](double base, double step) mutable {
        return base * double(factor(int(step)));
      }) {}
};

// The rate times gamma after every step_size steps.
struct StepLROptions {
  double step_size = 1;
  double gamma = 0.1;
};
struct StepLR : Scheduler {
  using Options = StepLROptions;
  StepLR(Optimizer& optimizer, const Options& o) : Scheduler(optimizer, schedules::step(o.step_size, o.gamma)) {}
  StepLR(Optimizer& optimizer, double step_size, double gamma = 0.1) : StepLR(optimizer, Options{step_size, gamma}) {}
};

// The rate times gamma after each of these numbers of steps.
struct MultiStepLROptions {
  std::vector<double> milestones = {};
  double gamma = 0.1;
};
struct MultiStepLR : Scheduler {
  using Options = MultiStepLROptions;
  MultiStepLR(Optimizer& optimizer, const Options& o)
      : Scheduler(optimizer, schedules::multi_step(o.milestones, o.gamma)) {}
  template <std::same_as<std::vector<double>> M = std::vector<double>>  // so that {.milestones = ...} means the options
  MultiStepLR(Optimizer& optimizer, M milestones, double gamma = 0.1)
      : MultiStepLR(optimizer, Options{std::move(milestones), gamma}) {}
};

// The rate times `factor` for total_iters steps, and then the rate.
struct ConstantLROptions {
  double factor = 1.0 / 3, total_iters = 5;
};
struct ConstantLR : Scheduler {
  using Options = ConstantLROptions;
  explicit ConstantLR(Optimizer& optimizer, const Options& o = {})
      : Scheduler(optimizer, [o](double base, double step) { return step < o.total_iters ? base * o.factor : base; }) {}
};

// The rate times gamma after every step.
struct ExponentialLROptions {
  double gamma = 0.9;
};
struct ExponentialLR : Scheduler {
  using Options = ExponentialLROptions;
  ExponentialLR(Optimizer& optimizer, const Options& o) : Scheduler(optimizer, schedules::exponential(o.gamma)) {}
  ExponentialLR(Optimizer& optimizer, double gamma) : ExponentialLR(optimizer, Options{gamma}) {}
};

// From start_factor to end_factor times the rate in total_iters steps.
struct LinearLROptions {
  double start_factor = 1.0 / 3, end_factor = 1;
  double total_iters = 5;
};
struct LinearLR : Scheduler {
  using Options = LinearLROptions;
  explicit LinearLR(Optimizer& optimizer, const Options& o = {})
      : Scheduler(optimizer, schedules::linear(o.start_factor, o.end_factor, o.total_iters)) {}
};

// (1 - step / total_iters)^power times the rate; then 0.
struct PolynomialLROptions {
  double total_iters = 5, power = 1;
};
struct PolynomialLR : Scheduler {
  using Options = PolynomialLROptions;
  explicit PolynomialLR(Optimizer& optimizer, const Options& o = {})
      : Scheduler(optimizer, schedules::polynomial(o.total_iters, o.power)) {}
};

// Half a wave of a cosine from the rate to eta_min in t_max steps. After them the rate stays eta_min; in PyTorch it
// rises again.
struct CosineAnnealingLROptions {
  double t_max = 1, T_max = t_max;  // one of the two, PyTorch's is T_max
  double eta_min = 0;
};
struct CosineAnnealingLR : Scheduler {
  using Options = CosineAnnealingLROptions;
  CosineAnnealingLR(Optimizer& optimizer, const Options& o)
      : Scheduler(optimizer, schedules::cosine(o.T_max, o.eta_min)) {}
  CosineAnnealingLR(Optimizer& optimizer, double t_max, double eta_min = 0)
      : CosineAnnealingLR(optimizer, Options{.t_max = t_max, .eta_min = eta_min}) {}
};

// The same again and again: the first period has t_0 steps, and each further one t_mult times those of the one before.
struct CosineAnnealingWarmRestartsOptions {
  double t_0 = 1, T_0 = t_0, t_mult = 1, T_mult = t_mult;  // T_0, T_mult: PyTorch's names of t_0, t_mult
  double eta_min = 0;
};
struct CosineAnnealingWarmRestarts : Scheduler {
  using Options = CosineAnnealingWarmRestartsOptions;
  CosineAnnealingWarmRestarts(Optimizer& optimizer, double t_0, double t_mult = 1, double eta_min = 0)
      : CosineAnnealingWarmRestarts(optimizer, Options{.t_0 = t_0, .t_mult = t_mult, .eta_min = eta_min}) {}
  CosineAnnealingWarmRestarts(Optimizer& optimizer, const Options& o)
      : Scheduler(optimizer, schedules::cosine_restarts(o.T_0, o.T_mult, o.eta_min)) {}
};

// From max_lr / div_factor up to max_lr within pct_start of the steps, and down to max_lr / (div_factor
// final_div_factor), on waves of a cosine. Sets the rate of the optimizer and of its groups to max_lr first.
struct OneCycleLROptions {
  double max_lr = 0, total_steps = 1, pct_start = 0.3, div_factor = 25, final_div_factor = 1e4;
};
struct CATENA_EXPORT OneCycleLR : Scheduler {
  OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& o);  // ValueError for a max_lr that is not positive
};

// One scheduler after the other, each up to its milestone: SequentialLR(optimizer, {warmup, cosine}, {.milestones =
// {5}}). Each begins with the rate from which the first one was made. The schedulers that are given are not stepped.
struct SequentialLROptions {
  std::vector<double> milestones = {};
};
struct CATENA_EXPORT SequentialLR : Scheduler {
  // ValueError unless there is one milestone between each two schedulers, and they increase from above 0.
  SequentialLR(Optimizer& optimizer, const std::vector<Scheduler>& schedulers, const SequentialLROptions& o);
  template <std::same_as<std::vector<double>> M = std::vector<double>>  // so that {.milestones = ...} means the options
  SequentialLR(Optimizer& optimizer, const std::vector<Scheduler>& schedulers, M milestones)
      : SequentialLR(optimizer, schedulers, SequentialLROptions{std::move(milestones)}) {}
};

// From the rate to swa_lr in anneal_epochs steps, on half a wave of a cosine: for averages of weights (AveragedModel).
struct SWALROptions {
  double swa_lr = 0.05, anneal_epochs = 10;
};
struct SWALR : Scheduler {
  using Options = SWALROptions;
  SWALR(Optimizer& optimizer, const Options& o) : Scheduler(optimizer, schedules::cosine(o.anneal_epochs, o.swa_lr)) {}
  SWALR(Optimizer& optimizer, double swa_lr) : SWALR(optimizer, Options{.swa_lr = swa_lr}) {}
};

// PyTorch's name of the scheduler that looks at a measure: scheduler.step(loss).
using ReduceLROnPlateau = PlateauScheduler;

// PyTorch's module.
namespace lr_scheduler {
using namespace training;
}  // namespace lr_scheduler

}  // namespace training
