// Calls: descriptions of operations on arrays. The routines of ndarray and the framework create the same descriptions.
// The executor of a call (ndarray/engine/execute.h, or another backend of the framework) checks devices and shapes,
// resolves overlap, handles empty arrays, keeps the operands alive while the device uses them, increments versions and
// launches.
//
// A call does not own the objects that it refers to: headers, spans and programs must live until it has been executed.
// op() is the name of the operation in messages. bound_call.h has the bound calls, whose operands are memory with
// strides.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/bound_call.h>
#include <catena/kernels/registry/hyper.h>

namespace catena {

class TensorTable;

namespace call {

using Reads = std::span<const Input>;
using Writes = std::span<ArrayHeader* const>;

// Described in bound_call.h.
using CheckIndices = over::CheckIndices<const ArrayHeader*>;
using Matmul = over::Matmul<const ArrayHeader*, ArrayHeader*>;
using Scan = over::Scan<const ArrayHeader*, ArrayHeader*>;
using Sort = over::Sort<const ArrayHeader*, ArrayHeader*>;
using Join = over::Join<const ArrayHeader*, ArrayHeader*>;
using CountPieces = over::CountPieces<const ArrayHeader*, ArrayHeader*>;
using Nonzero = over::Nonzero<const ArrayHeader*, ArrayHeader*>;
using Random = over::Random<ArrayHeader*>;

// A program of elementwise kernels, or of one step by an indexed kernel. Inputs broadcast; dtypes are converted to and
// from those of the slots. `outputs` lists in-outs first; outputs must have the common shape (ValueError). Raw operands
// of indexed kernels keep their own shape.
struct Elementwise {
  const Program* program = nullptr;
  Reads inputs = {};
  Writes outputs = {};
  std::string_view name = {};  // used in messages; if empty, the name of the first kernel
  // For elementwise programs. Set if it is established that the arrays have one layout, of which this array is the
  // model (SameLayout), that the outputs have its shape, and that no output overlaps an input other than itself. The
  // executor then does not examine the arrays again; if it is null, it does.
  const ArrayHeader* same_layout = nullptr;
  std::string_view op() const { return name.empty() ? std::string_view(program->steps[0].kernel->name) : name; }
};

// A recurrence: runs `step` at the positions of the first axis of its outputs, in ascending order; the outputs must
// have such an axis. A position reads elements that earlier positions have written. Inputs that share memory with
// outputs are not copied; at one position, an input and an output must be disjoint or identical. `same_layout` is not
// used.
struct Recurrence {
  Elementwise step;
  std::string_view op() const { return step.op(); }
};

// out = a reduction over `axes` (sorted, non-negative) of the single input, or of the output of the program `pre` over
// the inputs, which broadcast. `pre` has elementwise steps, one output and no in-outs; its output is not stored. With
// `post`, the output of that program over the reduced value is stored; its inputs from 1 on are `post_inputs`, host
// scalars. In `out` the reduced axes have length 1 or are absent. If there are no elements to reduce, the kernel must
// have an identity. The count that ends a reduction, such as the divisor of a mean, is smaller by `ddof` than the
// number of elements, but not below 0.
struct Reduce {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  Reads inputs = {};
  Dims axes = {};
  ArrayHeader* out = nullptr;
  const Program* pre = nullptr;
  const Program* post = nullptr;
  Reads post_inputs = {};
  std::int64_t ddof = 0;
  std::string_view op() const { return kernel->name; }
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
  std::string_view op() const { return kernel->name; }
};

// A row-wise kernel and sums over the other axes of its shape, which may read the same operands. The device computes
// all in one pass if that is faster. `sums` are reductions by kernels::sum over the axes that are not in rows.axes,
// of inputs that broadcast to the shape of `rows`, without `post`. No output shares memory with an input.
struct RowWiseAndSums {
  RowWise rows;
  std::span<const Reduce> sums = {};
  std::string_view op() const { return rows.op(); }
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
  std::string_view op() const { return name; }
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
  std::string_view op() const { return name; }
};

// One body over many C-contiguous tensors in one launch; the tensors have the dtypes of the loop. TypeError for others
// and ValueError for operands that do not fit together; nothing has run then. A caller that updates the same tensors
// repeatedly should keep the table: then only changed entries are written (tensor_table.h).
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
  std::string_view op() const { return kernel->name; }
};

}  // namespace call

// All calls that the framework may pass to an array library. A new kind of operation is a struct above, an entry here
// and, if devices execute it by code of their own, in bound::Call. Fourier transforms, factorizations and the selection
// by a mask (bound::Fft, Factorize, Compress) have no entry here: engines of ndarray create their bound calls.
using Call = AnyOf<call::Elementwise, call::Recurrence, call::Reduce, call::RowWise, call::RowWiseAndSums, call::Scan,
                   call::MultiTensor, call::Gather, call::Scatter, call::CheckIndices, call::Sort, call::Join,
                   call::CountPieces, call::Nonzero, call::Matmul, call::Random>;

}  // namespace catena
