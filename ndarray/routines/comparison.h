// Comparisons of arrays within tolerances and as a whole.
#pragma once

#include <catena/ndarray/engine/ufunc.h>

namespace nd {

struct CloseOptions {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;  // NaN is close to NaN
};

// Elementwise |a - b| <= atol + rtol |b|, as an array of bools of the common shape. Infinities are close if they are
// equal. ValueError for shapes that do not broadcast.
CATENA_EXPORT Array isclose(const Operand& a, const Operand& b, const CloseOptions& options = {});
inline Array isclose(const Operand& a, const Operand& b, double rtol, double atol = 1e-8, bool equal_nan = false) {
  return isclose(a, b, {.rtol = rtol, .atol = atol, .equal_nan = equal_nan});
}
// True if all elements are close: an array of rank 0, on the device of the arrays. `if (nd::allclose(a, b))` waits for
// it.
CATENA_EXPORT Array allclose(const Operand& a, const Operand& b, const CloseOptions& options = {});
inline Array allclose(const Operand& a, const Operand& b, double rtol, double atol = 1e-8, bool equal_nan = false) {
  return allclose(a, b, {.rtol = rtol, .atol = atol, .equal_nan = equal_nan});
}

struct EqualOptions {
  bool equal_nan = false;  // NaN is equal to NaN
};
// True if both have the same shape and equal elements: an array of rank 0.
CATENA_EXPORT Array array_equal(const Operand& a1, const Operand& a2, const EqualOptions& options = {});
// The same of arrays that broadcast to a common shape. False if they do not.
CATENA_EXPORT Array array_equiv(const Operand& a1, const Operand& a2);

}  // namespace nd
