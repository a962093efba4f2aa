#include <catena/training/schedules.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <catena/kernels/base/error.h>
#include <catena/nn/serializers/state_dict.h>
#include <catena/training/hyper_reference.h>
#include <catena/training/lr_schedulers.h>
#include <catena/training/phases.h>
#include <catena/training/stored_number.h>

namespace training {

using catena::check;
using catena::KeyError;
using catena::ValueError;

namespace {

void check_length(const char* op, const char* name, double length) {
  check<ValueError>(length > 0, op, name, " is ", length, " and must be positive");
}

// From 1 to 0 while `part` goes from 0 to 1.
double half_wave(double part) { return (1 + std::cos(std::numbers::pi * part)) / 2; }
double between(double from, double to, double weight_of_from) { return to + (from - to) * weight_of_from; }

}  // namespace

double internal::value_of(const std::vector<Phase>& phases, bool lines, double step) {
  double begin = 0;
  std::size_t i = 0;
  while (step > phases[i].end && i + 1 < phases.size()) begin = phases[i++].end;
  const Phase& p = phases[i];
  const double part = std::fmin((step - begin) / (p.end - begin), 1);  // 1 also for NaN: a phase of no length
  return between(p.from, p.to, lines ? 1 - part : half_wave(part));
}

namespace schedules {

Schedule constant() {
  return [](double base, double) { return base; };
}

Schedule step(double period, double gamma) {
  check_length("schedules::step", "period", period);
  return [=](double base, double t) { return base * std::pow(gamma, std::floor(t / period)); };
}

Schedule multi_step(std::vector<double> milestones, double gamma) {
  for (std::size_t i = 1; i < milestones.size(); ++i)
    check<ValueError>(milestones[i - 1] <= milestones[i], "schedules::multi_step", "the milestone ", milestones[i],
                      " follows ", milestones[i - 1], "; they must increase");
  return [milestones = std::move(milestones), gamma](double base, double t) {
    const auto passed = std::upper_bound(milestones.begin(), milestones.end(), t) - milestones.begin();
    return base * std::pow(gamma, double(passed));
  };
}

Schedule exponential(double gamma) {
  return [=](double base, double t) { return base * std::pow(gamma, t); };
}

Schedule inverse(double gamma, double power) {
  return [=](double base, double t) { return base * std::pow(1 + gamma * t, -power); };
}

Schedule polynomial(double length, double power, double end) {
  check_length("schedules::polynomial", "length", length);
  return [=](double base, double t) { return between(base, end, std::pow(1 - std::min(t, length) / length, power)); };
}

Schedule linear(double start_factor, double end_factor, double length) {
  check_length("schedules::linear", "length", length);
  return
      [=](double base, double t) { return base * between(start_factor, end_factor, 1 - std::min(t, length) / length); };
}

Schedule cosine(double length, double end) {
  check_length("schedules::cosine", "length", length);
  return [=](double base, double t) { return between(base, end, half_wave(std::min(t, length) / length)); };
}

Schedule cosine_restarts(double length, double factor, double end) {
  check_length("schedules::cosine_restarts", "length", length);
  check<ValueError>(factor >= 1, "schedules::cosine_restarts", "factor is ", factor, " and must be at least 1");
  return [=](double base, double t) {
    double begin = 0, period = length;
    if (factor == 1) {
      begin = std::floor(t / length) * length;
    } else {
      for (; t >= begin + period; period *= factor) begin += period;
    }
    return between(base, end, half_wave((t - begin) / period));
  };
}

Schedule one_cycle(double length, const OneCycleOptions& o) {
  check_length("schedules::one_cycle", "length", length);
  check<ValueError>(o.warmup >= 0 && o.warmup <= 1, "schedules::one_cycle", "warmup is ", o.warmup,
                    " and must be a part of the length, between 0 and 1");
  // The last step is length - 1, and the greatest value is that of the step warmup length - 1.
  std::vector<internal::Phase> phases{{o.warmup * length - 1, o.start_factor, 1}, {length - 1, 1, o.end_factor}};
  return [phases = std::move(phases), lines = o.lines](double base, double t) {
    return base * internal::value_of(phases, lines, t);
  };
}

Schedule warmup(double length, Schedule next, double start_factor) {
  check_length("schedules::warmup", "length", length);
  check<ValueError>(bool(next), "schedules::warmup", "the schedule after it is empty");
  return [=, next = std::move(next)](double base, double t) {
    return t < length ? base * between(start_factor, 1, 1 - t / length) : next(base, t - length);
  };
}

Schedule sequence(std::vector<std::pair<Schedule, double>> parts) {
  check<ValueError>(!parts.empty(), "schedules::sequence", "there must be at least one schedule");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    check<ValueError>(bool(parts[i].first), "schedules::sequence", "the schedule ", i, " is empty");
    if (i + 1 < parts.size()) check_length("schedules::sequence", "a number of steps", parts[i].second);
  }
  return [parts = std::move(parts)](double base, double t) {
    std::size_t i = 0;
    for (; i + 1 < parts.size() && t >= parts[i].second; ++i) t -= parts[i].second;
    return parts[i].first(base, t);
  };
}

}  // namespace schedules

