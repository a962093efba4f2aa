#include <catena/ndarray/compile/compile_message.h>

#include <algorithm>

#include <catena/kernels/base/error.h>

namespace nd::compile {

std::string beginning_of(std::string text, std::uintmax_t size) {
  if (size <= kMostShown) return text;
  text.resize(std::min(text.size(), kMostShown));
  return catena::concat(text, "\n... (", std::to_string(size), " bytes)\n");
}

std::string beginning_of(std::string text) {
  const std::size_t size = text.size();
  return beginning_of(std::move(text), size);
}

}  // namespace nd::compile
