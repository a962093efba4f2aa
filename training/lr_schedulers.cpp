#include <catena/training/lr_schedulers.h>

#include <cmath>
#include <numbers>

#include <catena/kernels/base/error.h>
#include <catena/training/phases.h>

namespace training {

using catena::check;
using catena::ValueError;

catena::Function<double(int)> internal::given(catena::Function<double(int)> f, const char* who) {
  check<ValueError>(bool(f), who, "lr_lambda is not given");
  return f;
}

Schedule internal::waves(double length, double end) {
  check<ValueError>(length > 0, "CosineAnnealingLR", "T_max is ", length, " and must be positive");
  return [length, end](double base, double step) {
    return end + (base - end) / 2 * (1 + std::cos(std::numbers::pi * step / length));
  };
}

namespace {

bool are_lines(const char* who, const std::string& strategy) {
  check<ValueError>(strategy == "cos" || strategy == "linear", who, "anneal_strategy is \"", strategy,
                    "\" and must be \"cos\" or \"linear\"");
  return strategy == "linear";
}

// The hyperparameter that is scheduled as the momentum; empty if none is.
std::string momentum_of(const char* who, const Optimizer& optimizer, std::optional<bool> wanted) {
  if (wanted && !*wanted) return {};
  for (const std::string& name : optimizer.hyper_names())
    if (name == "momentum" || name == "beta1") return name;
  check<ValueError>(!wanted, who, "cycle_momentum is true, but the optimizer has neither a momentum nor a beta1");
  return {};
}

// ---- one cycle ----
double steps_of(const OneCycleLROptions& o) {
  const double steps = o.epochs != 0 || o.steps_per_epoch != 0 ? o.epochs * o.steps_per_epoch : o.total_steps;
  check<ValueError>(steps >= 1, "OneCycleLR", "the number of steps is ", steps, " and must be at least 1");
  check<ValueError>(o.pct_start > 0 && o.pct_start < 1, "OneCycleLR", "pct_start is ", o.pct_start,
                    " and must lie between 0 and 1");
  return steps;
}

// low: the value at the start, high: in the middle, last: at the end.
Schedule cycle_of(const OneCycleLROptions& o, double low, double high, double last) {
  const double steps = steps_of(o), up = o.pct_start * steps - 1;
  std::vector<internal::Phase> phases{{up, low, high}};
  if (o.three_phase) phases.push_back({2 * o.pct_start * steps - 2, high, low});
  phases.push_back({steps - 1, o.three_phase ? low : high, last});
  return [phases = std::move(phases), lines = are_lines("OneCycleLR", o.anneal_strategy)](double, double step) {
    return internal::value_of(phases, lines, step);
  };
}
Schedule rate_of(const OneCycleLROptions& o) {
  const double low = o.max_lr / o.div_factor;
  return cycle_of(o, low, o.max_lr, low / o.final_div_factor);
}

// Checks the options, and then sets the rate from which the cycle is computed.
Optimizer& at_rate(Optimizer& optimizer, const OneCycleLROptions& o) {
  const double lr = o.max_lr;
  check<ValueError>(lr > 0, "OneCycleLR", "max_lr is ", lr, " and must be positive");
  rate_of(o);  // for its checks
  momentum_of("OneCycleLR", optimizer, o.cycle_momentum);
  optimizer.set_lr(lr);
  const std::string hyper = internal::hyper_to_set(optimizer, {}, "OneCycleLR");
  for (ParamGroup& group : internal::groups_with(optimizer, hyper)) group.set_hyper(hyper, lr);
  return optimizer;
}

// ---- cycles ----
// The part of the way from the base to the greatest value.
catena::Function<double(double step)> height_of(const CyclicLROptions& o) {
  const double up = o.step_size_up, down = o.step_size_down.value_or(up), total = up + down;
  check<ValueError>(up > 0 && down > 0, "CyclicLR", "step_size_up is ", up, " and step_size_down ", down,
                    "; both must be positive");
  check<ValueError>(o.mode == "triangular" || o.mode == "triangular2" || o.mode == "exp_range", "CyclicLR",
                    "mode is \"", o.mode, "\" and must be \"triangular\", \"triangular2\" or \"exp_range\"");
  check<ValueError>(o.scale_mode == "cycle" || o.scale_mode == "iterations", "CyclicLR", "scale_mode is \"",
                    o.scale_mode, "\" and must be \"cycle\" or \"iterations\"");
  const bool by_step = o.scale_fn ? o.scale_mode == "iterations" : o.mode == "exp_range";
  return [=, scale = o.scale_fn, mode = o.mode, gamma = o.gamma](double step) {
    const double cycle = std::floor(1 + step / total), x = 1 + step / total - cycle, ratio = up / total;
    const double height = x <= ratio ? x / ratio : (x - 1) / (ratio - 1);
    const double at = by_step ? step : cycle;
    if (scale) return height * scale(at);
    return height * (mode == "triangular2" ? std::pow(2.0, 1 - at) : mode == "exp_range" ? std::pow(gamma, at) : 1);
  };
}

// Checks that there is a momentum if one is wanted.
Optimizer& with_momentum(Optimizer& optimizer, const CyclicLROptions& o) {
  momentum_of("CyclicLR", optimizer, o.cycle_momentum);
  return optimizer;
}

// ---- one after the other ----
// Returns the number of steps of each of n schedulers; 0 for the last one, which has no end.
std::vector<double> lengths_of(std::size_t n, const std::vector<double>& milestones) {
  check<ValueError>(n > 0, "SequentialLR", "there are no schedulers");
  check<ValueError>(milestones.size() + 1 == n, "SequentialLR", milestones.size(), " milestones are given for ", n,
                    " schedulers; there must be one less");
  std::vector<double> lengths;
  double begin = 0;
  for (const double end : milestones) {
    check<ValueError>(end - begin > 0, "SequentialLR", "a number of steps is ", end - begin, " and must be positive");
    lengths.push_back(end - begin);
    begin = end;
  }
  lengths.push_back(0);
  return lengths;
}

}  // namespace

OneCycleLR::OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& o)
    : Scheduler(at_rate(optimizer, o), rate_of(o)) {
  if (const std::string name = momentum_of("OneCycleLR", optimizer, o.cycle_momentum); !name.empty())
    momentum_.emplace(optimizer, cycle_of(o, o.max_momentum, o.base_momentum, o.max_momentum), name);
  continue_after(o.last_epoch);
  if (momentum_ && o.last_epoch >= 0) momentum_->step(double(o.last_epoch + 1));
}
void OneCycleLR::set(double step) {
  Scheduler::set(step);
  if (momentum_) momentum_->step(step);
}

