// Sorting networks on vectors: the comparisons do not depend on the values, and there are no branches. The networks are
// not stable, so equal keys must be identical elements for the caller. Longer rows are partitioned until a network can
// sort the parts.
#pragma once

#include <cstdint>

#include <catena/kernels/base/export.h>

namespace nd::cpu {

// Sorts signed integers. Keys must be aligned to 64 bytes.
template <class Key> struct SortNetwork {
  int lanes;  // keys of a vector, at most 64 bytes
  // Sorts `lanes` rows at once, in place: key i of row r is keys[i * lanes + r].
  void (*rows)(Key* keys, std::int64_t n);
  // Sorts one row of lanes * m keys to `sorted`; overwrites the keys. m must be a result of vectors_for().
  void (*row)(Key* keys, std::int64_t m, Key* sorted);
  // Copies n keys to `to`, which must not overlap them: first the keys below the pivot, then the others. Returns the
  // number of keys below it.
  std::int64_t (*partition)(const Key* from, std::int64_t n, Key pivot, Key* to);

  // Returns the number of vectors for a row of n keys: at most 7, or 4 to 7 times a power of two.
  std::int64_t vectors_for(std::int64_t n) const {
    std::int64_t m = (n + lanes - 1) / lanes, twice = 0;
    for (; m > 7; m = (m + 1) / 2) ++twice;
    return m << twice;
  }
};

CATENA_EXPORT const SortNetwork<std::int32_t>& sort_network(std::int32_t);
CATENA_EXPORT const SortNetwork<std::int64_t>& sort_network(std::int64_t);

}  // namespace nd::cpu
