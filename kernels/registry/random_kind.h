// The kinds of random numbers, and how many counters of a generator they take.
#pragma once

#include <cstdint>

namespace catena {

// Counter-based random numbers (kernels/random.h). Element i uses counter offset + i / 4 of the Philox stream of
// the seed, whatever the launch shape.
enum class RandomKind : std::uint8_t {
  bits,      // uint32 or uint64: raw bits
  uniform,   // floating: [0, 1)
  normal,    // floating: mean 0, deviation 1 (Box-Muller)
  integers,  // integer dtypes: [low, high)
};
// The number of counters that n elements consume; the offset advances by it.
constexpr std::uint64_t random_counters(std::int64_t n) { return static_cast<std::uint64_t>((n + 3) / 4); }

}  // namespace catena
