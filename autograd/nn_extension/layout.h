// Results in the memory order of an operand, and moving averages of statistics.
// Internal to autograd.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

// Returns a new array in the shape of `a`: in its memory order if its elements are dense (channels-last images), else
// in C order.
CATENA_EXPORT Array empty_in_order_of(const Array& a, Dtype dtype);
// Returns a itself if it has the dtype, else the converted elements in such an array.
CATENA_EXPORT Array astype_in_order(const Array& a, Dtype dtype);

// Updates the averages of `s`, if there are any. `count` is the number of elements of each statistic.
CATENA_EXPORT void move_averages(const BatchStatistics& s, const Array& mean, const Array& variance, double count);

}  // namespace autograd::internal
