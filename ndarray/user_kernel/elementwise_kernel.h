// Elementwise kernels given as text.
//
//   auto squared_diff = nd::ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_diff");
//   nd::Array z = squared_diff(x, y);
//
// The text is C++ for one element. Every parameter is known in it by its name: an input as the current element, an
// output as a reference to it, a raw one (parameter_list.h) as an array of its own shape: x[k] by position in C order,
// x[index] by an array of one position per axis, x.size(), x.shape()[axis], x.strides()[axis] in bytes, unchecked.
// Placeholder letters are type names. Besides there are
//   i                   position in the loop, in C order        n, _ind.size()   number of positions
//   _ind.get()[axis]    position along an axis; needs reduce_dims = false
// and CUDA's functions, atomicAdd and the like among them: threads run in any order, and their writes to one raw
// element race.
//
// On CUDA, NVRTC compiles the text; on the CPU, the system's C++ compiler does ($CATENA_HOST_COMPILER, else $CXX, c++,
// g++ or clang++ from the PATH). Nothing is compiled before it is needed; the result is kept in memory per text, dtypes
// and ranks, and on disk. Elements are float16 and bfloat16 classes there that compute in float and round when stored;
// integers are int, long long and the like.
//
// Errors of a call: TypeError for a wrong number of arguments, an array whose dtype does not fit its parameter, or a
// placeholder that no array determines; ValueError for shapes that do not fit, arrays on several devices and a missing
// or superfluous size; CompileError with the compiler's words. RuntimeError when the CPU has no compiler, naming the
// kernel and what was tried.
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
#include <catena/ndarray/user_kernel/parameter_list.h>

namespace nd {

struct KernelText;

struct ElementwiseKernelOptions {
  bool reduce_dims = true;                // axes that lie behind each other in memory may become one
  std::string preamble = {};              // at file scope, in front of the kernel
  std::vector<std::string> options = {};  // of the compiler
  std::string loop_prep = {};             // before and after the loop of every thread
  std::string after_loop = {};
};

struct ElementwiseCallOptions {
  std::optional<std::int64_t> size =
      {};                             // of the loop: given exactly when no array but raw ones is among the arguments
  std::optional<Stream> stream = {};  // default: the current one
};

class CATENA_EXPORT ElementwiseKernel {
 public:
  // ValueError for parameter lists that are none and a name that is no identifier.
  ElementwiseKernel(std::string_view in_params, std::string_view out_params, std::string_view operation,
                    std::string_view name = "kernel", const ElementwiseKernelOptions& options = {});

  // `args`: the inputs, arrays or scalars, or inputs and outputs. All arrays but raw ones are broadcast together; given
  // outputs must have the common shape. Returns the outputs.
  std::vector<Array> call(std::span<const Operand> args, const ElementwiseCallOptions& options = {}) const;
  // The same of kernels with one output, or none (a null array); TypeError for others.
  Array operator()(std::initializer_list<Operand> args, const ElementwiseCallOptions& options = {}) const;
  Array operator()(const Operand& x, const ElementwiseCallOptions& options) const { return (*this)({x}, options); }
  template <std::convertible_to<Operand>... A>
  Array operator()(const A&... args) const {
    return (*this)({static_cast<Operand>(args)...}, ElementwiseCallOptions{});
  }

  const std::vector<KernelParameter>& params() const noexcept;
  std::span<const KernelParameter> in_params() const noexcept;
  std::span<const KernelParameter> out_params() const noexcept;
  int nin() const noexcept;
  int nout() const noexcept;
  int nargs() const noexcept;
  const std::string& name() const noexcept;
  const std::string& operation() const noexcept;
  const std::string& preamble() const noexcept;
  bool reduce_dims() const noexcept;

 private:
  const KernelText* text_;
};

// The older name of the class.
namespace elementwise {
using nd::ElementwiseKernel;
}

}  // namespace nd
