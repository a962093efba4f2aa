// Numbers in lanes, for the sources with loops of Fourier transforms: functions are inlined into functions of several
// instruction sets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/fft.h>

#ifndef CATENA_INLINE
#define CATENA_INLINE inline __attribute__((always_inline))
#endif

namespace nd::cpu {

template <class T> struct Number { T re, im; };
template <class T> CATENA_INLINE Number<T> operator+(Number<T> a, Number<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> CATENA_INLINE Number<T> operator-(Number<T> a, Number<T> b) { return {a.re - b.re, a.im - b.im}; }
template <class T> CATENA_INLINE Number<T> operator*(T a, Number<T> b) { return {a * b.re, a * b.im}; }
template <class T> CATENA_INLINE Number<T> operator*(Number<T> a, Number<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// A number per lane. Loops over the elements of an array of this size are not always made into such vectors.
template <class T> struct LanesOf {
  typedef T Type __attribute__((vector_size(sizeof(T) * kFftLanes<T>), aligned(alignof(T)), may_alias));
};
template <class T> using Lanes = typename LanesOf<T>::Type;
// A complex number per lane.
template <class T> struct Wide { Lanes<T> re, im; };
template <class T> CATENA_INLINE Wide<T> operator+(const Wide<T>& a, const Wide<T>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T> CATENA_INLINE Wide<T> operator-(const Wide<T>& a, const Wide<T>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T> CATENA_INLINE Wide<T> operator*(const Wide<T>& a, const Wide<T>& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T> CATENA_INLINE Wide<T> operator*(const Wide<T>& a, const Number<T>& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T> CATENA_INLINE Lanes<T>& lanes_at(T* p) { return *reinterpret_cast<Lanes<T>*>(p); }
template <class T> CATENA_INLINE const Lanes<T>& lanes_at(const T* p) { return *reinterpret_cast<const Lanes<T>*>(p); }
template <class T> CATENA_INLINE Wide<T> lanes_at(Parts<T> p, std::int64_t at) {
  return {lanes_at(p.re + at), lanes_at(p.im + at)};
}
template <class T> CATENA_INLINE void set_lanes(Parts<T> p, std::int64_t at, const Wide<T>& a) {
  lanes_at(p.re + at) = a.re, lanes_at(p.im + at) = a.im;
}
// The first `valid` numbers; the other lanes are 0.
template <class T> CATENA_INLINE void first_lanes(const T* p, std::int64_t valid, Lanes<T>& to) {
  if (valid == kFftLanes<T>) {
    to = lanes_at(p);
    return;
  }
  T padded[kFftLanes<T>] = {};
  std::copy_n(p, valid, padded);
  to = lanes_at(static_cast<const T*>(padded));
}

// The inverse transform is the transform with real and imaginary parts exchanged, before and after.
template <class T> CATENA_INLINE Parts<T> exchanged_if(bool inverse, Parts<T> p) {
  return inverse ? Parts<T>{p.im, p.re} : p;
}

// The numbers k and h - k of a transform.
template <class C> struct Mirrored { C at, opposite; };
// From z, the transform of h complex numbers that are pairs of real ones, the transform x of the real ones, times
// 2 half: x[k] = e + w^k o with e = (z[k] + z*[h - k]) / 2, o = (z[k] - z*[h - k]) / 2i, w = exp(-2 pi i / 2h).
template <class C, class T>
CATENA_INLINE Mirrored<C> split_halves(const C& z, const C& z_opposite, Number<T> w, T half) {
  const C even{half * (z.re + z_opposite.re), half * (z.im - z_opposite.im)};
  const C odd = C{half * (z.im + z_opposite.im), half * (z_opposite.re - z.re)} * w;
  return {{even.re + odd.re, even.im + odd.im}, {even.re - odd.re, odd.im - even.im}};
}
// The reverse, times 2: z[k] = (x[k] + x*[h - k]) + i (x[k] - x*[h - k]) w^-k; `w` is w^-k.
template <class C, class T> CATENA_INLINE Mirrored<C> join_halves(const C& x, const C& x_opposite, Number<T> w) {
  const C conjugate{x_opposite.re, -x_opposite.im};
  const C even = x + conjugate, odd = (x - conjugate) * w;
  return {{even.re - odd.im, even.im + odd.re}, {even.re + odd.im, odd.re - even.im}};
}

// Separates the real and imaginary parts of a group of lanes, and joins them. Loops that are unrolled at once are not
// made into shuffles of vectors.
template <class T> CATENA_INLINE void separate(const T* __restrict from, T* __restrict re, T* __restrict im) {
#pragma GCC unroll 1
  for (int v = 0; v < kFftLanes<T>; ++v) re[v] = from[2 * v], im[v] = from[2 * v + 1];
}
template <class T> CATENA_INLINE void join(const T* __restrict re, const T* __restrict im, T scale, T* __restrict to) {
#pragma GCC unroll 1
  for (int v = 0; v < kFftLanes<T>; ++v) to[2 * v] = scale * re[v], to[2 * v + 1] = scale * im[v];
}

// Writes a matrix of rows x columns numbers from its transpose; lengths are counted in numbers. The next call is for
// the numbers `from_ahead` behind the source and `to_ahead` behind the destination, which are prefetched; 0: none.
template <class T>
void transpose(T* to, std::int64_t to_row, const T* from, std::int64_t from_row, std::int64_t rows,
               std::int64_t columns, std::int64_t from_ahead = 0, std::int64_t to_ahead = 0) {
  constexpr std::int64_t size = sizeof(T);
  transpose_block(reinterpret_cast<std::byte*>(to), to_row * size, reinterpret_cast<const std::byte*>(from),
                  from_row * size, rows, columns, std::size_t(size), from_ahead * size, to_ahead * size);
}

// to[j][lane] = number j of a row of n numbers, for `width` lanes; lanes without a row are 0. The rows of the next
// call, if `ahead`, follow.
template <class T>
CATENA_INLINE void rows_to_lanes(const T* in, std::int64_t n, std::int64_t rows, std::int64_t width, T* to,
                                 bool ahead = false) {
  if (rows < width) std::fill_n(to, n * width, T(0));
  if (rows == 1)
    for (std::int64_t j = 0; j < n; ++j) to[j * width] = in[j];
  else transpose(to, width, in, n, n, rows, ahead ? n * rows : 0, 0);
}
template <class T>
CATENA_INLINE void lanes_to_rows(const T* from, std::int64_t n, std::int64_t rows, std::int64_t width, T* out,
                                 bool ahead = false) {
  if (rows == 1)
    for (std::int64_t j = 0; j < n; ++j) out[j] = from[j * width];
  else transpose(out, n, from, width, rows, n, 0, ahead ? n * rows : 0);
}

}  // namespace nd::cpu
