// Evaluation measures without gradients; the result has the dtype of y.
#pragma once

#include <optional>

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Variable;

// The fraction of samples whose argmax over axis 1 of y equals t (any integer dtype). Samples with ignore_label are not
// counted; 0 if none is left. Of equal maxima the first counts. A negative label, with which losses mark what they
// ignore, is never hit; any other label that is neither a class nor ignore_label is an error as in
// softmax_cross_entropy, except that it counts as a miss where labels are not checked.
CATENA_EXPORT Variable accuracy(const Variable& y, const Variable& t, std::optional<int> ignore_label = {});

}  // namespace nn
