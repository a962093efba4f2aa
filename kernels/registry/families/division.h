// The kernels of kernels/elementwise/division.h.
#pragma once

#include <catena/kernels/registry/family.h>

// clang-format off
#define CATENA_DIVISION_KERNELS(KERNEL) \
  KERNEL(floor_divide, binary)  /* rounds toward -inf; integer division by zero gives 0 */                   \
  KERNEL(remainder, binary)  /* with the sign of the divisor; 0 for an integer divisor of 0 */               \
  KERNEL(fmod, binary)  /* with the sign of the dividend; 0 for an integer divisor of 0 */                   \
  KERNEL(divmod, own)                                                                                        \
  KERNEL(power, binary)  /* exact for integers, modulo 2^n; negative exponents give 0 but for bases 1, -1 */
// clang-format on

namespace catena::kernels {
CATENA_DIVISION_KERNELS(CATENA_DECLARE_KERNEL)
}
