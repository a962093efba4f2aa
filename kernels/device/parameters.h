// What a launch passes to a generated kernel: one struct by value. Plain data, the same for NVRTC, for the launcher
// that fills it and for the tests that execute kernels on the CPU. Lengths count elements, strides are bytes; whatever
// index width a kernel computes in, its parameters are 64 bits wide.
#pragma once

#include <catena/kernels/prelude.h>

namespace catena::device {

inline constexpr int kBlock = 256;  // threads of every block, as one dimension
inline constexpr int kWarp = 32;
inline constexpr int kMaxExactRank = 4;       // elementwise loops and reductions of more merged axes are generic
inline constexpr int kMaxIndexedRank = 8;     // indexed kernels cannot merge axes
inline constexpr int kMaxRawRank = 8;         // axes of a raw operand
inline constexpr int kGenericRank = 32;       // of reductions and row kernels: the highest rank of an array
inline constexpr int kParameterBytes = 4096;  // what every driver accepts

// One element of a scalar operand, in the operand's dtype, at the front. Used when the operand's `data` is null.
struct alignas(16) Cell {
  unsigned char bytes[16];
};

// An elementwise loop over n elements, one block of numbers per operand (inputs, in-outs, outputs).
template <int Operands>
struct ContiguousParameters {
  int64_t n;
  int64_t rank;  // read by generic kernels only
  void* data[Operands];
  Cell cell[Operands];
};
template <int Operands, int Rank>
struct StridedParameters {
  int64_t n;
  int64_t rank;
  void* data[Operands];
  Cell cell[Operands];
  int64_t length[Rank];  // outermost axis first
  int64_t stride[Operands][Rank];
};
template <int Operands, int Rank, int Raw>
struct IndexedParameters {
  int64_t n;
  int64_t rank;
  void* data[Operands];
  Cell cell[Operands];
  int64_t length[Rank];
  int64_t stride[Operands][Rank];        // raw operands: unused
  int64_t raw_length[Raw][kMaxRawRank];  // raw operands in their order
  int64_t raw_stride[Raw][kMaxRawRank];
};

// A reduction of `count` elements for each of `outputs`. With several splits (gridDim.y) a block writes its accumulator
// to partial[output * splits + split], and a second kernel over the same parameters combines them. Operands: the inputs
// that elements are made from, those of what comes after the reduction, the output.
template <int Inputs, int Operands, int Kept, int Reduced>
struct ReduceParameters {
  int64_t outputs, count;
  int64_t kept_rank, reduced_rank;  // read by generic kernels only
  int64_t splits;
  void* partial;
  void* data[Operands];
  Cell cell[Operands];
  int64_t kept_length[Kept], kept_stride[Operands][Kept];
  int64_t reduced_length[Reduced], reduced_stride[Inputs][Reduced];
};

// Elements of a row that a thread keeps in registers.
inline constexpr int kRowElements = 32;

// `rows` rows of `count` elements. Operands: inputs, outputs, per-row outputs.
template <int Operands, int Kept, int Reduced>
struct RowParameters {
  int64_t rows, count;
  int64_t kept_rank, reduced_rank;
  void* data[Operands];
  Cell cell[Operands];
  int64_t kept_length[Kept], kept_stride[Operands][Kept];
  int64_t reduced_length[Reduced], reduced_stride[Operands][Reduced];
};

// One launch over many tensors. Block b updates elements [chunk * kChunk, (chunk + 1) * kChunk) of tensor
// chunks[b].tensor.
inline constexpr int64_t kChunk = 16384;
template <int Operands>
struct TensorRow {
  void* data[Operands];
  int64_t n;
  int64_t hyper;  // index into `hyper`, in blocks of kHyper
};
struct TensorChunk {
  int32_t tensor, chunk;
};
inline constexpr int kHyper = 8;
struct MultiTensorParameters {
  const void* tensors;  // TensorRow<Operands>, in the device's memory like the two below
  const TensorChunk* chunks;
  const double* hyper;
};

// Running results along `rows` rows of `count` elements. With several splits the rows are cut into pieces of `piece`
// elements, and partial[row * splits + split] holds first the result of a piece alone, then that of all elements before
// it.
template <int Rank>
struct ScanParameters {
  int64_t rows, count, rank, splits, piece;
  int64_t in_step, out_step;  // along the row
  const void* in;
  void* out;
  void* partial;
  int64_t length[Rank], in_stride[Rank], out_stride[Rank];
};

// Indexing by arrays: position i of a loop over n lies at base + sum_k i_k * base_stride[k] + sum_j wrap(index_j[i]) *
// axis_stride[j].
template <int Axes, int Rank>
struct GatherParameters {
  int64_t n;
  int64_t rank;
  void* base;
  void* other;  // what is gathered goes there, what is scattered comes from there
  const void* index[Axes];
  int64_t axis_length[Axes], axis_stride[Axes];
  int64_t length[Rank], base_stride[Rank], other_stride[Rank];
  int64_t index_stride[Axes][Rank];
};

// n random numbers, contiguous. The counter starts at offset, plus what device_offset points to when it is not null.
struct RandomParameters {
  int64_t n;
  uint64_t seed, offset;
  const uint64_t* device_offset;
  int64_t low, high;
  void* out;
};

inline constexpr int kTile = 64;        // rows and columns of the results of a block
inline constexpr int kTileDepth = 16;   // of k that lies in shared memory at once
inline constexpr int kNarrow = 4;       // rows of a product that is not worth tiles
inline constexpr int kMaxSumBytes = 8;  // of an accumulator

// `batch` products of m x k by k x n matrices. With several splits of k (gridDim.y) a block writes its accumulators to
// partial[split * outputs + output], and a second kernel over the same parameters adds them up.
template <int Rank>
struct MatmulParameters {
  int64_t m, n, k, batch, batch_rank, splits;
  const void* a;
  const void* b;
  void* out;
  void* partial;
  int64_t a_row, a_column, b_row, b_column, out_row, out_column;
  int64_t length[Rank], a_stride[Rank], b_stride[Rank], out_stride[Rank];
};

// Positions of the elements that are not zero, in `pieces` pieces of kPiece elements; counts[piece] is first how many a
// piece has, then how many come before it. Coordinate a of number i goes to out[a * count + i].
inline constexpr int kPiece = 2048;
template <int Rank>
struct NonzeroParameters {
  int64_t n, rank, pieces, count;
  const void* in;
  int64_t* out;
  int64_t* counts;
  int64_t length[Rank], stride[Rank];
};

// Running sums of `rows` rows of `count` counts, in place.
struct OffsetsParameters {
  int64_t rows, count;
  void* counts;
};

// Rows that are sorted. sort_block: padded = power of two >= count, kSortBlock / padded rows per block. The others:
// keys and positions of all rows one after the other, and values when they are wanted and not the positions.
inline constexpr int kSortBlock = 2048;
template <int Rank>
struct SortParameters {
  int64_t rows, count, rank, padded, positions;
  int64_t in_step, out_step;  // along the row
  const void* in;
  void* out;
  void* keys;
  uint32_t* places;
  void* values;
  int64_t length[Rank], in_stride[Rank], out_stride[Rank];
};

// One digit of a radix sort. counts[(row * kDigits + digit) * pieces + piece]: how often it occurs, then where its
// first one goes.
inline constexpr int kDigits = 256;
inline constexpr int kSortPiece = 4096;
struct RadixParameters {
  int64_t rows, count, pieces, shift;
  const void* keys;
  const uint32_t* places;
  void* keys_out;
  uint32_t* places_out;
  uint32_t* counts;
};

}  // namespace catena::device