std::string internal::hyper_to_set(const Optimizer& optimizer, const std::string& hyper, std::string_view who) {
  const std::vector<std::string> names = optimizer.hyper_names();
  const auto has = [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  std::string name = hyper.empty() ? own_name(optimizer, "lr") : hyper;
  if (has(name)) return name;
  std::string listed;
  for (const std::string& one : names) listed += (listed.empty() ? "" : ", ") + one;
  catena::fail<KeyError>(who, "the optimizer ", optimizer.rule().name, " has no hyperparameter ",
                         hyper.empty() ? "lr or alpha" : hyper, " to be set (it has: ", listed, ")");
}

std::vector<ParamGroup> internal::groups_with(Optimizer& optimizer, std::string_view hyper) {
  std::vector<ParamGroup> groups = optimizer.param_groups();
  std::erase_if(groups, [&](const ParamGroup& group) { return !group.has_hyper(hyper); });
  return groups;
}

Scheduler::Scheduler(Optimizer& optimizer, Schedule schedule, std::string hyper)
    : optimizer_(&optimizer),
      schedule_(std::move(schedule)),
      hyper_(internal::hyper_to_set(optimizer, hyper, "Scheduler")),
      base_(optimizer.get_hyper(hyper_)) {
  check<ValueError>(bool(schedule_), "Scheduler", "the schedule is empty");
  for (ParamGroup& group : internal::groups_with(optimizer, hyper_)) {
    const double base = group.get_hyper(hyper_);
    groups_.emplace_back(std::move(group), base);
  }
  set(0);
}

Scheduler::Scheduler(ParamGroup group, Schedule schedule, std::string hyper)
    : optimizer_(nullptr),
      schedule_(std::move(schedule)),
      hyper_(internal::hyper_to_set(group.optimizer(), hyper, "Scheduler")),
      base_(group.get_hyper(hyper_)) {
  check<ValueError>(bool(schedule_), "Scheduler", "the schedule is empty");
  groups_.emplace_back(std::move(group), base_);
  set(0);
}

void Scheduler::set(double step) {
  if (optimizer_ != nullptr) optimizer_->set_hyper(hyper_, schedule_(base_, step));
  for (auto& [group, base] : groups_) group.set_hyper(hyper_, schedule_(base, step));
}

std::vector<double> Scheduler::get_last_lr() const {
  if (optimizer_ == nullptr) return {value()};
  std::vector<double> values;
  for (const ParamGroup& group : optimizer_->param_groups()) values.push_back(group.get_hyper(hyper_));
  return values;
}

double Scheduler::value() const {
  return optimizer_ != nullptr ? optimizer_->get_hyper(hyper_) : groups_[0].first.get_hyper(hyper_);
}

void Scheduler::step() {
  ++t_;
  set(double(t_));
}

void Scheduler::step(double epoch) {
  check<ValueError>(epoch >= 0, "Scheduler", "the epoch is ", epoch, " and must not be negative");
  t_ = static_cast<std::int64_t>(epoch);
  set(epoch);
}

void Scheduler::continue_after(std::int64_t last_epoch) {
  check<ValueError>(last_epoch >= -1, "Scheduler", "last_epoch is ", last_epoch, "; it is at least -1");
  if (last_epoch >= 0) step(double(last_epoch + 1));
}

Optimizer& Scheduler::common_optimizer(const char* who, const std::vector<Scheduler>& schedulers) {
  check<ValueError>(!schedulers.empty(), who, "there are no schedulers");
  // The schedulers have set the rate; that of before is the base of all of them.
  const Scheduler& first = schedulers.front();
  for (const Scheduler& s : schedulers)
    check<ValueError>(s.optimizer_ != nullptr && s.optimizer_ == first.optimizer_ && s.hyper_ == first.hyper_, who,
                      s.optimizer_ != first.optimizer_ ? "the schedulers are of different optimizers"
                      : s.optimizer_ == nullptr        ? "a scheduler is of one group"
                                                       : "the schedulers are of different hyperparameters");
  first.optimizer_->set_hyper(first.hyper_, first.base_);
  for (auto [group, base] : first.groups_) group.set_hyper(first.hyper_, base);
  return *first.optimizer_;
}

void Scheduler::serialize(Serializer& s) {
  internal::restore_on_rollback(s, t_, base_, groups_);
  internal::serialize_count(s, "t", t_, "Scheduler");
  s("base", base_);
  if (optimizer_ == nullptr) {
    groups_[0].second = base_;
  } else {
    // A group that the file does not have keeps the rate with which it was added.
    for (auto& [group, base] : groups_)
      if (const std::string key = "bases/" + group.name(); s.is_writer() || s.contains(key)) s(key, base);
  }
  if (!s.is_writer()) set(double(t_));
}

nn::StateDict Scheduler::state_dict() { return nn::state_dict(*this); }
nn::LoadReport Scheduler::load_state_dict(const nn::StateDict& state) { return nn::load_state_dict(*this, state); }

namespace {

bool is_better(const PlateauOptions& o, double measure, double best) {
  const double sign = o.maximize ? 1 : -1;
  const double bound = o.relative ? best * (1 + sign * o.threshold) : best + sign * o.threshold;
  return o.maximize ? measure > bound : measure < bound;
}

}  // namespace

internal::Plateau::Plateau(PlateauOptions o) : options(std::move(o)) {
  check<ValueError>(options.mode == "min" || options.mode == "max", "PlateauOptions", "mode is \"", options.mode,
                    "\" and must be \"min\" or \"max\"");
  options.maximize = options.maximize || options.mode == "max";
  check<ValueError>(options.threshold_mode == "rel" || options.threshold_mode == "abs", "PlateauOptions",
                    "threshold_mode is \"", options.threshold_mode, "\" and must be \"rel\" or \"abs\"");
  options.relative = options.relative && options.threshold_mode == "rel";
  best = options.maximize ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  check<ValueError>(options.factor > 0 && options.factor < 1, "PlateauOptions", "factor is ", options.factor,
                    " and must be between 0 and 1");
}

void internal::Plateau::step(double measure, Optimizer& optimizer, const std::string& hyper) {
  if (is_better(options, measure, best)) {
    best = measure;
    bad = 0;
  } else {
    ++bad;
  }
  if (cooldown > 0) {
    --cooldown;
    bad = 0;
  }
  if (bad <= options.patience) return;
  cooldown = options.cooldown;
  bad = 0;
  const double least = options.min_lr.value_or(options.least);
  const auto reduced = [this, least](double value) {
    const double wanted = std::max(value * options.factor, least);
    return value - wanted > options.eps ? wanted : value;
  };
  optimizer.set_hyper(hyper, reduced(optimizer.get_hyper(hyper)));
  for (ParamGroup& group : groups_with(optimizer, hyper)) group.set_hyper(hyper, reduced(group.get_hyper(hyper)));
}

void internal::Plateau::serialize(Serializer& s) {
  restore_on_rollback(s, best, bad, cooldown);
  s("best", best);
  serialize_count(s, "bad", bad, "Plateau");
  serialize_count(s, "cooldown", cooldown, "Plateau");
}

PlateauScheduler::PlateauScheduler(Optimizer& optimizer, PlateauOptions options)
    : optimizer_(&optimizer),
      state_(std::move(options)),
      hyper_(internal::hyper_to_set(optimizer, state_.options.hyper, "PlateauScheduler")) {}

void PlateauScheduler::step(double measure) { state_.step(measure, *optimizer_, hyper_); }

void PlateauScheduler::serialize(Serializer& s) {
  state_.serialize(s);
  double stored = value();
  s("value", stored);
  if (!s.is_writer()) optimizer_->set_hyper(hyper_, stored);
  for (ParamGroup& group : internal::groups_with(*optimizer_, hyper_)) {
    const std::string key = "values/" + group.name();
    if (!s.is_writer() && !s.contains(key)) continue;
    double own = group.get_hyper(hyper_);
    s(key, own);
    group.set_hyper(hyper_, own);
  }
}

nn::StateDict PlateauScheduler::state_dict() { return nn::state_dict(*this); }
nn::LoadReport PlateauScheduler::load_state_dict(const nn::StateDict& state) {
  return nn::load_state_dict(*this, state);
}

}  // namespace training
