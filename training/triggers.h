// Triggers that fire at listed times, or when a value becomes the best so far. IntervalTrigger is in trigger.h.
//
//   trainer.extend(Evaluator(test, model));
//   trainer.extend(snapshot_object(model, "best.npz"), {.trigger = MaxValueTrigger("validation/main/accuracy")});
//   trainer.extend(ExponentialShift("lr", 0.1), {.trigger = ManualScheduleTrigger({80, 120}, epoch)});
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/reporter.h>
#include <catena/training/trigger.h>

namespace training {

// Fires at every listed iteration; for epochs, at the first iteration that reaches or passes a listed point (once if
// one iteration passes several). It has no state: a resumed run fires at the same iterations.
class CATENA_EXPORT ManualScheduleTrigger : public Trigger {
 public:
  ManualScheduleTrigger(std::vector<double> points, UnitName unit) : points_(std::move(points)), unit_(unit) {}
  ManualScheduleTrigger(double point, UnitName unit) : ManualScheduleTrigger(std::vector<double>{point}, unit) {}
  template <class T>
  ManualScheduleTrigger(const std::vector<T>& points, UnitName unit) requires std::is_arithmetic_v<T>
      : ManualScheduleTrigger(std::vector<double>(points.begin(), points.end()), unit) {}
  bool operator()(Trainer& trainer) override;
  const std::vector<double>& points() const noexcept { return points_; }
  Unit unit() const noexcept { return unit_; }

 private:
  std::vector<double> points_;
  Unit unit_;
};

// Computes the means of an observed value over the intervals of an inner trigger. Fires if the inner trigger fires and
// the mean is the first one, or compare(best mean so far, new mean) is true. It does not fire for an interval in which
// the value was not observed (with one warning), or for a NaN mean. It must be called at every iteration, as trainers
// do. A copy has the same arguments and starts again.
class CATENA_EXPORT BestValueTrigger : public Trigger {
 public:
  BestValueTrigger(std::string key, catena::Function<bool(double best, double value)> compare,
                   TriggerSpec trigger = {1, epoch});
  BestValueTrigger(const BestValueTrigger& o) : BestValueTrigger(o.key_, o.compare_, o.spec_) {}
  BestValueTrigger& operator=(const BestValueTrigger&) = delete;
  bool operator()(Trainer& trainer) override;
  // Stores "interval_trigger", "summary" and, if there is one, "best_value", with the keys of later versions of Chainer
  // (1.24 stores nothing). All are optional when loading.
  void serialize(nn::Serializer& s) override;
  const std::optional<double>& best_value() const noexcept { return best_; }

 private:
  std::string key_;
  catena::Function<bool(double, double)> compare_;
  TriggerSpec spec_;
  catena::Shared<Trigger> interval_;
  nn::DictSummary summary_;
  std::optional<double> best_;
  bool warned_ = false;
};

struct ValueTriggerOptions {
  TriggerSpec trigger = {1, epoch};  // the intervals
};

// Fires if the mean is greater than all before: MaxValueTrigger("validation/main/accuracy", {1, epoch}).
class CATENA_EXPORT MaxValueTrigger : public BestValueTrigger {
 public:
  explicit MaxValueTrigger(std::string key, TriggerSpec trigger = {1, epoch});
  template <std::same_as<ValueTriggerOptions> O = ValueTriggerOptions>
  MaxValueTrigger(std::string key, const O& o) : MaxValueTrigger(std::move(key), o.trigger) {}
};

// Fires if the mean is less than all before.
class CATENA_EXPORT MinValueTrigger : public BestValueTrigger {
 public:
  explicit MinValueTrigger(std::string key, TriggerSpec trigger = {1, epoch});
  template <std::same_as<ValueTriggerOptions> O = ValueTriggerOptions>
  MinValueTrigger(std::string key, const O& o) : MinValueTrigger(std::move(key), o.trigger) {}
};

struct EarlyStoppingOptions {
  TriggerSpec check_trigger = {1, epoch};  // when the mean of the monitored value is looked at
  std::string monitor = "main/loss";
  std::int64_t patience = 3;                  // number of checks in a row without improvement after which it fires
  std::optional<std::int64_t> patients = {};  // Chainer's other name of patience
  // "max" if a greater value is better, "min" if a smaller one is; "auto": "max" if the key contains "accuracy".
  std::string mode = "auto";
  bool verbose = false;                    // print a line when it fires for want of improvement
  TriggerSpec max_trigger = {100, epoch};  // the end of the training in any case
};

// A stop trigger: Trainer trainer(updater, EarlyStoppingTrigger({.monitor = "validation/main/loss"})). A NaN mean is no
// improvement; a check without an observation is not counted, and warned of once. It must be called at every iteration.
// A copy has the same arguments and starts again. ValueError for a mode of another name and a patience below 1.
// (Chainer 5.)
class CATENA_EXPORT EarlyStoppingTrigger : public Trigger {
 public:
  using Options = EarlyStoppingOptions;
  explicit EarlyStoppingTrigger(Options options = {});
  EarlyStoppingTrigger(const EarlyStoppingTrigger& o) : EarlyStoppingTrigger(o.options_) {}
  EarlyStoppingTrigger& operator=(const EarlyStoppingTrigger&) = delete;
  bool operator()(Trainer& trainer) override;
  std::optional<TrainingLength> training_length() const override;  // that of max_trigger
  // Stores "interval_trigger", "max_trigger", "summary", "count" and, if there is one, "best".
  void serialize(nn::Serializer& s) override;
  std::int64_t count() const noexcept { return count_; }  // checks without improvement
  const std::optional<double>& best() const noexcept { return best_; }

