// Packing of bools into the bits of bytes, the first bool as the most significant bit.
#pragma once

#include <catena/kernels/index.h>

namespace catena::k {

// Byte i has the bools 8i to 8i + 7; bools behind the end are false.
struct packbits {
  template <class I, class X> ND_FN static void run(const I& i, const X& bits, uint8_t& byte) {
    const int64_t first = 8 * i[0], n = bits.shape(0);
    int packed = 0;
    for (int64_t k = first; k < first + 8; ++k) packed = 2 * packed + (k < n && bits(k) ? 1 : 0);
    byte = uint8_t(packed);
  }
};

// Number i is bit i % 8 of byte i / 8.
struct unpackbits {
  template <class I, class X> ND_FN static void run(const I& i, const X& bytes, uint8_t& bit) {
    bit = uint8_t((int(bytes(i[0] / 8)) >> (7 - i[0] % 8)) & 1);
  }
};

}  // namespace catena::k
