// Launch skeletons of stable sorting. An element is mapped to a key with the order of unsigned integers; the place in
// the row is the second part of the key, so that no two keys are equal. Rows of up to kSortBlock elements are sorted by
// a bitonic network in shared memory, longer rows by an LSD radix sort. Neither the number of passes nor the control
// flow depends on the values, so the run time depends only on lengths and dtype.
#pragma once

#include <catena/kernels/device/nonzero.h>

namespace catena::device {

template <class T> struct key_bits { using type = unsigned_of<T>; };
template <> struct key_bits<bool> { using type = uint8_t; };

// NaN gets the largest key; -0 and +0 get the same key.
template <class T> ND_FN typename key_bits<T>::type sort_key(T v) {
  using Bits = typename key_bits<T>::type;
  constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(T) - 1));
  if constexpr (is_float<compute_t<T>>) {
    const compute_t<T> x = load(v);
    if (x != x) return Bits(~Bits(0));
    const Bits bits = x == compute_t<T>(0) ? Bits(0) : bit_cast<Bits>(v);
    return Bits(bits & sign ? ~bits : bits | sign);
  } else if constexpr (is_signed_int<T>) {
    return Bits(Bits(v) ^ sign);
  } else {
    return Bits(v);
  }
}

template <class T, int Rank> struct Sort {
  using Bits = typename key_bits<T>::type;
  using P = SortParameters<Rank == 0 ? kGenericRank : Rank>;

  static ND_FN int64_t start(const P& p, const int64_t* stride, int64_t row) {
    return offset_of<Rank>(uint64_t(row), p.length, stride, p.rank);
  }
  static ND_FN T get(const P& p, int64_t row, int64_t i) {
    return element<T>(static_cast<const char*>(p.in) + start(p, p.in_stride, row) + i * p.in_step);
  }
  template <class V> static ND_FN void put(const P& p, int64_t row, int64_t i, V v) {
    *reinterpret_cast<V*>(static_cast<char*>(p.out) + start(p, p.out_stride, row) + i * p.out_step) = v;
  }

  // Sorts several rows side by side, each in `padded` slots; padding slots get places behind the elements of the row.
  static ND_FN void block(const P& p) {
    constexpr int each = kSortBlock / kBlock;
    __shared__ Bits key[kSortBlock];
    __shared__ uint16_t place[kSortBlock];
    const int padded = int(p.padded);
    const int64_t together = kSortBlock / padded;
    for (int64_t first = blockIdx.x * together; first < p.rows; first += gridDim.x * together) {
      for (int slot = int(threadIdx.x); slot < kSortBlock; slot += kBlock) {
        const int64_t row = first + slot / padded;
        const int i = slot % padded;
        key[slot] = row < p.rows && i < p.count ? sort_key(get(p, row, i)) : Bits(~Bits(0));
        place[slot] = uint16_t(i);
      }
      __syncthreads();
      for (int size = 2; size <= padded; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
          for (int pair = int(threadIdx.x); pair < kSortBlock / 2; pair += kBlock) {
            const int low = 2 * pair - (pair & (step - 1)), high = low + step;
            const bool up = ((low & (padded - 1)) & size) == 0;
            const bool greater = key[low] > key[high] || (key[low] == key[high] && place[low] > place[high]);
            if (greater != up) continue;
            const Bits k = key[low];
            const uint16_t at = place[low];
            key[low] = key[high];
            place[low] = place[high];
            key[high] = k;
            place[high] = at;
          }
          __syncthreads();
        }
      }
      T value[each];
      ND_UNROLL
      for (int j = 0; j < each; ++j) {
        const int slot = int(threadIdx.x) + j * kBlock;
        const int64_t row = first + slot / padded;
        if (row >= p.rows || slot % padded >= p.count) continue;
        if (p.positions) put(p, row, slot % padded, int64_t(place[slot]));
        else value[j] = get(p, row, place[slot]);
      }
      __syncthreads();  // sorting may be in place: all elements are read before the first store
      ND_UNROLL
      for (int j = 0; j < each; ++j) {
        const int slot = int(threadIdx.x) + j * kBlock;
        const int64_t row = first + slot / padded;
        if (!p.positions && row < p.rows && slot % padded < p.count) put(p, row, slot % padded, value[j]);
      }
    }
  }

  // First pass for long rows: stores the keys, places and values of all rows.
  static ND_FN void keys(const P& p) {
    for (int64_t i = int64_t(blockIdx.x) * kBlock + threadIdx.x; i < p.rows * p.count;
         i += int64_t(gridDim.x) * kBlock) {
      const int64_t row = i / p.count, place = i - row * p.count;
      const T v = get(p, row, place);
      static_cast<Bits*>(p.keys)[i] = sort_key(v);
      p.places[i] = uint32_t(place);
      if (!p.positions) static_cast<T*>(p.values)[i] = v;
    }
  }
  static ND_FN void result(const P& p) {
    for (int64_t i = int64_t(blockIdx.x) * kBlock + threadIdx.x; i < p.rows * p.count;
         i += int64_t(gridDim.x) * kBlock) {
      const int64_t row = i / p.count, place = i - row * p.count;
      if (p.positions) put(p, row, place, int64_t(p.places[i]));
      else put(p, row, place, static_cast<const T*>(p.values)[row * p.count + p.places[i]]);
    }
  }
};

