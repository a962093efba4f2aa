// Launch skeleton of the stable sort of rows of up to kSortBlock elements (longer rows: radix.h): a bitonic network in
// shared memory. An element is mapped to a key with the order of unsigned integers; the place in the row is the second
// part of the key, so that no two keys are equal.
#pragma once

#include <catena/kernels/device/group.h>

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
    return Bits(bits ^ Bits(Bits(Bits(0) - Bits(bits >> (8 * sizeof(T) - 1))) | sign));
  } else if constexpr (is_signed_int<T>) {
    return Bits(Bits(v) ^ sign);
  } else {
    return Bits(v);
  }
}

// A key with a place of 16 bits behind it, in one number if it fits. No two items of a row are equal.
template <class Bits> struct SortItem {
  using Number = conditional_t<sizeof(Bits) <= 2, uint32_t, uint64_t>;
  Number number;
  ND_FN SortItem() {}
  ND_FN SortItem(Bits key, int place) : number(Number(key) << 16 | Number(place)) {}
  ND_FN int place() const { return int(number & 0xffffu); }
  friend ND_FN bool operator<(const SortItem& a, const SortItem& b) { return a.number < b.number; }
  // Becomes the smaller or the greater one of itself and another item.
  ND_FN void keep(const SortItem& o, bool smaller) { number = (o.number < number) == smaller ? o.number : number; }
};
template <> struct SortItem<uint64_t> {
  uint64_t key;
  uint64_t at;
  ND_FN SortItem() {}
  ND_FN SortItem(uint64_t k, int place) : key(k), at(uint64_t(place)) {}
  ND_FN int place() const { return int(at); }
  friend ND_FN bool operator<(const SortItem& a, const SortItem& b) {
    return a.key < b.key || (a.key == b.key && a.at < b.at);
  }
  ND_FN void keep(const SortItem& o, bool smaller) { *this = (o < *this) == smaller ? o : *this; }
};

template <class T, int Rank> struct Sort {
  using Bits = typename key_bits<T>::type;
  using Item = SortItem<Bits>;
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

  // Sorts several rows side by side, each in `padded` slots; padding slots get places behind the elements of the row. A
  // thread has 8 neighbouring slots in registers. Slots are compared in a thread, by shuffles in a warp, and by
  // shared memory beyond it.
  static ND_FN void block(const P& p) {
    constexpr int each = kSortBlock / kBlock, of_warp = each * kWarp;
    __shared__ Item items[kSortBlock];
    __shared__ uint16_t place[kSortBlock];
    const int padded = int(p.padded), thread = int(threadIdx.x), begin = thread * each,
              shift = __ffs(padded) - 1;  // padded is a power of two
    const int64_t together = kSortBlock / padded;
    for (int64_t first = blockIdx.x * together; first < p.rows; first += gridDim.x * together) {
      Item item[each];
      ND_UNROLL
      for (int j = 0; j < each; ++j) {
        const int64_t row = first + ((begin + j) >> shift);
        const int i = (begin + j) & (padded - 1);
        item[j] = Item(row < p.rows && i < p.count ? sort_key(get(p, row, i)) : Bits(~Bits(0)), i);
      }
      for (int size = 2; size <= padded; size *= 2) {
        const bool up = (begin & (padded - 1) & size) == 0;  // of sizes that all slots of a thread share
        int step = size / 2;
        for (; step >= of_warp; step /= 2) {
          ND_UNROLL
          for (int j = 0; j < each; ++j) items[j * kBlock + thread] = item[j];
          __syncthreads();
          const bool smaller = ((begin & step) == 0) == up;
          ND_UNROLL
          for (int j = 0; j < each; ++j) item[j].keep(items[j * kBlock + (thread ^ step / each)], smaller);
          __syncthreads();
        }
        for (; step >= each; step /= 2) {
          const bool smaller = ((begin & step) == 0) == up;
          ND_UNROLL
          for (int j = 0; j < each; ++j) item[j].keep(shuffle_from(item[j], (thread % kWarp) ^ (step / each)), smaller);
        }
        ND_UNROLL
        for (int near = each / 2; near > 0; near /= 2) {
          if (near >= size) continue;
          ND_UNROLL
          for (int j = 0; j < each; ++j) {
            if ((j & near) != 0) continue;
            const Item low = item[j], high = item[j + near];
            const bool smaller = ((begin + j) & (padded - 1) & size) == 0;
            item[j].keep(high, smaller);
            item[j + near] = smaller == (high < low) ? low : high;
          }
        }
      }
      ND_UNROLL
      for (int j = 0; j < each; ++j) place[begin + j] = uint16_t(item[j].place());
      __syncthreads();
      T value[each];
      ND_UNROLL
      for (int j = 0; j < each; ++j) {
        const int slot = int(threadIdx.x) + j * kBlock;
        const int64_t row = first + (slot >> shift);
        if (row >= p.rows || (slot & (padded - 1)) >= p.count) continue;
        if (p.positions) put(p, row, slot & (padded - 1), int64_t(place[slot]));
        else value[j] = get(p, row, place[slot]);
      }
      __syncthreads();  // sorting may be in place: all elements are read before the first store
      ND_UNROLL
      for (int j = 0; j < each; ++j) {
        const int slot = int(threadIdx.x) + j * kBlock;
        const int64_t row = first + (slot >> shift);
        if (!p.positions && row < p.rows && (slot & (padded - 1)) < p.count) put(p, row, slot & (padded - 1), value[j]);
      }
    }
  }
};

}  // namespace catena::device
