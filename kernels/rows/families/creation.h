// The rows of kernels/creation.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_CREATION_ROWS(ROW) \
  ROW(arange, own) \
  ROW(linspace, own)
// clang-format on

namespace catena::rows {
CATENA_CREATION_ROWS(CATENA_DECLARE_ROW)
}
