// Creates arrays from bytes that arrive in parts: from files whose members are inflated or read piece by piece.
#pragma once

#include <cstddef>

#include <catena/kernels/base/function.h>
#include <catena/ndarray/core/array.h>

namespace nd::internal {

// Writes the next `bytes` bytes of the source to `to`.
using ByteReader = catena::Function<void(void* to, std::size_t bytes)>;

// Maximal number of bytes that are read at once for a device other than the CPU; a multiple of every element's size.
inline constexpr std::size_t kReadPart = std::size_t(4) << 20;

// Returns a new C-contiguous array with the bytes that `read` supplies, in C order. For an array without elements,
// `read` is not called. On the CPU it is called once, for the memory of the array. On a GPU it is called for two
// buffers of pinned memory (alloc_pinned_memory) alternately, with at most kReadPart bytes and whole elements: one is
// filled while the other is copied, on the current stream of the device. Exceptions of `read` pass through.
// RuntimeError during the capture of a CUDA graph.
CATENA_EXPORT Array array_from_reader(const Shape& shape, Dtype dtype, Device device, const ByteReader& read);

}  // namespace nd::internal
