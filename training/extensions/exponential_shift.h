// ExponentialShift: multiplies a hyperparameter by a rate at every call.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <catena/training/extensions/hyperparameter_shift.h>

namespace training {

struct ExponentialShiftOptions {
  std::optional<double> init = {};    // default: the optimizer's value when training begins
  std::optional<double> target = {};  // the value at which the shift stops
  OptimizerRef optimizer = {};        // default: the updater's "main"
};

// attr = init rate^t: trainer.extend(ExponentialShift("lr", 0.1), {.trigger = TriggerSpec(30, epoch)}). The value never
// passes the target: it stops where value / target exceeds 1 for rates above 1, or falls below 1 for other rates, so
// signs do not matter. ValueError for a negative rate.
class CATENA_EXPORT ExponentialShift : public HyperparameterShift {
 public:
  using Options = ExponentialShiftOptions;
  ExponentialShift(std::string attr, double rate, Options options);
  ExponentialShift(std::string attr, double rate) : ExponentialShift(std::move(attr), rate, Options{}) {}
  // With init and target by position, as in Chainer.
  template <class N>
  ExponentialShift(std::string attr, double rate, N init,
                   std::optional<double> target = {}) requires std::is_arithmetic_v<N>
      : ExponentialShift(std::move(attr), rate, Options{.init = static_cast<double>(init), .target = target}) {}
  std::string default_name() const override { return "ExponentialShift"; }

 protected:
  double value(std::int64_t t, double init) const override;

 private:
  double rate_;
  std::optional<double> init_, target_;
};

}  // namespace training
