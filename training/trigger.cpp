#include <catena/training/trigger.h>

#include <cmath>
#include <string_view>

#include <catena/kernels/base/error.h>
#include <catena/training/stored_number.h>
#include <catena/training/trainer.h>

namespace training {

using catena::check;
using catena::ValueError;

Trigger::~Trigger() = default;
bool Trigger::ends(Trainer& trainer) { return trainer.asks(*this); }
std::optional<TrainingLength> Trigger::training_length() const { return {}; }
void Trigger::serialize(nn::Serializer&) {}

UnitName::UnitName(const char* name) : unit_(std::string_view(name) == "epoch" ? epoch : iteration) {
  check<ValueError>(unit_ == epoch || std::string_view(name) == "iteration", "Trigger", "the unit \"", name,
                    "\" is neither \"iteration\" nor \"epoch\"");
}

IntervalTrigger::IntervalTrigger(double period, UnitName unit) : period_(period), unit_(unit) {
  check<ValueError>(period > 0 && std::isfinite(period), "IntervalTrigger", "the period ", period, " is not positive");
}

namespace {

// Returns the number of whole periods in `progress`. Sums of fractions (0.1 + 0.2) miss a multiple by rounding errors,
// so a value slightly below a multiple counts as the multiple.
std::int64_t multiples(double progress, double period) {
  constexpr double kMost = 9e18;  // std::int64_t can hold slightly larger values
  const double ratio = std::fmax(std::fmin(progress / period, kMost), -kMost), nearest = std::round(ratio);
  return static_cast<std::int64_t>(
      std::fabs(ratio - nearest) <= 1e-10 * std::fmax(1.0, std::fabs(ratio)) ? nearest : std::floor(ratio));
}

double progress_of(const Updater& updater, Unit unit) {
  return unit == Unit::epoch ? updater.epoch_detail() : double(updater.iteration());
}

// Returns the progress before the last update. An updater outside a running trainer may not have it in epochs.
double progress_before(const Trainer& trainer, Unit unit) {
  if (const auto& previous = trainer.previous_position())
    return unit == Unit::epoch ? previous->epoch_detail : double(previous->iteration);
  const Updater& updater = trainer.updater();
  return unit == Unit::epoch ? updater.previous_epoch_detail().value_or(0.0) : double(updater.iteration() - 1);
}

}  // namespace

bool IntervalTrigger::reached(const Trainer& trainer) const {
  return multiples(progress_of(trainer.updater(), unit_), period_) >= 1;
}

// As a stop trigger, an interval means "at or beyond": a run that is resumed beyond it must not start.
bool IntervalTrigger::ends(Trainer& trainer) { return reached(trainer); }

bool IntervalTrigger::operator()(Trainer& trainer) {
  const Updater& updater = trainer.updater();
  const std::int64_t now = multiples(progress_of(updater, unit_), period_);
  if (!fired_)  // the first call of a run, which may have been resumed
    fired_ = multiples(std::fmax(progress_before(trainer, unit_), 0.0), period_);
  const bool fires = now > *fired_;
  fired_ = now;
  last_call_ = {updater.iteration(), updater.epoch_detail()};
  return fires;
}

void IntervalTrigger::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, fired_, last_call_);
  // Chainer 1.24 does not store this; the multiples already passed then follow from the updater's position.
  if (s.is_writer()) {
    if (!last_call_) return;
    s("previous_iteration", last_call_->iteration);
    s("previous_epoch_detail", last_call_->epoch_detail);
  } else if (s.contains("previous_iteration") && s.contains("previous_epoch_detail")) {
    Position last;
    s("previous_iteration", last.iteration);
    internal::serialize_progress(s, "previous_epoch_detail", last.epoch_detail, "IntervalTrigger");
    const double progress = unit_ == Unit::epoch ? last.epoch_detail : double(last.iteration);
    if (progress < 0) return;  // later versions of Chainer store -1 for unknown values
    last_call_ = last;
    fired_ = multiples(progress, period_);
  } else if (const auto own = s["_catena"]; own->contains("fired")) {  // key of the first snapshots of this library
    std::int64_t fired = 0;
    internal::serialize_count(*own, "fired", fired, "IntervalTrigger");
    fired_ = fired;
  }
}

namespace {
class CallableTrigger final : public Trigger {
 public:
  explicit CallableTrigger(catena::Function<bool(Trainer&)> f) : f_(std::move(f)) {}
  bool operator()(Trainer& trainer) override { return f_(trainer); }

 private:
  catena::Function<bool(Trainer&)> f_;
};
}  // namespace

TriggerSpec::TriggerSpec(catena::Function<bool(Trainer&)> callable, int)
    : make_([callable = std::move(callable)] { return catena::Shared<CallableTrigger>::make(callable); }) {}

}  // namespace training
