// The loops around the stages of Fourier transforms (loops_fft_stages.cpp); fft.h describes the algorithm. All of them
// process whole groups of lanes, which the compiler keeps in vector registers.
#include <algorithm>
#include <utility>

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

// Number k of x is in the rows 2 k, its real part, and 2 k + 1; numbers 0 and h are real.
template <class T>
CATENA_INLINE void split_lanes(const FftPlan<T>& plan, Parts<T> z, std::int64_t width, T scale, T* x) {
  const std::int64_t h = plan.n;
  for (std::int64_t k = 0; 2 * k <= h; ++k) {
    const Number<T> w{plan.half_turns[std::size_t(2 * k)], plan.half_turns[std::size_t(2 * k + 1)]};
    for (std::int64_t q = 0; q < width; q += kFftLanes<T>) {
      const auto both =
          split_halves(lanes_at(z, k * width + q), lanes_at(z, (k == 0 ? 0 : h - k) * width + q), w, scale / 2);
      T *const at = x + 2 * k * width + q, *const opposite = x + 2 * (h - k) * width + q;
      lanes_at(at) = both.at.re, lanes_at(at + width) = both.at.im;
      lanes_at(opposite) = both.opposite.re, lanes_at(opposite + width) = both.opposite.im;
    }
  }
  std::fill_n(x + width, width, T(0));
  std::fill_n(x + (2 * h + 1) * width, width, T(0));
}
template <class T> CATENA_INLINE void join_lanes(const FftPlan<T>& plan, T* x, std::int64_t width, Parts<T> z) {
  const std::int64_t h = plan.n;
  std::fill_n(x + width, width, T(0));
  std::fill_n(x + (2 * h + 1) * width, width, T(0));
  for (std::int64_t k = 0; 2 * k <= h; ++k) {
    const Number<T> w{plan.half_turns[std::size_t(2 * k)], -plan.half_turns[std::size_t(2 * k + 1)]};
    for (std::int64_t q = 0; q < width; q += kFftLanes<T>) {
      const T *const at = x + 2 * k * width + q, *const opposite = x + 2 * (h - k) * width + q;
      const auto both = join_halves(Wide<T>{lanes_at(at), lanes_at(at + width)},
                                    Wide<T>{lanes_at(opposite), lanes_at(opposite + width)}, w);
      set_lanes(z, k * width + q, both.at);
      if (k > 0) set_lanes(z, (h - k) * width + q, both.opposite);
    }
  }
}

// All numbers of `width` rows: the steps of a long plan, too, whose matrix (n1, n2) is transposed between them.
template <class T>
CATENA_INLINE void transform_in_lanes(const FftPlan<T>& plan, Parts<T>& a, Parts<T>& b, std::int64_t width, T* spare) {
  constexpr std::int64_t lanes = kFftLanes<T>;
  const std::int64_t n1 = plan.n1, n2 = plan.n2;
  if (plan.is_long()) {
    fft_transform(plan.first, 0, n1, n2 * width, a, b, spare);
    for (std::int64_t j = 0; j < n2; ++j) {
      const std::int64_t first = j / lanes * lanes * n1 + j % lanes;
      const T *const w_re = plan.twiddle_re.data() + first, *const w_im = plan.twiddle_im.data() + first;
      for (std::int64_t k = 0; k < n1; ++k) {
        const Number<T> w{w_re[k * lanes], w_im[k * lanes]};
        for (std::int64_t q = 0; q < width; q += lanes)
          set_lanes(b, (j * n1 + k) * width + q, lanes_at(a, (k * n2 + j) * width + q) * w);
      }
    }
    std::swap(a, b);
  }
  fft_transform(plan.second, 0, n2, n1 * width, a, b, spare);
}

template <class T> CATENA_INLINE void rows_in_lanes(const FftPlan<T>& plan, const FftRows<T>& r, T* scratch) {
  constexpr std::int64_t lanes = kFftLanes<T>;
  const std::int64_t n = plan.n, width = (r.rows + lanes - 1) / lanes * lanes, size = n * width;
  T* const packed = scratch + 4 * size;  // the real and imaginary parts of number j are rows 2 j and 2 j + 1
  Parts<T> a{scratch, scratch + size}, b{scratch + 2 * size, scratch + 3 * size};
  const Parts<T> to = exchanged_if(r.inverse, a);
  rows_to_lanes(r.in, r.in_length(n), r.rows, width, packed, r.ahead);
  if (r.kind == FftKind::complex_to_real) {
    join_lanes(plan, packed, width, to);
  } else {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t q = 0; q < width; q += lanes)
        set_lanes(to, j * width + q,
                  Wide<T>{lanes_at(packed + 2 * j * width + q), lanes_at(packed + (2 * j + 1) * width + q)});
  }
  transform_in_lanes(plan, a, b, width, packed + 2 * (n + 1) * width);
  const Parts<T> from = exchanged_if(r.inverse, a);
  if (r.kind == FftKind::real_to_complex) {
    split_lanes(plan, from, width, r.scale, packed);
  } else {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t q = 0; q < width; q += lanes) {
        lanes_at(packed + 2 * j * width + q) = r.scale * lanes_at(from.re + j * width + q);
        lanes_at(packed + (2 * j + 1) * width + q) = r.scale * lanes_at(from.im + j * width + q);
      }
  }
  lanes_to_rows(packed, r.out_length(n), r.rows, width, r.out, r.ahead);
}

template <class T>
CATENA_INLINE void columns_in_lanes(const FftPlan<T>& plan, const T* in, T* out, std::int64_t columns,
                                    std::int64_t count, bool inverse, T scale, T* scratch) {
  const std::int64_t n = plan.n, size = n * kFftLanes<T>;
  Parts<T> a{scratch, scratch + size}, b{scratch + 2 * size, scratch + 3 * size};
  load(exchanged_if(inverse, a), in, n, columns, count);
  transform_in_lanes(plan, a, b, kFftLanes<T>, scratch + 4 * size);
  store(out, exchanged_if(inverse, a), n, columns, count, scale);
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
CATENA_MULTIARCH void fft_rows_in_lanes(const FftPlan<float>& plan, const FftRows<float>& rows, float* scratch) {
  rows_in_lanes(plan, rows, scratch);
}
CATENA_MULTIARCH void fft_rows_in_lanes(const FftPlan<double>& plan, const FftRows<double>& rows, double* scratch) {
  rows_in_lanes(plan, rows, scratch);
}
CATENA_MULTIARCH void fft_columns_in_lanes(const FftPlan<float>& plan, const float* in, float* out,
                                           std::int64_t columns, std::int64_t count, bool inverse, float scale,
                                           float* scratch) {
  columns_in_lanes(plan, in, out, columns, count, inverse, scale, scratch);
}
CATENA_MULTIARCH void fft_columns_in_lanes(const FftPlan<double>& plan, const double* in, double* out,
                                           std::int64_t columns, std::int64_t count, bool inverse, double scale,
                                           double* scratch) {
  columns_in_lanes(plan, in, out, columns, count, inverse, scale, scratch);
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
