// FailOnNonNumber: stops a training whose numbers have become NaN or infinite.
#pragma once

#include <string>

#include <catena/training/trainer.h>

namespace training {

// RuntimeError naming the loss, or the parameter and its optimizer, and the iteration, when a reported loss or a
// parameter is NaN or infinite. It runs before snapshots of the same iteration. On a device other than the CPU each
// call waits for it: a trigger such as {.trigger = training::TriggerSpec(100, training::iteration)} makes that rare.
class CATENA_EXPORT FailOnNonNumber : public Extension {
 public:
  void operator()(Trainer& trainer) override;
  std::string default_name() const override { return "FailOnNonNumber"; }
};

}  // namespace training
