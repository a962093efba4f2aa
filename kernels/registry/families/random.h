// The kernels of kernels/random.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_RANDOM_KERNELS(KERNEL) \
  KERNEL(random_bits, internal)     \
  KERNEL(random_uniform, internal)  \
  KERNEL(random_normal, internal)   \
  KERNEL(random_integers, internal)
// clang-format on

namespace catena::kernels {
CATENA_RANDOM_KERNELS(CATENA_DECLARE_KERNEL)
}
