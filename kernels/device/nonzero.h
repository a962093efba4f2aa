// Launch skeletons of nonzero and of selections by a mask: the count of found elements in each piece of the array, the
// running sums of these counts, and the coordinates or elements, each stored at its final position.
#pragma once

#include <catena/kernels/device/group.h>

namespace catena::device {

// A bit mask of the lanes of the warp whose argument is true.
ND_FN uint32_t ballot(bool v) { return __ballot_sync(0xffffffffu, v); }
// The number of lanes in the mask `lanes` that are below this lane.
ND_FN int rank_among(uint32_t lanes) { return __popc(lanes & ((1u << (threadIdx.x % kWarp)) - 1)); }

// counts[piece] = the number of positions i in each piece of kPiece positions for which found(i) is true.
template <class Found> ND_FN void count_found(int64_t* counts, int64_t pieces, Found found) {
  for (int64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    int64_t number = 0;
    for (int j = int(threadIdx.x); j < kPiece; j += kBlock) number += found(piece * kPiece + j);
    number = BlockGroup::reduce<Plus>(number);
    if (threadIdx.x == 0) counts[piece] = number;
  }
}

// Calls put(i, place) for the same positions, with the number of such positions before i. counts[piece] is the number
// of those before the piece.
template <class Found, class Put> ND_FN void place_found(const int64_t* counts, int64_t pieces, Found found, Put put) {
  constexpr int warps = kBlock / kWarp;
  __shared__ int of_warp[warps];
  const int warp = int(threadIdx.x) / kWarp;
  for (int64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    int64_t place = counts[piece];
    for (int round = 0; round < kPiece; round += kBlock) {
      const int64_t i = piece * kPiece + round + threadIdx.x;
      const bool is_found = found(i);
      const uint32_t lanes = ballot(is_found);
      if (threadIdx.x % kWarp == 0) of_warp[warp] = __popc(lanes);
      __syncthreads();
      int below = 0, all = 0;
      ND_UNROLL
      for (int w = 0; w < warps; ++w) {
        below += w < warp ? of_warp[w] : 0;
        all += of_warp[w];
      }
      if (is_found) put(i, place + below + rank_among(lanes));
      place += all;
      __syncthreads();
    }
  }
}

template <class T, class Index, int Rank> struct Nonzero {
  template <class P> static ND_FN bool flag(const P& p, int64_t i) {
    if (i >= p.n) return false;
    const char* in = static_cast<const char*>(p.in);
    return load(element<T>(in + offset_of<Rank>(Index(i), p.length, p.stride, p.rank))) != compute_t<T>(0);
  }

  template <class P> static ND_FN void count(const P& p) {
    count_found(p.counts, p.pieces, [&](int64_t i) { return flag(p, i); });
  }
  template <class P> static ND_FN void write(const P& p) {
    place_found(
        p.counts, p.pieces, [&](int64_t i) { return flag(p, i); },
        [&](int64_t i, int64_t place) {
          int64_t* out = p.out + place;
          for_each_axis<Rank>(Index(i), p.length, p.rank, [&](int a, Index c) { out[a * p.count] = int64_t(c); });
        });
  }
};

// Selection by a mask: the counts, and the elements, each stored at its place.
ND_FN bool is_selected(const CompressParameters& p, int64_t i) { return i < p.n && p.mask[i] != 0; }
ND_FN void compress_count(const CompressParameters& p) {
  count_found(p.counts, p.pieces, [&](int64_t i) { return is_selected(p, i); });
}
template <int Bytes> ND_FN void compress_write(const CompressParameters& p) {
  place_found(
      p.counts, p.pieces, [&](int64_t i) { return is_selected(p, i); },
      [&](int64_t i, int64_t place) {
        static_cast<Word<Bytes>*>(p.out)[place] = static_cast<const Word<Bytes>*>(p.in)[i];
      });
}

ND_FN void clear(const ClearParameters& p) {
  for (int64_t i = int64_t(blockIdx.x) * kBlock + threadIdx.x; i < p.n; i += int64_t(gridDim.x) * kBlock)
    p.words[i] = 0;
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
