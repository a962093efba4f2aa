// Bound calls: the descriptions of call.h after binding. Operands are memory with strides, have been broadcast and
// checked, and do not overlap in a way that matters. Both backends of ndarray execute them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <catena/kernels/base/function.h>
#include <catena/kernels/index_rule.h>
#include <catena/kernels/registry/program.h>

namespace catena {

enum class ScatterMode : std::uint8_t { set, add };

// Counter-based random numbers (kernels/random.h). Element i uses counter offset + i / 4 of the Philox stream of
// the seed, whatever the launch shape.
enum class RandomKind : std::uint8_t {
  bits,      // uint32 or uint64: raw bits
  uniform,   // floating: [0, 1)
  normal,    // floating: mean 0, deviation 1 (Box-Muller)
  integers,  // integer dtypes: [low, high)
};
// The number of counters that n elements consume; the offset advances by it.
constexpr std::uint64_t random_counters(std::int64_t n) { return static_cast<std::uint64_t>((n + 3) / 4); }

namespace bound {

// One elementwise kernel over n elements: element i of operand k is at data[k] + i * stride[k] (bytes). Operands have
// the compute types of the loop; a stride is the size of an element, or 0 for a host scalar.
struct Flat {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  std::byte* const* data = nullptr;
  const std::int64_t* stride = nullptr;
  std::int64_t n = 0;
};

// out = reduction of `in` over `axes` (sorted, non-negative). `out` has the rank of `in`, with length 1 and stride 0
// along the reduced axes. Operands may have any dtype: values are converted to and from the types of the loop.
struct Reduce {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  BoundOperand in, out;
  Dims axes;
  // Elementwise programs before and after the reduction, in the same pass; null: none. `pre` has one output, which is
  // reduced. In that case `in` has no data; it gives the shape and the dtype, and its strides give the best order of
  // visiting the elements. `post` has one output, which is stored; its input 0 is the reduced value. The other inputs
  // of `pre` have one stride per axis of in.shape, the inputs of `post` one per axis of out.shape. The programs have no
  // in-outs, and all their kernels are elementwise.
  const Program* pre = nullptr;
  std::span<const BoundOperand> pre_inputs;
  const Program* post = nullptr;
  std::span<const BoundOperand> post_inputs;  // the inputs of `post` from 1 on
};

// A row-wise kernel over `axes` of `shape`. Every operand has one stride per axis of `shape`; per-row outputs have
// stride 0 along `axes`. Operands may have any dtype.
struct RowWise {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  Shape shape;
  Dims axes;
  std::span<const BoundOperand> operands;
};

// Indexing by arrays. Over the loop shape, element i of the base is at
//   base + sum_k i_k * base.strides[k] + sum_j wrap(index_j[i], length_j) * stride_j.
// All index arrays have been broadcast to the loop shape. Indices may have any integer dtype. They wrap modulo the
// length; the call layer has checked those that must be checked.
struct Index {
  BoundOperand index;
  std::int64_t length = 0;
  std::int64_t stride = 0;
};
struct Gather {
  Shape loop;
  BoundOperand base;  // read by a gather, written by a scatter
  std::span<const Index> axes;
  BoundOperand other;  // the output of a gather, the values of a scatter; has the dtype of base
};
// Integers of any dtype that must follow the rule. Axes along which they are repeated have been removed.
struct CheckIndices {
  BoundOperand indices;
  IndexRule rule;
  std::string_view name;  // used in messages
};
// out = a @ b over the last two axes. Leading axes have been broadcast: all three operands have the same rank >= 2, and
// one dtype. float16 and bfloat16 accumulate in float32 and round once.
struct Matmul {
  BoundOperand a, b, out;
};

// Running reduction along one axis with the bodies of a reduction: out_i = finish(combine(map(x_0), ...,
// map(x_i))). `in` and `out` have the same shape and any dtypes: values are converted to and from the types of the
// loop.
struct Scan {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  BoundOperand in, out;
  int axis = 0;
};

// Stable ascending sort along one axis; NaN last, in order of appearance. `in` and `out` have the same shape.
struct Sort {
  BoundOperand in;
  BoundOperand out;  // has the dtype of `in`, or int64 for positions along the axis
  bool positions = false;
  int axis = 0;
  std::span<const std::int64_t> kth = {};  // see call::Sort; a complete sort serves every kth
};

// Concatenates the pieces along one axis of `out`, which is C-contiguous. All pieces have one dtype and at least one
// element.
struct Join {
  std::span<const BoundOperand> pieces;
  BoundOperand out;
  int axis = 0;
};

// Positions of the `count` non-zero elements, in C order; the caller has counted them. `out` is int64, C-contiguous, of
// shape (rank of `in`, count): one row per axis.
struct Nonzero {
  BoundOperand in;
  std::int64_t count = 0;
  BoundOperand out;
};

// Random numbers; `out` is C-contiguous.
struct Random {
  RandomKind kind = RandomKind::uniform;
  std::uint64_t seed = 0, offset = 0;
  std::int64_t low = 0, high = 0;
  BoundOperand out;
  std::int64_t n = 0;
  // For calls that may be captured and run again: returns the offset of a later run. Null: the call cannot be captured.
  const Function<std::uint64_t()>* refresh = nullptr;
};
}  // namespace bound
}  // namespace catena
