#include <catena/ndarray/cuda/compiler/generated_kernel.h>

#include <algorithm>

namespace nd::cuda {

std::string GeneratedKernel::source() const { return batch_source({this, 1}); }

std::string batch_source(std::span<const GeneratedKernel> kernels) {
  std::vector<std::string> headers;
  for (const GeneratedKernel& k : kernels)
    for (const std::string& header : k.headers)
      if (std::find(headers.begin(), headers.end(), header) == headers.end()) headers.push_back(header);
  std::string text;
  for (const std::string& header : headers) text += "#include <" + header + ">\n";
  for (const GeneratedKernel& k : kernels) text += k.body;
  return text;
}

}  // namespace nd::cuda
