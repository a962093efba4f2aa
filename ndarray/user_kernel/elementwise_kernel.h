// Elementwise kernels given as text.
//
//   auto squared_diff = nd::ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_diff");
//   nd::Array z = squared_diff(x, y);
//   auto division = nd::ElementwiseKernel("T x, T y", "T q, T r", "q = x / y; r = x % y", "division");
//   auto [q, r] = division(x, y);
//
// The text is the body of a C++ function for one element: `return` ends this element, and so do `continue` and `break`
// outside of the text's own loops. Every parameter is available under its name: an input as the value of the current
// element, an output as a reference to it, a raw parameter (parameter_list.h) as an array of its own shape: x[k] by
// position in C order, x[index] by an array of one position per axis, x.size(), x.shape()[axis], x.strides()[axis] in
// bytes; none of these checks its index, and elements of raw inputs are const. Also defined are
//   T, U...             the placeholders, as types
//   i                   position in the loop, in C order        n, _ind.size()   number of positions
//                       (n unless a parameter has that name)
//   _ind.get()[axis]    position along an axis; needs reduce_dims = false
//   float16, bfloat16   classes that compute in float and round at each store
//   complex<float>, complex<double>, complex64, complex128 (thrust::complex): z.real(), z.imag(), operators with
//                       complex and real numbers of any type, real, imag, conj, abs, norm, arg, polar, proj, exp,
//                       expm1, log, log2, log10, log1p, sqrt, pow, the trigonometric and hyperbolic functions and
//                       their inverses, min, max, isnan, isinf, isfinite, rint; the usual ones as thrust::exp(z) and
//                       std::exp(z), too
//   CUDA's mathematical functions and intrinsics (__expf, __fadd_rz, __float2int_rn, __ldg...), min and max of numbers
//                       of any two types, atomicAdd and similar functions, printf, clock, clock64
//   M_PI and the other constants of <math.h>, INFINITY, NAN, CUDART_PI, CUDART_INF, CUDART_NAN (each also with _F)
//   int64_t, uint8_t, size_t, ptrdiff_t...
// Comments (at the end, too), lambdas, local classes and arrays, and lines that begin with # are allowed. threadIdx and
// other properties of the threads of a launch must not be used. Code in loop_prep and after_loop runs once per thread;
// on the CPU a thread runs a range of positions. Threads run in any order, so plain writes to the same element of a raw
// parameter are a data race.
//
// On CUDA, NVRTC compiles the text; on the CPU, the system's C++ compiler does ($CATENA_HOST_COMPILER, else $CXX, c++,
// g++, clang++ or the compiler of this library; PATH may be unset). It is compiled at the first call that needs it;
// compiled code is kept in memory per text, dtypes and ranks, and on disk. Integers have the types int, long long and
// so on.
//
// Messages start with "ElementwiseKernel" and the name. Errors of a call: TypeError for a wrong number of arguments, an
// array whose dtype does not match its parameter, or a placeholder that no array determines; ValueError for shapes that
// do not match, arrays on several devices, and a missing or superfluous size; CompileError with the compiler's output.
// RuntimeError with the kernel and the commands tried if there is no compiler for the CPU.
//
// Thread safety: a kernel is immutable and may be called from any thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/user_kernel/kernel_result.h>
#include <catena/ndarray/user_kernel/parameter_list.h>

namespace nd {

struct KernelText;

struct ElementwiseKernelOptions {
  bool reduce_dims = true;                // axes that are contiguous with each other are merged
  std::string preamble = {};              // placed at file scope before the kernel
  std::vector<std::string> options = {};  // for the compiler
  std::string loop_prep = {};             // code before and after the loop of every thread
  std::string after_loop = {};
};

struct CATENA_EXPORT ElementwiseCallOptions {
  std::optional<std::int64_t> size = {};  // size of the loop; required exactly if all array arguments are raw
  std::optional<Stream> stream = {};      // default: the current stream
  // Elements that one position of the loop processes: a position is so much more work for a thread of the CPU.
  std::int64_t elements_per_position = 1;
};

namespace internal {

// The calls and properties that ElementwiseKernel and ReductionKernel share.
template <class CallOptions> class CATENA_EXPORT TextKernel {
 public:
  // `args`: the inputs (arrays or scalars), or inputs and outputs. Returns the outputs.
  std::vector<Array> call(std::span<const Operand> args, const CallOptions& options = {}) const;
  // For kernels with one or two outputs, or none: returns the array, or auto [u, v] = kernel(x, y). TypeError for
  // others.
  KernelResult operator()(std::initializer_list<Operand> args, const CallOptions& options = {}) const;
  KernelResult operator()(const Operand& x, const CallOptions& options) const { return (*this)({x}, options); }
  template <std::convertible_to<Operand>... A> KernelResult operator()(const A&... args) const {
    return (*this)({static_cast<Operand>(args)...}, CallOptions{});
  }
  // auto [u, v, w] = kernel.call<3>(x, y). TypeError unless the kernel has N outputs.
  template <std::size_t N>
  std::array<Array, N> call(std::initializer_list<Operand> args, const CallOptions& options = {}) const {
    check_output_count(*text_, N);
    return unpacked<N>(call(std::span(args.begin(), args.size()), options));
  }
  template <std::size_t N, std::convertible_to<Operand>... A> std::array<Array, N> call(const A&... args) const {
    return call<N>({static_cast<Operand>(args)...}, CallOptions{});
  }

  const std::vector<KernelParameter>& params() const noexcept;
  int nin() const noexcept;
  int nout() const noexcept;
  int nargs() const noexcept { return nin() + nout(); }
  const std::string& name() const noexcept;

 protected:
  explicit TextKernel(const KernelText* text) noexcept : text_(text) {}
  const KernelText* text_;
};

}  // namespace internal

// Arguments that are arrays, except raw ones, are broadcast together; given outputs must have the common shape.
class CATENA_EXPORT ElementwiseKernel : public internal::TextKernel<ElementwiseCallOptions> {
 public:
  // ValueError for invalid parameter lists (parameter_list.h) and a name that is not an identifier.
  ElementwiseKernel(std::string_view in_params, std::string_view out_params, std::string_view operation,
                    std::string_view name = "kernel", const ElementwiseKernelOptions& options = {});

  std::span<const KernelParameter> in_params() const noexcept;
  std::span<const KernelParameter> out_params() const noexcept;
  const std::string& operation() const noexcept;
  const std::string& preamble() const noexcept;
  bool reduce_dims() const noexcept;
};

// An alias in the namespace elementwise, as in CuPy.
namespace elementwise {
using nd::ElementwiseKernel;
}

}  // namespace nd
