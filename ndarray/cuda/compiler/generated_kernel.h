// The text of a kernel before it is compiled.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <catena/kernels/base/export.h>

namespace nd::cuda {

struct CATENA_EXPORT GeneratedKernel {
  std::string name;                  // of the extern "C" function: the operation and a hash of the key
  std::vector<std::string> headers;  // headers to include, without repetition
  std::string body;                  // the text after the includes
  std::string parameters;            // type of its single parameter (kernels/device/parameters.h)
  std::size_t parameter_bytes = 0;   // its size
  std::string source() const;
};

// One text with all kernels. Kernels that are compiled together cost half as much each.
CATENA_EXPORT std::string batch_source(std::span<const GeneratedKernel> kernels);

}  // namespace nd::cuda
