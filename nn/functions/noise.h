// Noise.
#pragma once

#include <optional>

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Variable;

struct DropoutOptions {
  double ratio = 0.5;
  std::optional<bool> train = {};  // default: the thread's train mode; when false x itself is returned
};
// x mask / (1 - ratio), where an element is kept when its uniform number is >= ratio. The mask is recomputed from
// (seed, offset) of the thread's generator, never stored. ratio < 0 or >= 1: ValueError.
CATENA_EXPORT Variable dropout(const Variable& x, const DropoutOptions& options = {});

}  // namespace nn
