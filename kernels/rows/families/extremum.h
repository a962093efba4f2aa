// The rows of kernels/reduction/extremum.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_EXTREMUM_ROWS(ROW) \
  ROW(amax, own)  /* NaN if one is there; -0 is smaller than +0, wherever they stand */ \
  ROW(amin, own)  /* likewise */ \
  ROW(nanmax, own) \
  ROW(nanmin, own) \
  ROW(argmax, own) \
  ROW(argmin, own)
// clang-format on

namespace catena::rows {
CATENA_EXTREMUM_ROWS(CATENA_DECLARE_ROW)
}
