// Makes new arrays from bytes that arrive in parts, such as the entries of files.
#pragma once

#include <cstddef>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backend/reader_extension.h>

namespace autograd {

// Returns a new C-contiguous array of the bytes that `read` supplies in C order. Each call of `read` asks for a
// multiple of the item size. If the backend has a ReaderExtension, the bytes go directly to the device, else through
// host memory. Exceptions of `read` are passed on.
CATENA_EXPORT Array array_from_reader(Backend& backend, const Shape& shape, Dtype dtype, Device device,
                                      const ByteReader& read);

}  // namespace autograd
