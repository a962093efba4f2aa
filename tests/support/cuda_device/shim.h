// Runs the text of a GPU kernel on the CPU: included before the text, it supplies what the GPU's compiler has built in. The threads of
// a block are fibers that switch at barriers and shuffles only, so a missing barrier shows as a result that depends on the order in
// which threads run; run every kernel in all three. Blocks run one after the other.
//
// Stricter than a GPU on purpose: lanes of a warp do not run in lockstep, and a barrier that not every thread of the block reaches ends
// the program with a report ("divergent barrier").
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#define CATENA_CPU_SHIM 1
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ thread_local  // every block runs on a thread of its own

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

namespace shim {

enum class Order { ascending, descending, shuffled };  // shuffled: another permutation in every round

// Where the running fiber is in its launch. The engine sets it before every switch.
struct Place {
  uint3 thread, block;
  dim3 block_dim, grid_dim;
};
Place& place();

void block_barrier();
void warp_barrier();
// Every lane of the warp leaves `value` and gets that of lane `source`.
uint64_t exchange(uint64_t value, unsigned source);
unsigned lane();

// Runs `body` once per thread of the grid. `name` is for reports.
void launch(const char* name, dim3 grid, dim3 block, Order order, void (*body)(const void*), const void* argument);
template <class F> void launch(const char* name, dim3 grid, dim3 block, Order order, const F& body) {
  launch(name, grid, block, order, [](const void* f) { (*static_cast<const F*>(f))(); }, &body);
}

template <class T> T shuffle(T value, unsigned source) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  bits = exchange(bits, source);
  memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace shim

#define threadIdx (shim::place().thread)
#define blockIdx (shim::place().block)
#define blockDim (shim::place().block_dim)
#define gridDim (shim::place().grid_dim)

inline void __syncthreads() { shim::block_barrier(); }
inline void __syncwarp(unsigned = ~0u) { shim::warp_barrier(); }
template <class T> T __shfl_sync(unsigned, T v, int source) { return shim::shuffle(v, unsigned(source) % 32); }
template <class T> T __shfl_down_sync(unsigned, T v, unsigned distance) {
  const unsigned l = shim::lane();
  return shim::shuffle(v, l + distance < 32 ? l + distance : l);
}
template <class T> T __shfl_xor_sync(unsigned, T v, int mask) { return shim::shuffle(v, shim::lane() ^ unsigned(mask)); }
