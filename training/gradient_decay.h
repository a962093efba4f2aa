// PyTorch's weight_decay of rules whose kernel has none. Internal to training.
#pragma once

#include <catena/training/optimizer.h>

namespace training::internal {

// Gives the rule the hyperparameter, if it is not 0, and lets the optimizer add weight_decay p to copies of the
// gradients.
inline void add_weight_decay(UpdateRule& rule, double rate) {
  if (rate == 0) return;
  rule.hyper.push_back({"weight_decay", rate});
  rule.decays_gradient = true;
}

}  // namespace training::internal
