// The engine of reductions: axes, loop choice, empty inputs, result shape and checks of the output.
//
// Thread safety: may be called from any thread; the caller must order writes to an array with other accesses.
#pragma once

#include <optional>
#include <span>

#include <catena/kernels/registry/kernel_declaration.h>
#include <catena/ndarray/core/array.h>

namespace nd::internal {

// Refers to the axes and to the output of the caller: copies of them would take as long as reducing a small array.
struct ReductionOptions {
  const Axes& axis;
  std::optional<Dtype> dtype = {};  // dtype to which elements are converted, and dtype of the result
  const Array* out = nullptr;       // no output is given if the pointer or the array is null
  bool keepdims = false;
  // The result for an empty input if the kernel has no identity; without a value: ValueError.
  std::optional<Scalar> empty_value = {};
  std::int64_t ddof = 0;  // as in catena::call::Reduce
};

// Reduces `a` over the axes, on the device of `a`; the result is C-contiguous. ValueError for axes out of range or
// repeated, an empty reduction without a value, or an output of the wrong shape or on another device.
CATENA_EXPORT Array apply_reduction(const catena::KernelDef& def, const Array& a, const ReductionOptions& options);

// As apply_reduction with a given loop and a result of any dtype. The elements of `a` are converted to the input dtype
// of the loop one by one.
CATENA_EXPORT Array reduce_with_loop(const catena::KernelDef& def, int loop, const Array& a,
                                     const ReductionOptions& options, Dtype result);

}  // namespace nd::internal
