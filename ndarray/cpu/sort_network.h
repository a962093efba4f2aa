// Sorting networks on vectors: the same comparisons whatever the values are, without a branch. They are not stable, so
// keys that are equal must be the same element to the caller.
#pragma once

#include <cstdint>

namespace nd::cpu {

// Sorts signed integers. Keys are aligned to 64 bytes.
template <class Key> struct SortNetwork {
  int lanes;  // keys of a vector, at most 64 bytes
  // As many rows at once as there are lanes, in place: key i of row r is keys[i * lanes + r].
  void (*rows)(Key* keys, std::int64_t n);
  // One row of lanes * m keys, written to `sorted`; the keys are lost. m: see vectors_for().
  void (*row)(Key* keys, std::int64_t m, Key* sorted);

  // The vectors of a row of n keys: at most 7, or 4 to 7 times a power of two.
  std::int64_t vectors_for(std::int64_t n) const {
    std::int64_t m = (n + lanes - 1) / lanes, twice = 0;
    for (; m > 7; m = (m + 1) / 2) ++twice;
    return m << twice;
  }
};

const SortNetwork<std::int32_t>& sort_network(std::int32_t);
const SortNetwork<std::int64_t>& sort_network(std::int64_t);

}  // namespace nd::cpu
