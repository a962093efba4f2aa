// Memory for array headers and graph objects: thread-local lists of freed blocks by size, so that an operation on small
// arrays and a small graph need no malloc. A block freed on another thread than the one that allocated it joins the
// list of the freeing thread.
#pragma once

#include <cstddef>
#include <new>

#include <catena/kernels/base/export.h>

namespace catena::internal {

struct FreeBlock {
  FreeBlock* next;
};

// The lists of one thread. Constant-initialised and trivially destructible, so they can be used at any time, also by
// static destructors that free arrays and graphs after the thread's other thread_local objects. `free_slots` is 0 until
// the first allocation and after the end of the thread.
struct FreeLists {
  static constexpr std::size_t step = 64, classes = 10;  // blocks up to 640 bytes; larger ones go to malloc
  FreeBlock* head[classes];
  int free_slots[classes];  // number of blocks that may be added
  bool closed;
};
// The initial-exec TLS model makes access one instruction in a shared library too; the few bytes fit into the space
// that the loader reserves for libraries loaded later.
#if defined(__GNUC__) && defined(__linux__)
__attribute__((tls_model("initial-exec")))
#endif
CATENA_EXPORT extern constinit thread_local FreeLists free_lists;
CATENA_EXPORT void* allocate_fresh(std::size_t bytes, const char* op);

// OutOfMemoryError that names `op`.
inline void* allocate_block(std::size_t bytes, const char* op) {
  const std::size_t k = (bytes - 1) / FreeLists::step;
  if (k < FreeLists::classes) {
    if (FreeBlock* const block = free_lists.head[k]) [[likely]] {
      free_lists.head[k] = block->next;
      ++free_lists.free_slots[k];
      return block;
    }
  }
  return allocate_fresh(bytes, op);
}

inline void free_block(void* block, std::size_t bytes) noexcept {
  const std::size_t k = (bytes - 1) / FreeLists::step;
  if (k < FreeLists::classes && free_lists.free_slots[k] > 0) [[likely]] {
    free_lists.head[k] = new (block) FreeBlock{free_lists.head[k]};
    --free_lists.free_slots[k];
  } else {
    ::operator delete(block);
  }
}

// The base of classes of graph objects.
struct FromFreeList {
  static void* operator new(std::size_t bytes) { return allocate_block(bytes, "graph"); }
  static void operator delete(void* p, std::size_t bytes) noexcept { free_block(p, bytes); }
};

}  // namespace catena::internal
