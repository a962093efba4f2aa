// What a launch passes to a generated kernel: one struct by value. Plain data, the same for NVRTC, for the launcher that fills it
// and for the tests that execute kernels on the CPU. Lengths count elements, strides are bytes; whatever index width a kernel
// computes in, its parameters are 64 bits wide.
#pragma once

#include "kernels/prelude.h"

namespace catena::device {

inline constexpr int kBlock = 256;          // threads of every block, as one dimension
inline constexpr int kWarp = 32;
inline constexpr int kMaxExactRank = 4;     // elementwise loops and reductions of more merged axes are generic
inline constexpr int kMaxIndexedRank = 8;   // indexed kernels cannot merge axes
inline constexpr int kMaxRawRank = 8;       // axes of a raw operand
inline constexpr int kGenericRank = 32;     // of reductions and row kernels: the highest rank of an array
inline constexpr int kParameterBytes = 4096;  // what every driver accepts

// One element of a scalar operand, in the operand's dtype, at the front. Used when the operand's `data` is null.
struct alignas(16) Cell { unsigned char bytes[16]; };

// An elementwise loop over n elements, one block of numbers per operand (inputs, in-outs, outputs).
template <int Operands> struct ContiguousParameters {
  int64_t n;
  int64_t rank;  // read by generic kernels only
  void* data[Operands];
  Cell cell[Operands];
};
template <int Operands, int Rank> struct StridedParameters {
  int64_t n;
  int64_t rank;
  void* data[Operands];
  Cell cell[Operands];
  int64_t length[Rank];  // outermost axis first
  int64_t stride[Operands][Rank];
};
template <int Operands, int Rank, int Raw> struct IndexedParameters {
  int64_t n;
  int64_t rank;
  void* data[Operands];
  Cell cell[Operands];
  int64_t length[Rank];
  int64_t stride[Operands][Rank];   // raw operands: unused
  int64_t raw_length[Raw][kMaxRawRank];  // raw operands in their order
  int64_t raw_stride[Raw][kMaxRawRank];
};

// A reduction of `count` elements for each of `outputs`. With several splits (gridDim.y) a block writes its accumulator to
// partial[output * splits + split], and a second kernel over the same parameters combines them.
template <int Kept, int Reduced> struct ReduceParameters {
  int64_t outputs, count;
  int64_t kept_rank, reduced_rank;  // read by generic kernels only
  int64_t splits;
  const void* in;
  void* out;
  void* partial;
  int64_t kept_length[Kept], kept_in[Kept], kept_out[Kept];
  int64_t reduced_length[Reduced], reduced_in[Reduced];
};

// `rows` rows of `count` elements. Operands: inputs, outputs, per-row outputs.
template <int Operands, int Kept, int Reduced> struct RowParameters {
  int64_t rows, count;
  int64_t kept_rank, reduced_rank;
  void* data[Operands];
  Cell cell[Operands];
  int64_t kept_length[Kept], kept_stride[Operands][Kept];
  int64_t reduced_length[Reduced], reduced_stride[Operands][Reduced];
};

// One launch over many tensors. Block b updates elements [chunk * kChunk, (chunk + 1) * kChunk) of tensor chunks[b].tensor.
inline constexpr int64_t kChunk = 16384;
template <int Operands> struct TensorRow {
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

}  // namespace catena::device
