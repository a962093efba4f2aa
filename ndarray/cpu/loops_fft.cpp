// The loops of Fourier transforms; fft.h describes the algorithm. All of them process whole groups of lanes, which the
// compiler keeps in vector registers.
#include <algorithm>
#include <cstring>
#include <utility>

#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/fft.h>

#define CATENA_INLINE inline __attribute__((always_inline))

namespace nd::cpu {
namespace {

template <class T> struct Number { T re, im; };
template <class T> CATENA_INLINE Number<T> operator+(Number<T> a, Number<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> CATENA_INLINE Number<T> operator-(Number<T> a, Number<T> b) { return {a.re - b.re, a.im - b.im}; }
template <class T> CATENA_INLINE Number<T> operator*(T a, Number<T> b) { return {a * b.re, a * b.im}; }
template <class T> CATENA_INLINE Number<T> operator*(Number<T> a, Number<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T> CATENA_INLINE Number<T> times_minus_i(Number<T> a) { return {a.im, -a.re}; }

// Transforms `radix` numbers in place. The constants are cosines and sines of 2 pi k / radix.
template <int radix, class T> CATENA_INLINE void butterfly(Number<T>* a) {
  if constexpr (radix == 2) {
    const Number<T> sum = a[0] + a[1], difference = a[0] - a[1];
    a[0] = sum, a[1] = difference;
  } else if constexpr (radix == 3) {
    const Number<T> sum = a[1] + a[2], middle = a[0] + T(-0.5) * sum;
    const Number<T> turned = times_minus_i(T(0.866025403784438646763723170752936183) * (a[1] - a[2]));
    a[0] = a[0] + sum, a[1] = middle + turned, a[2] = middle - turned;
  } else if constexpr (radix == 4) {
    const Number<T> sum02 = a[0] + a[2], difference02 = a[0] - a[2], sum13 = a[1] + a[3];
    const Number<T> turned = times_minus_i(a[1] - a[3]);
    a[0] = sum02 + sum13, a[1] = difference02 + turned, a[2] = sum02 - sum13, a[3] = difference02 - turned;
  } else if constexpr (radix == 5) {
    const T c1 = T(0.309016994374947424102293417182819059), c2 = T(-0.809016994374947424102293417182819059);
    const T s1 = T(0.951056516295153572116439333379382143), s2 = T(0.587785252292473129168705954639072769);
    const Number<T> sum14 = a[1] + a[4], difference14 = a[1] - a[4], sum23 = a[2] + a[3], difference23 = a[2] - a[3];
    const Number<T> m1 = a[0] + c1 * sum14 + c2 * sum23, m2 = a[0] + c2 * sum14 + c1 * sum23;
    const Number<T> t1 = times_minus_i(s1 * difference14 + s2 * difference23);
    const Number<T> t2 = times_minus_i(s2 * difference14 - s1 * difference23);
    a[0] = a[0] + sum14 + sum23;
    a[1] = m1 + t1, a[4] = m1 - t1, a[2] = m2 + t2, a[3] = m2 - t2;
  } else {
    static_assert(radix == 8);
    const T half = T(0.707106781186547524400844362104849039);  // sqrt(1 / 2)
    Number<T> even[4] = {a[0], a[2], a[4], a[6]}, odd[4] = {a[1], a[3], a[5], a[7]};
    butterfly<4>(even), butterfly<4>(odd);
    odd[1] = half * Number<T>{odd[1].re + odd[1].im, odd[1].im - odd[1].re};
    odd[2] = times_minus_i(odd[2]);
    odd[3] = half * Number<T>{odd[3].im - odd[3].re, -odd[3].re - odd[3].im};
    for (int k = 0; k < 4; ++k) a[k] = even[k] + odd[k], a[k + 4] = even[k] - odd[k];
  }
}

// A vector of complex numbers: real parts, then imaginary parts.
template <class T> struct Parts {
  T* re;
  T* im;
};

// to[q + s (radix j + k)] = w^(j k) sum_l from[q + s (j + m l)] exp(-2 pi i l k / radix), for j < m, q < s.
template <int radix, class T>
CATENA_INLINE void stage(Parts<T> from, Parts<T> to, std::int64_t m, std::int64_t s, const T* twiddles) {
  for (std::int64_t j = 0; j < m; ++j) {
    Number<T> w[radix] = {};
    for (int k = 1; k < radix; ++k) {
      w[k] = {twiddles[0], twiddles[1]};
      twiddles += 2;
    }
    const T* __restrict from_re = from.re + s * j, * __restrict from_im = from.im + s * j;
    T* __restrict to_re = to.re + s * radix * j, * __restrict to_im = to.im + s * radix * j;
#pragma GCC ivdep
    for (std::int64_t q = 0; q < s; ++q) {
      Number<T> a[radix];
      for (int l = 0; l < radix; ++l) a[l] = {from_re[q + s * m * l], from_im[q + s * m * l]};
      butterfly<radix>(a);
      for (int k = 0; k < radix; ++k) {
        if (k > 0) a[k] = a[k] * w[k];
        to_re[q + s * k] = a[k].re, to_im[q + s * k] = a[k].im;
      }
    }
  }
}

// The same for an odd radix without a formula of its own; `fixed` is the radix, or 0 for any. The numbers l and
// radix - l have conjugate factors, so two results need the sums and the differences of these pairs once.
template <int fixed, class T>
CATENA_INLINE void stage_by_sums(const typename FftStages<T>::Stage& of, Parts<T> from, Parts<T> to, std::int64_t m,
                                 std::int64_t s) {
  constexpr int lanes = kFftLanes<T>, most = (fixed != 0 ? fixed : kLargestFftFactor) / 2 + 1;
  const int radix = fixed != 0 ? fixed : int(of.radix), pairs = radix / 2;
  const T* const roots = of.roots.data();
  for (std::int64_t j = 0; j < m; ++j) {
    const T* const w = of.twiddles.data() + 2 * (j * (radix - 1) - 1);
    for (std::int64_t q = 0; q < s; q += lanes) {
      T sum_re[most][lanes], sum_im[most][lanes], difference_re[most][lanes], difference_im[most][lanes];
      const T *const first_re = from.re + q + s * j, *const first_im = from.im + q + s * j;
      T *const to_re = to.re + q + s * radix * j, *const to_im = to.im + q + s * radix * j;
      T all_re[lanes], all_im[lanes];
      for (int v = 0; v < lanes; ++v) all_re[v] = first_re[v], all_im[v] = first_im[v];
      for (int l = 1; l <= pairs; ++l) {
        const std::int64_t low = s * m * l, high = s * m * (radix - l);
        for (int v = 0; v < lanes; ++v) {
          const T a_re = first_re[low + v], a_im = first_im[low + v], b_re = first_re[high + v],
                  b_im = first_im[high + v];
          sum_re[l][v] = a_re + b_re, sum_im[l][v] = a_im + b_im;
          difference_re[l][v] = a_re - b_re, difference_im[l][v] = a_im - b_im;
          all_re[v] += sum_re[l][v], all_im[v] += sum_im[l][v];
        }
      }
      for (int v = 0; v < lanes; ++v) to_re[v] = all_re[v], to_im[v] = all_im[v];
      for (int k = 1; k <= pairs; ++k) {
        T even_re[lanes], even_im[lanes], odd_re[lanes] = {}, odd_im[lanes] = {};
        for (int v = 0; v < lanes; ++v) even_re[v] = first_re[v], even_im[v] = first_im[v];
        for (int l = 1, turn = k; l <= pairs; ++l, turn = turn + k < radix ? turn + k : turn + k - radix) {
          const T cosine = roots[2 * turn], sine = -roots[2 * turn + 1];
          for (int v = 0; v < lanes; ++v) {
            even_re[v] += cosine * sum_re[l][v], even_im[v] += cosine * sum_im[l][v];
            odd_re[v] += sine * difference_im[l][v], odd_im[v] -= sine * difference_re[l][v];
          }
        }
        const Number<T> w_low{w[2 * k], w[2 * k + 1]}, w_high{w[2 * (radix - k)], w[2 * (radix - k) + 1]};
        for (int v = 0; v < lanes; ++v) {
          const Number<T> even{even_re[v], even_im[v]}, odd{odd_re[v], odd_im[v]};
          const Number<T> low = (even + odd) * w_low, high = (even - odd) * w_high;
          to_re[s * k + v] = low.re, to_im[s * k + v] = low.im;
          to_re[s * (radix - k) + v] = high.re, to_im[s * (radix - k) + v] = high.im;
        }
      }
    }
  }
}

template <class T>
CATENA_INLINE void stage_by_rader(const typename FftStages<T>::Stage& of, Parts<T> from, Parts<T> to, std::int64_t m,
                                  std::int64_t s, T* spare);

// Transforms n numbers in lanes. `a` and `b` are exchanged so that the result is in `a`. `spare`: stages.spare numbers
// per lane.
template <class T, bool with_rader = true>
CATENA_INLINE void transform(const FftStages<T>& stages, Parts<T>& a, Parts<T>& b, T* spare) {
  std::int64_t length = stages.n, s = kFftLanes<T>;
  for (const auto& of : stages.stages) {
    const std::int64_t m = length / of.radix;
    const T* const twiddles = of.twiddles.data();
    switch (of.radix) {
      case 2: stage<2>(a, b, m, s, twiddles); break;
      case 3: stage<3>(a, b, m, s, twiddles); break;
      case 4: stage<4>(a, b, m, s, twiddles); break;
      case 5: stage<5>(a, b, m, s, twiddles); break;
      case 7: stage_by_sums<7, T>(of, a, b, m, s); break;
      case 8: stage<8>(a, b, m, s, twiddles); break;
      case 11: stage_by_sums<11, T>(of, a, b, m, s); break;
      case 13: stage_by_sums<13, T>(of, a, b, m, s); break;
      default:
        if constexpr (with_rader) {
          if (of.rader) {
            stage_by_rader<T>(of, a, b, m, s, spare);
            break;
          }
        }
        stage_by_sums<0, T>(of, a, b, m, s);
    }
    std::swap(a, b);
    length = m, s *= of.radix;
  }
}

// A stage whose radix is a large prime. The convolution has no such stage.
template <class T>
CATENA_INLINE void stage_by_rader(const typename FftStages<T>::Stage& of, Parts<T> from, Parts<T> to, std::int64_t m,
                                  std::int64_t s, T* spare) {
  constexpr int lanes = kFftLanes<T>;
  const FftRader<T>& rader = *of.rader;
  const std::int64_t radix = of.radix, length = rader.convolution.n, size = length * lanes;
  const auto count = static_cast<std::int64_t>(rader.input.size());
  for (std::int64_t j = 0; j < m; ++j) {
    const T* const w = of.twiddles.data() + 2 * (j * (radix - 1) - 1);
    for (std::int64_t q = 0; q < s; q += lanes) {
      Parts<T> a{spare, spare + size}, b{spare + 2 * size, spare + 3 * size};
      const T *const first_re = from.re + q + s * j, *const first_im = from.im + q + s * j;
      T *const to_re = to.re + q + s * radix * j, *const to_im = to.im + q + s * radix * j;
      for (std::int64_t c = 0; c < count; ++c) {
        const std::int64_t at = s * m * rader.input[static_cast<std::size_t>(c)];
        for (int v = 0; v < lanes; ++v) a.re[c * lanes + v] = first_re[at + v], a.im[c * lanes + v] = first_im[at + v];
      }
      std::fill(a.re + count * lanes, a.re + size, T(0));
      std::fill(a.im + count * lanes, a.im + size, T(0));
      transform<T, false>(rader.convolution, a, b, nullptr);
      // The first number of the transform is the sum of all elements but the first.
      for (int v = 0; v < lanes; ++v) to_re[v] = first_re[v] + a.re[v], to_im[v] = first_im[v] + a.im[v];
      for (std::int64_t c = 0; c < length; ++c) {
        const Number<T> f{rader.spectrum[static_cast<std::size_t>(2 * c)],
                          rader.spectrum[static_cast<std::size_t>(2 * c + 1)]};
        for (int v = 0; v < lanes; ++v) {
          const Number<T> product = Number<T>{a.re[c * lanes + v], a.im[c * lanes + v]} * f;
          a.re[c * lanes + v] = product.re, a.im[c * lanes + v] = product.im;
        }
      }
      std::swap(a.re, a.im), std::swap(b.re, b.im);
      transform<T, false>(rader.convolution, a, b, nullptr);
      for (std::int64_t c = 0; c < count; ++c) {
        const std::int64_t k = rader.output[static_cast<std::size_t>(c)];
        const Number<T> turn{w[2 * k], w[2 * k + 1]};
        for (int v = 0; v < lanes; ++v) {
          const Number<T> x = Number<T>{first_re[v] + a.im[c * lanes + v], first_im[v] + a.re[c * lanes + v]} * turn;
          to_re[s * k + v] = x.re, to_im[s * k + v] = x.im;
        }
      }
    }
  }
}

// The inverse transform is the transform with real and imaginary parts exchanged, before and after.
template <class T> CATENA_INLINE Parts<T> exchanged_if(bool inverse, Parts<T> p) {
  return inverse ? Parts<T>{p.im, p.re} : p;
}

// Separates the real and imaginary parts of a group of lanes, and joins them.
template <class T> CATENA_INLINE void separate(const T* __restrict from, T* __restrict re, T* __restrict im) {
  for (int v = 0; v < kFftLanes<T>; ++v) re[v] = from[2 * v], im[v] = from[2 * v + 1];
}
template <class T> CATENA_INLINE void join(const T* __restrict re, const T* __restrict im, T scale, T* __restrict to) {
  for (int v = 0; v < kFftLanes<T>; ++v) to[2 * v] = scale * re[v], to[2 * v + 1] = scale * im[v];
}

// to[j][lane] = the complex number from[j][lane] of rows that are `columns` numbers apart. Lanes from `valid` on are 0.
template <class T>
CATENA_INLINE void load(Parts<T> to, const T* from, std::int64_t rows, std::int64_t columns, std::int64_t valid) {
  constexpr int lanes = kFftLanes<T>;
  T padded[2 * lanes] = {};
  for (std::int64_t j = 0; j < rows; ++j, from += 2 * columns) {
    if (valid == lanes) {
      separate(from, to.re + j * lanes, to.im + j * lanes);
    } else {
      std::copy_n(from, 2 * valid, padded);
      separate(padded, to.re + j * lanes, to.im + j * lanes);
    }
  }
}
template <class T>
CATENA_INLINE void store(T* to, Parts<T> from, std::int64_t rows, std::int64_t columns, std::int64_t valid, T scale) {
  constexpr int lanes = kFftLanes<T>;
  for (std::int64_t j = 0; j < rows; ++j, to += 2 * columns) {
    if (valid == lanes) {
      join(from.re + j * lanes, from.im + j * lanes, scale, to);
    } else {
      T padded[2 * lanes];
      join(from.re + j * lanes, from.im + j * lanes, scale, padded);
      std::copy_n(padded, 2 * valid, to);
    }
  }
}

// Writes a matrix of rows x columns numbers from its transpose; lengths of rows are counted in numbers.
template <class T>
void transpose(T* to, std::int64_t to_row, const T* from, std::int64_t from_row, std::int64_t rows,
               std::int64_t columns) {
  constexpr std::int64_t size = sizeof(T);
  transpose_block(reinterpret_cast<std::byte*>(to), to_row * size, reinterpret_cast<const std::byte*>(from),
                  from_row * size, rows, columns, std::size_t(size));
}

template <class T>
CATENA_INLINE void short_rows(const FftPlan<T>& plan, const T* in, T* out, std::int64_t rows, bool inverse, T scale,
                              T* scratch) {
  constexpr int lanes = kFftLanes<T>;
  const std::int64_t n = plan.n, size = n * lanes;
  T* const packed = scratch + 4 * size;  // the real and imaginary parts of number j are rows 2 j and 2 j + 1
  Parts<T> a{scratch, scratch + size}, b{scratch + 2 * size, scratch + 3 * size};
  const Parts<T> to = exchanged_if(inverse, a);
  if (rows == 1) {
    std::fill_n(scratch, 2 * size,
                T(0));  // no result depends on the other lanes, but some values in them would be slow
    for (std::int64_t j = 0; j < n; ++j) to.re[j * lanes] = in[2 * j], to.im[j * lanes] = in[2 * j + 1];
  } else {
    if (rows < lanes) std::fill_n(packed, 2 * size, T(0));
    transpose(packed, lanes, in, 2 * n, 2 * n, rows);
    for (std::int64_t j = 0; j < n; ++j) {
      std::memcpy(to.re + j * lanes, packed + 2 * j * lanes, lanes * sizeof(T));
      std::memcpy(to.im + j * lanes, packed + (2 * j + 1) * lanes, lanes * sizeof(T));
    }
  }
  transform(plan.second, a, b, scratch + 6 * size);
  const Parts<T> from = exchanged_if(inverse, a);
  if (rows == 1) {
    for (std::int64_t j = 0; j < n; ++j) {
      out[2 * j] = scale * from.re[j * lanes];
      out[2 * j + 1] = scale * from.im[j * lanes];
    }
  } else {
    for (std::int64_t j = 0; j < n; ++j)
      for (int v = 0; v < lanes; ++v) {
        packed[2 * j * lanes + v] = scale * from.re[j * lanes + v];
        packed[(2 * j + 1) * lanes + v] = scale * from.im[j * lanes + v];
      }
    transpose(out, 2 * n, packed, lanes, rows, 2 * n);
  }
}

template <class T>
CATENA_INLINE void columns_of(const FftPlan<T>& plan, const T* in, T* between, std::int64_t begin, std::int64_t end,
                              bool inverse, T* scratch) {
  constexpr int lanes = kFftLanes<T>;
  const std::int64_t n1 = plan.n1, n2 = plan.n2, size = n1 * lanes;
  T* const spare = scratch + 6 * lanes * std::max(n1, n2);
  for (std::int64_t group = begin; group < end; ++group) {
    const std::int64_t column = group * lanes, valid = std::min<std::int64_t>(lanes, n2 - column);
    Parts<T> a{scratch, scratch + size}, b{scratch + 2 * size, scratch + 3 * size};
    load(exchanged_if(inverse, a), in + 2 * column, n1, n2, valid);
    transform(plan.first, a, b, spare);
    const T* __restrict w_re = plan.twiddle_re.data() + group * size, * __restrict w_im =
                                                                          plan.twiddle_im.data() + group * size;
    const T* __restrict a_re = a.re, * __restrict a_im = a.im;
    T* __restrict b_re = b.re, * __restrict b_im = b.im;
    for (std::int64_t k = 0; k < size; ++k) {
      b_re[k] = a_re[k] * w_re[k] - a_im[k] * w_im[k];
      b_im[k] = a_re[k] * w_im[k] + a_im[k] * w_re[k];
    }
    transpose(between + column * n1, n1, b.re, lanes, valid, n1);
    transpose(between + plan.n + column * n1, n1, b.im, lanes, valid, n1);
  }
}

template <class T>
CATENA_INLINE void finish(const FftPlan<T>& plan, const T* between, T* out, std::int64_t begin, std::int64_t end,
                          bool inverse, T scale, T* scratch) {
  constexpr int lanes = kFftLanes<T>;
  const std::int64_t n1 = plan.n1, n2 = plan.n2, size = n2 * lanes;
  T* const spare = scratch + 6 * lanes * std::max(n1, n2);
  for (std::int64_t group = begin; group < end; ++group) {
    const std::int64_t column = group * lanes, valid = std::min<std::int64_t>(lanes, n1 - column);
    Parts<T> a{scratch, scratch + size}, b{scratch + 2 * size, scratch + 3 * size};
    for (std::int64_t j = 0; j < n2; ++j) {
      const T *const re = between + j * n1 + column, *const im = re + plan.n;
      for (int v = 0; v < lanes; ++v) {
        a.re[j * lanes + v] = v < valid ? re[v] : T(0);
        a.im[j * lanes + v] = v < valid ? im[v] : T(0);
      }
    }
    transform(plan.second, a, b, spare);
    store(out + 2 * column, exchanged_if(inverse, a), n2, n1, valid, scale);
  }
}

template <int exchange_a, int exchange_out, class T>
CATENA_INLINE void products(const T* a, const T* b, T* out, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t j = 0; j < 2 * n; j += 2) {
    const Number<T> product = Number<T>{a[j + exchange_a], a[j + 1 - exchange_a]} * Number<T>{b[j], b[j + 1]};
    out[j + exchange_out] = product.re, out[j + 1 - exchange_out] = product.im;
  }
}
template <class T>
CATENA_INLINE void products(const T* a, const T* b, T* out, std::int64_t n, bool exchange_a, bool exchange_out) {
  if (exchange_a) products<1, 0>(a, b, out, n);
  else if (exchange_out) products<0, 1>(a, b, out, n);
  else products<0, 0>(a, b, out, n);
}

}  // namespace

CATENA_MULTIARCH void fft_products(const float* a, const float* b, float* out, std::int64_t n, bool exchange_a,
                                   bool exchange_out) {
  products(a, b, out, n, exchange_a, exchange_out);
}
CATENA_MULTIARCH void fft_products(const double* a, const double* b, double* out, std::int64_t n, bool exchange_a,
                                   bool exchange_out) {
  products(a, b, out, n, exchange_a, exchange_out);
}
CATENA_MULTIARCH void fft_short(const FftPlan<float>& plan, const float* in, float* out, std::int64_t rows,
                                bool inverse, float scale, float* scratch) {
  short_rows(plan, in, out, rows, inverse, scale, scratch);
}
CATENA_MULTIARCH void fft_short(const FftPlan<double>& plan, const double* in, double* out, std::int64_t rows,
                                bool inverse, double scale, double* scratch) {
  short_rows(plan, in, out, rows, inverse, scale, scratch);
}
CATENA_MULTIARCH void fft_columns(const FftPlan<float>& plan, const float* in, float* between, std::int64_t begin,
                                  std::int64_t end, bool inverse, float* scratch) {
  columns_of(plan, in, between, begin, end, inverse, scratch);
}
CATENA_MULTIARCH void fft_columns(const FftPlan<double>& plan, const double* in, double* between, std::int64_t begin,
                                  std::int64_t end, bool inverse, double* scratch) {
  columns_of(plan, in, between, begin, end, inverse, scratch);
}
CATENA_MULTIARCH void fft_finish(const FftPlan<float>& plan, const float* between, float* out, std::int64_t begin,
                                 std::int64_t end, bool inverse, float scale, float* scratch) {
  finish(plan, between, out, begin, end, inverse, scale, scratch);
}
CATENA_MULTIARCH void fft_finish(const FftPlan<double>& plan, const double* between, double* out, std::int64_t begin,
                                 std::int64_t end, bool inverse, double scale, double* scratch) {
  finish(plan, between, out, begin, end, inverse, scale, scratch);
}

}  // namespace nd::cpu
