// Evaluation measures without gradients; the result has the dtype of y.
#pragma once

#include <optional>

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Variable;

// The fraction of samples whose argmax over axis 1 of y equals t (any integer dtype). Samples with ignore_label are not
// counted; 0 if none is left. Of equal maxima the first counts.
CATENA_EXPORT Variable accuracy(const Variable& y, const Variable& t, std::optional<int> ignore_label = {});

}  // namespace nn
