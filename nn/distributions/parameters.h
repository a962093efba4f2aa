// Functions that the distributions share: dtypes and shapes of parameters, and random numbers.
// For the sources of this folder alone.
#pragma once

#include <catena/nn/distributions/distributions.h>

namespace nn::distributions::internal {

inline constexpr double kLogSqrt2Pi = 0.91893853320467274178;
inline constexpr double kEps = 0x1p-23;  // the distance from 1 to the next number of float32

Variable in_dtype(const Variable& v, autograd::Dtype dtype);
// A number is placed on the device of `like`.
Variable in_dtype(const Parameter& p, const Variable& like);
// The first parameter in the dtype of both: that of the one that is no number or that has axes, else the promoted one.
// Integers become float32. A number is placed on the device of the other one.
Variable first_of(const Parameter& a, const Parameter& b);
Variable second_of(const Parameter& a, const Parameter& b);
Variable floating(const Variable& v);
// The common shape of two parameters. ValueError if there is none and for parameters on two devices.
Shape broadcast(const Variable& a, const Variable& b);
Shape extended(const Shape& shape, const Shape& batch);
Shape without_last(const Shape& shape);
// Even numbers in (0, 1), of the dtype and device of a parameter.
Array uniform(const Shape& shape, const Variable& like);
Variable without_graph(const Variable& v);
Variable last_sum(const Variable& x);

}  // namespace nn::distributions::internal
