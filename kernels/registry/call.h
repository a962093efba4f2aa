// Calls: descriptions of operations on arrays. The routines of ndarray and the framework create the same descriptions.
// The executor of a call (ndarray/engine/execute.h, or another backend of the framework) checks devices and shapes,
// resolves overlap, handles empty arrays, keeps the operands alive while the device uses them, increments versions and
// launches.
//
// A call does not own the objects that it refers to: headers, spans and programs must live until it has been executed.
// bound_call.h has the bound calls, whose operands are memory with strides.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/bound_call.h>

namespace catena {

class TensorTable;
inline constexpr int kMaxHyper = 8;
using Hyper = std::array<double, kMaxHyper>;

namespace call {

using Reads = std::span<const Input>;
using Writes = std::span<ArrayHeader* const>;

// A program of elementwise kernels, or of one step by an indexed kernel. Inputs broadcast; dtypes are converted to and
// from those of the slots. `outputs` lists in-outs first; outputs must have the common shape (ValueError). Raw operands
// of indexed kernels keep their own shape.
struct Elementwise {
  const Program* program = nullptr;
  Reads inputs = {};
  Writes outputs = {};
  std::string_view name = {};  // used in messages; if empty, the name of the first kernel
  // Set if the caller knows that all arrays are C-contiguous and have the shape and the device of this array, and that
  // no output overlaps an input other than itself. The call then does not check these properties again.
  const ArrayHeader* same_layout = nullptr;
};

// A recurrence: runs `step` at the positions of the first axis of its outputs, in ascending order; the outputs must
// have such an axis. A position reads elements that earlier positions have written. Inputs that share memory with
// outputs are not copied; at one position, an input and an output must be disjoint or identical. `same_layout` is not
// used.
struct Recurrence {
  Elementwise step;
};

// out = a reduction over `axes` (sorted, non-negative) of the single input, or of the output of the program `pre` over
// the inputs, which broadcast. `pre` has elementwise steps, one output and no in-outs; its output is not stored. With
// `post`, the output of that program over the reduced value is stored; its inputs from 1 on are `post_inputs`, host
// scalars. In `out` the reduced axes have length 1 or are absent. If there are no elements to reduce, the kernel must
// have an identity.
struct Reduce {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  Reads inputs = {};
  Dims axes = {};
  ArrayHeader* out = nullptr;
  const Program* pre = nullptr;
  const Program* post = nullptr;
  Reads post_inputs = {};
};

// Running reduction: element i along `axis` is the reduction of elements 0 to i. `out` has the shape of `in`.
struct Scan {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  const ArrayHeader* in = nullptr;
  int axis = 0;
  ArrayHeader* out = nullptr;
};

// Stable ascending sort along `axis`, NaN last. `out` has the shape of `in`, and the dtype of `in` or, with
// `positions`, int64. With `kth` (positions in ascending order), the element at each of these positions is the one of
// the sorted row; no greater element precedes it and no smaller one follows it. The order is otherwise undefined.
struct Sort {
  const ArrayHeader* in = nullptr;
  int axis = 0;
  bool positions = false;
  ArrayHeader* out = nullptr;
  std::span<const std::int64_t> kth = {};
};

// Concatenates the pieces along `axis`. All pieces have the dtype of `out`, and its shape except for the length along
// the axis. These lengths add up to the length of `out`, which is C-contiguous.
struct Join {
  std::span<const ArrayHeader* const> pieces;
  int axis = 0;
  ArrayHeader* out = nullptr;
  std::string_view name = "join";  // used in messages
};

// Positions of the non-zero elements in C order. `out` is C-contiguous, int64, of shape (rank, count); the caller has
// counted them (count_nonzero).
struct Nonzero {
  const ArrayHeader* in = nullptr;
  ArrayHeader* out = nullptr;
};

// A row-wise kernel. Inputs broadcast to `shape`. `outputs` has first the outputs of shape `shape`, then the per-row
// outputs, which have length 1 along `axes`. If a row has no elements, its per-row outputs are 0.
struct RowWise {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  const Shape* shape = nullptr;
  Dims axes = {};
  Reads inputs = {};
  Writes outputs = {};
};

// A row-wise kernel and sums over the other axes of its shape, which may read the same operands. The device computes
// all in one pass if that is faster. `sums` are reductions by the kernel "sum" over the axes that are not in rows.axes,
// of inputs that broadcast to the shape of `rows`, without `post`. No output shares memory with an input.
struct RowWiseAndSums {
  RowWise rows;
  std::span<const Reduce> sums = {};
};

// An integer index array for an axis of length `length`, whose elements are `stride` bytes apart. The array broadcasts
// to the loop shape. It is checked as CheckIndices describes before anything is written. `wraps`: it is not checked,
// because its indices are known to be in range or are taken modulo the length.
struct Index {
  const ArrayHeader* array = nullptr;
  std::int64_t length = 0;
  std::int64_t stride = 0;
  int axis = 0;  // number of the axis in messages
  bool wraps = false;
};

// Gather. Over the loop shape, element i of `base` is at base.data + sum_k i_k * base_strides[k] + sum_j
// wrap(index_j[i]) * stride_j; loop axes that belong to an index array have base stride 0. `out` has the loop shape and
// the dtype of `base`.
struct Gather {
  const ArrayHeader* base = nullptr;
  Strides base_strides = {};  // in bytes, one per loop axis
  std::span<const Index> indices = {};
  const Shape* loop = nullptr;
  ArrayHeader* out = nullptr;
  std::string_view name = "gather";  // used in messages
};

// Scatter: stores `values`, which broadcast to the loop shape, in `base` or adds them to it. If several values have the
// same destination, set keeps one of them and add adds them all.
struct Scatter {
  ScatterMode mode = ScatterMode::set;
  ArrayHeader* base = nullptr;
  Strides base_strides = {};
  std::span<const Index> indices = {};
  const Shape* loop = nullptr;
  Input values = {};
  std::string_view name = "scatter";  // used in messages
};

// Throws IndexError that names the first number that breaks the rule. The CPU always checks. Other devices check only
// if the backend was configured to do so; the call then does not wait, and the next call that waits for the device
// throws the error.
struct CheckIndices {
  const ArrayHeader* array = nullptr;
  IndexRule rule;
  std::string_view name = "index";  // used in messages
};

// out = a @ b over the last two axes; leading axes are broadcast. Rank >= 2; all arrays have one dtype.
struct Matmul {
  const ArrayHeader* a = nullptr;
  const ArrayHeader* b = nullptr;
  ArrayHeader* out = nullptr;
};

// One body over many C-contiguous tensors in one launch; the tensors have the dtypes of the loop. A caller that updates
// the same tensors repeatedly should keep the table: then only changed entries are written (tensor_table.h).
struct MultiTensor {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  std::span<ArrayHeader* const> operands;  // operands of the first tensor, in the kernel's order, then of the next
  std::span<const Hyper> hyper;
  std::span<const std::int32_t> hyper_of;  // index into `hyper` for each tensor; empty: all use the first
  // For calls that may be captured and run again (CUDA graphs): writes the hyperparameters of a later run. Null if
  // every run uses the hyperparameters of the first.
  const Function<void(std::span<Hyper>)>* refresh = nullptr;
  TensorTable* table =
      nullptr;  // set when an executor receives the call; the framework may pass null for a temporary table
};

// Random numbers of the Philox stream of `seed` from counter `offset` on. `refresh` returns the offset of each later
// run if the call is captured in a graph; it may be null.
struct Random {
  RandomKind kind = RandomKind::uniform;
  std::uint64_t seed = 0, offset = 0;
  std::int64_t low = 0, high = 0;
  ArrayHeader* out = nullptr;
  const Function<std::uint64_t()>* refresh = nullptr;
};

}  // namespace call
}  // namespace catena
