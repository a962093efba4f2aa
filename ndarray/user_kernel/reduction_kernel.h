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

struct ReductionCallOptions {
  Axes axis = {};  // default: all axes
  Array out = {};  // for kernels with one output
  bool keepdims = false;
  std::optional<Stream> stream = {};
};

class CATENA_EXPORT ReductionKernel {
 public:
  // Without an identity, accumulators start default-constructed, and a reduction of no elements is a ValueError.
  // Further ValueErrors as for elementwise kernels, and if there is no output.
  ReductionKernel(std::string_view in_params, std::string_view out_params, std::string_view map_expr,
                  std::string_view reduce_expr, std::string_view post_map_expr,
                  std::optional<std::string_view> identity, std::string_view name = "reduce_kernel",
                  const ReductionKernelOptions& options = {});

  // `args`: the inputs, or inputs and outputs. Inputs are broadcast together; at least one must be an array that is not
  // raw (ValueError); given outputs must have the reduced shape. With raw arrays the reduced axes must be the leading
  // ones (NotImplementedError otherwise). options.out: NotImplementedError with several outputs, ValueError if `args`
  // contains outputs. Returns the outputs.
  std::vector<Array> call(std::span<const Operand> args, const ReductionCallOptions& options = {}) const;
  // For kernels with one or two outputs: the array, or auto [u, v] = kernel(x, y). TypeError for others.
  KernelResult operator()(std::initializer_list<Operand> args, const ReductionCallOptions& options = {}) const;
  KernelResult operator()(const Operand& x, const ReductionCallOptions& options) const { return (*this)({x}, options); }
  template <std::convertible_to<Operand>... A> KernelResult operator()(const A&... args) const {
    return (*this)({static_cast<Operand>(args)...}, ReductionCallOptions{});
  }
  // auto [u, v, w] = kernel.call<3>(x, y). TypeError unless the kernel has N outputs.
  template <std::size_t N>
  std::array<Array, N> call(std::initializer_list<Operand> args, const ReductionCallOptions& options = {}) const {
    internal::check_output_count(*text_, N);
    return internal::unpacked<N>(call(std::span(args.begin(), args.size()), options));
  }
  template <std::size_t N, std::convertible_to<Operand>... A> std::array<Array, N> call(const A&... args) const {
    return call<N>({static_cast<Operand>(args)...}, ReductionCallOptions{});
  }

  const std::vector<KernelParameter>& params() const noexcept;
  int nin() const noexcept;
  int nout() const noexcept;
  int nargs() const noexcept;
  const std::string& name() const noexcept;

 private:
  const KernelText* text_;
};

}  // namespace nd
