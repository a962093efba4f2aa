// Counter-based random numbers: Philox4x32 with 10 rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1,
// 2, 3", 2011). A number is a pure function of a seed and a position, so every launch shape, backend and recomputation agree.
//
// The seed is the key. The counter is {position / 4 + offset (64 bits), stream (32 bits), 0}: four neighbouring elements share a block,
// one lane each. Where an element needs more than 32 bits they come from the same lane of further streams.
#pragma once

#include "kernels/index.h"

namespace catena {

struct philox_block {
  uint32_t lane[4];
};

ND_FN uint32_t multiply_high(uint32_t a, uint32_t b) { return uint32_t((uint64_t(a) * b) >> 32); }
ND_FN uint64_t multiply_high(uint64_t a, uint64_t b) {
#if CATENA_DEVICE
  return __umul64hi(a, b);
#else
  return uint64_t((static_cast<unsigned __int128>(a) * b) >> 64);
#endif
}

ND_FN philox_block philox4x32(philox_block c, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint32_t high0 = multiply_high(0xD2511F53u, c.lane[0]), low0 = 0xD2511F53u * c.lane[0];
    const uint32_t high1 = multiply_high(0xCD9E8D57u, c.lane[2]), low1 = 0xCD9E8D57u * c.lane[2];
    c = {{high1 ^ c.lane[1] ^ key0, low1, high0 ^ c.lane[3] ^ key1, low0}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c;
}
ND_FN philox_block philox4x32(uint64_t seed, uint64_t counter, uint32_t stream) {
  return philox4x32({{uint32_t(counter), uint32_t(counter >> 32), stream, 0}}, uint32_t(seed), uint32_t(seed >> 32));
}

// The bits of element i of a sequence that starts at `offset`; 64 of them from two streams.
ND_FN uint32_t random_bits32(uint64_t seed, uint64_t offset, int64_t i, uint32_t stream = 0) {
  const philox_block block = philox4x32(seed, offset + (uint64_t(i) >> 2), stream);
  const int lane = int(i & 3);
  return lane < 2 ? (lane == 0 ? block.lane[0] : block.lane[1]) : (lane == 2 ? block.lane[2] : block.lane[3]);
}
ND_FN uint64_t random_bits64(uint64_t seed, uint64_t offset, int64_t i, uint32_t stream = 0) {
  return (uint64_t(random_bits32(seed, offset, i, stream)) << 32) | random_bits32(seed, offset, i, stream + 1);
}

// [0, 1) in steps of 2^-24 and 2^-53: exact in their types, so 1 never appears.
ND_FN float uniform_from_bits(uint32_t bits) { return float(bits >> 8) * 5.9604644775390625e-08f; }
ND_FN double uniform_from_bits(uint64_t bits) { return double(int64_t(bits >> 11)) * 1.1102230246251565e-16; }

ND_FN void random_uniform_at(uint64_t seed, uint64_t offset, int64_t i, float& y) {
  y = uniform_from_bits(random_bits32(seed, offset, i));
}
ND_FN void random_uniform_at(uint64_t seed, uint64_t offset, int64_t i, double& y) {
  y = uniform_from_bits(random_bits64(seed, offset, i));
}

// Mean 0, deviation 1 by Box and Muller: lanes 0 and 1 (2 and 3) are the cosine and the sine of one pair. The radius comes from a
// number in (0, 1] of 32 or 53 bits, so values reach 6.7 or 8.5 deviations and are always finite.
ND_FN void random_normal_at(uint64_t seed, uint64_t offset, int64_t i, float& y) {
  const philox_block block = philox4x32(seed, offset + (uint64_t(i) >> 2), 0);
  const bool upper = (i & 2) != 0;
  const float u = float(upper ? block.lane[2] : block.lane[0]) * 2.3283064365386963e-10f + 1.1641532182693481e-10f;
  const float angle = uniform_from_bits(upper ? block.lane[3] : block.lane[1]) * 6.283185307179586f;
  y = m::sqrt(-2.0f * m::log(u)) * ((i & 1) ? m::sin(angle) : m::cos(angle));
}
ND_FN void random_normal_at(uint64_t seed, uint64_t offset, int64_t i, double& y) {
  const int64_t first = i & ~int64_t(1);
  const double u = double(int64_t((random_bits64(seed, offset, first) >> 11) + 1)) * 1.1102230246251565e-16;
  const double angle = uniform_from_bits(random_bits64(seed, offset, first + 1)) * 6.283185307179586476925286766559;
  y = m::sqrt(-2.0 * m::log(u)) * ((i & 1) ? m::sin(angle) : m::cos(angle));
}

// An integer in [low, high), every one equally likely: Lemire's multiplication of 64 bits by the length of the range, and where it
// would be biased (with probability length / 2^64) another try with the bits of the next two streams. `high` <= `low` means the
// whole 64-bit range.
ND_FN int64_t random_integer_at(uint64_t seed, uint64_t offset, int64_t i, int64_t low, int64_t high) {
  const uint64_t length = high > low ? uint64_t(high) - uint64_t(low) : 0;
  uint64_t bits = random_bits64(seed, offset, i);
  if (length == 0) return int64_t(bits);
  if (bits * length < length) {
    const uint64_t biased = (0 - length) % length;
    for (uint32_t stream = 2; bits * length < biased; stream += 2) bits = random_bits64(seed, offset, i, stream);
  }
  return int64_t(uint64_t(low) + multiply_high(bits, length));
}

namespace k {

struct random_bits {
  template <class I, class T> ND_FN static void run(const I& i, uint64_t seed, uint64_t offset, T& y) {
    if constexpr (sizeof(T) == 8) y = random_bits64(seed, offset, i.linear());
    else y = random_bits32(seed, offset, i.linear());
  }
};
struct random_uniform {
  template <class I, class T> ND_FN static void run(const I& i, uint64_t seed, uint64_t offset, T& y) {
    random_uniform_at(seed, offset, i.linear(), y);
  }
};
struct random_normal {
  template <class I, class T> ND_FN static void run(const I& i, uint64_t seed, uint64_t offset, T& y) {
    random_normal_at(seed, offset, i.linear(), y);
  }
};
struct random_integers {
  template <class I, class T>
  ND_FN static void run(const I& i, uint64_t seed, uint64_t offset, int64_t low, int64_t high, T& y) {
    y = T(random_integer_at(seed, offset, i.linear(), low, high));
  }
};

}  // namespace k
}  // namespace catena
