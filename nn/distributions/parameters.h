// Functions that the distributions share: dtypes and shapes of parameters, and random numbers.
// For the sources of this folder alone.
#pragma once

#include <limits>

#include <catena/autograd/array.h>
#include <catena/nn/distributions/distributions.h>

namespace nn::distributions::internal {

inline constexpr double kLogSqrt2Pi = 0.91893853320467274178;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Of a floating dtype: the distance from 1 to the next number, and the least number of full precision.
double eps(autograd::Dtype dtype);
double tiny(autograd::Dtype dtype);
Variable in_dtype(const Variable& v, autograd::Dtype dtype);
// A number is placed on the device of `like`.
Variable in_dtype(const Parameter& p, const Variable& like);
Variable floating(const Variable& v);
// Parameters in their common dtype, shape and device: the dtype of those that have axes, else the promoted one.
// Integers become float32. ValueError for shapes that do not broadcast and for parameters on two devices.
autograd::Variables broadcast(std::initializer_list<Parameter> parameters);
Shape without_last(const Shape& shape);
// Even numbers above 0 and normal ones, of the dtype and device of a parameter.
Array uniform(const Shape& shape, const Array& like);
Array normal(const Shape& shape, const Array& like);
Variable even(const Shape& shape, const Variable& like);  // as uniform, and below 1
Variable normal_numbers(const Shape& shape, const Variable& like);
// -log(-log(u)) of even numbers u: the numbers of Gumbel's distribution.
Variable gumbel_numbers(const Shape& shape, const Variable& like);
// Gamma numbers with the rate 1 in the shape `shape`, in float64, with derivatives to the concentration.
Variable gamma_sample(const Variable& concentration, const Shape& shape);
// Kernels of one and two arrays, without a graph.
Array unary(const catena::KernelDef& kernel, const Array& a);
Array binary(const catena::KernelDef& kernel, const autograd::Operand& a, const autograd::Operand& b);
// Where x >= bound.
Array at_least(const Variable& x, const autograd::Operand& bound);
Variable constant(const Shape& shape, double value, const Variable& like);
// v where `inside` is true, else a number.
Variable within(const Array& inside, const Variable& v, double outside);
Variable numbers_below(std::int64_t n, const Variable& like);  // 0, 1, ..., n - 1
// 0, 1, ..., n - 1 along a new first axis, for enumerate_support.
Variable counted_support(std::int64_t n, const Distribution& d, const Variable& like, bool expand);
Variable without_graph(const Variable& v);
Variable last_sum(const Variable& x);
// 1 / (1 + exp(-x)), at least tiny and at most 1 - eps of its dtype.
Variable clipped_sigmoid(const Variable& x);
// x, or 0 where it is negative.
Variable positive_part(const Variable& x);
// The logarithms of the diagonals of matrices, and those of the determinants of triangular ones.
Variable log_diagonal(const Variable& m);
Variable log_det(const Variable& m);

}  // namespace nn::distributions::internal
