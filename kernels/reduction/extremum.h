// Smallest and largest elements, and their first positions. NaN wins over every number, unless a name says otherwise.
// -0 is smaller than +0, except for positions, for which the two are equal. No bit of a result depends on the order of
// combination (any_order).
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

// Returns the smaller of two floats in an order in which -0 precedes +0; NaN if one is. The result does not depend on
// which operand is the first. For different numbers, both selections give the smaller one. For equal numbers, and
// beside a NaN, the bits of both are joined, which keeps a sign or a NaN of either operand.
template <class A> ND_FN A lesser(A a, A b) {
  using U = unsigned_of<A>;
  return bit_cast<A>(U(bit_cast<U>(b < a ? b : a) | bit_cast<U>(a < b ? a : b)));
}
// As lesser, with NaN losing against every number.
template <class A> ND_FN A lesser_number(A a, A b) { return lesser(a != a ? b : a, b != b ? a : b); }
// For the largest element, floats are accumulated as their negatives.
template <class A> ND_FN A mirrored(A a) {
  if constexpr (is_float<A>) return -a;
  else return a;
}
// Replaces NaN by one fixed NaN: otherwise its bits would depend on the elements it was combined with and on their
// order.
template <class A> ND_FN A same_nan(A a) {
  if constexpr (is_float<A>) return a != a ? not_a_number<A>() : a;
  return a;
}

struct amax {
  enum : bool { any_order = true, is_light = true };
  template <class T, class R> using accumulator = T;
  template <class A> ND_FN static A identity() { return is_float<A> ? limits<A>::max() : limits<A>::min(); }
  template <class A, class T> ND_FN static A map(T x, int64_t) { return mirrored(A(x)); }
  template <class A> ND_FN static A combine(A a, A b) {
    if constexpr (is_float<A>) return lesser(a, b);
    else return nan_max(a, b);
  }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return same_nan(mirrored(a)); }
};
struct amin {
  enum : bool { any_order = true, is_light = true };
  template <class T, class R> using accumulator = T;
  template <class A> ND_FN static A identity() { return limits<A>::max(); }
  template <class A, class T> ND_FN static A map(T x, int64_t) { return x; }
  template <class A> ND_FN static A combine(A a, A b) {
    if constexpr (is_float<A>) return lesser(a, b);
    else return nan_min(a, b);
  }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return same_nan(a); }
};

// NaN loses against every number: if there are only NaNs, the result is NaN.
template <class A> ND_FN A nan_or(A otherwise) {
  if constexpr (is_float<A>) return not_a_number<A>();
  return otherwise;
}
struct nanmax {
  enum : bool { any_order = true, is_light = true };
  template <class T, class R> using accumulator = T;
  template <class A> ND_FN static A identity() { return nan_or(limits<A>::min()); }
  template <class A, class T> ND_FN static A map(T x, int64_t) { return mirrored(A(x)); }
  template <class A> ND_FN static A combine(A a, A b) {
    if constexpr (is_float<A>) return lesser_number(a, b);
    else return nan_max(a, b);
  }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return same_nan(mirrored(a)); }
};
struct nanmin {
  enum : bool { any_order = true, is_light = true };
  template <class T, class R> using accumulator = T;
  template <class A> ND_FN static A identity() { return nan_or(limits<A>::max()); }
  template <class A, class T> ND_FN static A map(T x, int64_t) { return x; }
  template <class A> ND_FN static A combine(A a, A b) {
    if constexpr (is_float<A>) return lesser_number(a, b);
    else return nan_min(a, b);
  }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return same_nan(a); }
};

// An element and its number. The identity has the largest number, so any element of the same value precedes it.
template <class T> struct numbered {
  using value_type = T;
  T value;
  int64_t index;
};

// `extremum` is the reduction of the values alone, and `better` compares them: host loops store values and positions
// separately.
struct argmax {
  using extremum = amax;
  template <class T> ND_FN static bool better(T b, T a) { return (b > a) | (is_nan(b) & !is_nan(a)); }
  template <class T, class R> using accumulator = numbered<T>;
  template <class A> ND_FN static A identity() {
    return {limits<typename A::value_type>::min(), limits<int64_t>::max()};
  }
  template <class A, class T> ND_FN static A map(T x, int64_t index) { return {x, index}; }
  template <class A> ND_FN static A combine(A a, A b) {
    const bool equal = (b.value == a.value) | (is_nan(a.value) & is_nan(b.value));
    return better(b.value, a.value) | (equal & (b.index < a.index)) ? b : a;
  }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return a.index; }
};
struct argmin {
  using extremum = amin;
  template <class T> ND_FN static bool better(T b, T a) { return (b < a) | (is_nan(b) & !is_nan(a)); }
  template <class T, class R> using accumulator = numbered<T>;
  template <class A> ND_FN static A identity() {
    return {limits<typename A::value_type>::max(), limits<int64_t>::max()};
  }
  template <class A, class T> ND_FN static A map(T x, int64_t index) { return {x, index}; }
  template <class A> ND_FN static A combine(A a, A b) {
    const bool equal = (b.value == a.value) | (is_nan(a.value) & is_nan(b.value));
    return better(b.value, a.value) | (equal & (b.index < a.index)) ? b : a;
  }
  template <class R, class A> ND_FN static R finish(A a, int64_t) { return a.index; }
};

}  // namespace catena::k
