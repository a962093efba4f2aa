// Dropout that keeps no mask: what is dropped follows from (seed, offset), so the same kernel applied to gy is the backward pass.
#pragma once

#include "kernels/random.h"

namespace catena::k {

// y = x / (1 - ratio) with probability 1 - ratio, else 0. A ratio of 0 is the identity.
struct dropout {
  template <class I, class T, class R>
  ND_FN static void run(const I& i, T x, uint64_t seed, uint64_t offset, R ratio, T& y) {
    const bool keep = R(uniform_from_bits(random_bits32(seed, offset, i.linear()))) >= ratio;
    y = keep ? x * T(R(1) / (R(1) - ratio)) : T(0);
  }
};

}  // namespace catena::k
