// Launch skeletons of nonzero: the count of non-zero elements in each piece of the array, the running sums of these
// counts, and the coordinates, each stored at its final position.
#pragma once

#include <catena/kernels/device/group.h>

namespace catena::device {

// A bit mask of the lanes of the warp whose argument is true.
ND_FN uint32_t ballot(bool v) { return __ballot_sync(0xffffffffu, v); }
// The number of lanes in the mask `lanes` that are below this lane.
ND_FN int rank_among(uint32_t lanes) { return __popc(lanes & ((1u << (threadIdx.x % kWarp)) - 1)); }

template <class T, class Index, int Rank> struct Nonzero {
  template <class P> static ND_FN bool flag(const P& p, int64_t i) {
    if (i >= p.n) return false;
    const char* in = static_cast<const char*>(p.in);
    return load(element<T>(in + offset_of<Rank>(Index(i), p.length, p.stride, p.rank))) != compute_t<T>(0);
  }

  template <class P> static ND_FN void count(const P& p) {
    for (int64_t piece = blockIdx.x; piece < p.pieces; piece += gridDim.x) {
      int64_t found = 0;
      for (int j = int(threadIdx.x); j < kPiece; j += kBlock) found += flag(p, piece * kPiece + j);
      found = BlockGroup::reduce<Plus>(found);
      if (threadIdx.x == 0) p.counts[piece] = found;
    }
  }

  template <class P> static ND_FN void write(const P& p) {
    constexpr int warps = kBlock / kWarp;
    __shared__ int of_warp[warps];
    const int warp = int(threadIdx.x) / kWarp;
    for (int64_t piece = blockIdx.x; piece < p.pieces; piece += gridDim.x) {
      int64_t place = p.counts[piece];
      for (int round = 0; round < kPiece; round += kBlock) {
        const int64_t i = piece * kPiece + round + threadIdx.x;
        const bool found = flag(p, i);
        const uint32_t lanes = ballot(found);
        if (threadIdx.x % kWarp == 0) of_warp[warp] = __popc(lanes);
        __syncthreads();
        int below = 0, all = 0;
        ND_UNROLL
        for (int w = 0; w < warps; ++w) {
          below += w < warp ? of_warp[w] : 0;
          all += of_warp[w];
        }
        if (found) {
          int64_t* out = p.out + place + below + rank_among(lanes);
          for_each_axis<Rank>(Index(i), p.length, p.rank, [&](int a, Index c) { out[a * p.count] = int64_t(c); });
        }
        place += all;
        __syncthreads();
      }
    }
  }
};

// The counts and the elements of a selection by a mask, as in Nonzero.
ND_FN void compress_count(const CompressParameters& p) {
  for (int64_t piece = blockIdx.x; piece < p.pieces; piece += gridDim.x) {
    int64_t found = 0;
    for (int64_t j = threadIdx.x; j < kPiece; j += kBlock) {
      const int64_t i = piece * kPiece + j;
      found += i < p.n && p.mask[i] != 0;
    }
    found = BlockGroup::reduce<Plus>(found);
    if (threadIdx.x == 0) p.counts[piece] = found;
  }
}
template <int Bytes> ND_FN void compress_write(const CompressParameters& p) {
  constexpr int warps = kBlock / kWarp;
  __shared__ int of_warp[warps];
  const int warp = int(threadIdx.x) / kWarp;
  for (int64_t piece = blockIdx.x; piece < p.pieces; piece += gridDim.x) {
    int64_t place = p.counts[piece];
    for (int round = 0; round < kPiece; round += kBlock) {
      const int64_t i = piece * kPiece + round + threadIdx.x;
      const bool found = i < p.n && p.mask[i] != 0;
      const uint32_t lanes = ballot(found);
      if (threadIdx.x % kWarp == 0) of_warp[warp] = __popc(lanes);
      __syncthreads();
      int below = 0, all = 0;
      ND_UNROLL
      for (int w = 0; w < warps; ++w) {
        below += w < warp ? of_warp[w] : 0;
        all += of_warp[w];
      }
      if (found)
        reinterpret_cast<Word<Bytes>*>(p.out)[place + below + rank_among(lanes)] =
            reinterpret_cast<const Word<Bytes>*>(p.in)[i];
      place += all;
      __syncthreads();
    }
  }
}

// One block per row of counts: each count is replaced by the sum of the counts before it.
template <class T> ND_FN void offsets(const OffsetsParameters& p) {
  constexpr int items = 8;
  __shared__ T last;
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
    T* counts = static_cast<T*>(p.counts) + row * p.count;
    T carry = 0;
    for (int64_t base = 0; base < p.count; base += kBlock * items) {
      const int64_t first = base + int64_t(threadIdx.x) * items;
      T own[items], sum = 0;
      ND_UNROLL
      for (int j = 0; j < items; ++j) {
        own[j] = first + j < p.count ? counts[first + j] : T(0);
        sum += own[j];
      }
      T before = 0;
      BlockGroup::scan<Plus>(sum, before);
      before += carry;
      if (threadIdx.x == kBlock - 1) last = before + sum;
      ND_UNROLL
      for (int j = 0; j < items; ++j) {
        if (first + j < p.count) counts[first + j] = before;
        before += own[j];
      }
      __syncthreads();
      carry = last;
    }
  }
}

}  // namespace catena::device
