// ExponentialShift: multiplies a hyperparameter by a rate at every call.
#pragma once

#include <string>

#include <catena/training/extensions/formula_shifts.h>

namespace training {

// The options of all shifts by a formula.
using ExponentialShiftOptions = FormulaShiftOptions;

// attr = init rate^t: trainer.extend(ExponentialShift("lr", 0.1), {.trigger = TriggerSpec(30, epoch)}). The value never
// passes the target: it stops where value / target exceeds 1 for rates above 1, or falls below 1 for other rates, so
// signs do not matter. ValueError for a negative rate.
struct CATENA_EXPORT ExponentialShift : FormulaShift {
  ExponentialShift(std::string attr, double rate, const Options& options = {});
};

}  // namespace training
