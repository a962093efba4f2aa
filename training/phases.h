// Values that change in phases, as those of one cycle. Internal to training.
#pragma once

#include <vector>

namespace training::internal {

// From one value to another, up to the step `end`.
struct Phase {
  double end, from, to;
};
// Returns the value at a step: each phase is half a wave of a cosine, or a line. After the last phase its value stays.
double value_of(const std::vector<Phase>& phases, bool lines, double step);

}  // namespace training::internal
