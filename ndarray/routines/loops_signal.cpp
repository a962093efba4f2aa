#include <catena/ndarray/routines/loops_signal.h>

#include <algorithm>
#include <cstring>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/multiarch.h>

#define CATENA_INLINE inline __attribute__((always_inline))

namespace nd::internal {
namespace {

// ---- convolution ----------------------------------------------------------------------------------
template <class T> struct Samples {
  const T* a;
  std::int64_t n;
  const T* v;
  std::int64_t m;
  std::int64_t first;
  T* out;
};

template <class T> CATENA_INLINE void add_product(T& sum, T x, T y) {
  if constexpr (catena::is_complex_dtype(catena::dtype_of<T>)) {
    sum.re += x.re * y.re - x.im * y.im;
    sum.im += x.re * y.im + x.im * y.re;
  } else {
    sum += x * y;
  }
}

// Adds the products with v[k] for k from `begin` to `end` - 1 to element i.
template <class T>
CATENA_INLINE void add_products(const Samples<T>& s, std::int64_t i, std::int64_t begin, std::int64_t end, T& sum) {
  for (std::int64_t k = begin; k < end; ++k) add_product(sum, s.a[i - k], s.v[k]);
}

template <class T> CATENA_INLINE T sum_at(const Samples<T>& s, std::int64_t i) {
  T sum{};
  add_products(s, i, std::max<std::int64_t>(0, i - s.n + 1), std::min(s.m, i + 1), sum);
  return sum;
}

// `vectors` vectors of 32 bytes of neighbouring elements. Their sums are in registers; at the ends of the signals they
// lack the products that not all of the elements have.
template <class T, int vectors> CATENA_INLINE void sums_at(const Samples<T>& s, std::int64_t i, T* out) {
  constexpr int kLanes = 32 / int(sizeof(T)), kElements = kLanes * vectors;
  typedef T Vector __attribute__((vector_size(32), aligned(alignof(T)), may_alias));
  const std::int64_t begin = std::max<std::int64_t>(0, i + kElements - s.n), end = std::min(s.m, i + 1);
  if (begin >= end) {
    for (int j = 0; j < kElements; ++j) out[j] = sum_at(s, i + j);
    return;
  }
  Vector sums[vectors] = {};
  for (std::int64_t k = begin; k < end; ++k) {
    const T* const x = s.a + i - k;
    const Vector y = Vector{} + s.v[k];
#pragma GCC unroll 8
    for (int r = 0; r < vectors; ++r) sums[r] += *reinterpret_cast<const Vector*>(x + r * kLanes) * y;
  }
#pragma GCC unroll 8
  for (int r = 0; r < vectors; ++r) *reinterpret_cast<Vector*>(out + r * kLanes) = sums[r];
  for (int j = 0; begin > 0 && j < kElements; ++j)
    add_products(s, i + j, std::max<std::int64_t>(0, i + j - s.n + 1), begin, out[j]);
  for (int j = 0; end < s.m && j < kElements; ++j) add_products(s, i + j, end, std::min(s.m, i + j + 1), out[j]);
}

// Elements `begin` to `end` - 1 of the result.
template <class T> CATENA_INLINE void convolve_part(const Samples<T>& s, std::int64_t begin, std::int64_t end) {
  std::int64_t i = s.first + begin;
  const std::int64_t stop = s.first + end;
  T* out = s.out + begin;
  if constexpr (!catena::is_complex_dtype(catena::dtype_of<T>)) {
    constexpr int kLanes = 32 / int(sizeof(T));
    for (; i + 8 * kLanes <= stop; i += 8 * kLanes, out += 8 * kLanes) sums_at<T, 8>(s, i, out);
    for (; i + kLanes <= stop; i += kLanes, out += kLanes) sums_at<T, 1>(s, i, out);
  }
  for (; i < stop; ++i) *out++ = sum_at(s, i);
}

#define CATENA_CONVOLVE(T)                                                                    \
  CATENA_MULTIARCH void convolve(const Samples<T>& s, std::int64_t begin, std::int64_t end) { \
    convolve_part(s, begin, end);                                                             \
  }
CATENA_CONVOLVE(std::uint32_t)
CATENA_CONVOLVE(std::uint64_t)
CATENA_CONVOLVE(float)
CATENA_CONVOLVE(double)
CATENA_CONVOLVE(complex64_t)
CATENA_CONVOLVE(complex128_t)
#undef CATENA_CONVOLVE

template <class T> void convolve_as(const Array& a, const Array& v, std::int64_t first, const Array& out) {
  const Samples<T> s{a.data<const T>(), a.size(), v.data<const T>(), v.size(), first, out.data<T>()};
  const std::int64_t grain = std::max<std::int64_t>(1024, (1 << 18) / s.m);
  catena::parallel_for(out.size(), grain, [&s](std::int64_t begin, std::int64_t end) { convolve(s, begin, end); });
}

// ---- interpolation --------------------------------------------------------------------------------
constexpr int kAtOnce = 8;

struct Points {
  const double *xp, *fp;
  std::int64_t m;
  double left, right;

