// Folder kernels/device/: the launch skeletons of generated kernels. A skeleton is a loop over elements, rows, tiles or
// pieces that calls a body; generated code instantiates one with the operands of a call. The folder has no bodies and
// no host code; ndarray/cuda/ launches the kernels. May use the headers of kernels/.
//
// This header: the parameters of a launch, one struct passed by value. Plain data with the same layout for NVRTC, for
// the host and for tests that execute kernels on the CPU. A struct derives from its head, which has the members whose
// number does not depend on operands or axes: the host fills the head as a struct and appends the arrays in their order
// (ndarray/cuda/plans/plan.h). Pointers into scratch memory are set right before the launch. Lengths count elements,
// strides are bytes; all are 64 bits wide, whatever index width the kernel computes with.
#pragma once

#include <catena/kernels/index_rule.h>
#include <catena/kernels/prelude.h>

namespace catena::device {

// (No variables: see traits.h.)
enum : int {
  kAccess = 16,  // bytes of the widest access
  kBlock = 256,  // threads per block, in one dimension
  kWarp = 32,
  kMaxExactRank = 4,       // most axes, after merging, of kernels that are compiled for their number of axes
  kMaxIndexedRank = 8,     // the axes of indexed kernels cannot be merged
  kMaxRawRank = 8,         // axes of a raw operand
  kGenericRank = 32,       // the highest rank of an array: kernels that read the number of axes at run time
  kParameterBytes = 4096,  // limit that every driver accepts
  kRowElements = 32,       // elements of a row that a thread keeps in registers; for the longest rows kMostRowElements
  kHyper = 8,              // hyperparameters of a tensor
  kTile = 64,              // matrix products: rows and columns of results per block
  kTileDepth = 16,         // elements of k in shared memory at once
  kNarrow = 4,             // products with at most this many rows do not use tiles
  kTargets = 1024,         // additions to repeated elements: sums of a block in shared memory
  kTableBytes = 32768,     // of sums for all targets; several such blocks fit the 164 KiB of a processor of sm_80
  kMaxSumBytes = 16,       // bytes of an accumulator
  kLargeSum = 16,          // bytes of an accumulator; reductions with larger ones save registers
  kSplitsOfWarp = 128,     // partial results of an output that a warp combines; more are combined by a block
  kPiece = 2048,           // elements of a piece of nonzero
  kSortBlock = 2048,       // sorting: elements in shared memory
  kDigits = 256,           // values of a digit of a radix sort
  kSortPiece = 4096,       // elements that a block of a radix sort moves at once
  kTaken = 16,             // words before counts or flags, with the numbers of the next pieces that blocks take
  kPivots = 8              // most pivots by which a row is divided
};
enum : int64_t { kChunk = 16384 };  // elements of a tensor per block

// One element of a scalar operand, in the operand's dtype, in the first bytes. Used if the operand's `data` is null.
struct alignas(16) Cell {
  unsigned char bytes[16];
};

// An elementwise loop over n elements; one entry per operand, in the order inputs, in-outs, outputs.
struct ElementwiseHead {
  int64_t n;
  int64_t rank;  // read by generic kernels only
};
template <int Operands> struct ContiguousParameters : ElementwiseHead {
  void* data[Operands];
  Cell cell[Operands];
};
template <int Operands, int Rank> struct StridedParameters : ElementwiseHead {
  void* data[Operands];
  Cell cell[Operands];
  int64_t length[Rank];  // outermost axis first
  int64_t stride[Operands][Rank];
};
template <int Operands, int Rank, int Raw> struct IndexedParameters : ElementwiseHead {
  void* data[Operands];
  Cell cell[Operands];
  int64_t length[Rank];
  int64_t stride[Operands][Rank];        // unused for raw operands
  int64_t raw_length[Raw][kMaxRawRank];  // shapes of the raw operands, in their order
  int64_t raw_stride[Raw][kMaxRawRank];
};

// A reduction of `count` elements for each of `outputs` outputs. With several splits (gridDim.y), of `part` elements
// each, a block writes its accumulator to partial[output * splits + split]. The last block that has finished its part
// combines them: blocks_done[blockIdx.x] counts the blocks of the same outputs, and is 0 before and after the kernel.
// If `blocks_done` is null, a second kernel over the same parameters combines them. Operands: the inputs of the program
// before the reduction, the further inputs of the program after it, the output.
struct ReduceHead {
  int64_t outputs, count, divisor;
  int32_t kept_rank, reduced_rank;  // read by generic kernels only
  int64_t splits, part;
  void* partial;
  uint32_t* blocks_done;
};
template <int Inputs, int Operands, int Kept, int Reduced> struct ReduceParameters : ReduceHead {
  void* data[Operands];
  Cell cell[Operands];
  int64_t kept_length[Kept], kept_stride[Operands][Kept];
  int64_t reduced_length[Reduced], reduced_stride[Inputs][Reduced];
};

// `rows` rows of `count` elements. Operands: inputs, outputs, per-row outputs.
struct RowWiseHead {
  int64_t rows, count;
  int64_t kept_rank, reduced_rank;
};
template <int Operands, int Kept, int Reduced> struct RowWiseParameters : RowWiseHead {
  void* data[Operands];
  Cell cell[Operands];
  int64_t kept_length[Kept], kept_stride[Operands][Kept];
  int64_t reduced_length[Reduced], reduced_stride[Operands][Reduced];
};

// One launch over many tensors. Block b processes elements [chunk * kChunk, (chunk + 1) * kChunk) of tensor
// chunks[b].tensor.
template <int Operands> struct TensorEntry {
  void* data[Operands];
  int64_t n;
  int64_t hyper;  // index in `hyper`, in blocks of kHyper
};
struct TensorChunk {
  int32_t tensor, chunk;
};
struct MultiTensorParameters {
  const void* tensors;  // TensorEntry<Operands>; in device memory, as the two below
  const TensorChunk* chunks;
  const double* hyper;  // null: all tensors use `common`
  double common[kHyper];
};

// Scans along `rows` rows of `count` elements. With several splits, each row is cut into pieces of `piece` elements;
// partial[row * splits + split] is first the result of the piece alone, then of all elements before it. In a chain
// (scan_chain), the row has `groups` groups of kWarp pieces; `partial` has the results of its pieces, of its groups,
// and of all elements up to each group, and `flags` which of them are there.
struct ScanHead {
  int64_t rows, count, rank, splits, piece, groups;
  int64_t in_step, out_step;  // along the row
  const void* in;
  void* out;
  void* partial;
  uint32_t* flags;  // kTaken words, the first of which is the number of the next piece, then those of all rows
};
template <int Rank> struct ScanParameters : ScanHead { int64_t length[Rank], in_stride[Rank], out_stride[Rank]; };

// Gather and scatter: position i of a loop over n elements is at base + sum_k i_k * base_stride[k] + sum_j
// wrap(index_j[i]) * axis_stride[j].
struct GatherHead {
  int64_t n;
  int64_t rank;
  void* base;
  void* other;            // the output of a gather, the values of a scatter
  const void* dense_end;  // of sums of 16-bit floats: the end of the array if its elements are contiguous, else null
};
template <int Axes, int Rank> struct GatherParameters : GatherHead {
  const void* index[Axes];
  int64_t axis_length[Axes], axis_stride[Axes];
  int64_t length[Rank], base_stride[Rank], other_stride[Rank];
  int64_t index_stride[Axes][Rank];
};

// A number that breaks its rule. A kernel writes the record; the host resets the state after reading it.
struct IndexRecord {
  enum : uint32_t { empty = 0, claimed = 1, complete = 2 };
  uint32_t state;
  uint32_t is_unsigned;
  int64_t value;
  IndexRule rule;
  const char* name;  // of the operation; host memory
};
struct IndexCheckHead {
  int64_t n, rank;
  const void* in;
  IndexRecord* record;
  IndexRule rule;
  const char* name;
};
template <int Rank> struct IndexCheckParameters : IndexCheckHead { int64_t length[Rank], stride[Rank]; };

// Operands joined along an axis of a C-contiguous output. The output has `rows` rows, one per position along the axes
// before the joined one. A row has the columns of one operand after the other. Column c of an operand is at position c
// / inner along the axis and at c % inner behind it. An operand's columns end at `end`.
enum : int { kFewPieces = 8, kManyPieces = 100 };
struct JoinPiece {
  const void* data;
  int64_t end;
  int64_t row, along, behind;  // strides in bytes
};
struct JoinHead {
  int64_t rows, columns, inner, pieces;
  int64_t pitch;  // bytes between rows of the output
  void* out;
};
template <int Pieces> struct JoinParameters : JoinHead { JoinPiece piece[Pieces]; };

// n contiguous random numbers. The counter starts at `offset`, plus *device_offset if that is not null.
struct RandomParameters {
  int64_t n;
  uint64_t seed, offset;
  const uint64_t* device_offset;
  int64_t low, high;
  void* out;
};

// `batch` products of an m x k and a k x n matrix. With several splits of k (gridDim.y), a block writes its
// accumulators to partial[split * outputs + output], and a second kernel over the same parameters adds them up.
struct MatmulHead {
  int64_t m, n, k, batch, batch_rank, splits;
  const void* a;
  const void* b;
  void* out;
  void* partial;
  int64_t a_row, a_column, b_row, b_column, out_row, out_column;
};
template <int Rank> struct MatmulParameters : MatmulHead {
  int64_t length[Rank], a_stride[Rank], b_stride[Rank], out_stride[Rank];
};

// Numbers of non-zero elements of `pieces` pieces of kPiece elements. counts[1 + piece] is first the number of those of
// the piece, then of those of all pieces before it; counts[0] becomes the number of all. The last block that has
// counted its pieces computes the sums: `blocks_done` counts the blocks, and is 0 before and after the kernel. If
// `blocks_done` is null and there are several blocks, a second kernel computes them.
struct CountHead {
  int64_t n, rank, pieces;
  const void* in;
  int64_t* counts;
  uint32_t* blocks_done;
};
template <int Rank> struct CountParameters : CountHead { int64_t length[Rank], stride[Rank]; };

// Positions of the non-zero elements. Coordinate a of the i-th non-zero element goes to out[a * count + i]. `counts`
// are the sums of CountHead; they may be null for one piece.
struct NonzeroHead {
  int64_t n, rank, pieces, count;
  const void* in;
  int64_t* out;
  const int64_t* counts;
};
template <int Rank> struct NonzeroParameters : NonzeroHead { int64_t length[Rank], stride[Rank]; };

// Selection by a mask of n bytes: the elements are moved as words. `counts` is as in NonzeroHead.
struct CompressParameters {
  int64_t n, pieces;
  const unsigned char* mask;
  const void* in;
  void* out;
  const int64_t* counts;
};

// The sums of CountHead as a kernel of their own.
struct OffsetsParameters {
  int64_t pieces;
  int64_t* counts;
};

// A stage of Fourier transforms of `rows` rows of n = radix * m * s complex numbers (fft.h). `inverse` is 0 or 1.
struct FftStageParameters {
  int64_t rows, n, radix, m, s, inverse;
  double scale;
  const void* from;
  void* to;
};

// Sorting of rows that fit a block. `positions` is 1 if the result is positions and not values. `padded` is the
// smallest power of two >= count; a block sorts kSortBlock / padded rows.
struct SortHead {
  int64_t rows, count, rank, padded, positions;
  int64_t in_step, out_step;  // along the row
  const void* in;
  void* out;
};
template <int Rank> struct SortParameters : SortHead { int64_t length[Rank], in_stride[Rank], out_stride[Rank]; };

// Words of memory that are set to 0.
struct ClearParameters {
  int64_t n;
  uint32_t* words;
};

// Radix sort of longer rows, and their division by pivots (radix.h). A row has `pieces` pieces of kSortPiece elements;
// digits are counted by `splits` blocks per row, each in `part` elements.
struct Pivot {
  uint64_t prefix;  // the digits of the key that are known
  uint32_t rank;    // position among the elements with these digits
  uint32_t equal;   // their number
};
struct RadixHead {
  int64_t rows, count, rank, pieces, splits, part;
  int64_t digit;              // the number of the digit, from the least significant one
  int64_t in_step, out_step;  // along the row
  const void* in;
  void* out;
  void* values;      // of all rows, twice: passes read one half and write the other
  uint32_t* places;  // of the values; null if the result is values
  uint32_t* counts;  // kTaken numbers of the next piece of a pass, then the counts of digits
  void* states;      // of the pieces and bins, twice: passes use one half and clear the other
  Pivot* found;      // of each row, after each number of digits
  int64_t pivots;    // 1 in a sort
  int64_t kth[kPivots];
};
template <int Rank> struct RadixParameters : RadixHead { int64_t length[Rank], in_stride[Rank], out_stride[Rank]; };

}  // namespace catena::device
