// Keys of random numbers that can be split, and sequences of low discrepancy.
//
//   nd::random::Key key(0);
//   auto [a, b] = key.split<2>();
//   nd::Array x = nd::random::default_rng(a).normal(0, 1, {1000});
//
// A key is a number from which others follow by Philox4x32-10, so that the numbers of a part of a program depend on its
// key alone: not on the order of calls, on threads or on devices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <catena/ndarray/routines/random_generator.h>

namespace nd::random {

class CATENA_EXPORT Key {
 public:
  explicit Key(std::uint64_t seed) noexcept : seed_(seed) {}

  // Child i of the key, i >= 0 (ValueError). Children of a key differ from each other and from it.
  Key child(std::int64_t i) const;
  // The children 0 to n - 1; ValueError for n < 0.
  std::vector<Key> split(std::int64_t n) const;
  template <std::size_t N = 2> std::array<Key, N> split() const {
    return [this]<std::size_t... i>(std::index_sequence<i...>) {
      return std::array<Key, N>{child(static_cast<std::int64_t>(i))...};
    }
    (std::make_index_sequence<N>());
  }
  // The key of a number such as that of an epoch; none of the children.
  Key fold_in(std::uint64_t number) const noexcept;

  // The seed of its numbers.
  std::uint64_t seed() const noexcept { return seed_; }
  bool operator==(const Key&) const = default;

 private:
  std::uint64_t seed_;
};

// Returns the Generator of the numbers of a key, which always begin anew.
inline Generator default_rng(const Key& key) { return Generator(Philox4x3210(key.seed())); }

// ---- sequences of low discrepancy -----------------------------------------------------------------
struct SequenceOptions {
  std::int64_t skip = 0;          // points that are left out at the beginning
  std::optional<Key> shift = {};  // moves all points by a random vector, modulo 1
};
// n points in [0, 1)^dimensions as an array (n, dimensions) of float64 on the current device: the sequence of Sobol in
// the order of Gray codes with the numbers of Joe and Kuo (2008), as scipy.stats.qmc.Sobol gives it without scrambling.
// ValueError for more than 64 dimensions or fewer than 1, negative numbers, and more than 2^32 points.
CATENA_EXPORT Array sobol(std::int64_t n, int dimensions = 1, const SequenceOptions& options = {});
// The sequence of Halton: the digits of 0, 1, 2... in the bases 2, 3, 5, 7..., mirrored at the point. ValueError for
// fewer than 1 or more than 64 dimensions and for negative numbers.
CATENA_EXPORT Array halton(std::int64_t n, int dimensions = 1, const SequenceOptions& options = {});

}  // namespace nd::random
