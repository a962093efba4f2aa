// Dropout.
#pragma once

#include <optional>

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Variable;

struct DropoutOptions {
  double ratio = 0.5;
  std::optional<bool> train = {};  // default: the thread's train mode; when false x itself is returned
};
// x mask / (1 - ratio); an element is kept if its uniform number is >= ratio. The mask is not stored: backward
// recomputes it from (seed, offset) of the thread's generator. ratio < 0 or >= 1: ValueError.
CATENA_EXPORT Variable dropout(const Variable& x, const DropoutOptions& options = {});

}  // namespace nn
