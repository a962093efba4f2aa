// Sorting networks on vectors: the same comparisons whatever the values are, without a branch. They are not stable, so
// keys that are equal must be the same element to the caller. Longer rows are partitioned until a network takes the
// parts.
#pragma once

#include <cstdint>

#include <catena/kernels/base/export.h>

namespace nd::cpu {

// Sorts signed integers. Keys are aligned to 64 bytes.
template <class Key> struct SortNetwork {
  int lanes;  // keys of a vector, at most 64 bytes
  // As many rows at once as there are lanes, in place: key i of row r is keys[i * lanes + r].
  void (*rows)(Key* keys, std::int64_t n);
  // One row of lanes * m keys, written to `sorted`; the keys are lost. m: see vectors_for().
  void (*row)(Key* keys, std::int64_t m, Key* sorted);
  // Copies n keys to `to`, which they do not overlap: those below the pivot, then the others. Returns how many are
  // below it.
  std::int64_t (*partition)(const Key* from, std::int64_t n, Key pivot, Key* to);

  // The vectors of a row of n keys: at most 7, or 4 to 7 times a power of two.
  std::int64_t vectors_for(std::int64_t n) const {
    std::int64_t m = (n + lanes - 1) / lanes, twice = 0;
    for (; m > 7; m = (m + 1) / 2) ++twice;
    return m << twice;
  }
};

CATENA_EXPORT const SortNetwork<std::int32_t>& sort_network(std::int32_t);
CATENA_EXPORT const SortNetwork<std::int64_t>& sort_network(std::int64_t);

}  // namespace nd::cpu
