// Logical reductions: every value except 0 counts as true, including NaN. Accumulators are bytes, because loops over
// bool do not vectorise; a byte is accumulated without a comparison. `absorbs` returns true if no further element can
// change an accumulator. `counts` marks bodies whose mapped values are 0 or 1 and are added.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

// Returns 0 if and only if x is 0.
template <class T> ND_FN uint8_t truth(T x) {
  if constexpr (sizeof(T) == 1) return uint8_t(x);
  else return x != T(0);
}

struct all {
  template <class T, class R> using accumulator = uint8_t;
  template <class A> ND_FN static A identity() { return 255; }
  template <class A, class T> ND_FN static A map(T x, int64_t) { return truth(x); }
  template <class A> ND_FN static A combine(A a, A b) { return a < b ? a : b; }
  template <class A> ND_FN static bool absorbs(A a) { return a == 0; }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return a != 0; }
};
struct any {
  template <class T, class R> using accumulator = uint8_t;
  template <class A> ND_FN static A identity() { return 0; }
  template <class A, class T> ND_FN static A map(T x, int64_t) { return truth(x); }
  template <class A> ND_FN static A combine(A a, A b) { return A(a | b); }
  template <class A> ND_FN static bool absorbs(A a) { return a != 0; }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return a != 0; }
};
struct count_nonzero {
  enum : bool { counts = true };
  template <class T, class R> using accumulator = int64_t;
  template <class A> ND_FN static A identity() { return 0; }
  template <class A, class T> ND_FN static A map(T x, int64_t) { return x != T(0); }
  template <class A> ND_FN static A combine(A a, A b) { return a + b; }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return a; }
};

}  // namespace catena::k
