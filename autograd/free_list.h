// Memory for graph objects: thread-local lists of freed blocks by size, so that building and dropping a small graph
// costs no malloc. A block may be freed on another thread than it came from; it then joins that thread's list.
#pragma once

#include <cstddef>

#include <catena/kernels/base/export.h>

namespace autograd::internal {

CATENA_EXPORT void* allocate_block(std::size_t bytes);
CATENA_EXPORT void free_block(void* block, std::size_t bytes) noexcept;

}  // namespace autograd::internal
