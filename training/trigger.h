// Triggers decide at which iterations something happens.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/serializers/serializer.h"

namespace training {

class Trainer;

enum class Unit { iteration, epoch };
inline constexpr Unit iteration = Unit::iteration;
inline constexpr Unit epoch = Unit::epoch;

class CATENA_EXPORT Trigger {
 public:
  virtual ~Trigger();
  virtual bool operator()(Trainer& trainer) = 0;
  virtual void serialize(nn::Serializer& s);
};

// Fires once per multiple of `period` (fractional periods allowed for epochs), also after a resume or when calls were skipped. As a stop
// trigger (reached()) it means "progress >= period".
class CATENA_EXPORT IntervalTrigger : public Trigger {
 public:
  IntervalTrigger(double period, Unit unit);  // ValueError unless period > 0
  bool operator()(Trainer& trainer) override;
  bool reached(const Trainer& trainer) const;
  void serialize(nn::Serializer& s) override;
  double period() const noexcept { return period_; }
  Unit unit() const noexcept { return unit_; }

 private:
  double period_;
  Unit unit_;
  std::optional<std::int64_t> fired_;  // multiples passed at the last call
};

// What may be given where a trigger is wanted: {3, epoch}, a trigger object, a callable, or nothing (never).
class CATENA_EXPORT TriggerSpec {
 public:
  TriggerSpec() = default;
  TriggerSpec(double period, Unit unit) : trigger_(std::make_shared<IntervalTrigger>(period, unit)) {}
  template <class T, class = std::enable_if_t<std::is_base_of_v<Trigger, T>>> TriggerSpec(T trigger)
      : trigger_(std::make_shared<T>(std::move(trigger))) {}
  TriggerSpec(std::function<bool(Trainer&)> callable);
  const std::shared_ptr<Trigger>& get() const noexcept { return trigger_; }

 private:
  std::shared_ptr<Trigger> trigger_;  // null: never
};

}  // namespace training
