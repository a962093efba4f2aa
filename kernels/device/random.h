// Launch skeleton of random fills: a thread computes the four neighbouring elements of one counter and stores them
// together.
#pragma once

#include <catena/kernels/device/lane.h>
#include <catena/kernels/random.h>

namespace catena::device {

// Converts a random number to the stored type. Rounding to 16 bits can give 1, which is outside [0, 1); it is replaced
// by the largest value below 1.
template <class Body, class Stored, class T> ND_FN Stored stored_number(T v) {
  Stored s = convert<Stored>(v);
  if constexpr (is_same<Body, k::random_uniform> && !is_same<Stored, T> && sizeof(Stored) == 2) {
    if (float(s) == 1.0f) s.bits = uint16_t(s.bits - 1);
  }
  return s;
}

template <class Body, class Stored, class T, bool Range, class Index>
ND_FN void random_fill(const RandomParameters& p) {
  const uint64_t offset = p.offset + (p.device_offset != nullptr ? *p.device_offset : 0);
  const Index n = Index(p.n), step = Index(gridDim.x) * blockDim.x;
  const bool wide =
      reinterpret_cast<uint64_t>(p.out) % (4 * sizeof(Stored) < kAccess ? 4 * sizeof(Stored) : kAccess) == 0;
  for (Index b = Index(blockIdx.x) * blockDim.x + threadIdx.x; b < n / 4 + (n % 4 != 0); b += step) {
    const Index first = b * 4;
    const philox_words<Body::template streams<T>()> words(p.seed, offset, int64_t(first));
    Stored value[4];
    ND_UNROLL
    for (int j = 0; j < 4; ++j) {
      T v;
      if constexpr (Range) Body::from_words(words, j, int64_t(first) + j, p.seed, offset, p.low, p.high, v);
      else Body::from_words(words, j, int64_t(first) + j, p.seed, offset, v);
      value[j] = stored_number<Body, Stored>(v);
    }
    Stored* out = static_cast<Stored*>(p.out) + first;
    if (wide && n - first >= 4) {
      write<4>(reinterpret_cast<char*>(out), value);
    } else {
      ND_UNROLL
      for (int j = 0; j < 4; ++j)
        if (Index(j) < n - first) out[j] = value[j];
    }
  }
}

}  // namespace catena::device