CyclicLR::CyclicLR(Optimizer& optimizer, const CyclicLROptions& o)
    : Scheduler(with_momentum(optimizer, o), [height = height_of(o), low = o.base_lr, high = o.max_lr](
                                                 double, double step) { return low + (high - low) * height(step); }) {
  if (const std::string name = momentum_of("CyclicLR", optimizer, o.cycle_momentum); !name.empty())
    momentum_.emplace(
        optimizer,
        [height = height_of(o), low = o.base_momentum, high = o.max_momentum](double, double step) {
          return high - (high - low) * height(step);
        },
        name);
  continue_after(o.last_epoch);
  if (momentum_ && o.last_epoch >= 0) momentum_->step(double(o.last_epoch + 1));
}
void CyclicLR::set(double step) {
  Scheduler::set(step);
  if (momentum_) momentum_->step(step);
}

SequentialLR::SequentialLR(Optimizer& optimizer, const std::vector<Scheduler>& schedulers, const SequentialLROptions& o)
    : Scheduler(
          [&]() -> Optimizer& {
            lengths_of(schedulers.size(), o.milestones);  // for its checks
            for (const Scheduler& s : schedulers)
              check<ValueError>(s.optimizer_ == &optimizer, "SequentialLR", "a scheduler is not of this optimizer");
            return common_optimizer("SequentialLR", schedulers);
          }(),
          [&] {
            const std::vector<double> lengths = lengths_of(schedulers.size(), o.milestones);
            std::vector<std::pair<Schedule, double>> parts;
            for (std::size_t i = 0; i < lengths.size(); ++i) parts.emplace_back(schedulers[i].schedule_, lengths[i]);
            return schedules::sequence(std::move(parts));
          }(),
          schedulers.empty() ? std::string() : schedulers.front().hyper_) {}

ChainedScheduler::ChainedScheduler(const std::vector<Scheduler>& schedulers)
    : Scheduler(
          common_optimizer("ChainedScheduler", schedulers),
          [parts =
               [&] {
                 std::vector<Schedule> all;
                 for (const Scheduler& s : schedulers) all.push_back(s.schedule_);
                 return all;
               }()](double base, double step) {
            double value = base;
            for (const Schedule& part : parts) value = part(value, step);
            return value;
          },
          schedulers.empty() ? std::string() : schedulers.front().hyper_) {}
ChainedScheduler::ChainedScheduler(const std::vector<Scheduler>& schedulers, const Optimizer& optimizer)
    : ChainedScheduler([&]() -> const std::vector<Scheduler>& {
        for (const Scheduler& s : schedulers)
          check<ValueError>(s.optimizer_ == &optimizer, "ChainedScheduler", "a scheduler is not of this optimizer");
        return schedulers;
      }()) {}

SWALR::SWALR(Optimizer& optimizer, const Options& o)
    : Scheduler(optimizer, are_lines("SWALR", o.anneal_strategy) ? schedules::polynomial(o.anneal_epochs, 1, o.swa_lr)
                                                                 : schedules::cosine(o.anneal_epochs, o.swa_lr)) {}

namespace {

// The schedule whose factor after the warm-up is rest(steps since then, steps of the training after it). The latter are
// 0 or negative where the warm-up is the whole training.
template <class Rest> LambdaLR warmed_up(Optimizer& optimizer, const WarmupOptions& o, Rest rest) {
  const auto factor = [o, rest](int step) {
    if (step < o.num_warmup_steps) return step / std::fmax(1, o.num_warmup_steps);
    return rest(step - o.num_warmup_steps, o.num_training_steps - o.num_warmup_steps);
  };
  return LambdaLR(optimizer, LambdaLR::Options{.lr_lambda = factor, .last_epoch = o.last_epoch});
}

}  // namespace

LambdaLR get_constant_schedule_with_warmup(Optimizer& optimizer, const WarmupOptions& o) {
  return warmed_up(optimizer, o, [](double, double) { return 1.0; });
}
LambdaLR get_linear_schedule_with_warmup(Optimizer& optimizer, const WarmupOptions& o) {
  return warmed_up(optimizer, o,
                   [](double step, double steps) { return std::fmax(0, steps - step) / std::fmax(1, steps); });
}
LambdaLR get_cosine_schedule_with_warmup(Optimizer& optimizer, const WarmupOptions& o) {
  return warmed_up(optimizer, o, [cycles = o.num_cycles](double step, double steps) {
    return std::fmax(0, (1 + std::cos(2 * std::numbers::pi * cycles * step / std::fmax(1, steps))) / 2);
  });
}

}  // namespace training
