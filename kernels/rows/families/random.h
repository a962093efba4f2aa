// The rows of kernels/random.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_RANDOM_ROWS(ROW) \
  ROW(random_bits, internal)     \
  ROW(random_uniform, internal)  \
  ROW(random_normal, internal)   \
  ROW(random_integers, internal)
// clang-format on

namespace catena::rows {
CATENA_RANDOM_ROWS(CATENA_DECLARE_ROW)
}
