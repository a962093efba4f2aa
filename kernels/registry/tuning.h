// Constants that decide how fast host loops are. No bit of a result depends on them; the constants on which results
// depend (kLanes, kGroup, kMostFolded) are in kernel.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace catena {

// Bytes that the loops over long contiguous rows prefetch ahead: half a page, because the hardware prefetcher stops at
// the end of a page (reduction/sum, reduction/max, reduction/argmax of large arrays).
inline constexpr std::size_t kAhead = 2048;
// As kAhead for rows shorter than the lanes: some dozens of rows (reduction/sum_axis1 with few columns).
inline constexpr std::size_t kAheadOfShortRows = 1024;
// As kAhead for columns of moments, whose arithmetic takes longer than their loads (reduction/var).
inline constexpr std::size_t kAheadOfMoments = 512;

// Bytes of the vectors that a loop combines at a time: four of AVX-512, because a comparison takes several cycles and
// several of them must be under way (reduction/max, reduction/argmax, reduction/max_axis0).
inline constexpr int kWindowBytes = 256;

// Elements that are converted at a time for reductions and casts: two tiles of the widest type take half of a
// first-level cache of 32 KB (elementwise/cast_float64; reduction/sum of 8-bit integers).
inline constexpr std::int64_t kTileElements = 512;
// Bytes and elements of the tiles of an elementwise or row-wise loop: the tiles of all its operands take no more than a
// first-level cache of 32 KB (elementwise/add_strided).
inline constexpr std::int64_t kTileBytes = 2048, kMostTiled = 256;

}  // namespace catena
