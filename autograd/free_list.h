// Memory for graph objects: thread-local lists of freed blocks by size, so that making and destroying a small graph
// does not call malloc. A block freed on another thread than the one that allocated it joins the list of the freeing
// thread.
#pragma once

#include <cstddef>

#include <catena/kernels/base/export.h>

namespace autograd::internal {

CATENA_EXPORT void* allocate_block(std::size_t bytes);
CATENA_EXPORT void free_block(void* block, std::size_t bytes) noexcept;

}  // namespace autograd::internal
