// The engine under shim.h as its users see it: grids are run on it, and who runs is asked.
//
// Thread safety: grids may run on several host threads at once; what describes the running thread is that of the
// calling host thread.
#pragma once

#include <catena/tests/support/cuda_device/shim.h>

namespace shim {

// Of the threads of a block, and of the blocks; shuffled: another permutation in every round.
enum class Order { ascending, descending, shuffled };

// What grids use that are run without a word about it: at first $CATENA_SOFTWARE_CUDA_ORDER (ascending, descending,
// shuffled), or else ascending.
SHIM_EXPORT void set_order(Order order);
SHIM_EXPORT Order order();

struct Launch {
  const char* name;  // for reports
  dim3 grid, block;
  Order order;
  bool barriers;  // false: every thread is run to its end by a plain call
  void (*call)(void* const* parameters);
  void* const* parameters;
};
// Runs every thread of the grid. Shared memory is filled with a pattern before each block: that is the calling thread's
// block of thread-local variables of the object that holds `call`, which must therefore hold kernels only.
SHIM_EXPORT void run(const Launch& launch);

struct Range {
  char* begin = nullptr;
  char* end = nullptr;
  bool contains(const void* p) const { return p >= begin && p < end; }
};

// The running thread among those of its block, and the barriers it has passed: accesses of two threads are in order
// when the first number differs, or when they are of one warp and the second differs. Both grow from block to block and
// from grid to grid.
struct Moment {
  unsigned thread;
  uint64_t block_barriers, warp_barriers;
};
struct Running {
  const Launch* launch;
  Range shared;  // static and dynamic shared memory of the block
  Range stacks;  // of all threads of the block
};
// Null: no kernel runs on the calling host thread.
const Running* running();
Moment moment();

}  // namespace shim
