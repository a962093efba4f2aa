// ExponentialShift: multiplies a hyperparameter by a rate at every call.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <catena/training/extensions/formula_shifts.h>

namespace training {

// The options of all shifts by a formula.
using ExponentialShiftOptions = FormulaShiftOptions;

// attr = init rate^t: trainer.extend(ExponentialShift("lr", 0.1), {.trigger = TriggerSpec(30, epoch)}). The value never
// passes the target: it stops where value / target exceeds 1 for rates above 1, or falls below 1 for other rates, so
// signs do not matter. ValueError for a negative rate.
struct CATENA_EXPORT ExponentialShift : FormulaShift {
  ExponentialShift(std::string attr, double rate, const Options& options);
  ExponentialShift(std::string attr, double rate) : ExponentialShift(std::move(attr), rate, Options{}) {}
  // With init and target by position, as in Chainer.
  template <class N>
  ExponentialShift(std::string attr, double rate, N init,
                   std::optional<double> target = {}) requires std::is_arithmetic_v<N>
      : ExponentialShift(std::move(attr), rate, Options{.init = static_cast<double>(init), .target = target}) {}
};

}  // namespace training
