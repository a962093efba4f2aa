// FailOnNonNumber: stops the training if numbers have become NaN or infinite.
#pragma once

#include <string>

#include <catena/training/trainer.h>

namespace training {

// Throws a RuntimeError if a reported loss or a parameter is NaN or infinite. The message names the loss, or the
// parameter and its optimizer, and the iteration. Runs before snapshots of the same iteration. Each call waits for
// devices other than the CPU; a trigger such as {.trigger = training::TriggerSpec(100, training::iteration)} makes this
// rare.
class CATENA_EXPORT FailOnNonNumber : public Extension {
 public:
  void operator()(Trainer& trainer) override;
  std::string default_name() const override { return "FailOnNonNumber"; }
};

}  // namespace training
