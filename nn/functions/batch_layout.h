// The axes and the checks that functions of batch normalization share. Internal to nn/functions and
// training/multi_node.
#pragma once

#include <catena/autograd/array.h>
#include <catena/autograd/type_check.h>

namespace nn::internal {

struct BatchLayout {
  autograd::Dims axes;     // axes of the statistics
  autograd::Shape kept;    // x's shape with length 1 along `axes`, to which parameters are reshaped
  autograd::Shape params;  // the shape of the parameters: of the other axes
  double count;            // elements per statistic
};

// Sets the axes of the statistics to `axis`, or, if not given, to all axes but 1 .. `rank`, the axes of the parameters.
CATENA_EXPORT BatchLayout batch_layout(const autograd::Shape& x, const autograd::Axes& axis, int rank);
// Checks x and `count` - 1 parameters that have the shape of the axes without statistics.
CATENA_EXPORT void check_batch_parameters(const autograd::type_check::TypeInfoTuple& in_types, int count,
                                          const autograd::Axes& given);
// The UserWarning for statistics of one element.
CATENA_EXPORT void warn_of_single_elements(const autograd::Shape& x);

}  // namespace nn::internal
