// Folder ndarray/user_kernel/: kernels that users write: texts (ElementwiseKernel, ReductionKernel, RawKernel), traced
// functions (fuse), and memoize. The backends compile and launch modules; the launch skeletons of the others are in
// kernels/device/user_*.h. May use kernels/, ndarray/core/, ndarray/device/, ndarray/memory/ and ndarray/engine/; fuse
// also the lists of functions of ndarray/routines/.
//
// This header: the text of a kernel, the module that is generated from it for the operands of a call, and the interface
// of modules, which the backends implement. A module has one source for all backends.
//
// Thread safety: texts are immutable; all functions may be called from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/small_vector.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/device/types.h>
#include <catena/ndarray/user_kernel/parameter_list.h>

namespace nd {

// The text as the user wrote it. Texts with equal contents share one object, which exists until the program ends.
struct KernelText {
  enum class Kind : std::uint8_t { elementwise, reduction };

  Kind kind = Kind::elementwise;
  std::string name;
  std::string label;                        // "ElementwiseKernel squared_diff"; messages start with it
  std::vector<KernelParameter> parameters;  // inputs, then outputs
  std::size_t nin = 0;
  std::string preamble;
  std::vector<std::string> options;  // for the compiler
  bool reduce_dims = true;           // neighbouring axes may be merged

  std::string operation, loop_prep, after_loop;  // elementwise

  std::string map, reduce, post_map;    // reduction
  std::optional<std::string> identity;  // none: accumulators start default-constructed, empty reductions are an error
  std::string reduce_type;              // empty: the type of the first output

  std::size_t nout() const noexcept { return parameters.size() - nin; }
};
CATENA_EXPORT const KernelText* intern(KernelText text);

// The binding of one operand in a call.
struct BoundParameter {
  enum class Form : std::uint8_t {
    scalar,
    flat,
    strided,
    raw,
    raw_contiguous
  };  // flat: contiguous elements along one axis

  Dtype dtype = Dtype::float64;
  Form form = Form::scalar;
  std::uint8_t rank = 0;  // of raw operands
  friend bool operator==(const BoundParameter&, const BoundParameter&) = default;
};

// All properties besides the text that the source depends on; values and shapes do not belong to them.
struct KernelVariant {
  std::uint8_t rank = 1;          // axes of the loop, or kept axes, after merging; at least 1
  std::uint8_t reduced_rank = 1;  // for reductions
  bool index32 = true;            // positions fit 32 bits
  catena::SmallVector<BoundParameter, 8> parameters;

  friend bool operator==(const KernelVariant&, const KernelVariant&) = default;
};

// The key of a compiled kernel.
struct UserKernelKey {
  const KernelText* text = nullptr;
  Device device;
  KernelVariant variant;
  friend bool operator==(const UserKernelKey&, const UserKernelKey&) = default;
};
struct UserKernelHash {
  CATENA_EXPORT std::size_t operator()(const UserKernelKey& key) const noexcept;
};

// The generated source and the names in it. `entry` and `second` are functions of the parameter struct, which for a
// reduction starts with a catena::user::ReduceWork; only a reduction has both. `accumulator` is a variable of the size
// of the accumulator. `structures` has, for each parameter, the name of a variable of the size of its class, or "".
struct GeneratedUserKernel {
  std::string source, entry, second, accumulator;
  std::vector<std::string> structures;
};
CATENA_EXPORT GeneratedUserKernel generate_user_kernel(const KernelText& text, const KernelVariant& variant);

// Returns the label of a text.
CATENA_EXPORT std::string describe(const KernelText& text);
// Returns the name of an element type in texts: "unsigned char".
CATENA_EXPORT std::string_view c_type(Dtype t) noexcept;

// ---- whole modules ------------------------------------------------------------------------------
struct ModuleText {
  std::string name;  // used in messages: "RawKernel saxpy"
  std::string code;  // CUDA C++
  std::vector<std::string> options = {};
  std::vector<std::string> name_expressions = {};  // template instances to compile: "scale<float>"
  std::string image = {};                          // if set, used instead of `code`: a cubin, fatbin or PTX text
  bool generated = false;                          // by the library, around a body of the user
};

struct KernelAttributes {
  int num_regs = 0, local_size_bytes = 0, shared_size_bytes = 0;  // 0 on the CPU
  int max_threads_per_block = 1024;
};

struct LaunchShape {
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  unsigned shared_bytes = 0;
  unsigned elements_per_thread = 1;  // a measure of the work of one thread
};
// The value of one argument of a kernel.
using ArgumentBytes = std::span<const std::byte>;

// A text loaded on one device. Functions are handles of the module, valid as long as it exists.
class CATENA_EXPORT DeviceModule {
 public:
  virtual ~DeviceModule();
  // Returns a function by name or name expression; KeyError if there is none.
  virtual const void* function(const std::string& name) = 0;
  virtual KernelAttributes attributes(const void* function) = 0;
  // Returns the sizes of the kernel's parameters; nothing if the backend cannot provide them.
  virtual std::optional<std::span<const unsigned long>> parameter_bytes(const void* function) const;
  // The caller guarantees that the arguments match the parameters.
  virtual void launch(const void* function, const LaunchShape& shape, std::span<const ArgumentBytes> arguments,
                      StreamRef stream) = 0;
  // Returns the address and size in bytes of a variable; KeyError if there is none.
  virtual std::pair<std::byte*, std::size_t> global(const std::string& name) = 0;
};

}  // namespace nd