// One 8-bit digit. A warp processes kSortPiece / kWarps neighbouring elements of a piece, 32 at a time.
template <class Bits> struct Radix {
  enum : int { kWarps = kBlock / kWarp, kRounds = kSortPiece / kBlock };

  static ND_FN int digit(const RadixParameters& p, int64_t at) {
    return int((static_cast<const Bits*>(p.keys)[at] >> p.shift) & Bits(kDigits - 1));
  }

  static ND_FN void count(const RadixParameters& p) {
    __shared__ uint32_t found[kDigits];
    for (int64_t item = blockIdx.x; item < p.rows * p.pieces; item += gridDim.x) {
      const int64_t row = item / p.pieces, piece = item % p.pieces;
      found[threadIdx.x] = 0;
      __syncthreads();
      for (int j = int(threadIdx.x); j < kSortPiece; j += kBlock) {
        const int64_t i = piece * kSortPiece + j;
        if (i < p.count) atomicAdd(&found[digit(p, row * p.count + i)], 1u);
      }
      __syncthreads();
      p.counts[(row * kDigits + threadIdx.x) * p.pieces + piece] = found[threadIdx.x];
    }
  }

  // A bit mask of the threads of the warp that have the same digit as this thread.
  static ND_FN uint32_t peers_of(int digit, bool valid) {
    uint32_t peers = ballot(valid);
    ND_UNROLL
    for (int bit = 0; bit < 8; ++bit) {
      const uint32_t set = ballot((digit >> bit) & 1);
      peers &= (digit >> bit) & 1 ? set : ~set;
    }
    return peers;
  }

  static ND_FN void move(const RadixParameters& p) {
    __shared__ uint32_t found[kWarps][kDigits];  // occurrences per warp, then the place of the first of them
    const int warp = int(threadIdx.x) / kWarp, lane = int(threadIdx.x) % kWarp;
    for (int64_t item = blockIdx.x; item < p.rows * p.pieces; item += gridDim.x) {
      const int64_t row = item / p.pieces, piece = item % p.pieces;
      for (int w = 0; w < kWarps; ++w) found[w][threadIdx.x] = 0;
      __syncthreads();
      const int64_t begin = piece * kSortPiece + warp * (kRounds * kWarp) + lane;
      uint32_t rank[kRounds];
      ND_UNROLL
      for (int j = 0; j < kRounds; ++j) {
        const int64_t i = begin + j * kWarp;
        const bool valid = i < p.count;
        const int d = valid ? digit(p, row * p.count + i) : 0;
        const uint32_t peers = peers_of(d, valid);
        const int below = rank_among(peers);
        rank[j] = found[warp][d] + uint32_t(below);
        __syncwarp();
        if (valid && below == 0) found[warp][d] += uint32_t(__popc(peers));
        __syncwarp();
      }
      __syncthreads();
      uint32_t place = p.counts[(row * kDigits + threadIdx.x) * p.pieces + piece];
      for (int w = 0; w < kWarps; ++w) {
        const uint32_t here = found[w][threadIdx.x];
        found[w][threadIdx.x] = place;
        place += here;
      }
      __syncthreads();
      ND_UNROLL
      for (int j = 0; j < kRounds; ++j) {
        const int64_t i = row * p.count + begin + j * kWarp;
        if (begin + j * kWarp >= p.count) continue;
        const int64_t to = row * p.count + found[warp][digit(p, i)] + rank[j];
        static_cast<Bits*>(p.keys_out)[to] = static_cast<const Bits*>(p.keys)[i];
        p.places_out[to] = p.places[i];
      }
      __syncthreads();
    }
  }
};

}  // namespace catena::device
