// The rows of kernels/random_distributions.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_RANDOM_DISTRIBUTION_ROWS(ROW) \
  ROW(random_gamma, internal)                \
  ROW(random_log_gamma, internal)            \
  ROW(random_poisson, internal)              \
  ROW(random_binomial, internal)             \
  ROW(random_hypergeometric, internal)       \
  ROW(random_logseries, internal)
// clang-format on

namespace catena::rows {
CATENA_RANDOM_DISTRIBUTION_ROWS(CATENA_DECLARE_ROW)
}
