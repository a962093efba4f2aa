#include <catena/kernels/base/free_list.h>

#include <catena/kernels/base/error.h>

namespace catena::internal {

constinit thread_local FreeLists free_lists{};

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr int kMaxFree = 0;  // recycled memory would hide use after free
#else
constexpr int kMaxFree = 256;
#endif

// Frees the lists when the thread ends.
struct Drain {
  Drain() {
    for (int& r : free_lists.free_slots) r = kMaxFree;
  }
  ~Drain() {
    free_lists.closed = true;
    for (std::size_t k = 0; k < FreeLists::classes; ++k) {
      free_lists.free_slots[k] = 0;
      while (FreeBlock* const block = free_lists.head[k]) {
        free_lists.head[k] = block->next;
        ::operator delete(block);
      }
    }
  }
};

}  // namespace

void* allocate_fresh(std::size_t bytes, const char* op) {
  if (!free_lists.closed) {
    static thread_local Drain drain;
    static_cast<void>(drain);
  }
  // A block of a list must fit all sizes of its class.
  const std::size_t all = (bytes + FreeLists::step - 1) / FreeLists::step * FreeLists::step;
  void* const block = ::operator new(all, std::nothrow);
  check<OutOfMemoryError>(block != nullptr, op, "the host has no memory left");
  return block;
}

}  // namespace catena::internal
