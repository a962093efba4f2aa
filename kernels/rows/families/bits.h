// The rows of kernels/bits.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_BITS_ROWS(ROW) \
  ROW(packbits, own) \
  ROW(unpackbits, own)
// clang-format on

namespace catena::rows {
CATENA_BITS_ROWS(CATENA_DECLARE_ROW)
}
