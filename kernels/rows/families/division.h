// The rows of kernels/elementwise/division.h.
#pragma once

#include <catena/kernels/rows/family.h>

// clang-format off
#define CATENA_DIVISION_ROWS(ROW) \
  ROW(floor_divide, binary)  /* rounds toward -inf; integer division by zero gives 0 */                   \
  ROW(remainder, binary)  /* with the sign of the divisor; 0 for an integer divisor of 0 */               \
  ROW(fmod, binary)  /* with the sign of the dividend; 0 for an integer divisor of 0 */                   \
  ROW(divmod, own)                                                                                        \
  ROW(power, binary)  /* exact for integers, modulo 2^n; negative exponents give 0 but for bases 1, -1 */
// clang-format on

namespace catena::rows {
CATENA_DIVISION_ROWS(CATENA_DECLARE_ROW)
}
