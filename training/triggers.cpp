#include <catena/training/triggers.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/warning.h>
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

}  // namespace training
