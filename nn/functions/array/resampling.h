// Linear maps of one axis with few inputs for each output. Internal to this library.
#pragma once

#include <vector>

#include <catena/autograd/variable.h>

namespace nn::internal {

using autograd::Variable;

// Throws a ValueError unless the spatial lengths of x (n, c, d1, ..., dN) and `lengths`, which replace them, are
// positive.
void check_lengths(const char* op, const Variable& x, const autograd::Dims& lengths);

// Output i of an axis is the sum of weight[i][t] times input at[i][t].
struct Taps {
  std::vector<std::vector<std::int64_t>> at;
  std::vector<std::vector<double>> weight;
};

// Applies the map to an axis of x (float32 or float64). Outputs with fewer terms than others read their last input more
// often, with parts of its weight. The gradient is the transposed map, which has the same form.
Variable resampled(const Variable& x, int axis, Taps taps);

}  // namespace nn::internal
