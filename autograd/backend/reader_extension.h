// New arrays from bytes that come in parts, such as the entries of files: backends that need not collect them in host
// memory first.
#pragma once

#include <cstddef>
#include <string_view>

#include <catena/autograd/backend/backend.h>

namespace autograd {

// Fills `bytes` bytes at `to` with those that follow what it was called for before.
using ByteReader = catena::Function<void(void* to, std::size_t bytes)>;

class CATENA_EXPORT ReaderExtension {
 public:
  static constexpr std::string_view kName = "reader";
  virtual ~ReaderExtension();
  // A new C-contiguous array of the bytes that `read` supplies, in C order; each call is for a multiple of the
  // element's size. On a device with memory of its own the parts are copied there while the next ones are read.
  // Exceptions of `read` pass through.
  virtual Array array_from_reader(const Shape& shape, Dtype dtype, Device device, const ByteReader& read) = 0;
};

}  // namespace autograd
