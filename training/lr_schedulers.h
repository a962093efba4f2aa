// Schedulers of the learning rate by PyTorch's names: Scheduler with one of the functions of schedules.h.
//
//   training::StepLR scheduler(optimizer, {.step_size = 30});
//   for (...) { train(); scheduler.step(); }
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include <catena/training/schedules.h>

namespace training {

// A factor for the rate after `step` steps: LambdaLR(optimizer, [](int step) { return 1 / (1.0 + step); }).
class LambdaLR : public Scheduler {
 public:
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
class StepLR : public Scheduler {
 public:
  using Options = StepLROptions;
  StepLR(Optimizer& optimizer, const Options& o) : Scheduler(optimizer, schedules::step(o.step_size, o.gamma)) {}
  StepLR(Optimizer& optimizer, double step_size, double gamma = 0.1) : StepLR(optimizer, Options{step_size, gamma}) {}
};

// The rate times gamma after each of these numbers of steps.
struct MultiStepLROptions {
  std::vector<double> milestones = {};
  double gamma = 0.1;
};
class MultiStepLR : public Scheduler {
 public:
  using Options = MultiStepLROptions;
  MultiStepLR(Optimizer& optimizer, const Options& o)
      : Scheduler(optimizer, schedules::multi_step(o.milestones, o.gamma)) {}
};

// The rate times gamma after every step.
struct ExponentialLROptions {
  double gamma = 0.9;
};
class ExponentialLR : public Scheduler {
 public:
  using Options = ExponentialLROptions;
  ExponentialLR(Optimizer& optimizer, const Options& o) : Scheduler(optimizer, schedules::exponential(o.gamma)) {}
  ExponentialLR(Optimizer& optimizer, double gamma) : ExponentialLR(optimizer, Options{gamma}) {}
};

// From start_factor to end_factor times the rate in total_iters steps.
struct LinearLROptions {
  double start_factor = 1.0 / 3, end_factor = 1;
  double total_iters = 5;
};
class LinearLR : public Scheduler {
 public:
  using Options = LinearLROptions;
  explicit LinearLR(Optimizer& optimizer, const Options& o = {})
      : Scheduler(optimizer, schedules::linear(o.start_factor, o.end_factor, o.total_iters)) {}
};

// (1 - step / total_iters)^power times the rate; then 0.
struct PolynomialLROptions {
  double total_iters = 5, power = 1;
};
class PolynomialLR : public Scheduler {
 public:
  using Options = PolynomialLROptions;
  explicit PolynomialLR(Optimizer& optimizer, const Options& o = {})
      : Scheduler(optimizer, schedules::polynomial(o.total_iters, o.power)) {}
};

// Half a wave of a cosine from the rate to eta_min in t_max steps. After them the rate stays eta_min; in PyTorch it
// rises again.
struct CosineAnnealingLROptions {
  double t_max = 1;
  double eta_min = 0;
};
class CosineAnnealingLR : public Scheduler {
 public:
  using Options = CosineAnnealingLROptions;
  CosineAnnealingLR(Optimizer& optimizer, const Options& o)
      : Scheduler(optimizer, schedules::cosine(o.t_max, o.eta_min)) {}
  CosineAnnealingLR(Optimizer& optimizer, double t_max, double eta_min = 0)
      : CosineAnnealingLR(optimizer, Options{t_max, eta_min}) {}
};

// The same again and again: the first period has t_0 steps, and each further one t_mult times those of the one before.
struct CosineAnnealingWarmRestartsOptions {
  double t_0 = 1, t_mult = 1;
  double eta_min = 0;
};
class CosineAnnealingWarmRestarts : public Scheduler {
 public:
  using Options = CosineAnnealingWarmRestartsOptions;
  CosineAnnealingWarmRestarts(Optimizer& optimizer, const Options& o)
      : Scheduler(optimizer, schedules::cosine_restarts(o.t_0, o.t_mult, o.eta_min)) {}
};

// PyTorch's name of the scheduler that looks at a measure: scheduler.step(loss).
using ReduceLROnPlateau = PlateauScheduler;

}  // namespace training
