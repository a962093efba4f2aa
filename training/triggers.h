// Triggers that fire at listed times, or when a value becomes the best so far. IntervalTrigger is in trigger.h.
//
//   trainer.extend(Evaluator(test, model));
//   trainer.extend(snapshot_object(model, "best.npz"), {.trigger = MaxValueTrigger("validation/main/accuracy")});
//   trainer.extend(ExponentialShift("lr", 0.1), {.trigger = ManualScheduleTrigger({80, 120}, epoch)});
#pragma once

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
  ManualScheduleTrigger(std::vector<double> points, Unit unit) : points_(std::move(points)), unit_(unit) {}
  ManualScheduleTrigger(double point, Unit unit) : ManualScheduleTrigger(std::vector<double>{point}, unit) {}
  template <class T>
  ManualScheduleTrigger(const std::vector<T>& points, Unit unit) requires std::is_arithmetic_v<T>
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

// Fires if the mean is greater than all before: MaxValueTrigger("validation/main/accuracy", {1, epoch}).
class CATENA_EXPORT MaxValueTrigger : public BestValueTrigger {
 public:
  explicit MaxValueTrigger(std::string key, TriggerSpec trigger = {1, epoch});
};

// Fires if the mean is less than all before.
class CATENA_EXPORT MinValueTrigger : public BestValueTrigger {
 public:
  explicit MinValueTrigger(std::string key, TriggerSpec trigger = {1, epoch});
};

}  // namespace training
