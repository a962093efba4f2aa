// Memory for array headers and graph objects: thread-local lists of freed blocks by size, so that an operation on small
// arrays and a small graph need no malloc. A block freed on another thread than the one that allocated it joins the
// list of the freeing thread.
#pragma once

#include <cstddef>

#include <catena/kernels/base/export.h>

namespace catena::internal {

// OutOfMemoryError that names `op`.
CATENA_EXPORT void* allocate_block(std::size_t bytes, const char* op);
CATENA_EXPORT void free_block(void* block, std::size_t bytes) noexcept;

// The base of classes of graph objects.
struct FromFreeList {
  static void* operator new(std::size_t bytes) { return allocate_block(bytes, "graph"); }
  static void operator delete(void* p, std::size_t bytes) noexcept { free_block(p, bytes); }
};

}  // namespace catena::internal
