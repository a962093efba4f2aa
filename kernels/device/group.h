// Groups of threads that work together on one output or one row, and their reductions. The order of combination depends
// only on the size of the group, so every launch gives the same result.
#pragma once

#include <catena/kernels/device/lane.h>

namespace catena::device {

// Returns the value of the lane that is `distance` higher, copied word by word because accumulators may be structs.
template <class A> ND_FN A shuffle_down(const A& v, int distance) {
  constexpr int words = int((sizeof(A) + 3) / 4);
  uint32_t word[words] = {};
  memcpy(word, &v, sizeof(A));
  ND_UNROLL
  for (int k = 0; k < words; ++k) word[k] = __shfl_down_sync(0xffffffffu, word[k], unsigned(distance));
  A r;
  memcpy(&r, word, sizeof(A));
  return r;
}
template <class A> ND_FN A shuffle_from(const A& v, int lane) {
  constexpr int words = int((sizeof(A) + 3) / 4);
  uint32_t word[words] = {};
  memcpy(word, &v, sizeof(A));
  ND_UNROLL
  for (int k = 0; k < words; ++k) word[k] = __shfl_sync(0xffffffffu, word[k], lane);
  A r;
  memcpy(&r, word, sizeof(A));
  return r;
}

// Returns the value of the lane that is `distance` lower; the first `distance` lanes keep their own value.
template <class A> ND_FN A shuffle_up(const A& v, int distance) {
  const int lane = int(threadIdx.x % kWarp);
  return shuffle_from(v, lane >= distance ? lane - distance : lane);
}

// Combines the 32 lanes as a binary tree; the result is in lane 0.
template <class Combine, class A> ND_FN A reduce_warp(A v) {
  ND_UNROLL
  for (int distance = kWarp / 2; distance > 0; distance /= 2) v = Combine::combine(v, shuffle_down(v, distance));
  return v;
}

// One warp per item.
struct WarpGroup {
  enum : int { size = kWarp };
  static ND_FN int rank() { return int(threadIdx.x % kWarp); }
  static ND_FN int64_t item() { return int64_t(blockIdx.x) * (kBlock / kWarp) + int(threadIdx.x / kWarp); }
  static ND_FN int64_t items() { return int64_t(gridDim.x) * (kBlock / kWarp); }
  // All threads get the result.
  template <class Combine, class A> static ND_FN A reduce(A v) { return shuffle_from(reduce_warp<Combine>(v), 0); }
};

// One thread per item.
struct ThreadGroup {
  enum : int { size = 1 };
  static ND_FN int rank() { return 0; }
  static ND_FN int64_t item() { return int64_t(blockIdx.x) * kBlock + threadIdx.x; }
  static ND_FN int64_t items() { return int64_t(gridDim.x) * kBlock; }
  template <class Combine, class A> static ND_FN A reduce(A v) { return v; }
};

// One block per item.
struct BlockGroup {
  enum : int { size = kBlock };
  static ND_FN int rank() { return int(threadIdx.x); }
  static ND_FN int64_t item() { return int64_t(blockIdx.x); }
  static ND_FN int64_t items() { return int64_t(gridDim.x); }
  template <class Combine, class A> static ND_FN A reduce(A v) {
    alignas(16) __shared__ unsigned char memory[kBlock / kWarp * sizeof(A)];
    A* of_warp = reinterpret_cast<A*>(memory);
    v = reduce_warp<Combine>(v);
    __syncthreads();  // all threads have read the results of an earlier reduction from here
    if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = v;
    __syncthreads();
    A all = of_warp[0];
    ND_UNROLL
    for (int w = 1; w < kBlock / kWarp; ++w) all = Combine::combine(all, of_warp[w]);
    return all;
  }

  // Sets `before` to the combination of the values of the threads with lower numbers; thread 0 keeps its argument.
  template <class Combine, class A> static ND_FN void scan(A v, A& before) {
    alignas(16) __shared__ unsigned char memory[kBlock / kWarp * sizeof(A)];
    A* of_warp = reinterpret_cast<A*>(memory);
    const int lane = int(threadIdx.x % kWarp), warp = int(threadIdx.x / kWarp);
    ND_UNROLL
    for (int distance = 1; distance < kWarp; distance *= 2) {
      const A below = shuffle_up(v, distance);
      if (lane >= distance) v = Combine::combine(below, v);
    }
    __syncthreads();  // all threads have read the results of an earlier scan from here
    if (lane == kWarp - 1) of_warp[warp] = v;
    __syncthreads();
    const A below = shuffle_up(v, 1);
    if (warp == 0) {
      if (lane > 0) before = below;
      return;
    }
    A warps = of_warp[0];
    for (int w = 1; w < warp; ++w) warps = Combine::combine(warps, of_warp[w]);
    before = lane > 0 ? Combine::combine(warps, below) : warps;
  }
};

// All threads of the blocks that share the work of an output call it; `blocks_done` is a counter of the output, 0
// before the first call and after the last. Returns true in the last block, to which the results of the other blocks
// are visible.
ND_FN bool is_last_block(uint32_t* blocks_done, uint32_t blocks) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(blocks_done, 1u) == blocks - 1;
  __syncthreads();
  if (!is_last) return false;
  __threadfence();  // the cache of the multiprocessor may have older values of the results
  if (threadIdx.x == 0) *blocks_done = 0;
  return true;
}

// Plain addition, for counts.
struct Plus {
  template <class A> static ND_FN A combine(A a, A b) { return A(a + b); }
};

}  // namespace catena::device
