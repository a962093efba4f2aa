// bfloat16: the upper half of a float32. Arithmetic is done in float32; a stored value is rounded to nearest even.
#pragma once

#include <catena/kernels/traits.h>

namespace catena {

struct bfloat16 {
  uint16_t bits;

  bfloat16() = default;
  ND_FN explicit bfloat16(float f) {
    const uint32_t x = bit_cast<uint32_t>(f);
    const uint32_t rounded = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;
    bits = static_cast<uint16_t>((x & 0x7fffffffu) > 0x7f800000u ? ((x >> 16) | 0x40u)
                                                                 : rounded);  // a NaN keeps a set fraction bit
  }
  ND_FN explicit operator float() const { return bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  ND_FN explicit bfloat16(double d) : bfloat16(rounded_to_odd(d)) {}
  ND_FN explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
  static ND_FN bfloat16 from_bits(uint16_t b) {
    bfloat16 r;
    r.bits = b;
    return r;
  }
};

}  // namespace catena
