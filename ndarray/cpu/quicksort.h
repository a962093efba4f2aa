// Sorts long rows of keys: partitions at sampled pivots, until a network can sort the parts. The number of rounds is
// limited to twice the number for halving; std::sort then sorts the rest, so that n keys always take O(n log n) time.
// Equal keys must be identical elements, as for the networks. If only some positions of the sorted row matter, parts
// without such a position stay unsorted.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include <catena/ndarray/cpu/sort_network.h>

namespace nd::cpu {

// Longest part, in keys, that a network sorts if only some positions matter. It is short, because half of each
// partition is not sorted at all.
inline constexpr std::int64_t kSelectedTo = 128;

// `store` is called with (position, sorted keys, number of keys), in ascending order of positions. `kth` has the
// positions that matter, in ascending order; empty: all.
template <class Key, class Store> class Quicksort {
 public:
  explicit Quicksort(Store store, std::span<const std::int64_t> kth = {}) : store_(store), kth_(kth) {}

  // Sorts n keys. Overwrites `keys` and `spare`, which must hold n keys each.
  void run(Key* keys, Key* spare, std::int64_t n) { run(keys, spare, n, rounds_for(n)); }
  // Sorts n > 1 keys and leaves `from` unchanged. Overwrites `keys` and `spare`, which must hold n keys each.
  void run(const Key* from, Key* keys, Key* spare, std::int64_t n) {
    const auto [below, above] =
        split({0, n, std::numeric_limits<Key>::min(), std::numeric_limits<Key>::max()}, from, keys);
    const int rounds = rounds_for(n) - 1;
    sort(below, keys, spare, rounds);
    sort(above, keys, spare, rounds);
  }
  // rounds: how often a part may be partitioned again.
  void run(Key* keys, Key* spare, std::int64_t n, int rounds) {
    sort({0, n, std::numeric_limits<Key>::min(), std::numeric_limits<Key>::max()}, keys, spare, rounds);
  }

 private:
  static constexpr std::int64_t kNetworkTo = 512;  // longer parts are partitioned, which is faster than longer networks
  static constexpr std::int64_t kSamples = 64, kFewSamples = 16, kFewSamplesTo = 4096;

  struct Part {
    std::int64_t begin, n;
    Key least, most;  // bounds of the keys
  };

  static int rounds_for(std::int64_t n) { return 2 * std::bit_width(static_cast<std::uint64_t>(n)); }
  bool matters(const Part& part) const {
    if (kth_.empty()) return true;
    const auto first = std::lower_bound(kth_.begin(), kth_.end(), part.begin);
    return first != kth_.end() && *first < part.begin + part.n;
  }

  void sort(Part part, Key* keys, Key* spare, int rounds) {
    for (; part.n > 0; --rounds, std::swap(keys, spare)) {
      Key* const from = keys + part.begin;
      if (part.least == part.most || !matters(part)) return store_(part.begin, from, part.n);
      if (part.n <= (kth_.empty() ? kNetworkTo : kSelectedTo)) return sort_few(part, from);
      if (rounds == 0) {
        std::sort(from, from + part.n);
        return store_(part.begin, from, part.n);
      }
      const auto [below, above] = split(part, from, spare);
      sort(below, spare, keys, rounds - 1);
      part = above;
    }
  }
  // If the pivot would be the lower bound of the keys, splits off the keys that are equal to the bound.
  std::pair<Part, Part> split(const Part& part, const Key* from, Key* to) {
    const Key pivot = std::max(Key(part.least + 1), median_of_samples(from, part.n));
    const std::int64_t below = network_.partition(from, part.n, pivot, to + part.begin);
    return {{part.begin, below, part.least, Key(pivot - 1)}, {part.begin + below, part.n - below, pivot, part.most}};
  }
  void sort_few(const Part& part, const Key* from) {
    alignas(64) Key keys[kNetworkTo], sorted[kNetworkTo];
    const std::int64_t vectors = network_.vectors_for(part.n);
    std::copy_n(from, part.n, keys);
    std::fill_n(keys + part.n, vectors * network_.lanes - part.n, std::numeric_limits<Key>::max());
    network_.row(keys, vectors, sorted);
    store_(part.begin, sorted, part.n);
  }
  // Takes one sample from each stretch of equal length, at a random place, so that the samples do not follow a pattern
  // of the row.
  Key median_of_samples(const Key* from, std::int64_t n) {
    alignas(64) Key keys[kSamples], sorted[kSamples];
    const std::int64_t samples = n <= kFewSamplesTo ? kFewSamples : kSamples, stretch = n / samples;
    for (std::int64_t i = 0; i < samples; ++i) {
      random_ = random_ * 6364136223846793005u + 1442695040888963407u;
      keys[i] = from[i * stretch + std::int64_t((random_ >> 33) % std::uint64_t(stretch))];
    }
    network_.row(keys, samples / network_.lanes, sorted);
    return sorted[samples / 2];
  }

  Store store_;
  std::span<const std::int64_t> kth_;
  const SortNetwork<Key>& network_ = sort_network(Key());
  std::uint64_t random_ = 1;
};

}  // namespace nd::cpu
