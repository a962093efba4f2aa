#include <catena/training/triggers.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/warning.h>
#include <catena/training/log_entry.h>
#include <catena/training/stored_number.h>
#include <catena/training/summary_state.h>
#include <catena/training/trainer.h>

namespace training {

namespace {

// Positions in epochs are quotients, so 0.1 + 0.2 must count as 0.3.
bool reached(double progress, double point) { return progress >= point - 1e-10 * std::fmax(1.0, std::fabs(point)); }

// Returns the position at the beginning of the last update, from the iterator or else the trainer; before the first
// update, a value below all positions.
double previous_epoch_detail(const Trainer& trainer) {
  if (const std::optional<double> known = trainer.updater().previous_epoch_detail()) return *known;
  const auto& before = trainer.previous_position();
  if (before && before->iteration > 0) return before->epoch_detail;
  return -std::numeric_limits<double>::infinity();
}

}  // namespace

bool ManualScheduleTrigger::operator()(Trainer& trainer) {
  const Updater& updater = trainer.updater();
  if (unit_ == Unit::iteration) {
    const auto i = double(updater.iteration());
    return i > 0 && std::find(points_.begin(), points_.end(), i) != points_.end();
  }
  const double before = previous_epoch_detail(trainer), now = updater.epoch_detail();
  return std::any_of(points_.begin(), points_.end(),
                     [&](double point) { return reached(now, point) && !reached(before, point); });
}

BestValueTrigger::BestValueTrigger(std::string key, catena::Function<bool(double, double)> compare, TriggerSpec trigger)
    : key_(std::move(key)), compare_(std::move(compare)), spec_(std::move(trigger)), interval_(spec_.make()) {
  catena::check<catena::TypeError>(bool(compare_), "BestValueTrigger", "the comparison of ", key_, " is not callable");
}

bool BestValueTrigger::operator()(Trainer& trainer) {
  if (const nn::Observed* value = trainer.observation().find(key_)) summary_.add(key_, *value);
  if (!interval_ || !trainer.asks(*interval_)) return false;
  if (summary_.empty()) {
    if (!warned_)
      catena::warn("UserWarning",
                   catena::concat("a trigger for the best ", key_, ": at iteration ", trainer.updater().iteration(),
                                  " nothing was reported under that name since it was last asked; it "
                                  "does not fire"));
    warned_ = true;
    return false;
  }
  const double mean = summary_.compute_mean()[0].second;
  summary_ = {};
  if (std::isnan(mean) || (best_ && !compare_(*best_, mean))) return false;
  best_ = mean;
  return true;
}

void BestValueTrigger::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, summary_, best_);
  if (interval_) interval_->serialize(*s["interval_trigger"]);
  internal::serialize_summary(*s["summary"], summary_);
  double best = best_.value_or(0);
  if (s.is_writer()) {
    if (best_) s("best_value", best);
    return;
  }
  best_.reset();
  if (!s.contains("best_value")) return;
  s("best_value", best);
  if (!std::isnan(best))
    best_ = best;  // that of later versions of Chainer, for which the first mean counts in any case
}

MaxValueTrigger::MaxValueTrigger(std::string key, TriggerSpec trigger)
    : BestValueTrigger(
          std::move(key), [](double best, double value) { return value > best; }, std::move(trigger)) {}

MinValueTrigger::MinValueTrigger(std::string key, TriggerSpec trigger)
    : BestValueTrigger(
          std::move(key), [](double best, double value) { return value < best; }, std::move(trigger)) {}

EarlyStoppingTrigger::EarlyStoppingTrigger(Options options)
    : options_(std::move(options)),
      maximize_(options_.mode == "max" ||
                (options_.mode == "auto" && options_.monitor.find("accuracy") != std::string::npos)),
      check_(options_.check_trigger.make()),
      max_(options_.max_trigger.make()) {
  catena::check<catena::ValueError>(options_.mode == "max" || options_.mode == "min" || options_.mode == "auto",
                                    "EarlyStoppingTrigger", "mode is \"", options_.mode,
                                    "\" and must be \"max\", \"min\" or \"auto\"");
  options_.patience = options_.patients.value_or(options_.patience);
  catena::check<catena::ValueError>(options_.patience >= 1, "EarlyStoppingTrigger", "patience is ", options_.patience,
                                    " and must be at least 1");
}

