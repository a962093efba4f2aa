// New arrays from bytes that come in parts: files whose members are inflated or read piece by piece.
#pragma once

#include <cstddef>

#include <catena/kernels/base/function.h>
#include <catena/ndarray/core/array.h>

namespace nd::internal {

// Fills `bytes` bytes at `to` with those that follow what it was called for before.
using ByteReader = catena::Function<void(void* to, std::size_t bytes)>;

// The most bytes that are read at once for a device other than the CPU; a multiple of every element's size.
inline constexpr std::size_t kReadPart = std::size_t(4) << 20;

// A new C-contiguous array of the bytes that `read` supplies, in C order. It is not called for an array without
// elements. On the CPU it is called once, for the memory of the array. On a GPU it is called for buffers of pinned
// memory (alloc_pinned_memory), of at most kReadPart bytes and multiples of the element's size: two of them take turns,
// so that one is filled while the other one is copied, on the current stream of the device. Exceptions of `read` pass
// through. RuntimeError during the capture of a CUDA graph.
CATENA_EXPORT Array array_from_reader(const Shape& shape, Dtype dtype, Device device, const ByteReader& read);

}  // namespace nd::internal
