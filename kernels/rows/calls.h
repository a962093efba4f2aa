// The structural calls: plain descriptions of reductions, rows, multi-tensor updates, gathers, products and random
// fills, over operands that were bound and checked before. Both backends of ndarray execute them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include <catena/kernels/rows/program.h>

namespace catena {

// out = reduction of `in` over `axes` (sorted, normalised). `out` has the rank of `in`, with length 1 and stride 0
// along the reduced axes. Any operand dtypes: values are converted to and from the types of the loop.
struct ReduceCall {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  BoundOperand in, out;
  Dims axes;
  // Elementwise programs around the reduction, in the same pass: what is reduced is the one output of `pre` (then `in`
  // has no data: it gives the shape, the dtype and, by its strides, the order in which elements are best visited), what
  // is stored is the one output of `post`, whose input 0 is the reduced value. Null: none. The other inputs of `pre`
  // have one stride per axis of in.shape, those of `post` one per axis of out.shape. No in-outs; kernels are
  // elementwise.
  const Program* pre = nullptr;
  std::span<const BoundOperand> pre_inputs;
  const Program* post = nullptr;
  std::span<const BoundOperand> post_inputs;  // its inputs from 1 on
};

// A row kernel over `axes` of `shape`. Every operand is given by one stride per axis of `shape`; per-row outputs have
// stride 0 along `axes`. Any operand dtypes.
struct RowCall {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  Shape shape;
  Dims axes;
  std::span<const BoundOperand> operands;
};

inline constexpr int kMaxHyper = 8;
using Hyper = std::array<double, kMaxHyper>;

// One body over many contiguous tensors in one launch. BoundOperand dtypes are those of the loop.
struct TensorEntry {
  std::array<std::byte*, kMaxOperands> data{};
  std::int64_t n = 0;
  std::int32_t hyper = 0;  // index into MultiTensorCall::hyper
};
struct MultiTensorCall {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  std::span<const TensorEntry> tensors;
  std::span<const Hyper> hyper;
  // Where the call may be recorded and run again (CUDA graphs): gives the hyperparameters of a later run. Null: those
  // of the first.
  const std::function<void(std::span<Hyper>)>* refresh = nullptr;
};

// Indexing by arrays. Over the loop shape, element i lies at
//   base + sum_k i_k * base.strides[k] + sum_j wrap(index_j[i], length_j) * stride_j,
// where every index array has been broadcast to the loop shape. Indices of any integer dtype; they wrap modulo the
// length.
struct IndexAxis {
  BoundOperand index;
  std::int64_t length = 0;
  std::int64_t stride = 0;
};
struct GatherCall {
  Shape loop;
  BoundOperand base;  // the array that is read (gather) or written (scatter)
  std::span<const IndexAxis> axes;
  BoundOperand other;  // gather: the output, scatter: the values; of the dtype of base
};
enum class ScatterMode : std::uint8_t { set, add };

// out = a @ b over the last two axes; leading axes have been broadcast: all three have the same rank >= 2. One dtype.
// float16 and bfloat16 accumulate in float32 and round once.
struct MatmulCall {
  BoundOperand a, b, out;
};

// Running combination along one axis with the bodies of a reduction row: out_i = finish(combine(map(x_0), ...,
// map(x_i))). `in` and `out` have one shape; any dtypes: values are converted to and from the types of the loop.
struct ScanCall {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  BoundOperand in, out;
  int axis = 0;
};

// Stable ascending order along one axis; NaN comes last, in its order of appearance. `in` and `out` have one shape.
struct SortCall {
  BoundOperand in;
  BoundOperand out;  // of the dtype of `in`, or int64: the positions along the axis
  bool positions = false;
  int axis = 0;
};

// Positions of the elements that are not zero, in C order. `count` of them, as counted before; `out` is int64,
// C-contiguous, of shape (rank of `in`, count): one row per axis.
struct NonzeroCall {
  BoundOperand in;
  std::int64_t count = 0;
  BoundOperand out;
};

// Counter-based random numbers (kernels/random.h). Element i uses counter offset + i / 4 of the Philox stream of
// `seed`, whatever the launch. `out` is C-contiguous.
enum class RandomKind : std::uint8_t {
  bits,      // uint32 or uint64: raw
  uniform,   // floating: [0, 1)
  normal,    // floating: mean 0, deviation 1 (Box-Muller)
  integers,  // integer dtypes: [low, high)
};
struct RandomCall {
  RandomKind kind = RandomKind::uniform;
  std::uint64_t seed = 0, offset = 0;
  std::int64_t low = 0, high = 0;
  BoundOperand out;
  std::int64_t n = 0;
  // Where the call may be recorded and run again: gives the offset of a later run. Null: it cannot be recorded.
  const std::function<std::uint64_t()>* refresh = nullptr;
};
// Counters that a call consumes: offset advances by this much.
constexpr std::uint64_t random_counters(std::int64_t n) { return static_cast<std::uint64_t>((n + 3) / 4); }

}  // namespace catena
