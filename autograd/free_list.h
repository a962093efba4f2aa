// Memory for graph objects: thread-local lists of freed blocks by size, so that building and dropping a small graph
// calls no malloc. A block may be freed on a thread other than the one that allocated it; it then joins the list of the
// freeing thread.
#pragma once

#include <cstddef>

#include <catena/kernels/base/export.h>

namespace autograd::internal {

CATENA_EXPORT void* allocate_block(std::size_t bytes);
CATENA_EXPORT void free_block(void* block, std::size_t bytes) noexcept;

}  // namespace autograd::internal
