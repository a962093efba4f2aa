// The families of kernels, one loops_<family>.cpp each. An explicit list: a static library then works without whole-archive.
#pragma once

#include "kernels/host/kernel.h"

#define CATENA_FAMILIES(X) \
  X(arithmetic) \
  X(division) \
  X(comparison) \
  X(explog) \
  X(trigonometric) \
  X(hyperbolic) \
  X(rounding) \
  X(floating) \
  X(logic) \
  X(bitwise) \
  X(sum) \
  X(extremum) \
  X(logical) \
  X(statistics) \
  X(softmax) \
  X(loss) \
  X(normalization) \
  X(activation) \
  X(pooling) \
  X(im2col) \
  X(dropout) \
  X(random) \
  X(search) \
  X(optimizer)

namespace catena::define {
#define CATENA_DECLARE_FAMILY(name) std::span<const KernelDef> name##_kernels();
CATENA_FAMILIES(CATENA_DECLARE_FAMILY)
#undef CATENA_DECLARE_FAMILY
}  // namespace catena::define
