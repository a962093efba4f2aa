// Linear maps of one axis with few inputs for each output. Internal to this library.
#pragma once

#include <vector>

#include <catena/autograd/variable.h>

namespace nn::internal {

using autograd::Variable;

// Throws a ValueError unless the spatial lengths of x (n, c, d1, ..., dN) and `lengths`, which replace them, are
// positive.
void check_lengths(const char* op, const Variable& x, const autograd::Dims& lengths);

// Output i of an axis is the sum of weight[k] times input at[k], for ends[i - 1] <= k < ends[i].
struct Taps {
  std::vector<std::int64_t> at;
  std::vector<double> weight;
  std::vector<std::size_t> ends;

  std::size_t outputs() const noexcept { return ends.size(); }
  std::size_t begin_of(std::size_t i) const noexcept { return i == 0 ? 0 : ends[i - 1]; }
  // Adds a term to the output that is being made, and ends this output.
  void add(std::int64_t input, double factor) {
    at.push_back(input);
    weight.push_back(factor);
  }
  void end_output() { ends.push_back(at.size()); }
};

// The memory orders of x and of the result when an axis of (n, c, d1, ..., dN) is mapped, here d2: cyclic order,
// (d2, ..., dN, n, c, d1), which begins with this axis, or else C order. In cyclic order all loops have long rows, and
// the transposition of a matrix puts the next axis first.
struct ResamplingOrder {
  bool cyclic_x = false, cyclic_y = false;
};

// Applies the map to an axis of x (float32 or float64). Outputs with fewer terms than others read their last input more
// often, with parts of its weight. The gradient is the transposed map, which has the same form.
Variable resampled(const Variable& x, int axis, Taps taps, ResamplingOrder order = {});

}  // namespace nn::internal