 private:
  Options options_;
  bool maximize_;
  catena::Shared<Trigger> check_, max_;
  nn::DictSummary summary_;
  std::optional<double> best_;
  std::int64_t count_ = 0;
  bool warned_ = false;
};

// Fires once, at the first iteration at which it is asked; in a resumed training again only with call_on_resume.
class CATENA_EXPORT OnceTrigger : public Trigger {
 public:
  explicit OnceTrigger(bool call_on_resume = false) : call_on_resume_(call_on_resume) {}
  bool operator()(Trainer& trainer) override;
  void serialize(nn::Serializer& s) override;  // "fired"

 private:
  bool call_on_resume_, fired_ = false;
};

// A base of triggers that combine others. All of them are asked at every call, because a trigger may count its calls.
// As a stop trigger, an interval among them means "at or beyond", as it does alone. A copy has the same arguments and
// starts again.
class CATENA_EXPORT CombinedTrigger : public Trigger {
 public:
  CombinedTrigger(const CombinedTrigger& o) : CombinedTrigger(o.specs_) {}
  CombinedTrigger& operator=(const CombinedTrigger&) = delete;
  bool operator()(Trainer& trainer) final;
  bool ends(Trainer& trainer) final;
  void serialize(nn::Serializer& s) override;  // "0", "1", ...: the states of the triggers

 protected:
  explicit CombinedTrigger(std::vector<TriggerSpec> specs);
  virtual bool combine(std::size_t fired, std::size_t all) const = 0;  // the answer, from how many of them fire
  const std::vector<catena::Shared<Trigger>>& triggers() const noexcept { return triggers_; }

 private:
  std::vector<TriggerSpec> specs_;
  std::vector<catena::Shared<Trigger>> triggers_;
};

// Fires if one of the triggers fires, or several of them.
//   Trainer trainer(updater, AnyTrigger({{20, epoch}, [&](Trainer&) { return out_of_time(); }}));
class CATENA_EXPORT AnyTrigger : public CombinedTrigger {
 public:
  explicit AnyTrigger(std::vector<TriggerSpec> triggers) : CombinedTrigger(std::move(triggers)) {}
  // That of the triggers with the same unit, the shortest; of those with different units, the first one's.
  std::optional<TrainingLength> training_length() const override;

 protected:
  bool combine(std::size_t fired, std::size_t all) const override;
};

// Fires if all triggers fire at the same iteration; without triggers, always.
class CATENA_EXPORT AllTrigger : public CombinedTrigger {
 public:
  explicit AllTrigger(std::vector<TriggerSpec> triggers) : CombinedTrigger(std::move(triggers)) {}

 protected:
  bool combine(std::size_t fired, std::size_t all) const override;
};

// Fires if the trigger does not.
class CATENA_EXPORT NotTrigger : public CombinedTrigger {
 public:
  explicit NotTrigger(TriggerSpec trigger) : CombinedTrigger({std::move(trigger)}) {}
  NotTrigger(const NotTrigger&) = default;

 protected:
  bool combine(std::size_t fired, std::size_t all) const override;
};

// Fires at the first iteration after each `seconds` of training; the time before a resume counts. ValueError unless
// seconds is positive.
class CATENA_EXPORT TimeTrigger : public Trigger {
 public:
  explicit TimeTrigger(double seconds);
  bool operator()(Trainer& trainer) override;
  void serialize(nn::Serializer& s) override;  // "next_time"

 private:
  double seconds_, next_;
};

// A trigger made of an argument for triggers, to be called by a program or by an extension of its own; one that is made
// of nothing never fires. Copies share the state.
class CATENA_EXPORT ResolvedTrigger : public Trigger {
 public:
  explicit ResolvedTrigger(const TriggerSpec& spec) : trigger_(spec.make()) {}
  bool operator()(Trainer& trainer) override;
  bool ends(Trainer& trainer) override;
  std::optional<TrainingLength> training_length() const override;
  void serialize(nn::Serializer& s) override;  // as the trigger itself

 private:
  catena::Shared<Trigger> trigger_;  // null: never
};
// auto trigger = get_trigger({1, "epoch"});  if (trigger(trainer)) ...
inline ResolvedTrigger get_trigger(const TriggerSpec& trigger) { return ResolvedTrigger(trigger); }

}  // namespace training

// The names of Chainer's module: training::triggers::MaxValueTrigger is training::MaxValueTrigger.
namespace training::triggers {

using training::get_trigger, training::AllTrigger, training::AnyTrigger, training::BestValueTrigger,
    training::EarlyStoppingTrigger, training::IntervalTrigger, training::ManualScheduleTrigger,
    training::MaxValueTrigger, training::MinValueTrigger, training::NotTrigger, training::OnceTrigger,
    training::TimeTrigger;

}  // namespace training::triggers
