// Counter-based random numbers: Philox4x32 with 10 rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", 2011). A number is a pure function of a seed and a position, so it does not depend on the launch
// shape or the backend, and recomputing it gives the same number.
//
// The key is the seed. The counter is {position / 4 + offset (64 bits), stream (32 bits), 0}: four neighbouring
// elements share a block and take one lane each. An element that needs more than 32 bits takes the same lane of further
// streams.
#pragma once

#include <catena/kernels/index.h>

namespace catena {

struct philox_block {
  uint32_t lane[4];

  // Selects lane j by conditions instead of an array index, because registers cannot be indexed.
  ND_FN uint32_t at(int j) const {
    const uint32_t low = j & 1 ? lane[1] : lane[0], high = j & 1 ? lane[3] : lane[2];
    return j & 2 ? high : low;
  }
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

// Random words for the bodies below (parameter W of from_words): at(s, j) is lane j of stream s. This class holds the
// one block that contains element i, whose lane is i & 3. Host loops use a class that fills a whole tile of blocks;
// there j counts from the start of the tile.
template <int Streams> struct philox_words {
  philox_block block[Streams];

  ND_FN philox_words(uint64_t seed, uint64_t offset, int64_t i) {
    for (int s = 0; s < Streams; ++s) block[s] = philox4x32(seed, offset + (uint64_t(i) >> 2), uint32_t(s));
  }
  ND_FN uint32_t at(int s, int j) const { return block[s].at(j); }
  // The words of the even and the odd lane of the pair that contains lane j.
  ND_FN uint32_t even(int s, int j) const { return j & 2 ? block[s].lane[2] : block[s].lane[0]; }
  ND_FN uint32_t odd(int s, int j) const { return j & 2 ? block[s].lane[3] : block[s].lane[1]; }
};
ND_FN uint64_t join_words(uint32_t high, uint32_t low) { return (uint64_t(high) << 32) | low; }
template <class W> ND_FN uint64_t bits64(const W& w, int j) { return join_words(w.at(0, j), w.at(1, j)); }

// The random bits of element i of the sequence that starts at counter `offset`: 32 bits from one stream, 64 bits from
// two.
ND_FN uint32_t random_bits32(uint64_t seed, uint64_t offset, int64_t i) {
  return philox_words<1>(seed, offset, i).at(0, int(i & 3));
}
ND_FN uint64_t random_bits64(uint64_t seed, uint64_t offset, int64_t i) {
  return bits64(philox_words<2>(seed, offset, i), int(i & 3));
}

// Uniform in [0, 1) in steps of 2^-24 (float) and 2^-53 (double). Every step is exact in its type, so the result is
// never 1.
ND_FN float uniform_from_bits(uint32_t bits) { return float(bits >> 8) * 5.9604644775390625e-08f; }
ND_FN double uniform_from_bits(uint64_t bits) { return double(int64_t(bits >> 11)) * 1.1102230246251565e-16; }

template <class W> ND_FN void uniform_from_words(const W& w, int j, float& y) { y = uniform_from_bits(w.at(0, j)); }
template <class W> ND_FN void uniform_from_words(const W& w, int j, double& y) { y = uniform_from_bits(bits64(w, j)); }

// Normal with mean 0 and standard deviation 1 (Box and Muller): the lanes of a pair (0 and 1, 2 and 3) are the cosine
// and the sine of one radius and angle. The radius comes from a number in (0, 1] of 32 or 53 bits, so values are finite
// and at most 6.7 or 8.5 standard deviations from 0. The sine is computed as the cosine of the angle minus a quarter
// turn, subtracted where that is exact: compilers merge calls of sin and cos into sincos, which does not vectorise.
template <class T> ND_FN T box_muller(T u, T turns, int j) {
  const T angle = (turns - T(0.25) * T(j & 1)) * T(6.283185307179586476925286766559);
  return m::sqrt(T(-2) * m::log(u)) * m::cos(angle);
}
template <class W> ND_FN void normal_from_words(const W& w, int j, float& y) {
  const float u = float(w.even(0, j)) * 2.3283064365386963e-10f + 1.1641532182693481e-10f;
  y = box_muller(u, uniform_from_bits(w.odd(0, j)), j);
}
template <class W> ND_FN void normal_from_words(const W& w, int j, double& y) {
  const uint64_t bits = join_words(w.even(0, j), w.even(1, j));
  const double u = double(int64_t((bits >> 11) + 1)) * 1.1102230246251565e-16;
  y = box_muller(u, uniform_from_bits(join_words(w.odd(0, j), w.odd(1, j))), j);
}

// An integer in [low, high), uniformly distributed (Lemire): the high half of 64 random bits times the length of the
// range. If that would be biased (probability length / 2^64), the bits of the next two streams are used. `high` <=
// `low` means the whole 64-bit range.
template <class W>
ND_FN int64_t integer_from_words(const W& w, int j, int64_t i, uint64_t seed, uint64_t offset, int64_t low,
                                 int64_t high) {
  const uint64_t length = high > low ? uint64_t(high) - uint64_t(low) : 0;
  uint64_t bits = bits64(w, j);
  if (length == 0) return int64_t(bits);
  if (bits * length < length) {
    const uint64_t biased = (0 - length) % length;
    for (uint32_t stream = 2; bits * length < biased; stream += 2) {
      const philox_block upper = philox4x32(seed, offset + (uint64_t(i) >> 2), stream);
      const philox_block lower = philox4x32(seed, offset + (uint64_t(i) >> 2), stream + 1);
      bits = join_words(upper.at(int(i & 3)), lower.at(int(i & 3)));
    }
  }
  return int64_t(uint64_t(low) + multiply_high(bits, length));
}

namespace k {

// The kernels of random numbers. from_words is the body; run calls it with the words of its own element, on the device
// and in host loops over any shape. `streams<T>()` is the number of 32-bit words that an output of type T needs. Bit k
// of `arrays`: input k varies from element to element.
struct random_bits {
  enum : unsigned { arrays = 0 };
  template <class T> ND_FN static constexpr int streams() { return int(sizeof(T) / 4); }
  template <class W, class T> ND_FN static void from_words(const W& w, int j, int64_t, uint64_t, uint64_t, T& y) {
    if constexpr (sizeof(T) == 8) y = bits64(w, j);
    else y = w.at(0, j);
  }
  template <class I, class T> ND_FN static void run(const I& i, uint64_t seed, uint64_t offset, T& y) {
    from_words(philox_words<streams<T>()>(seed, offset, i.linear()), int(i.linear() & 3), i.linear(), seed, offset, y);
  }
};
struct random_uniform {
  enum : unsigned { arrays = 0 };
  template <class T> ND_FN static constexpr int streams() { return int(sizeof(T) / 4); }
  template <class W, class T> ND_FN static void from_words(const W& w, int j, int64_t, uint64_t, uint64_t, T& y) {
    uniform_from_words(w, j, y);
  }
  template <class I, class T> ND_FN static void run(const I& i, uint64_t seed, uint64_t offset, T& y) {
    from_words(philox_words<streams<T>()>(seed, offset, i.linear()), int(i.linear() & 3), i.linear(), seed, offset, y);
  }
};
struct random_normal {
  enum : unsigned { arrays = 0 };
  enum : bool { pairs = true };  // the kernel uses even and odd
  template <class T> ND_FN static constexpr int streams() { return int(sizeof(T) / 4); }
  template <class W, class T> ND_FN static void from_words(const W& w, int j, int64_t, uint64_t, uint64_t, T& y) {
    normal_from_words(w, j, y);
  }
  template <class I, class T> ND_FN static void run(const I& i, uint64_t seed, uint64_t offset, T& y) {
    from_words(philox_words<streams<T>()>(seed, offset, i.linear()), int(i.linear() & 3), i.linear(), seed, offset, y);
  }
};
struct random_integers {
  enum : unsigned { arrays = 0 };
  template <class T> ND_FN static constexpr int streams() { return 2; }
  template <class W, class T>
  ND_FN static void from_words(const W& w, int j, int64_t i, uint64_t seed, uint64_t offset, int64_t low, int64_t high,
                               T& y) {
    y = T(integer_from_words(w, j, i, seed, offset, low, high));
  }
  // Computes n elements at once, for ranges shorter than 2^32: the upper half of 64 bits times the length from two
  // products of 32 bits, in vectors. Returns false if the range is longer or an element may be biased; y is then not
  // the result.
  template <class W, class T> ND_FN static bool tile(const W& w, int n, int64_t low, int64_t high, T* y) {
    const uint64_t range = high > low ? uint64_t(high) - uint64_t(low) : 0;
    const uint32_t length = uint32_t(range);
    if (range == 0 || range != length) return false;
    uint32_t biased = 0;
    for (int j = 0; j < n; ++j) {
      const uint64_t lower = uint64_t(w.at(1, j)) * length, sum = uint64_t(w.at(0, j)) * length + (lower >> 32);
      y[j] = T(uint64_t(low) + (sum >> 32));
      biased |= uint32_t(sum) == 0;  // the lower half of the product is `sum` times 2^32 and less than 2^32
    }
    return biased == 0;
  }
  template <class I, class T>
  ND_FN static void run(const I& i, uint64_t seed, uint64_t offset, int64_t low, int64_t high, T& y) {
    from_words(philox_words<2>(seed, offset, i.linear()), int(i.linear() & 3), i.linear(), seed, offset, low, high, y);
  }
};

}  // namespace k
}  // namespace catena
