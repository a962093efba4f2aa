// Observing allocations: hooks are called for every block that is requested, allocated from the system and freed.
#pragma once

#include <cstddef>

#include <catena/ndarray/device/types.h>

namespace nd {

// One event of the memory of a device, as hooks get it.
struct MemoryEvent {
  Device device;
  std::size_t bytes = 0;        // as requested; in free events, as it was requested
  std::size_t block_bytes = 0;  // size of the block, after rounding (0 if not known yet)
  std::byte* data = nullptr;    // null if not known yet
};

// Derive from this class, override the events of interest, and open a MemoryHookScope. Hooks observe only the
// allocations of their own thread and are called in the order in which their scopes were opened. A hook may allocate
// arrays; these allocations are not reported.
class CATENA_EXPORT MemoryHook {
 public:
  virtual ~MemoryHook();
  virtual const char* name() const { return "MemoryHook"; }
  virtual void malloc_preprocess(const MemoryEvent&) {}   // a block is requested
  virtual void malloc_postprocess(const MemoryEvent&) {}  // a block was found in the pool, or allocated
  virtual void alloc_preprocess(const MemoryEvent&) {}    // memory is allocated from the device
  virtual void alloc_postprocess(const MemoryEvent&) {}
  virtual void free_preprocess(const MemoryEvent&) {}  // a block is returned to the pool
  virtual void free_postprocess(const MemoryEvent&) {}
};

// While an object of this class exists, the hook gets the events of this thread.
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
