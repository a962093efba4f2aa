// The loops around the stages of Fourier transforms (loops_fft_stages.cpp); fft.h describes the algorithm. All of them
// process whole groups of lanes, which the compiler keeps in vector registers.
#include <algorithm>
#include <cstring>

#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/fft.h>
#include <catena/ndarray/cpu/fft_lanes.h>

namespace nd::cpu {
namespace {

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
  fft_transform(plan.second, a, b, scratch + 6 * size);
  const Parts<T> from = exchanged_if(inverse, a);
  if (rows == 1) {
    for (std::int64_t j = 0; j < n; ++j) {
      out[2 * j] = scale * from.re[j * lanes];
      out[2 * j + 1] = scale * from.im[j * lanes];
    }
  } else {
    for (std::int64_t j = 0; j < n; ++j) {
      lanes_at(packed + 2 * j * lanes) = scale * lanes_at(from.re + j * lanes);
      lanes_at(packed + (2 * j + 1) * lanes) = scale * lanes_at(from.im + j * lanes);
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
    fft_transform(plan.first, a, b, spare);
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
      const T* const from = between + j * n1 + column;
      first_lanes(from, valid, lanes_at(a.re + j * lanes));
      first_lanes(from + plan.n, valid, lanes_at(a.im + j * lanes));
    }
    fft_transform(plan.second, a, b, spare);
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
