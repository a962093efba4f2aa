// Triggers: predicates that select iterations.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/serializers/serializer.h>

namespace training {

class Trainer;

// The units of intervals: updates, or passes over the data.
enum class Unit { iteration, epoch };
inline constexpr Unit iteration = Unit::iteration;
inline constexpr Unit epoch = Unit::epoch;

// A unit, or its name as Chainer writes it: "iteration" or "epoch" (ValueError for others).
class CATENA_EXPORT UnitName {
 public:
  UnitName(Unit unit) noexcept : unit_(unit) {}
  UnitName(const char* name);
  operator Unit() const noexcept { return unit_; }

 private:
  Unit unit_;
};

// The length of a training, in a unit.
struct TrainingLength {
  double length;
  Unit unit;
};

// Decides after each update whether an extension runs. A derived class implements the call.
class CATENA_EXPORT Trigger {
 public:
  virtual ~Trigger();
  virtual bool operator()(Trainer& trainer) = 0;
  // The answer as a stop trigger: true if the training ends here. Default: that of the call, see Trainer::asks().
  virtual bool ends(Trainer& trainer);
  // As a stop trigger, the length of the training if it is known, for progress bars; nothing by default.
  virtual std::optional<TrainingLength> training_length() const;
  virtual void serialize(nn::Serializer& s);
};

// Fires once per multiple of `period` (which may be fractional for epochs), also after a resume. If calls were skipped,
// fires once for all multiples passed since. As a stop trigger (reached()), it means "progress >= period".
class CATENA_EXPORT IntervalTrigger : public Trigger {
 public:
  IntervalTrigger(double period, UnitName unit);  // ValueError unless period > 0
  bool operator()(Trainer& trainer) override;
  bool reached(const Trainer& trainer) const;
  bool ends(Trainer& trainer) override;
  std::optional<TrainingLength> training_length() const override { return TrainingLength{period_, unit_}; }
  // Stores the position of the last call under the keys of later versions of Chainer: "previous_iteration" and
  // "previous_epoch_detail". Without them (1.24 stores nothing), the state is computed from the updater's position.
  void serialize(nn::Serializer& s) override;
  double period() const noexcept { return period_; }
  Unit unit() const noexcept { return unit_; }

 private:
  double period_;
  Unit unit_;
  struct Position {
    std::int64_t iteration = 0;
    double epoch_detail = 0;
  };
  std::optional<std::int64_t> fired_;  // number of multiples passed at the last call
  std::optional<Position> last_call_;
};

// The argument type for triggers: {3, epoch} or {3, "epoch"}, a trigger, a callable, or nothing (never fires). Every
// make() creates a new trigger, so a spec may be used twice; a trigger given as a shared pointer is shared (see
// Trainer::asks).
class CATENA_EXPORT TriggerSpec {
 public:
  TriggerSpec() = default;
  TriggerSpec(std::nullopt_t) noexcept {}
  template <class N>
  TriggerSpec(N period, UnitName unit) requires std::is_arithmetic_v<N>
      : TriggerSpec(IntervalTrigger(static_cast<double>(period), unit)) {}
  template <class T, class = std::enable_if_t<std::is_base_of_v<Trigger, T>>>
  TriggerSpec(T trigger) : make_([trigger] { return catena::Shared<T>::make(trigger); }) {}
  template <class F,
            class = std::enable_if_t<std::is_invocable_r_v<bool, F&, Trainer&> && !std::is_base_of_v<Trigger, F>>,
            class = void>
  TriggerSpec(F callable) : TriggerSpec(catena::Function<bool(Trainer&)>(std::move(callable)), 0) {}
  template <class S>
  TriggerSpec(S shared) requires std::is_convertible_v<S, catena::Shared<Trigger>>
      : make_([kept = catena::Shared<Trigger>(std::move(shared))] { return kept; }) {}
  catena::Shared<Trigger> make() const { return make_ ? make_() : nullptr; }  // null: never
  // The default of options for extensions that have their own trigger.
  static TriggerSpec not_given() {
    TriggerSpec spec;
    spec.given_ = false;
    return spec;
  }
  bool is_given() const noexcept { return given_; }

 private:
  TriggerSpec(catena::Function<bool(Trainer&)> callable, int);
  catena::Function<catena::Shared<Trigger>()> make_;
  bool given_ = true;
};

}  // namespace training
