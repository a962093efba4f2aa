// The number of nonzero elements, and selection by a mask of the same shape.
//
// Thread safety: may be called from any thread.
#pragma once

#include <cstdint>

#include <catena/ndarray/core/array.h>

namespace nd::internal {

// The number of nonzero elements, and the counts of call::CountPieces; null for up to kLeastPiece elements. Waits for
// the device.
struct PieceCounts {
  std::int64_t total;
  Array counts;
};
CATENA_EXPORT PieceCounts count_pieces(const Array& a);

// Returns the elements at which the mask is true, in C order, as an array of rank 1. The arrays are C-contiguous, of
// one shape and on one device; the mask is of bools. Waits for the device.
CATENA_EXPORT Array compress_by_mask(const Array& a, const Array& mask);

}  // namespace nd::internal
