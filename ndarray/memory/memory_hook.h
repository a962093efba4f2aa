// Observing allocations: a hook is told of every block that is asked for, taken from the system and given back.
#pragma once

#include <cstddef>

#include <catena/ndarray/device/types.h>

namespace nd {

struct MemoryEvent {
  Device device;
  std::size_t bytes = 0;        // as asked for; of free: as it was asked for
  std::size_t block_bytes = 0;  // of the block, after rounding (0 before it is known)
  std::byte* data = nullptr;    // null before it is known
};

// Derive, override what is of interest, and open a MemoryHookScope. Hooks see the allocations of their own thread only;
// they are called in the order in which their scopes were opened. A hook may allocate arrays; those allocations are not
// reported.
class CATENA_EXPORT MemoryHook {
 public:
  virtual ~MemoryHook();
  virtual const char* name() const { return "MemoryHook"; }
  virtual void malloc_preprocess(const MemoryEvent&) {}   // a block is asked for
  virtual void malloc_postprocess(const MemoryEvent&) {}  // ... and was found, in the pool or behind it
  virtual void alloc_preprocess(const MemoryEvent&) {}    // memory is taken from the device
  virtual void alloc_postprocess(const MemoryEvent&) {}
  virtual void free_preprocess(const MemoryEvent&) {}  // a block goes back to the pool
  virtual void free_postprocess(const MemoryEvent&) {}
};

class CATENA_EXPORT MemoryHookScope {
 public:
  explicit MemoryHookScope(MemoryHook& hook);
  ~MemoryHookScope();
  MemoryHookScope(const MemoryHookScope&) = delete;
  MemoryHookScope& operator=(const MemoryHookScope&) = delete;

 private:
  friend struct HookChain;
  MemoryHook* hook_;
  MemoryHookScope* outer_;
};

}  // namespace nd
