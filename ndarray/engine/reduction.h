// The engine of reductions: axes, loop choice, empty inputs, result shape and output checks.
//
// Thread safety: may be called from any thread; writing an array that another thread uses is the caller's to order.
#pragma once

#include <optional>
#include <span>

#include <catena/ndarray/core/array.h>

namespace nd::internal {

struct ReductionOptions {
  Axes axis = {};
  std::optional<Dtype> dtype = {};  // elements are converted to it one by one, the result has it
  Array out = {};
  bool keepdims = false;
  // What a reduction of nothing gives when the kernel has no identity; absent: ValueError.
  std::optional<Scalar> of_nothing = {};
};

// `a` reduced over the axes. Runs on the device of `a`; the result is C-contiguous. ValueError for axes out of range or
// given twice, an empty reduction without a value, an output of the wrong shape or on another device.
CATENA_EXPORT Array apply_reduction(const catena::KernelDef& def, const Array& a, const ReductionOptions& options);

// The same with the loop chosen by the caller and a result of any dtype; `a` is converted to the loop's input element
// by element.
CATENA_EXPORT Array reduce_with_loop(const catena::KernelDef& def, int loop, const Array& a,
                                     const ReductionOptions& options, Dtype result);

// The strides of the output of a reduction, seen with all `rank` axes of the input: 0 along `axes`, which `out` has
// with length 1 or not at all.
CATENA_EXPORT Strides reduced_strides(const catena::ArrayHeader& out, int rank, const Dims& axes);

// For elements that a program makes of operands broadcast to `shape`: the strides of an operand that has every element
// once, or those of a C-contiguous array of the elements. They tell which axes are the inner ones (ReduceCall::in).
CATENA_EXPORT Strides guide_strides(std::span<const catena::BoundOperand> operands, const Shape& shape, Dtype element);

}  // namespace nd::internal
