// Launch skeletons of nonzero and of selections by a mask: the count of found elements before each piece of the array,
// and the coordinates or elements, each stored at its final position.
#pragma once

#include <catena/kernels/device/group.h>

namespace catena::device {

// A bit mask of the lanes of the warp whose argument is true.
ND_FN uint32_t ballot(bool v) { return __ballot_sync(0xffffffffu, v); }
// The number of lanes in the mask `lanes` that are below this lane.
ND_FN int rank_among(uint32_t lanes) { return __popc(lanes & ((1u << (threadIdx.x % kWarp)) - 1)); }

enum : int { kRounds = kPiece / kBlock };  // positions of a piece per thread

// For one block: replaces each of the counts from counts[1] on by the sum of those before it, and sets counts[0] to the
// sum of all.
ND_FN void sum_counts(int64_t* counts, int64_t pieces) {
  constexpr int items = 8;
  __shared__ int64_t last;
  int64_t* of_piece = counts + 1;
  int64_t carry = 0;
  for (int64_t base = 0; base < pieces; base += kBlock * items) {
    const int64_t first = base + int64_t(threadIdx.x) * items;
    int64_t own[items], sum = 0;
    ND_UNROLL
    for (int j = 0; j < items; ++j) {
      own[j] = first + j < pieces ? of_piece[first + j] : 0;
      sum += own[j];
    }
    int64_t before = 0;
    BlockGroup::scan<Plus>(sum, before);
    before += carry;
    if (threadIdx.x == kBlock - 1) last = before + sum;
    ND_UNROLL
    for (int j = 0; j < items; ++j) {
      if (first + j < pieces) of_piece[first + j] = before;
      before += own[j];
    }
    __syncthreads();
    carry = last;
  }
  if (threadIdx.x == 0) counts[0] = carry;
}
ND_FN void offsets(const OffsetsParameters& p) { sum_counts(p.counts, p.pieces); }

// Counts the pieces; number(first position of the piece) is the part of a thread.
template <class Number> ND_FN void count_found(const CountHead& p, Number number) {
  for (int64_t piece = blockIdx.x; piece < p.pieces; piece += gridDim.x) {
    const int all = BlockGroup::reduce<Plus>(int(number(piece * kPiece)));
    if (threadIdx.x == 0) p.counts[1 + piece] = all;
  }
  if (gridDim.x == 1) __syncthreads();
  else if (p.blocks_done == nullptr || !is_last_block(p.blocks_done, gridDim.x)) return;
  sum_counts(p.counts, p.pieces);
}

// Calls put(i, place, fetch(i)) for the positions i for which found(i) is true, with the number of such positions
// before i. counts[1 + piece] is the number of those before the piece; without counts, there is one piece.
template <class Found, class Fetch, class Put>
ND_FN void place_found(const int64_t* counts, int64_t pieces, Found found, Fetch fetch, Put put) {
  constexpr int warps = kBlock / kWarp;
  static_assert(kRounds * warps == 2 * kWarp);
  __shared__ int of_warp[2 * kWarp];  // by round, then by warp
  const int warp = int(threadIdx.x) / kWarp, lane = int(threadIdx.x) % kWarp;
  for (int64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    const int64_t first = piece * kPiece + threadIdx.x, start = counts != nullptr ? counts[1 + piece] : 0;
    // All flags are loaded before the first is used, and all elements before the first is stored.
    bool is_found[kRounds];
    ND_UNROLL
    for (int r = 0; r < kRounds; ++r) is_found[r] = found(first + r * kBlock);
    decltype(fetch(first)) value[kRounds];
    ND_UNROLL
    for (int r = 0; r < kRounds; ++r)
      if (is_found[r]) value[r] = fetch(first + r * kBlock);
    uint32_t lanes[kRounds];
    ND_UNROLL
    for (int r = 0; r < kRounds; ++r) {
      lanes[r] = ballot(is_found[r]);
      if (lane == 0) of_warp[r * warps + warp] = __popc(lanes[r]);
    }
    __syncthreads();
    // Running sums over the warps of the first half of the rounds, and of the second half.
    int sum[2] = {of_warp[lane], of_warp[kWarp + lane]};
    ND_UNROLL
    for (int distance = 1; distance < kWarp; distance *= 2) {
      ND_UNROLL
      for (int half = 0; half < 2; ++half) {
        const int below = shuffle_up(sum[half], distance);
        sum[half] += lane >= distance ? below : 0;
      }
    }
    sum[1] += shuffle_from(sum[0], kWarp - 1);
    ND_UNROLL
    for (int r = 0; r < kRounds; ++r) {
      const int through = shuffle_from(sum[r / (kRounds / 2)], r % (kRounds / 2) * warps + warp);
      if (is_found[r]) put(first + r * kBlock, start + through - __popc(lanes[r]) + rank_among(lanes[r]), value[r]);
    }
    __syncthreads();
  }
}

template <class T, class Index, int Rank> struct Nonzero {
  template <class P> static ND_FN bool flag(const P& p, int64_t i) {
    if (i >= p.n) return false;
    const char* in = static_cast<const char*>(p.in);
    return load(element<T>(in + offset_of<Rank>(Index(i), p.length, p.stride, p.rank))) != compute_t<T>(0);
  }

  template <class P> static ND_FN void count(const P& p) {
    count_found(p, [&](int64_t first) {
      int number = 0;
      ND_UNROLL
      for (int r = 0; r < kRounds; ++r) number += flag(p, first + r * kBlock + threadIdx.x);
      return number;
    });
  }
  template <class P> static ND_FN void write(const P& p) {
    place_found(
        p.counts, p.pieces, [&](int64_t i) { return flag(p, i); }, [](int64_t) { return 0; },
        [&](int64_t i, int64_t place, int) {
          int64_t* out = p.out + place;
          for_each_axis<Rank>(Index(i), p.length, p.rank, [&](int a, Index c) { out[a * p.count] = int64_t(c); });
        });
  }
};

// The number of bytes of a word that are not zero.
ND_FN int nonzero_bytes(uint32_t word) { return __popc((((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u); }
// Counts contiguous bytes, such as those of a mask. A thread takes neighbouring ones.
ND_FN void count_bytes(const CountHead& p) {
  const unsigned char* in = static_cast<const unsigned char*>(p.in);
  const bool aligned = reinterpret_cast<uint64_t>(in) % kRounds == 0;
  count_found(p, [&](int64_t first) {
    const int64_t at = first + int64_t(threadIdx.x) * kRounds;
    if (aligned && at + kRounds <= p.n) {
      const Word<kRounds> word = *reinterpret_cast<const Word<kRounds>*>(in + at);
      return nonzero_bytes(word.w[0]) + nonzero_bytes(word.w[1]);
    }
    int number = 0;
    for (int k = 0; k < kRounds; ++k) number += at + k < p.n && in[at + k] != 0;
    return number;
  });
}

// Selection by a mask: the elements, each stored at its place.
template <int Bytes> ND_FN void compress_write(const CompressParameters& p) {
  place_found(
      p.counts, p.pieces, [&](int64_t i) { return i < p.n && p.mask[i] != 0; },
      [&](int64_t i) { return static_cast<const Word<Bytes>*>(p.in)[i]; },
      [&](int64_t, int64_t place, const Word<Bytes>& word) { static_cast<Word<Bytes>*>(p.out)[place] = word; });
}

ND_FN void clear(const ClearParameters& p) {
  for (int64_t i = int64_t(blockIdx.x) * kBlock + threadIdx.x; i < p.n; i += int64_t(gridDim.x) * kBlock)
    p.words[i] = 0;
}

}  // namespace catena::device
