#include <catena/kernels/base/free_list.h>

#include <new>

#include <catena/kernels/base/error.h>

namespace catena::internal {
namespace {

struct Free {
  Free* next;
};

constexpr std::size_t kStep = 64, kClasses = 10;  // blocks up to 640 bytes; larger ones go to malloc

#if defined(__SANITIZE_ADDRESS__)
constexpr int kMaxFree = 0;  // recycled memory would hide use after free
#else
constexpr int kMaxFree = 256;
#endif

// Constant-initialised and trivially destructible, so it can be used at any time, also by static destructors that free
// arrays and graphs after the thread's other thread_local objects. `room` is 0 before this thread has a Drain and after
// the Drain has run. The initial-exec TLS model makes access one instruction in a shared library too; the few bytes fit
// into the space that the loader reserves for libraries loaded later.
struct Cache {
  Free* head[kClasses];
  int room[kClasses];
  bool closed;
};
#if defined(__GNUC__) && defined(__linux__)
__attribute__((tls_model("initial-exec")))
#endif
constinit thread_local Cache cache{};

struct Drain {
  Drain() {
    for (int& r : cache.room) r = kMaxFree;
  }
  ~Drain() {
    cache.closed = true;
    for (std::size_t k = 0; k < kClasses; ++k) {
      cache.room[k] = 0;
      while (Free* b = cache.head[k]) {
        cache.head[k] = b->next;
        ::operator delete(b);
      }
    }
  }
};

void* new_block(std::size_t bytes, const char* op) {
  void* const block = ::operator new(bytes, std::nothrow);
  check<OutOfMemoryError>(block != nullptr, op, "the host has no memory left");
  return block;
}

[[gnu::noinline]] void* allocate_fresh(std::size_t bytes, const char* op) {
  if (!cache.closed) {
    static thread_local Drain drain;
    static_cast<void>(drain);
  }
  return new_block(bytes, op);
}

}  // namespace

void* allocate_block(std::size_t bytes, const char* op) {
  const std::size_t k = (bytes - 1) / kStep;
  if (k >= kClasses) return new_block(bytes, op);
  if (Free* b = cache.head[k]) [[likely]] {
    cache.head[k] = b->next;
    ++cache.room[k];
    return b;
  }
  return allocate_fresh((k + 1) * kStep, op);
}

void free_block(void* block, std::size_t bytes) noexcept {
  const std::size_t k = (bytes - 1) / kStep;
  if (k < kClasses && cache.room[k] > 0) [[likely]] {
    cache.head[k] = new (block) Free{cache.head[k]};
    --cache.room[k];
  } else {
    ::operator delete(block);
  }
}

}  // namespace catena::internal
