// Kernels given as text, between the classes that users see and the backends: the text itself, the form it takes for
// the operands of a call, and the seam for whole modules. One generator writes the source for every backend; what
// differs are the skeletons in kernels/device/user_*.h.
//
// Thread safety: texts are immutable; everything here may be called from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/rows/embedded.h>
#include <catena/kernels/rows/program.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/device/backend.h>
#include <catena/ndarray/user_kernel/parameter_list.h>

namespace nd {

// What the user wrote. Texts with equal contents are one object, which lives as long as the program.
struct KernelText {
  enum class Kind : std::uint8_t { elementwise, reduction };

  Kind kind = Kind::elementwise;
  std::string name;
  std::vector<KernelParameter> parameters;  // inputs, then outputs
  std::size_t nin = 0;
  std::string preamble;
  std::vector<std::string> options;  // of the compiler
  bool reduce_dims = true;           // neighbouring axes may be merged

  std::string operation, loop_prep, after_loop;  // elementwise

  std::string map, reduce, post_map;    // reduction
  std::optional<std::string> identity;  // absent: a default-constructed accumulator, and nothing is not reduced
  std::string reduce_type;              // empty: the type of the first output

  std::size_t nout() const noexcept { return parameters.size() - nin; }
};
CATENA_EXPORT const KernelText* intern(KernelText text);

// How one operand is bound in a call.
struct BoundParameter {
  enum class Form : std::uint8_t {
    scalar,
    flat,
    strided,
    raw,
    raw_contiguous
  };  // flat: neighbouring elements, along one axis

  Dtype dtype = Dtype::float64;
  Form form = Form::scalar;
  std::uint8_t rank = 0;  // of raw ones
  friend bool operator==(const BoundParameter&, const BoundParameter&) = default;
};

// All that the source depends on beside the text: values and shapes are not among it.
struct KernelVariant {
  std::uint8_t rank = 1;          // axes of the loop, or kept axes, after merging; at least 1
  std::uint8_t reduced_rank = 1;  // of reductions
  bool index32 = true;            // positions fit 32 bits
  catena::SmallVector<BoundParameter, 8> parameters;

  friend bool operator==(const KernelVariant& a, const KernelVariant& b) noexcept {
    return a.rank == b.rank && a.reduced_rank == b.reduced_rank && a.index32 == b.index32 &&
           std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), b.parameters.end());
  }
};

// A compiled kernel is found by it.
struct UserKernelKey {
  const KernelText* text = nullptr;
  int device = 0;
  KernelVariant variant;
  friend bool operator==(const UserKernelKey&, const UserKernelKey&) = default;
};
struct UserKernelHash {
  CATENA_EXPORT std::size_t operator()(const UserKernelKey& key) const noexcept;
};

// A bound call. `words` is the parameter struct of the generated source; in a reduction the first ones are a
// catena::user::ReduceWork for the backend to fill in.
struct UserKernelCall {
  const KernelText* text = nullptr;
  const KernelVariant* variant = nullptr;
  std::span<const std::int64_t> words;
  std::int64_t size = 0;   // positions of the loop, or outputs
  std::int64_t count = 0;  // reductions: elements per output
  bool columns = false;    // reductions: neighbouring outputs have neighbouring elements
};

// The generated source and the names in it. `entry` and `second` are functions over the parameter struct; a reduction
// has both, and `accumulator` is a variable of the size of its accumulator.
struct GeneratedUserKernel {
  std::string source, entry, second, accumulator;
};
enum class SourceFor : std::uint8_t { host, device };
CATENA_EXPORT GeneratedUserKernel generate_user_kernel(const KernelText& text, const KernelVariant& variant,
                                                       SourceFor target);

// "ElementwiseKernel squared_diff", for messages.
CATENA_EXPORT std::string describe(const KernelText& text);

// ---- whole modules ------------------------------------------------------------------------------
struct ModuleText {
  std::string name;  // in messages: "RawKernel saxpy"
  std::string code;  // CUDA C++
  std::vector<std::string> options;
  std::vector<std::string> name_expressions;  // instances of templates to have: "scale<float>"
  std::string image;                          // instead of `code`: a cubin, fatbin or PTX text
};

struct KernelAttributes {
  int num_regs = 0, local_size_bytes = 0, shared_size_bytes = 0;  // 0 on the CPU
  int max_threads_per_block = 1024;
};

struct LaunchShape {
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  unsigned shared_bytes = 0;
};
// The value of one argument of a kernel.
using ArgumentBytes = std::span<const std::byte>;

// A text loaded on one device. Functions are handles of the module and die with it.
class CATENA_EXPORT DeviceModule {
 public:
  virtual ~DeviceModule();
  // By name or name expression; KeyError when there is none.
  virtual const void* function(const std::string& name) = 0;
  virtual KernelAttributes attributes(const void* function) = 0;
  // TypeError, where the backend knows the kernel's parameters, when the arguments do not fit them.
  virtual void launch(const void* function, const LaunchShape& shape, std::span<const ArgumentBytes> arguments,
                      StreamRef stream) = 0;
  // Address and bytes of a variable; KeyError.
  virtual std::pair<std::byte*, std::size_t> global(const std::string& name) = 0;
};

}  // namespace nd
