// Reads the parameters of a kernel from its CUDA C++ text, and checks a launch against them. Internal to
// ndarray/user_kernel.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/ndarray/user_kernel/raw_kernel.h>

namespace nd::internal {

struct RawParameter {
  std::string text;           // as written: "const float* x"
  bool pointer = false;       // a pointer or an array
  std::optional<Dtype> type;  // of the value, or of the object pointed to; none for types other than numbers
};
using RawParameters = std::vector<RawParameter>;

// Returns the parameters of the kernel with a name or a name expression ("ns::scale<float>"), whose template arguments
// replace the parameters of the template. Returns nothing if the text has no such kernel, has several with different
// parameters, or has parameters that cannot be read, such as a macro.
std::optional<RawParameters> find_signature(std::string_view code, std::string_view name);

// TypeError starting with `op` if the number, the kinds or the widths of the arguments differ from the signature's: an
// array matches a pointer to elements of its dtype, a number a value of its type. Signed and unsigned integers of one
// width are interchangeable; parameters of unknown types accept everything.
void check_arguments(std::string_view op, const RawParameters& signature, std::initializer_list<KernelArgument> args);

// Returns the bytes of arguments whose parameters are unknown: integers as 64 bits and floats as double.
std::vector<std::array<std::byte, 8>> widened(std::initializer_list<KernelArgument> args);

}  // namespace nd::internal
