// Reductions given as text.
//
//   auto l2norm = nd::ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm");
//   nd::Array norms = l2norm(x, {.axis = 1});
//
// The greatest element along an axis and its index: the accumulator is a struct of the preamble. There is no identity,
// so accumulators start default-constructed. _j / _out_ind.size() is the position along the reduced axis.
//
//   auto argmax = nd::ReductionKernel("T x", "T value, int64 index", "Best(x, _j / _out_ind.size())", "better(a, b)",
//                                     "value = a.value; index = a.index", std::nullopt, "argmax_with_value",
//                                     {.reduce_type = "Best", .preamble = R"(
//     struct Best {
//       T value;
//       long long index;
//       __device__ Best() : value(0), index(-1) {}
//       __device__ Best(T v, long long k) : value(v), index(k) {}
//     };
//     __device__ Best better(Best a, Best b) {
//       if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
//       return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
//     })"});
//   auto [value, index] = argmax(x, {.axis = 1});
//
// map_expr computes the value of an element from the inputs, by their names; reduce_expr combines two values, `a` and
// `b`; post_map_expr computes the outputs from the reduced value, `a`, as the body of a function. Values have the type
// reduce_type, by default the type of the first output. The order of combination is undefined and every partial result
// starts from the identity, so reduce_expr must be associative and commutative, and `identity` its neutral element.
// Parameters, raw operands, allowed texts, compilers and errors are as in elementwise_kernel.h. Also defined are
//   _in_ind.size(), _out_ind.size()   numbers of elements of the (broadcast) input and of an output
//   _i                                position in the output, in C order
//   _j                                position in the input with the reduced axes leading (map_expr only)
//   _in_ind.get(), _out_ind.get()     positions along the axes, in these orders; need reduce_dims = false
//
// Thread safety: a kernel is immutable and may be called from any thread.
#pragma once

#include <optional>

#include <catena/ndarray/user_kernel/elementwise_kernel.h>

namespace nd {

struct ReductionKernelOptions {
  std::string reduce_type = {};  // a C++ type; may use placeholders and definitions of the preamble
  bool reduce_dims = true;
  std::string preamble = {};
  std::vector<std::string> options = {};
};

struct CATENA_EXPORT ReductionCallOptions {
  Axes axis = {};  // default: all axes
  Array out = {};  // for kernels with one output
  bool keepdims = false;
  std::optional<Stream> stream = {};
};

// Inputs are broadcast together; at least one must be an array that is not raw (ValueError); given outputs must have
// the reduced shape. With raw arrays the reduced axes must be the leading ones (NotImplementedError otherwise). out:
// NotImplementedError for kernels with several outputs, ValueError if the arguments contain outputs.
class CATENA_EXPORT ReductionKernel : public internal::TextKernel<ReductionCallOptions> {
 public:
  // Without an identity, accumulators start default-constructed, and a reduction of no elements is a ValueError.
  // Further ValueErrors as for elementwise kernels, and if there is no output.
  ReductionKernel(std::string_view in_params, std::string_view out_params, std::string_view map_expr,
                  std::string_view reduce_expr, std::string_view post_map_expr,
                  std::optional<std::string_view> identity, std::string_view name = "reduce_kernel",
                  const ReductionKernelOptions& options = {});
};

}  // namespace nd
