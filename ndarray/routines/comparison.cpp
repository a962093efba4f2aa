#include <catena/ndarray/routines/comparison.h>

#include <algorithm>

#include <catena/kernels/base/shape.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/operand.h>
#include <catena/ndarray/routines/reduction.h>

namespace nd {
namespace {

Array close(const Array& x, const Array& b, const CloseOptions& o) {
  const bool is_exact = catena::is_exact(b.dtype());
  const Array y = is_exact ? b.astype(Dtype::float64) : b;
  Array result = (absolute(x - y) <= o.atol + o.rtol * absolute(y)) & isfinite(y);
  logical_or(result, x == y, {.out = result});
  if (o.equal_nan) logical_or(result, isnan(x) & isnan(y), {.out = result});
  return result;
}

// True if the elements of `same`, which may have none, are.
Array equal(const Array& x, const Array& y, bool equal_nan) {
  const Array same = x == y;
  return (equal_nan ? same | (isnan(x) & isnan(y)) : same).all();
}

Array no(const Array& x) {
  const DeviceScope scope(x.device());
  return array(false);
}

bool broadcast_together(const Shape& x, const Shape& y) {
  for (int k = 1; k <= std::min(int(x.size()), int(y.size())); ++k) {
    const std::int64_t a = x[x.size() - k], b = y[y.size() - k];
    if (a != b && a != 1 && b != 1) return false;
  }
  return true;
}

}  // namespace

Array isclose(const Operand& a, const Operand& b, const CloseOptions& options) {
  const auto [x, y] = internal::as_arrays(a, b);
  return close(x, y, options);
}

Array allclose(const Operand& a, const Operand& b, const CloseOptions& options) { return isclose(a, b, options).all(); }

Array array_equal(const Operand& a1, const Operand& a2, const EqualOptions& options) {
  const auto [x, y] = internal::as_arrays(a1, a2);
  return x.shape() == y.shape() ? equal(x, y, options.equal_nan) : no(x);
}

Array array_equiv(const Operand& a1, const Operand& a2) {
  const auto [x, y] = internal::as_arrays(a1, a2);
  return broadcast_together(x.shape(), y.shape()) ? equal(x, y, false) : no(x);
}

}  // namespace nd
