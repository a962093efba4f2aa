// float16: IEEE 754 binary16 storage. Arithmetic is done in float32; a stored value is rounded to nearest even.
#pragma once

#include <catena/kernels/traits.h>

namespace catena {

struct float16 {
  uint16_t bits;

  float16() = default;
#if CATENA_DEVICE
  // The instructions convert every NaN to one NaN without a sign. The sign is restored, as in the portable code, so
  // that signbit and copysign have the same results on both backends, in every program. Neither keeps the other bits of
  // a NaN; copies between equal dtypes move bits and do not use this conversion.
  ND_FN explicit float16(float f);  // defined after the class
  ND_FN explicit operator float() const;

#else
  // Without branches, so that loops over it vectorise on every instruction set, also without F16C.
  ND_FN explicit float16(float f) {
    uint32_t x = bit_cast<uint32_t>(f);
    const uint32_t sign = (x >> 16) & 0x8000u;
    x &= 0x7fffffffu;
    const uint32_t subnormal = bit_cast<uint32_t>(bit_cast<float>(x) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (x + 0xc8000fffu + ((x >> 13) & 1u)) >> 13;
    uint32_t r = x < 0x38800000u ? subnormal : normal;
    r = x >= 0x477ff000u ? (x > 0x7f800000u ? 0x7e00u : 0x7c00u) : r;
    bits = static_cast<uint16_t>(sign | r);
  }
  ND_FN explicit operator float() const {
    const float f = bit_cast<float>(static_cast<uint32_t>(bits & 0x7fff) << 13) * 0x1p112f;
    return bit_cast<float>(bit_cast<uint32_t>(f) | ((bits & 0x7c00) == 0x7c00 ? 0x7f800000u : 0u) |
                           (static_cast<uint32_t>(bits & 0x8000) << 16));
  }
#endif
  ND_FN explicit float16(double d) : float16(rounded_to_odd(d)) {}
  ND_FN explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
  static ND_FN float16 from_bits(uint16_t b) {
    float16 r;
    r.bits = b;
    return r;
  }
};

}  // namespace catena

#if CATENA_DEVICE
namespace catena {

ND_FN float16::float16(float f) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(f));
  bits = uint16_t(bits | ((bit_cast<uint32_t>(f) >> 16) & 0x8000u));
}
ND_FN float16::operator float() const {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(bits));
  return bit_cast<float>(bit_cast<uint32_t>(f) | (uint32_t(bits) & 0x8000u) << 16);
}

}  // namespace catena
#endif
