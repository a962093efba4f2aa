// Makes new arrays from bytes that arrive in parts, such as the entries of files, without collecting all parts in host
// memory first.
#pragma once

#include <cstddef>
#include <string_view>

#include <catena/autograd/backend/backend.h>

namespace autograd {

// Writes the next `bytes` bytes to `to`.
using ByteReader = catena::Function<void(void* to, std::size_t bytes)>;

class CATENA_EXPORT ReaderExtension {
 public:
  static constexpr std::string_view kName = "reader";
  virtual ~ReaderExtension();
  // Returns a new C-contiguous array of the bytes that `read` supplies in C order. Each call of `read` asks for a
  // multiple of the item size. For a device with its own memory, parts are copied there while the next ones are read.
  // Exceptions of `read` are passed on.
  virtual Array array_from_reader(const Shape& shape, Dtype dtype, Device device, const ByteReader& read) = 0;
};

}  // namespace autograd
