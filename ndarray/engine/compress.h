// Selection by a mask of the same shape.
//
// Thread safety: may be called from any thread.
#pragma once

#include <cstdint>

#include <catena/ndarray/core/array.h>

namespace nd::internal {

// Returns the elements at which the mask is true, in C order, as an array of rank 1. The arrays are C-contiguous, of
// one shape and on one device; the mask is of bools, of which `count` are true. `counts` are those of call::CountPieces
// for the mask; they may be null for up to kLeastPiece elements.
CATENA_EXPORT Array compress_by_mask(const Array& a, const Array& mask, std::int64_t count, const Array& counts);

}  // namespace nd::internal