  // The position of the last point that is not above x, if it is `near` or the next one; else -1.
  std::int64_t close_to(double x, std::int64_t near) const {
    if (!(x >= xp[near])) return -1;
    if (near + 1 == m || x < xp[near + 1]) return near;
    return near + 2 == m || x < xp[near + 2] ? near + 1 : -1;
  }

  // The same for several numbers, by bisection; 0 for numbers below the first point. The searches do not depend on each
  // other, so that the processor does their steps at the same time.
  void search(const double (&x)[kAtOnce], std::int64_t (&at)[kAtOnce]) const {
    for (std::int64_t& place : at) place = 0;
    for (std::int64_t length = m; length > 1;) {
      const std::int64_t half = length / 2;
      for (int k = 0; k < kAtOnce; ++k) at[k] = xp[at[k] + half] <= x[k] ? at[k] + half : at[k];
      length -= half;
    }
  }

  double at(double x, std::int64_t j) const {
    if (x != x) return x;
    if (x < xp[0]) return left;
    if (x > xp[m - 1]) return right;
    if (j == m - 1 || xp[j] == x) return fp[j];
    const double slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]), value = slope * (x - xp[j]) + fp[j];
    if (value == value) return value;
    // Next to an infinity or NaN: seen from the next point, or the common value of both.
    const double from_next = slope * (x - xp[j + 1]) + fp[j + 1];
    return from_next != from_next && fp[j] == fp[j + 1] ? fp[j] : from_next;
  }
};

}  // namespace

void convolve_samples(const Array& a, const Array& v, std::int64_t first, const Array& out) {
  switch (a.dtype()) {
    case Dtype::uint32: return convolve_as<std::uint32_t>(a, v, first, out);
    case Dtype::uint64: return convolve_as<std::uint64_t>(a, v, first, out);
    case Dtype::float32: return convolve_as<float>(a, v, first, out);
    case Dtype::float64: return convolve_as<double>(a, v, first, out);
    case Dtype::complex64: return convolve_as<complex64_t>(a, v, first, out);
    default: return convolve_as<complex128_t>(a, v, first, out);
  }
}

void interpolate_samples(const double* x, std::int64_t n, const double* xp, const double* fp, std::int64_t m,
                         double* out, std::optional<double> left, std::optional<double> right) {
  const Points points{xp, fp, m, left.value_or(fp[0]), right.value_or(fp[m - 1])};
  catena::parallel_for(n, 4096, [&](std::int64_t begin, std::int64_t end) {
    double numbers[kAtOnce] = {};
    std::int64_t places[kAtOnce] = {};
    for (std::int64_t i = begin; i < end; i += kAtOnce) {
      const int count = static_cast<int>(std::min<std::int64_t>(kAtOnce, end - i));
      std::copy_n(x + i, count, numbers);
      // Sorted numbers are found next to those before them.
      std::int64_t near = places[kAtOnce - 1];
      int k = 0;
      for (; k < kAtOnce && (near = points.close_to(numbers[k], near)) >= 0; ++k) places[k] = near;
      if (k < kAtOnce) points.search(numbers, places);
      for (k = 0; k < count; ++k) out[i + k] = points.at(numbers[k], places[k]);
    }
  });
}

}  // namespace nd::internal
