// Measures without gradients; the result has the dtype of y.
#pragma once

#include <optional>

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Variable;

// The fraction of samples whose argmax over axis 1 of y equals t (int32); samples with ignore_label count in neither
// part. No sample left: 0. The first of equal maxima is taken.
CATENA_EXPORT Variable accuracy(const Variable& y, const Variable& t, std::optional<int> ignore_label = {});

}  // namespace nn
