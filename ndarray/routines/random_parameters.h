// Parameters of the distributions of random numbers, for the sources of Generator.
#pragma once

#include <cmath>
#include <initializer_list>
#include <string_view>

#include <catena/ndarray/routines/random_generator.h>

namespace nd::random::draw {

inline constexpr Dtype kReal = Dtype::float64, kInteger = Dtype::int64;

Array as_array(const Operand& x, Dtype dtype);
// Returns the shape of a sample: the size, to which the parameters must broadcast, or their common shape.
Shape sample_shape(std::string_view op, std::initializer_list<const Operand*> parameters, const Size& size);

// The range that all elements of a parameter must be in (ValueError).
struct Range {
  double low, high = INFINITY;
  bool above_low = false, below_high = false;  // the bounds themselves are excluded
};
void check_range(std::string_view op, std::string_view name, const Operand& parameter, const Range& range);
inline constexpr Range kNotNegative{0}, kPositive{.low = 0, .above_low = true};

}  // namespace nd::random::draw
