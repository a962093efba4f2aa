// The engine below shim.h: runs grids, and provides the state of the running thread.
//
// Thread safety: grids may run on several host threads; queries concern the grid of the calling host thread.
#pragma once

#include <catena/tests/support/cuda_device/shim.h>

namespace shim {

// The order of the blocks, and of the threads of a block; shuffled: a new permutation in every round.
enum class Order { ascending, descending, shuffled };

// The order of grids that do not set one. Default: $CATENA_SOFTWARE_CUDA_ORDER (ascending, descending, shuffled), else
// ascending.
SHIM_EXPORT void set_order(Order order);
SHIM_EXPORT Order order();

struct Launch {
  const char* name;  // for reports
  dim3 grid, block;
  Order order;
  bool barriers;  // false: every thread runs to its end in a plain call
  void (*call)(void* const* parameters);
  void* const* parameters;
};
// Runs every thread of the grid. Shared memory is filled with a pattern before each block. Shared memory is implemented
// as the calling thread's thread-local variables of the shared object that contains `call`, so that object must contain
// only kernels.
SHIM_EXPORT void run(const Launch& launch);

struct Range {
  char* begin = nullptr;
  char* end = nullptr;
  bool contains(const void* p) const { return p >= begin && p < end; }
};

// The running thread in its block, and the number of barriers it has passed. Accesses of two threads are ordered if the
// first number differs, or if they are in one warp and the second differs. Both numbers increase across blocks and
// grids.
struct Moment {
  unsigned thread;
  uint64_t block_barriers, warp_barriers;
};
struct Running {
  const Launch* launch;
  Range shared;  // static and dynamic shared memory of the block
  Range stacks;  // stacks of all threads of the block
};
// Returns null if no kernel runs on the calling host thread.
const Running* running();
Moment moment();

}  // namespace shim