bool EarlyStoppingTrigger::operator()(Trainer& trainer) {
  if (const nn::Observed* value = trainer.observation().find(options_.monitor)) summary_.add(options_.monitor, *value);
  if (max_ && max_->ends(trainer)) return true;
  if (!check_ || !trainer.asks(*check_)) return false;
  if (summary_.empty()) {
    if (!warned_)
      catena::warn("UserWarning",
                   catena::concat("EarlyStoppingTrigger: nothing was reported under ", options_.monitor,
                                  " up to iteration ", trainer.updater().iteration(), "; the check is not counted"));
    warned_ = true;
    return false;
  }
  const double mean = summary_.compute_mean()[0].second;
  summary_ = {};
  if (!std::isnan(mean) && (!best_ || (maximize_ ? mean > *best_ : mean < *best_))) {
    best_ = mean;
    count_ = 0;
    return false;
  }
  if (++count_ < options_.patience) return false;
  if (options_.verbose)
    std::cout << catena::concat("EarlyStoppingTrigger: ", options_.monitor, " has not improved for ", count_,
                                " checks; the best was ", repr(best_.value_or(NAN)), '\n')
              << std::flush;
  return true;
}

std::optional<TrainingLength> EarlyStoppingTrigger::training_length() const {
  return max_ ? max_->training_length() : std::nullopt;
}

void EarlyStoppingTrigger::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, summary_, best_, count_);
  if (check_) check_->serialize(*s["interval_trigger"]);
  if (max_) max_->serialize(*s["max_trigger"]);
  internal::serialize_summary(*s["summary"], summary_);
  internal::serialize_count(s, "count", count_, "EarlyStoppingTrigger");
  double best = best_.value_or(NAN);
  s("best", best);
  if (s.is_writer()) return;
  best_.reset();
  if (!std::isnan(best)) best_ = best;
}

bool OnceTrigger::operator()(Trainer&) { return !std::exchange(fired_, true); }

void OnceTrigger::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, fired_);
  s("fired", fired_);
  if (!s.is_writer() && call_on_resume_) fired_ = false;
}

CombinedTrigger::CombinedTrigger(std::vector<TriggerSpec> specs) : specs_(std::move(specs)) {
  for (const TriggerSpec& spec : specs_) triggers_.push_back(spec.make());
}

bool CombinedTrigger::operator()(Trainer& trainer) {
  std::size_t fired = 0;
  for (const auto& t : triggers_)
    if (t && trainer.asks(*t)) ++fired;
  return combine(fired, triggers_.size());
}

bool CombinedTrigger::ends(Trainer& trainer) {
  std::size_t fired = 0;
  for (const auto& t : triggers_)
    if (t && t->ends(trainer)) ++fired;
  return combine(fired, triggers_.size());
}

void CombinedTrigger::serialize(nn::Serializer& s) {
  for (std::size_t i = 0; i < triggers_.size(); ++i)
    if (triggers_[i]) triggers_[i]->serialize(*s[std::to_string(i)]);
}

bool AnyTrigger::combine(std::size_t fired, std::size_t) const { return fired > 0; }
bool AllTrigger::combine(std::size_t fired, std::size_t all) const { return fired == all; }
bool NotTrigger::combine(std::size_t fired, std::size_t) const { return fired == 0; }

bool ResolvedTrigger::operator()(Trainer& trainer) { return trigger_ && (*trigger_)(trainer); }

bool ResolvedTrigger::ends(Trainer& trainer) { return trigger_ && trigger_->ends(trainer); }

std::optional<TrainingLength> ResolvedTrigger::training_length() const {
  return trigger_ ? trigger_->training_length() : std::nullopt;
}

void ResolvedTrigger::serialize(nn::Serializer& s) {
  if (trigger_) trigger_->serialize(s);
}

std::optional<TrainingLength> AnyTrigger::training_length() const {
  std::optional<TrainingLength> shortest;
  for (const auto& t : triggers()) {
    const std::optional<TrainingLength> one = t ? t->training_length() : std::nullopt;
    if (one && (!shortest || (one->unit == shortest->unit && one->length < shortest->length))) shortest = one;
  }
  return shortest;
}

TimeTrigger::TimeTrigger(double seconds) : seconds_(seconds), next_(seconds) {
  catena::check<catena::ValueError>(seconds > 0, "TimeTrigger", "seconds is ", seconds, " and must be positive");
}

bool TimeTrigger::operator()(Trainer& trainer) {
  const double now = trainer.elapsed_time();
  if (now < next_) return false;
  next_ = seconds_ * (std::floor(now / seconds_) + 1);
  return true;
}

void TimeTrigger::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, next_);
  s("next_time", next_);
}

}  // namespace training
