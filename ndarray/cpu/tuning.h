// Constants that decide how the CPU backend divides its work. Each names the benchmark case that shows it. Sizes that
// depend on caches are fractions of those that every supported processor has; they are not queried, because some of
// them decide in which order numbers are added, and a result must not depend on the machine.
#pragma once

#include <cstdint>

namespace nd::cpu {

inline constexpr std::int64_t kFirstLevelCache = 32 * 1024, kCoreCache = 1024 * 1024;

// ---- threads --------------------------------------------------------------------------------------
// Elements that are worth another thread: they take about as long as waking it. For loops of one or two instructions
// per element (reduction/sum on two threads), and for those that convert, compute exponentials or follow indices
// (rows/softmax, scan/cumsum_axis1, indexing/take).
inline constexpr std::int64_t kLightGrain = 32 * 1024, kHeavyGrain = 16 * 1024;
// Bytes of neighbouring rows that are worth another thread. Two threads write to the cache line between them, which
// costs as much as writing some thousand bytes (scan/cumsum_axis0 with few rows).
inline constexpr std::int64_t kNeighbourGrain = kFirstLevelCache / 4;

// ---- reductions -------------------------------------------------------------------------------------
// Elements of the shortest runs along the last axis that a program computes in place; shorter ones are copied to a tile
// first. A call of a program takes as long as some dozens of elements (training/cnn: gradients of biases).
inline constexpr std::int64_t kShortRun = 64;
// Outputs of the shortest rows that a program computes row by row (training/mlp).
inline constexpr std::int64_t kShortRow = 8;
// Bytes of the shortest rows that are searched for an extremum one by one: two vectors (reduction/argmax_axis1).
inline constexpr std::int64_t kSearched = 32;
// Bytes of the longest rows that are faster when they are transposed: one vector (linalg/norm_axis1).
inline constexpr std::int64_t kTransposed = 16;
// Elements of the smallest matrix whose rows, not columns, are shared by threads if the order does not matter, and the
// least rows of a thread's share (reduction/max_axis0 on two threads).
inline constexpr std::int64_t kLargeMatrix = 1 << 20, kLeastRows = 128;
// Outputs of the narrowest strip of a row: a cache line of every type, or enough for a call of a program
// (reduction/sum_axis0, training/mlp).
inline constexpr std::int64_t kNarrowStrip = 64, kEvaluatedStrip = 256;
// Bytes of the accumulators of a strip, and of the rows that are copied at a time; both stay in the cache together
// (reduction/sum_middle).
inline constexpr std::int64_t kPanelBytes = kFirstLevelCache / 2;
// Bytes of the accumulators of outputs that are reduced in one call (reduction/sum_axis1 with few columns).
inline constexpr std::int64_t kRowAccumulators = 2048;

// ---- row-wise kernels -------------------------------------------------------------------------------
// Elements of the longest row that is copied as a whole, and of the longest one whose copy is a transposition: several
// operands in the cache of a core (rows/layer_norm_images).
inline constexpr std::int64_t kBufferedRow = 4096, kTransposedRow = kCoreCache / 4;
// Bytes of the rows that pass through a phase before the next phase begins (rows/layer_norm with some hundred columns).
inline constexpr std::int64_t kInterleavedBytes = kFirstLevelCache / 4 * 3;
// Bytes of the shortest rows that are prefetched; the hardware prefetcher suffices for shorter ones (rows/log_softmax
// of more than 20 MB).
inline constexpr std::int64_t kFetchedRow = 768;
// Bytes of the smallest operand whose rows are prefetched while others are transposed: about the cache of a core
// (rows/softmax with some dozens of columns).
inline constexpr std::int64_t kFetchedTransposed = kCoreCache;
// Bytes of an operand in the vectors of neighbouring rows that are computed at a time, if that is more than one vector,
// and the number of these vectors (rows/softmax with few columns).
inline constexpr std::int64_t kColumnTile = kFirstLevelCache / 4, kMostColumns = 8;
// Bytes of the statistics of rows on the stack (rows/layer_norm).
inline constexpr std::size_t kStatsOnStack = kFirstLevelCache / 2;

// ---- scans ------------------------------------------------------------------------------------------
// Bytes of the accumulators of neighbouring rows, and the most rows of a tile that is converted (scan/cumsum_axis0).
inline constexpr std::int64_t kScannedBytes = kFirstLevelCache / 4, kScannedRows = 32;

// ---- indices ----------------------------------------------------------------------------------------
// Rows between a prefetch and its use when rows are gathered or added up (indexing/take_rows,
// embedding/dense_gradient).
inline constexpr std::int64_t kGatheredAhead = 16, kScatteredAhead = 8;
// Positions of the longest axis whose occurrences are counted in several tables: they stay in the first-level cache
// (indexing/bincount).
inline constexpr std::int64_t kSmallTable = kFirstLevelCache / 8;
// Elements of the blocks whose positions that are not zero are counted first, so that each block knows where to write
// (indexing/mask_select).
inline constexpr std::int64_t kNonzeroBlock = 16 * 1024;

// ---- sorts ------------------------------------------------------------------------------------------
// Elements that are worth another thread (sorting/sort with short rows).
inline constexpr std::int64_t kSortGrain = 4 * 1024;
// Bytes of long rows that are copied together, because their elements share cache lines (sorting/sort along axis 0).
inline constexpr std::int64_t kTogetherBytes = 4 * kCoreCache;
// Bytes of the keys of rows that a network sorts, and the elements of the longest row; half as many of 64-bit keys
// (sorting/sort with some hundred columns).
inline constexpr std::int64_t kNetworkBytes = kFirstLevelCache, kNetworkTo = 2048;
// Elements of the shortest row that is sorted alone; shorter rows are sorted one per lane (sorting/sort with few
// columns).
inline constexpr std::int64_t kSideBySide = 16;

// ---- products -----------------------------------------------------------------------------------------
// The following constants also decide in which order the terms of a sum are added.
// The blocks of a product: kKc rows of a panel of b stay in the first-level cache, kMc x kKc elements of `a` in the
// cache of a core, and kKc x kNc elements of b in the last-level cache (matmul/transposed of integers).
inline constexpr std::int64_t kKc = 256, kMc = 168, kNc = 4096;
// Bytes of the part of b that is packed on the stack (matmul/skinny).
inline constexpr std::int64_t kPackedBytes = kFirstLevelCache / 2;
// Thin products: rows or columns of the thin operand at most, elements of a line of the result that are summed in the
// cache, rows of the wide matrix that are read together, and bytes of the thin operand on the stack (matmul/skinny).
inline constexpr std::int64_t kFew = 4, kThinChunk = 512, kThinRows = 8, kThinBytes = kFirstLevelCache / 4;

// ---- Fourier transforms ----------------------------------------------------------------------------
// The least length of a row that is transformed in two steps, and the numbers of a part of the work (fft/*).
inline constexpr std::int64_t kLeastLongFft = 256, kFftGrain = 16384;
// The longest row of complex numbers of single precision that is transformed in two steps although there are enough
// rows to transform them beside each other (fft/complex_1000x1024).
inline constexpr std::int64_t kLongFloatFft = 1024;
// Numbers of a lane that are transformed at once, as several short transforms (fft/complex_*, columns=2).
inline constexpr std::int64_t kFftGroup = 64;
// Bytes of the largest group of rows that is prefetched beside the one before (fft/complex_*, columns=80 and 243).
inline constexpr std::int64_t kFetchedFftGroup = 16384;
// The largest prime factor that is a stage; its convolution is computed in all lanes at once, in the second-level
// cache.
inline constexpr std::int64_t kLargestRader = 2048;

}  // namespace nd::cpu
