// Kernels by their texts, as in Chainer's module `cuda`: created once per texts and device, so that the call can be
// written where the kernel is used.
//
//   nd::Array y = nd::cuda::elementwise("T x, T cap", "T y", "y = x < cap ? x : cap", "cap")(x, 6);
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <catena/ndarray/user_kernel/elementwise_kernel.h>
#include <catena/ndarray/user_kernel/memoize.h>
#include <catena/ndarray/user_kernel/reduction_kernel.h>

namespace nd::cuda {

using nd::clear_memo;
using nd::memoize;

// Returns the ElementwiseKernel of these arguments; ValueError as there, also for an empty name.
CATENA_EXPORT ElementwiseKernel elementwise(const std::string& in_params, const std::string& out_params,
                                            const std::string& operation, const std::string& name,
                                            const ElementwiseKernelOptions& options = {});
// Returns the ReductionKernel of these arguments.
CATENA_EXPORT ReductionKernel reduce(const std::string& in_params, const std::string& out_params,
                                     const std::string& map_expr, const std::string& reduce_expr,
                                     const std::string& post_map_expr, const std::optional<std::string>& identity,
                                     const std::string& name, const ReductionKernelOptions& options = {});

}  // namespace nd::cuda
