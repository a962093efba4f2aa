// The rows of kernels/search.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_SEARCH_ROWS(ROW) \
  ROW(searchsorted, own)
// clang-format on

namespace catena::rows {
CATENA_SEARCH_ROWS(CATENA_DECLARE_ROW)
}
