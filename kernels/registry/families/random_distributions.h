// The kernels of kernels/random_distributions.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_RANDOM_DISTRIBUTION_KERNELS(KERNEL) \
  KERNEL(random_gamma, internal)                \
  KERNEL(random_log_gamma, internal)            \
  KERNEL(random_poisson, internal)              \
  KERNEL(random_binomial, internal)             \
  KERNEL(random_hypergeometric, internal)       \
  KERNEL(random_logseries, internal)
// clang-format on

namespace catena::kernels {
CATENA_RANDOM_DISTRIBUTION_KERNELS(CATENA_DECLARE_KERNEL)
}
