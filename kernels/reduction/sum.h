// Folder kernels/reduction/: bodies of reductions by NumPy's rules. A body has an accumulator, the combination of two
// accumulators, and the result of one; the loops over elements are in kernels/registry and kernels/device.
//
// Sums, products and means. Accumulators have the compute type of the output, so float16 sums accumulate in float32 and
// round once.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

// is_light: one instruction combines a vector of numbers. by_parts: the parts of complex numbers are mapped and
// combined separately.
struct sum {
  enum : bool { is_light = true, by_parts = true };
  template <class T, class R> using accumulator = R;
  template <class A> ND_FN static A identity() { return A(0); }
  template <class A, class T> ND_FN static A map(T x, int64_t) { return A(x); }
  template <class A> ND_FN static A combine(A a, A b) { return wrap_add(a, b); }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return a; }
};
// The product of two partial products. One that has no factor yet, 1, is left out: an infinite number times 1 + 0i has
// a part 0 * inf.
template <class T> ND_FN complex<T> partial_product(complex<T> a, complex<T> b) {
  return a == complex<T>(1) ? b : b == complex<T>(1) ? a : a * b;
}
struct prod {
  template <class T, class R> using accumulator = R;
  template <class A> ND_FN static A identity() { return A(1); }
  template <class A, class T> ND_FN static A map(T x, int64_t) { return A(x); }
  template <class A> ND_FN static A combine(A a, A b) {
    if constexpr (requires { partial_product(a, b); }) return partial_product(a, b);
    else return wrap_mul(a, b);
  }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return a; }
};
// The mean of no elements is NaN.
struct mean {
  enum : bool { is_light = true, by_parts = true };
  template <class T, class R> using accumulator = R;
  template <class A> ND_FN static A identity() { return A(0); }
  template <class A, class T> ND_FN static A map(T x, int64_t) { return A(x); }
  template <class A> ND_FN static A combine(A a, A b) { return a + b; }
  template <class R, class A> ND_FN static R finish(A a, int64_t count) { return a / real_of_t<R>(count); }
};
struct sum_squares {
  enum : bool { is_light = true };
  template <class T, class R> using accumulator = R;
  template <class A> ND_FN static A identity() { return A(0); }
  template <class A, class T> ND_FN static A map(T x, int64_t) { return wrap_mul(A(x), A(x)); }
  template <class A> ND_FN static A combine(A a, A b) { return wrap_add(a, b); }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return a; }
};

}  // namespace catena::k
