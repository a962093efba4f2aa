// Transforms of real numbers of an odd length, and to real numbers. The results k and n - k are conjugates, so that one
// half is computed. (Rows of an even length are transformed as half as many complex numbers.)
//
// From n = p m real numbers, a stage of the odd radix p makes m real numbers, whose transform has the results p t, and,
// for each k from 1 to (p - 1) / 2, m complex numbers, whose transform has the results k + p t; the results n - k - p t
// are their conjugates (Sorensen et al., Real-valued fast Fourier transform algorithms, 1987).
#include <algorithm>
#include <type_traits>
#include <utility>

#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/fft.h>
#include <catena/ndarray/cpu/fft_lanes.h>

namespace nd::cpu {
namespace {

template <class T> using Stage = typename FftStages<T>::Stage;

// `fixed` is the radix, or 0 for any. x: radix * m numbers; `zero`: the m real ones. Complex number j for k is at
// [pairs j + k - 1] of `to`.
template <int fixed, class T>
CATENA_INLINE void real_stage(const Stage<T>& of, const T* x, std::int64_t m, T* zero, Parts<T> to) {
  constexpr int lanes = kFftLanes<T>, most = (fixed != 0 ? fixed : kLargestFftFactor) / 2 + 1;
  const int radix = fixed != 0 ? fixed : int(of.radix), pairs = radix / 2;
  const T* const roots = of.roots.data();
  for (std::int64_t j = 0; j < m; ++j) {
    const T* const w = of.twiddles.data() + 2 * (j * (radix - 1) - 1);
    alignas(64) Lanes<T> sum[most], difference[most];
    const Lanes<T> first = lanes_at(x + lanes * j);
    Lanes<T> all = first;
    for (int l = 1; l <= pairs; ++l) {
      const Lanes<T> a = lanes_at(x + lanes * (j + m * l)), b = lanes_at(x + lanes * (j + m * (radix - l)));
      sum[l] = a + b, difference[l] = a - b;
      all += sum[l];
    }
    lanes_at(zero + lanes * j) = all;
    for (int k = 1; k <= pairs; ++k) {
      Wide<T> result{first, {}};
      for (int l = 1, turn = k; l <= pairs; ++l, turn = turn + k < radix ? turn + k : turn + k - radix) {
        result.re += roots[2 * turn] * sum[l];
        result.im += roots[2 * turn + 1] * difference[l];
      }
      set_lanes(to, lanes * (pairs * j + k - 1), result * Number<T>{w[2 * k], w[2 * k + 1]});
    }
  }
}
// The reverse, times the radix: the last step of an inverse transform. `from` has the inverse transforms.
template <int fixed, class T>
CATENA_INLINE void inverse_real_stage(const Stage<T>& of, const T* zero, Parts<T> from, std::int64_t m, T* x) {
  constexpr int lanes = kFftLanes<T>, most = (fixed != 0 ? fixed : kLargestFftFactor) / 2 + 1;
  const int radix = fixed != 0 ? fixed : int(of.radix), pairs = radix / 2;
  const T* const roots = of.roots.data();
  for (std::int64_t j = 0; j < m; ++j) {
    const T* const w = of.twiddles.data() + 2 * (j * (radix - 1) - 1);
    alignas(64) Wide<T> z[most];
    const Lanes<T> first = lanes_at(zero + lanes * j);
    Lanes<T> all = first;
    for (int k = 1; k <= pairs; ++k) {
      z[k] = lanes_at(from, lanes * (pairs * j + k - 1)) * Number<T>{2 * w[2 * k], -2 * w[2 * k + 1]};
      all += z[k].re;
    }
    lanes_at(x + lanes * j) = all;
    for (int l = 1; l <= pairs; ++l) {
      Lanes<T> even = first, odd = {};
      for (int k = 1, turn = l; k <= pairs; ++k, turn = turn + l < radix ? turn + l : turn + l - radix) {
        even += roots[2 * turn] * z[k].re;
        odd += roots[2 * turn + 1] * z[k].im;
      }
      lanes_at(x + lanes * (j + m * l)) = even + odd;
      lanes_at(x + lanes * (j + m * (radix - l))) = even - odd;
    }
  }
}

// Calls f with the radix as a constant, or with 0.
template <class F> CATENA_INLINE void with_radix(std::int64_t radix, F f) {
  switch (radix) {
    case 3: f(std::integral_constant<int, 3>()); break;
    case 5: f(std::integral_constant<int, 5>()); break;
    case 7: f(std::integral_constant<int, 7>()); break;
    case 11: f(std::integral_constant<int, 11>()); break;
    default: f(std::integral_constant<int, 0>());
  }
}

template <class T> CATENA_INLINE Parts<T> parts_at(T* p, std::int64_t size) { return {p, p + size}; }
template <class T> CATENA_INLINE Parts<T> exchanged(Parts<T> p) { return {p.im, p.re}; }

// The memory of rows in lanes.
template <class T> struct RealRows {
  T *x, *other;  // n real numbers
  T* work;       // of complex transforms
  T* packed;     // the complex numbers k <= n / 2: real part, imaginary part
  T* spare;
  RealRows(std::int64_t n, T* scratch) {
    const std::int64_t size = n * kFftLanes<T>;
    x = scratch, other = scratch + size, work = scratch + 2 * size, packed = scratch + 4 * size;
    spare = scratch + 6 * size;
  }
};

// Stages before this one have a radix up to kLargestFftFactor.
template <class T> CATENA_INLINE std::size_t first_rader(const FftStages<T>& stages) {
  std::size_t i = 0;
  while (i < stages.stages.size() && !stages.stages[i].rader) ++i;
  return i;
}

template <class T>
CATENA_INLINE void forward_rows(const FftStages<T>& stages, const T* in, T* out, std::int64_t rows, T scale,
                                T* scratch) {
  constexpr int lanes = kFftLanes<T>;
  const std::int64_t n = stages.n;
  RealRows<T> rest(n, scratch);
  rows_to_lanes(in, n, rows, lanes, rest.x);
  // Writes number f of a transform whose numbers are every `step`-th one of the whole transform.
  const auto put = [&](std::int64_t f, std::int64_t length, std::int64_t step, const Wide<T>& v)
      __attribute__((always_inline)) {
    const bool conjugate = 2 * f > length;
    T* const to = rest.packed + 2 * lanes * step * (conjugate ? length - f : f);
    lanes_at(to) = scale * v.re, lanes_at(to + lanes) = (conjugate ? -scale : scale) * v.im;
  };
  std::int64_t length = n, step = 1;
  const std::size_t end = first_rader(stages);
  for (std::size_t i = 0; i < end; ++i) {
    const Stage<T>& of = stages.stages[i];
    const std::int64_t radix = of.radix, m = length / radix, pairs = radix / 2, size = pairs * m * lanes;
    Parts<T> a = parts_at(rest.work, size), b = parts_at(rest.work + 2 * size, size);
    with_radix(
        radix, [&](auto fixed) __attribute__((always_inline)) { real_stage<fixed()>(of, rest.x, m, rest.other, a); });
    fft_transform(stages, i + 1, m, lanes * pairs, a, b, rest.spare);
    for (std::int64_t t = 0; t < m; ++t)
      for (std::int64_t k = 0; k < pairs; ++k)
        put(k + 1 + radix * t, length, step, lanes_at(a, lanes * (k + pairs * t)));
    std::swap(rest.x, rest.other);
    length = m, step *= radix;
  }
  if (length > 1) {  // Rader's algorithm has no form for real numbers here
    const std::int64_t size = length * lanes;
    Parts<T> a = parts_at(rest.work, size), b = parts_at(rest.work + 2 * size, size);
    std::copy_n(rest.x, size, a.re);
    std::fill_n(a.im, size, T(0));
    fft_transform(stages, end, length, lanes, a, b, rest.spare);
    for (std::int64_t f = 0; 2 * f < length; ++f) put(f, length, step, lanes_at(a, lanes * f));
  } else {
    put(0, 1, step, Wide<T>{lanes_at(rest.x), {}});
  }
  std::fill_n(rest.packed + lanes, lanes, T(0));
  lanes_to_rows(rest.packed, n + 1, rows, lanes, out);
}

template <class T>
CATENA_INLINE void inverse_rows(const FftStages<T>& stages, const T* in, T* out, std::int64_t rows, T scale,
                                T* scratch) {
  constexpr std::int64_t lanes = kFftLanes<T>;
  const std::int64_t n = stages.n;
  RealRows<T> rest(n, scratch);
  rows_to_lanes(in, n + 1, rows, lanes, rest.packed);
  std::fill_n(rest.packed + lanes, lanes, T(0));
  // Reads number f of such a transform.
  const auto get = [&](std::int64_t f, std::int64_t length, std::int64_t step, Parts<T> to, std::int64_t at)
      __attribute__((always_inline)) {
    const bool conjugate = 2 * f > length;
    const T* const from = rest.packed + 2 * lanes * step * (conjugate ? length - f : f);
    lanes_at(to.re + at) = lanes_at(from);
    lanes_at(to.im + at) = T(conjugate ? -1 : 1) * lanes_at(from + lanes);
  };
  std::size_t i = first_rader(stages);
  std::int64_t length = n;
  for (std::size_t k = 0; k < i; ++k) length /= stages.stages[k].radix;
  if (length > 1) {
    const std::int64_t size = length * lanes;
    Parts<T> a = parts_at(rest.work, size), b = parts_at(rest.work + 2 * size, size);
    for (std::int64_t f = 0; f < length; ++f) get(f, length, n / length, a, lanes * f);
    a = exchanged(a), b = exchanged(b);
    fft_transform(stages, i, length, lanes, a, b, rest.spare);
    std::copy_n(a.im, size, rest.x);
  } else {
    std::copy_n(rest.packed, lanes, rest.x);
  }
  while (i-- > 0) {
    const Stage<T>& of = stages.stages[i];
    const std::int64_t radix = of.radix, m = length, pairs = radix / 2, size = pairs * m * lanes;
    length *= radix;
    Parts<T> a = parts_at(rest.work, size), b = parts_at(rest.work + 2 * size, size);
    for (std::int64_t t = 0; t < m; ++t)
      for (std::int64_t k = 0; k < pairs; ++k) get(k + 1 + radix * t, length, n / length, a, lanes * (k + pairs * t));
    a = exchanged(a), b = exchanged(b);
    fft_transform(stages, i + 1, m, lanes * pairs, a, b, rest.spare);
    with_radix(
        radix, [&](auto fixed) __attribute__((always_inline)) {
          inverse_real_stage<fixed()>(of, rest.x, exchanged(a), m, rest.other);
        });
    std::swap(rest.x, rest.other);
  }
  for (std::int64_t j = 0; j < n; ++j) lanes_at(rest.x + lanes * j) = scale * lanes_at(rest.x + lanes * j);
  lanes_to_rows(rest.x, n, rows, lanes, out);
}

// ---- a long row ------------------------------------------------------------------------------------
// Two columns of the matrix (n1, n2) in each lane, as real and imaginary part. The first halves of their transforms are
// columns of `between`, a matrix (n2, (n1 + 1) / 2) of real parts and one of imaginary parts.
template <class T>
CATENA_INLINE void forward_columns(const FftPlan<T>& plan, const T* in, T* between, std::int64_t begin,
                                   std::int64_t end, T* scratch) {
  constexpr int lanes = kFftLanes<T>;
  const std::int64_t n1 = plan.n1, n2 = plan.n2, half = (n1 + 1) / 2, size = n1 * lanes;
  T* const spare = scratch + 6 * lanes * std::max(n1, n2);
  const Parts<T> c = parts_at(scratch + 4 * size, size);
  for (std::int64_t group = begin; group < end; ++group) {
    const std::int64_t columns[2] = {2 * group * lanes, (2 * group + 1) * lanes};
    const std::int64_t valid[2] = {std::min<std::int64_t>(lanes, n2 - columns[0]),
                                   std::clamp<std::int64_t>(n2 - columns[1], 0, lanes)};
    Parts<T> a = parts_at(scratch, size), b = parts_at(scratch + 2 * size, size);
    for (std::int64_t j = 0; j < n1; ++j) {
      const T* const from = in + j * n2 + columns[0];
      first_lanes(from, valid[0], lanes_at(a.re + j * lanes));
      first_lanes(from + (valid[1] > 0 ? lanes : 0), valid[1], lanes_at(a.im + j * lanes));
    }
    fft_transform(plan.first, a, b, spare);
    for (int part = 0; part < 2 && valid[part] > 0; ++part) {
      const T *w_re = plan.twiddle_re.data() + columns[part] * n1, *w_im = plan.twiddle_im.data() + columns[part] * n1;
      for (std::int64_t k = 0; k < half * lanes; k += lanes) {
        const Wide<T> z = lanes_at(a, k), other = lanes_at(a, k == 0 ? 0 : size - k);
        const Wide<T> w{lanes_at(w_re + k), lanes_at(w_im + k)};
        const Wide<T> even{T(0.5) * (z.re + other.re), T(0.5) * (z.im - other.im)};
        const Wide<T> odd{T(0.5) * (z.im + other.im), T(0.5) * (other.re - z.re)};
        set_lanes(c, k, (part == 0 ? even : odd) * w);
      }
      transpose(between + columns[part] * half, half, c.re, lanes, valid[part], half);
      transpose(between + (n2 + columns[part]) * half, half, c.im, lanes, valid[part], half);
    }
  }
}

template <class T>
CATENA_INLINE void forward_finish(const FftPlan<T>& plan, const T* between, T* out, std::int64_t begin,
                                  std::int64_t end, T scale, T* scratch) {
  constexpr int lanes = kFftLanes<T>;
  const std::int64_t n1 = plan.n1, n2 = plan.n2, half = (n1 + 1) / 2, size = n2 * lanes;
  T* const spare = scratch + 6 * lanes * std::max(n1, n2);
  for (std::int64_t group = begin; group < end; ++group) {
    const std::int64_t column = group * lanes, valid = std::min<std::int64_t>(lanes, half - column);
    Parts<T> a = parts_at(scratch, size), b = parts_at(scratch + 2 * size, size);
    for (std::int64_t j = 0; j < n2; ++j) {
      const T* const from = between + j * half + column;
      first_lanes(from, valid, lanes_at(a.re + j * lanes));
      first_lanes(from + n2 * half, valid, lanes_at(a.im + j * lanes));
    }
    fft_transform(plan.second, a, b, spare);
    for (std::int64_t k = 0; k < n2; ++k) {
      alignas(64) T joined[2 * lanes];
      join(a.re + k * lanes, a.im + k * lanes, scale, joined);
      const std::int64_t first = column + n1 * k;
      if (2 * k < n2) {
        std::copy_n(joined, 2 * valid, out + 2 * first);
      } else {
        T* const to = out + 2 * (plan.n - first);
        for (std::int64_t v = 0; v < valid; ++v) to[-2 * v] = joined[2 * v], to[-2 * v + 1] = -joined[2 * v + 1];
      }
    }
    if (column == 0) out[1] = 0;
  }
}

// The columns j2 <= n2 / 2; column n2 - j2 would have conjugate results. Real and imaginary parts are exchanged in
// lanes and in `between`, matrices ((n2 + 1) / 2, n1).
template <class T>
CATENA_INLINE void inverse_columns(const FftPlan<T>& plan, const T* in, T* between, std::int64_t begin,
                                   std::int64_t end, T* scratch) {
  constexpr int lanes = kFftLanes<T>;
  const std::int64_t n1 = plan.n1, n2 = plan.n2, half = (n2 + 1) / 2, size = n1 * lanes;
  T* const spare = scratch + 6 * lanes * std::max(n1, n2);
  for (std::int64_t group = begin; group < end; ++group) {
    const std::int64_t column = group * lanes, valid = std::min<std::int64_t>(lanes, half - column);
    Parts<T> a = parts_at(scratch, size), b = parts_at(scratch + 2 * size, size);
    alignas(64) T numbers[2 * lanes] = {};
    for (std::int64_t j = 0; j < n1; ++j) {
      const std::int64_t first = j * n2 + column;
      if (2 * j < n1) {
        std::copy_n(in + 2 * first, 2 * valid, numbers);
      } else {
        const T* const from = in + 2 * (plan.n - first);
        for (std::int64_t v = 0; v < valid; ++v) numbers[2 * v] = from[-2 * v], numbers[2 * v + 1] = -from[-2 * v + 1];
      }
      if (first == 0) numbers[1] = 0;
      separate(numbers, a.im + j * lanes, a.re + j * lanes);
    }
    fft_transform(plan.first, a, b, spare);
    for (std::int64_t k = 0; k < size; k += lanes)
      set_lanes(b, k,
                lanes_at(a, k) * Wide<T>{lanes_at(plan.twiddle_re.data() + column * n1 + k),
                                         lanes_at(plan.twiddle_im.data() + column * n1 + k)});
    transpose(between + column * n1, n1, b.re, lanes, valid, n1);
    transpose(between + (half + column) * n1, n1, b.im, lanes, valid, n1);
  }
}

// Two transforms to real numbers in each lane.
template <class T>
CATENA_INLINE void inverse_finish(const FftPlan<T>& plan, const T* between, T* out, std::int64_t begin,
                                  std::int64_t end, T scale, T* scratch) {
  constexpr int lanes = kFftLanes<T>;
  const std::int64_t n1 = plan.n1, n2 = plan.n2, half = (n2 + 1) / 2, size = n2 * lanes;
  T* const spare = scratch + 6 * lanes * std::max(n1, n2);
  for (std::int64_t group = begin; group < end; ++group) {
    const std::int64_t column = 2 * group * lanes, valid = std::min<std::int64_t>(lanes, n1 - column),
                       more = std::clamp<std::int64_t>(n1 - column - lanes, 0, lanes);
    Parts<T> a = parts_at(scratch, size), b = parts_at(scratch + 2 * size, size);
    const Parts<T> to = exchanged(a);
    for (std::int64_t j = 0; j < half; ++j) {
      const T *const im = between + j * n1 + column, *const re = im + half * n1;
      const std::int64_t second = more > 0 ? lanes : 0;
      Wide<T> g, h;
      first_lanes(re, valid, g.re), first_lanes(im, valid, g.im);
      first_lanes(re + second, more, h.re), first_lanes(im + second, more, h.im);
      if (j == 0) {
        set_lanes(to, 0, {g.re, h.re});
      } else {
        set_lanes(to, j * lanes, {g.re - h.im, g.im + h.re});
        set_lanes(to, (n2 - j) * lanes, {g.re + h.im, h.re - g.im});
      }
    }
    fft_transform(plan.second, a, b, spare);
    for (std::int64_t k = 0; k < n2; ++k) {
      alignas(64) T results[2 * lanes];
      lanes_at(results) = scale * lanes_at(a.im + k * lanes);
      lanes_at(results + lanes) = scale * lanes_at(a.re + k * lanes);
      std::copy_n(results, valid + more, out + k * n1 + column);
    }
  }
}

}  // namespace

#define CATENA_FFT_REAL(T)                                                                                          \
  CATENA_MULTIARCH void fft_real_rows(const FftPlan<T>& plan, const T* in, T* out, std::int64_t rows, bool inverse, \
                                      T scale, T* scratch) {                                                        \
    if (inverse) inverse_rows(plan.second, in, out, rows, scale, scratch);                                          \
    else forward_rows(plan.second, in, out, rows, scale, scratch);                                                  \
  }                                                                                                                 \
  CATENA_MULTIARCH void fft_real_columns(const FftPlan<T>& plan, const T* in, T* between, std::int64_t begin,       \
                                         std::int64_t end, bool inverse, T* scratch) {                              \
    if (inverse) inverse_columns(plan, in, between, begin, end, scratch);                                           \
    else forward_columns(plan, in, between, begin, end, scratch);                                                   \
  }                                                                                                                 \
  CATENA_MULTIARCH void fft_real_finish(const FftPlan<T>& plan, const T* between, T* out, std::int64_t begin,       \
                                        std::int64_t end, bool inverse, T scale, T* scratch) {                      \
    if (inverse) inverse_finish(plan, between, out, begin, end, scale, scratch);                                    \
    else forward_finish(plan, between, out, begin, end, scale, scratch);                                            \
  }
CATENA_FFT_REAL(float)
CATENA_FFT_REAL(double)

}  // namespace nd::cpu
