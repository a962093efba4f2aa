// Dropout without a stored mask: (seed, offset) determine which elements are dropped, so the same kernel applied to gy
// is the backward pass.
#pragma once

#include <catena/kernels/random.h>

namespace catena::k {

// y = x / (1 - ratio) with probability 1 - ratio, else 0. A ratio of 0 is the identity.
struct dropout {
  enum : unsigned { arrays = 1 };
  template <class T> ND_FN static constexpr int streams() { return 1; }
  template <class W, class T, class R>
  ND_FN static void from_words(const W& w, int j, int64_t, T x, uint64_t, uint64_t, R ratio, T& y) {
    // A mask over the bits instead of a selection, for which g++ would generate a branch that is often mispredicted.
    using U = typename uint_of_size<sizeof(R)>::type;
    const U mask = U(U(0) - U(R(uniform_from_bits(w.at(0, j))) >= ratio));
    const T factor = T(bit_cast<R>(U(bit_cast<U>(R(1) / (R(1) - ratio)) & mask)));
    y = x * factor;
  }
  template <class I, class T, class R>
  ND_FN static void run(const I& i, T x, uint64_t seed, uint64_t offset, R ratio, T& y) {
    from_words(philox_words<1>(seed, offset, i.linear()), int(i.linear() & 3), i.linear(), x, seed, offset, ratio, y);
  }
};

}  // namespace catena::k
