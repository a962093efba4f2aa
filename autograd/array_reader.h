// New arrays from bytes that come in parts, such as the entries of files.
#pragma once

#include <cstddef>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/reader_extension.h>

namespace autograd {

// A new C-contiguous array of the bytes that `read` supplies, in C order; each call is for a multiple of the element's
// size. Where the backend has a ReaderExtension, the bytes go straight to the device; else by way of host memory.
// Exceptions of `read` pass through.
CATENA_EXPORT Array array_from_reader(Backend& backend, const Shape& shape, Dtype dtype, Device device,
                                      const ByteReader& read);

}  // namespace autograd
