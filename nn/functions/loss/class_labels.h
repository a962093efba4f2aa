// Parts of losses that select one class of each row by its label. Scores x are (N, C, d...), labels t (N, d...).
// Internal.
#pragma once

#include <string_view>

#include <catena/autograd/type_check.h>
#include <catena/autograd/variable.h>

namespace nn::internal {

using autograd::Array;
using autograd::Shape;
using autograd::Variable;

// Returns the shape of the scores as (N, C, D): all axes after the classes are merged.
Shape flat_shape(const Shape& x);
// Checks scores and integer labels: inputs 0 and 1.
void expect_labelled(const autograd::type_check::TypeInfoTuple& in_types);

// Returns the class weights in the dtype of x (ones if they are null). ValueError unless they are floating of the shape
// (C).
Array class_weights(std::string_view op, const Array& weight, const Array& x);
// Returns the weight of each label in the dtype of x, 0 where it is ignored, in the shape of t.
Array weights_of_labels(std::string_view op, const Array& weight, const Array& x, const Array& t, int ignored);
// Returns the divisor of a mean as a 0-d array, which is not copied to the host: the number of labels that are not
// ignored or, with weights, the sum of their weights; 1 if there are none, about which it warns on the CPU.
Array count_of_labels(std::string_view op, const Array& t, int ignored, autograd::Dtype dtype);
Array total_weight(std::string_view op, const Array& weight, const Array& x, const Array& t, int ignored);

// Returns -weight[t] x[n, t, d...], 0 where t is ignored, in the shape of t. Labels are int32 and have been checked.
Variable picked(std::string_view op, const Variable& x, const Array& t, const Array& weight, int ignored);

}  // namespace nn::internal
