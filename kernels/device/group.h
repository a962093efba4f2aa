// Groups of threads that work on one output or one row together, and their reductions. The order of combination depends only on
// the size of the group, so results are the same on every launch.
#pragma once

#include "kernels/device/lane.h"

namespace catena::device {

// A value from the lane `distance` above, word by word: accumulators may be structs.
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

// A binary tree over the 32 lanes; the result is lane 0's.
template <class Combine, class A> ND_FN A reduce_warp(A v) {
  ND_UNROLL
  for (int distance = kWarp / 2; distance > 0; distance /= 2) v = Combine::combine(v, shuffle_down(v, distance));
  return v;
}

// One warp per item.
struct WarpGroup {
  static constexpr int size = kWarp;
  static ND_FN int rank() { return int(threadIdx.x) % kWarp; }
  static ND_FN int64_t item() { return int64_t(blockIdx.x) * (kBlock / kWarp) + int(threadIdx.x) / kWarp; }
  static ND_FN int64_t items() { return int64_t(gridDim.x) * (kBlock / kWarp); }
  // Every thread gets the result.
  template <class Combine, class A> static ND_FN A reduce(A v) { return shuffle_from(reduce_warp<Combine>(v), 0); }
};

// One block per item.
struct BlockGroup {
  static constexpr int size = kBlock;
  static ND_FN int rank() { return int(threadIdx.x); }
  static ND_FN int64_t item() { return int64_t(blockIdx.x); }
  static ND_FN int64_t items() { return int64_t(gridDim.x); }
  template <class Combine, class A> static ND_FN A reduce(A v) {
    alignas(16) __shared__ unsigned char memory[kBlock / kWarp * sizeof(A)];
    A* of_warp = reinterpret_cast<A*>(memory);
    v = reduce_warp<Combine>(v);
    __syncthreads();  // everyone has read what an earlier reduction left here
    if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = v;
    __syncthreads();
    A all = of_warp[0];
    ND_UNROLL
    for (int w = 1; w < kBlock / kWarp; ++w) all = Combine::combine(all, of_warp[w]);
    return all;
  }
};

}  // namespace catena::device
