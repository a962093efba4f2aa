// Triggers decide at which iterations something happens.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <catena/nn/serializers/serializer.h>

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

// Fires once per multiple of `period` (fractional periods allowed for epochs), also after a resume; when calls were
// skipped, once for all multiples passed since. As a stop trigger (reached()) it means "progress >= period".
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

// What may be given where a trigger is wanted: {3, epoch}, a trigger, a callable, or nothing (never). A value: whoever
// is given one makes a trigger of its own from it, so that a spec may be used twice. A shared pointer is shared.
class CATENA_EXPORT TriggerSpec {
 public:
  TriggerSpec() = default;
  TriggerSpec(double period, Unit unit) : TriggerSpec(IntervalTrigger(period, unit)) {}
  template <class T, class = std::enable_if_t<std::is_base_of_v<Trigger, T>>>
  TriggerSpec(T trigger) : make_([trigger] { return std::make_shared<T>(trigger); }) {}
  template <class F,
            class = std::enable_if_t<std::is_invocable_r_v<bool, F&, Trainer&> && !std::is_base_of_v<Trigger, F>>,
            class = void>
  TriggerSpec(F callable) : TriggerSpec(std::function<bool(Trainer&)>(std::move(callable)), 0) {}
  template <class T>
  TriggerSpec(std::shared_ptr<T> shared) : make_([shared] { return shared; }) {}
  std::shared_ptr<Trigger> make() const { return make_ ? make_() : nullptr; }  // null: never

 private:
  TriggerSpec(std::function<bool(Trainer&)> callable, int);
  std::function<std::shared_ptr<Trigger>()> make_;
};

}  // namespace training
