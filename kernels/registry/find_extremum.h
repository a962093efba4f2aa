// Finds the position of an extremum in an array. The result does not depend on the order of the comparisons: values are
// compared without their positions, and then only the block with the best value is searched for its position.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <catena/kernels/numeric.h>
#include <catena/kernels/registry/tuning.h>

namespace catena::define {

// Finds extrema in short arrays, in the narrowest vectors that every processor has. No jump depends on the values,
// because it would be mispredicted about once per row.
template <class Body, class T> class ShortRunFinder {
 public:
  // As ExtremumFinder::find. n must be less than 256 if the elements are bytes.
  static ND_FN std::int64_t find(const T* x, std::int64_t n, T& value) {
    return n < kLanes ? find_one_by_one(x, n, value) : find_in_vectors(x, n, value);
  }

 private:
  static constexpr int kBytes = 16, kLanes = kBytes / int(sizeof(T));
  using U = typename uint_of_size<sizeof(T)>::type;
  typedef T Vector __attribute__((vector_size(kBytes)));
  typedef U Places __attribute__((vector_size(kBytes)));

  static ND_FN std::int64_t find_one_by_one(const T* x, std::int64_t n, T& value) {
    std::int64_t at = -1;
#pragma GCC unroll 1
    for (std::int64_t i = 0; i < n; ++i) {
      const bool known = is_nan(value), better = bool(!known) & (is_nan(x[i]) | Body::better(x[i], value));
      at = better ? i : at;
      value = better ? x[i] : value;
    }
    return at;
  }

  static ND_FN auto is_better(const Vector& a, const Vector& b) {
    if (Body::better(T(1), T(0))) return a > b;
    return a < b;
  }
  static ND_FN Vector load(const T* x) {
    Vector v;
    std::memcpy(&v, x, sizeof(v));
    return v;
  }
  // Returns the position of the first element of a vector; the last vector may overlap the one before it.
  static ND_FN std::int64_t start(std::int64_t i, std::int64_t n) { return i < n - kLanes ? i : n - kLanes; }

  static ND_FN std::int64_t find_in_vectors(const T* x, std::int64_t n, T& value) {
    Vector best = load(x);
    for (std::int64_t i = kLanes; i < n; i += kLanes) {
      const Vector y = load(x + start(i, n));
      if constexpr (std::is_floating_point_v<T>) best = is_better(y, best) | (y != y) ? y : best;  // a NaN stays
      else best = is_better(y, best) ? y : best;
    }
    T found = best[0];
#pragma GCC unroll 16
    for (int l = 1; l < kLanes; ++l)
      found = !is_nan(found) && (is_nan(best[l]) || Body::better(best[l], found)) ? best[l] : found;
    if (!is_nan(found) && !Body::better(found, value)) return -1;
    value = found;
    return is_nan(found) ? first<true>(x, n, found) : first<false>(x, n, found);
  }

  // Returns the first position of a value that occurs in x. Visits the vectors from the last to the first.
  template <bool Nan> static ND_FN std::int64_t first(const T* x, std::int64_t n, T value) {
    Places place = Places{} + U(n - 1), number;
    for (int l = 0; l < kLanes; ++l) number[l] = U(l);
    for (std::int64_t i = (n - 1) / kLanes * kLanes; i >= 0; i -= kLanes) {
      const std::int64_t at = start(i, n);
      const Vector y = load(x + at);
      if constexpr (Nan) place = y != y ? number + U(at) : place;
      else place = y == value ? number + U(at) : place;
    }
    U least = place[0];
#pragma GCC unroll 16
    for (int l = 1; l < kLanes; ++l) least = place[l] < least ? place[l] : least;
    return std::int64_t(least);
  }
};

// Body: argmax or argmin. T: an integer or a floating-point type. Loops have one pass per element of a window, and all
// numbers in them have one width, so that they are vectorised for every T.
template <class Body, class T> class ExtremumFinder {
 public:
  static constexpr int kWindow = kWindowBytes / int(sizeof(T));

  // If the extremum of n > 0 values is better than `value`, stores it there and returns its position; otherwise returns
  // -1. `value` must not be NaN.
  static ND_FN std::int64_t find(const T* x, std::int64_t n, T& value) {
    return n < kWindow ? ShortRunFinder<Body, T>::find(x, n, value) : find_in_windows(x, n, value);
  }

 private:
  // Integers as wide as an element.
  using U = typename uint_of_size<sizeof(T)>::type;
  using I = std::make_signed_t<U>;
  // Values as integers of the same order.
  using Key = std::conditional_t<std::is_floating_point_v<T>, I, T>;

  static ND_FN std::int64_t find_in_windows(const T* x, std::int64_t n, T& value) {
    constexpr std::int64_t kBlock = 16 * kWindow;
    std::int64_t at = -1, length = 0;
    for (std::int64_t i = 0, m; i < n && !is_nan(value); i += m) {
      m = n - i < 2 * kBlock ? n - i : kBlock;
      if (find_better(x + i, m, value)) at = i, length = m;
    }
    if (at < 0) return at;
    return at + (is_nan(value) ? find_value<true>(x + at, length, value) : find_value<false>(x + at, length, value));
  }
  // Returns the window that begins with value i; the last window may overlap the one before it.
  static ND_FN const T* window_at(const T* x, std::int64_t i, std::int64_t n) {
    return x + (i < n - kWindow ? i : n - kWindow);
  }

  static ND_FN bool is_largest() { return Body::better(T(1), T(0)); }
  static ND_FN T better_of(T a, T b) { return is_largest() ? (b > a ? b : a) : (b < a ? b : a); }
  // Converts the bits of a floating-point number to an integer of the same order, and back: inverts the bits of
  // negative numbers except the sign.
  static ND_FN Key turned(Key k) {
    if constexpr (!std::is_floating_point_v<T>) return k;
    else return Key(k ^ ((k >> (8 * sizeof(T) - 1)) & std::numeric_limits<I>::max()));
  }
  // Returns the best value of a window without NaNs.
  static ND_FN T best_of(const T* x) {
    Key key[kWindow], best;
    std::memcpy(key, x, sizeof(key));
    for (int l = 0; l < kWindow; ++l) key[l] = turned(key[l]);
    best = key[0];
    if (is_largest())
      for (int l = 0; l < kWindow; ++l) best = key[l] > best ? key[l] : best;
    else
      for (int l = 0; l < kWindow; ++l) best = key[l] < best ? key[l] : best;
    best = turned(best);
    T value;
    std::memcpy(&value, &best, sizeof(T));
    return value;
  }
  // Updates the best values, and `met`, which holds a NaN where one occurred. They are separate so that each depends on
  // its previous value by one instruction only.
  static ND_FN void join(T* best, T* met, const T* y) {
    for (int l = 0; l < kWindow; ++l) best[l] = better_of(best[l], y[l]);
    if constexpr (std::is_floating_point_v<T>)
      for (int l = 0; l < kWindow; ++l) met[l] = is_nan(y[l]) ? y[l] : met[l];
    (void)met;
  }
  // True if the extremum of n >= kWindow values is better than `value`; then stores it in `value`.
  static ND_FN bool find_better(const T* x, std::int64_t n, T& value) {
    T best[kWindow], met[kWindow];
    U nan = 0;
    for (int l = 0; l < kWindow; ++l) best[l] = x[l], met[l] = x[l];
    std::int64_t i = kWindow;
    for (; i + kWindow <= n; i += kWindow) {
      for (int line = 0; line < kWindow * int(sizeof(T)); line += 64)
        __builtin_prefetch(reinterpret_cast<const char*>(x + i) + kAhead + line);
      join(best, met, x + i);
    }
    if (i < n) join(best, met, x + n - kWindow);
    if constexpr (std::is_floating_point_v<T>) {
      for (int l = 0; l < kWindow; ++l) nan |= U(met[l] != met[l]);
      if (nan) return value = std::numeric_limits<T>::quiet_NaN(), true;
    }
    const T found = best_of(best);
    if (!Body::better(found, value)) return false;
    value = found;
    return true;
  }

  static constexpr std::array<U, kWindow> numbers() {
    std::array<U, kWindow> all{};
    for (int l = 0; l < kWindow; ++l) all[std::size_t(l)] = U(l);
    return all;
  }
  alignas(64) static constexpr std::array<U, kWindow> kNumbers = numbers();

  template <bool Nan> static ND_FN bool is_it(T x, T value) { return Nan ? x != x : x == value; }
  // Returns the first position of a value that is among the n >= kWindow values.
  template <bool Nan> static ND_FN std::int64_t find_value(const T* x, std::int64_t n, T value) {
    const U* number = kNumbers.data();
    for (std::int64_t i = 0;; i += kWindow) {
      const T* y = window_at(x, i, n);
      U found = 0;
      for (int l = 0; l < kWindow; ++l) found |= is_it<Nan>(y[l], value) ? U(1) : U(0);
      if (!found) continue;
      U first = U(kWindow - 1);
      for (int l = 0; l < kWindow; ++l) {
        const bool is = is_it<Nan>(y[l], value);
        // A conditional expression on bytes is not vectorised.
        const U place = sizeof(T) == 1 ? U(number[l] | (is ? U(0) : U(kWindow - 1))) : is ? number[l] : U(kWindow - 1);
        first = place < first ? place : first;
      }
      return y - x + std::int64_t(first);
    }
  }
};

}  // namespace catena::define
