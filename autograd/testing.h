// Assertions on arrays for tests of user functions. Every failure is an AssertionError.
#pragma once

#include <catena/autograd/variable.h>

namespace autograd::testing {

// |x - y| <= atol + rtol |y| for every element. NaN equals NaN. Shapes must be equal, or one array has a single
// element. Devices and dtypes may differ. The message shows the largest difference and its position.
CATENA_EXPORT void assert_allclose(const Array& x, const Array& y, double atol = 1e-5, double rtol = 1e-4,
                                   bool verbose = true);
inline void assert_allclose(const Variable& x, const Variable& y, double atol = 1e-5, double rtol = 1e-4,
                            bool verbose = true) {
  assert_allclose(x.data(), y.data(), atol, rtol, verbose);
}
template <class X, class Y>
requires std::is_arithmetic_v<X> && std::is_arithmetic_v<Y>
void assert_allclose(X x, Y y, double atol = 1e-5, double rtol = 1e-4, bool verbose = true) {
  assert_allclose(array<double>({double(x)}, {}), array<double>({double(y)}, {}), atol, rtol, verbose);
}
template <class Y>
requires std::is_arithmetic_v<Y>
void assert_allclose(const Array& x, Y y, double atol = 1e-5, double rtol = 1e-4, bool verbose = true) {
  assert_allclose(x, array<double>({double(y)}, {}), atol, rtol, verbose);
}
template <class X>
requires std::is_arithmetic_v<X>
void assert_allclose(X x, const Array& y, double atol = 1e-5, double rtol = 1e-4, bool verbose = true) {
  assert_allclose(array<double>({double(x)}, {}), y, atol, rtol, verbose);
}

}  // namespace autograd::testing
