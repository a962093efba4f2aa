// Smallest and largest elements, and where they are first met. NaN wins over every number.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

struct amax {
  template <class T, class R> using accumulator = T;
  template <class A> ND_FN static A identity() { return limits<A>::min(); }
  template <class A, class T> ND_FN static A map(T x, int64_t) { return x; }
  template <class A> ND_FN static A combine(A a, A b) { return nan_max(a, b); }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return a; }
};
struct amin {
  template <class T, class R> using accumulator = T;
  template <class A> ND_FN static A identity() { return limits<A>::max(); }
  template <class A, class T> ND_FN static A map(T x, int64_t) { return x; }
  template <class A> ND_FN static A combine(A a, A b) { return nan_min(a, b); }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return a; }
};

// An element and its number. The identity has the largest number, so any element of the same value comes before it.
template <class T> struct numbered {
  using value_type = T;
  T value;
  int64_t index;
};

// `extremum` names the reduction of the values alone: a host loop first finds the value of a block, then its place.
struct argmax {
  using extremum = amax;
  template <class T, class R> using accumulator = numbered<T>;
  template <class A> ND_FN static A identity() {
    return {limits<typename A::value_type>::min(), limits<int64_t>::max()};
  }
  template <class A, class T> ND_FN static A map(T x, int64_t index) { return {x, index}; }
  template <class A> ND_FN static A combine(A a, A b) {
    const bool a_nan = is_nan(a.value), b_nan = is_nan(b.value), b_first = b.index < a.index;
    const bool ordered = (b.value > a.value) | ((b.value == a.value) & b_first);
    const bool take_b = a_nan | b_nan ? b_nan & (!a_nan | b_first) : ordered;
    return take_b ? b : a;
  }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return a.index; }
};
struct argmin {
  using extremum = amin;
  template <class T, class R> using accumulator = numbered<T>;
  template <class A> ND_FN static A identity() {
    return {limits<typename A::value_type>::max(), limits<int64_t>::max()};
  }
  template <class A, class T> ND_FN static A map(T x, int64_t index) { return {x, index}; }
  template <class A> ND_FN static A combine(A a, A b) {
    const bool a_nan = is_nan(a.value), b_nan = is_nan(b.value), b_first = b.index < a.index;
    const bool ordered = (b.value < a.value) | ((b.value == a.value) & b_first);
    const bool take_b = a_nan | b_nan ? b_nan & (!a_nan | b_first) : ordered;
    return take_b ? b : a;
  }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return a.index; }
};

}  // namespace catena::k
