// Kernels given as complete CUDA C++ texts.
//
//   nd::RawKernel saxpy(R"(
//     extern "C" __global__ void saxpy(float a, const float* x, float* y, long long n) {
//       const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
//       if (k < n) y[k] += a * x[k];
//     })", "saxpy");
//   saxpy({(n + 255) / 256}, {256}, {2.0f, x, y, n});
//
// The text is compiled for a device when one of its kernels is first used there; compiled code is kept on disk. An
// array argument is passed as a pointer to its first element; the caller is responsible for shapes and strides. Other
// arguments are passed with the bytes of their C++ type (an int has 4 bytes, a double 8; nd::Scalar is not accepted).
// Launches use the current stream.
//
// The parameters are read from the text, and arguments that differ from them in kind or width are a TypeError: a
// float64 array for a float*, an int for a long long. Signed and unsigned integers of one width may replace each other,
// and integers of 16 bits may replace 16-bit floats; parameters of types that the text defines accept everything. If
// the parameters cannot be read (they are a macro, or the code is compiled), integers are passed as 64 bits, which
// suits an integer parameter of any width, and floats as double.
//
// The CPU runs texts without barriers and exchange between the threads of a block: blocks run in parallel, the threads
// of a block one after the other. __syncthreads, __shfl_sync and similar functions are a CompileError that names them.
// In texts for the CPU, kernels must not be defined by a macro, and there is no dynamic shared memory.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/memory/memory.h>
#include <catena/ndarray/user_kernel/user_kernel.h>

namespace nd {

// One argument of a launch.
class KernelArgument {
 public:
  enum class Form : std::uint8_t { array, pointer, number, object };

  KernelArgument(const Array& a) : KernelArgument(Operand(a).header()->data) {  // TypeError for a null array
    array_ = a;
    form_ = Form::array;
    dtype_ = a.dtype();
  }
  KernelArgument(const MemoryPointer& p) : KernelArgument(p.ptr()) { dtype_ = {}; }
  // Numbers, pointers and trivially copyable structs, passed by value.
  template <class T>
  requires(std::is_trivially_copyable_v<T> && !std::derived_from<T, catena::HeaderRef> && !std::same_as<T, Scalar>)
      KernelArgument(const T& value)
      : bytes_(sizeof(T)) {
    std::memcpy(bytes_.data(), &value, sizeof(T));
    if constexpr (std::is_pointer_v<T> || std::is_null_pointer_v<T>) {
      form_ = Form::pointer;
      if constexpr (std::is_pointer_v<T>) {
        using Target = std::remove_cv_t<std::remove_pointer_t<T>>;
        if constexpr (has_dtype<Target>) dtype_ = catena::dtype_of<Target>;
      }
    } else if constexpr (has_dtype<T>) {
      form_ = Form::number;
      dtype_ = catena::dtype_of<T>;
    }
  }

  Form form() const noexcept { return form_; }
  // Returns the dtype of the array's elements, of the number, or of the object that a pointer points to; none for other
  // types.
  std::optional<Dtype> dtype() const noexcept { return dtype_; }
  ArgumentBytes bytes() const noexcept { return bytes_; }
  const Array& array() const noexcept { return array_; }  // null if the argument is not an array

 private:
  template <class T> static constexpr bool has_dtype = requires { catena::dtype_traits<T>::value; };

  catena::SmallVector<std::byte, 16> bytes_;
  Form form_ = Form::object;
  std::optional<Dtype> dtype_;
  Array array_;
};

// One to three lengths of a grid or a block, each at least 1 (ValueError).
class CATENA_EXPORT LaunchDims {
 public:
  LaunchDims(std::initializer_list<std::int64_t> lengths);
  template <std::integral I> LaunchDims(I length) : LaunchDims({static_cast<std::int64_t>(length)}) {}
  const std::array<unsigned, 3>& lengths() const noexcept { return lengths_; }

 private:
  std::array<unsigned, 3> lengths_{1, 1, 1};
};

struct RawLaunchOptions {
  std::size_t shared_mem = 0;  // bytes of dynamic shared memory
  std::optional<Stream> stream = {};
};
struct LinearLaunchOptions {
  std::size_t shared_mem = 0;
  int block_max_size = 128;
  std::optional<Stream> stream = {};
};

class RawModule;

class CATENA_EXPORT RawKernel {
 public:
  // The kernel `name` of a text, with these compiler options. Compiles nothing yet.
  RawKernel(std::string_view code, std::string_view name, const std::vector<std::string>& options = {});

  // Runs grid x block threads on the device of the array arguments, whatever the current device is, or on the current
  // device if there are none. ValueError with both devices for arrays on two devices (arrays without elements count
  // only if there are no others), ValueError for blocks of too many threads, TypeError for arguments that do not match
  // the parameters, KeyError if the text has no such kernel, CompileError. Messages start with "RawKernel" and the
  // name.
  void operator()(const LaunchDims& grid, const LaunchDims& block, std::initializer_list<KernelArgument> args,
                  const RawLaunchOptions& options = {}) const;
  // As above over at least `size` threads, in blocks of min(size, block_max_size) threads and at most 65536 blocks.
  void linear_launch(std::int64_t size, std::initializer_list<KernelArgument> args,
                     const LinearLaunchOptions& options = {}) const;

  const std::string& name() const noexcept { return name_; }
  KernelAttributes attributes() const;  // on the current device; compiles
  void compile() const;                 // for the current device

 private:
  friend class RawModule;
  struct Program;
  struct Parameters;
  RawKernel(catena::Shared<Program> program, std::string_view name);

  catena::Shared<Program> program_;
  catena::Shared<const Parameters> parameters_;
  std::string name_;
};

struct RawModuleOptions {
  std::vector<std::string> options = {};           // for the compiler
  std::vector<std::string> name_expressions = {};  // template instances to compile: "scale<float>"
};

// A text, or compiled code, with several kernels and variables.
class CATENA_EXPORT RawModule {
 public:
  explicit RawModule(std::string_view code, const RawModuleOptions& options = {});
  // Loads compiled code for CUDA: a cubin, fatbin or PTX text, from memory or a file (IOError). NotImplementedError at
  // the first use on the CPU. If `code`, the source text, is given, arguments are checked and passed as for a text.
  static RawModule load(std::string image, std::string_view code = {});
  static RawModule load_file(const std::string& path);

  // Returns a kernel by its name or name expression; it shares the module. A name that does not exist is an error at
  // the first use of the kernel.
  RawKernel get_function(std::string_view name) const;
  // Returns the address of a __device__ or __constant__ variable on the current device; keeps the module loaded.
  // KeyError if there is none.
  MemoryPointer get_global(const std::string& name) const;
  void compile() const;  // for the current device

 private:
  explicit RawModule(catena::Shared<RawKernel::Program> program) : program_(std::move(program)) {}
  catena::Shared<RawKernel::Program> program_;
};

}  // namespace nd
