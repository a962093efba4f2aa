// The stages of Fourier transforms; fft.h describes the algorithm. All of them process whole groups of lanes, which the
// compiler keeps in vector registers.
#include <algorithm>
#include <utility>

#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/fft.h>
#include <catena/ndarray/cpu/fft_lanes.h>

namespace nd::cpu {
namespace {

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
  constexpr int most = (fixed != 0 ? fixed : kLargestFftFactor) / 2 + 1;
  const int radix = fixed != 0 ? fixed : int(of.radix), pairs = radix / 2;
  const T* const roots = of.roots.data();
  for (std::int64_t j = 0; j < m; ++j) {
    const T* const w = of.twiddles.data() + 2 * (j * (radix - 1) - 1);
    for (std::int64_t q = 0; q < s; q += kFftLanes<T>) {
      const std::int64_t read = q + s * j, write = q + s * radix * j;
      alignas(64) Wide<T> sum[most], difference[most];
      const Wide<T> first = lanes_at(from, read);
      Wide<T> all = first;
      for (int l = 1; l <= pairs; ++l) {
        const auto a = lanes_at(from, read + s * m * l), b = lanes_at(from, read + s * m * (radix - l));
        sum[l] = a + b, difference[l] = a - b;
        all = all + sum[l];
      }
      set_lanes(to, write, all);
      for (int k = 1; k <= pairs; ++k) {
        Wide<T> even = first, odd = {};
        for (int l = 1, turn = k; l <= pairs; ++l, turn = turn + k < radix ? turn + k : turn + k - radix) {
          const T cosine = roots[2 * turn], sine = -roots[2 * turn + 1];
          even.re += cosine * sum[l].re, even.im += cosine * sum[l].im;
          odd.re += sine * difference[l].im, odd.im -= sine * difference[l].re;
        }
        set_lanes(to, write + s * k, (even + odd) * Number<T>{w[2 * k], w[2 * k + 1]});
        set_lanes(to, write + s * (radix - k), (even - odd) * Number<T>{w[2 * (radix - k)], w[2 * (radix - k) + 1]});
      }
    }
  }
}

// A stage whose radix is a large prime.
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
      const std::int64_t read = q + s * j, write = q + s * radix * j;
      for (std::int64_t c = 0; c < count; ++c)
        set_lanes(a, c * lanes, lanes_at(from, read + s * m * rader.input[static_cast<std::size_t>(c)]));
      std::fill(a.re + count * lanes, a.re + size, T(0));
      std::fill(a.im + count * lanes, a.im + size, T(0));
      fft_transform(rader.convolution, a, b, static_cast<T*>(nullptr));
      const Wide<T> first = lanes_at(from, read);
      // The first number of the transform is the sum of all elements but the first.
      set_lanes(to, write, first + lanes_at(a, 0));
      const T* f = rader.spectrum.data();
      for (std::int64_t c = 0; c < size; c += lanes, f += 2) set_lanes(a, c, lanes_at(a, c) * Number<T>{f[0], f[1]});
      std::swap(a.re, a.im), std::swap(b.re, b.im);
      fft_transform(rader.convolution, a, b, static_cast<T*>(nullptr));
      std::swap(a.re, a.im);
      for (std::int64_t c = 0; c < count; ++c) {
        const std::int64_t k = rader.output[static_cast<std::size_t>(c)];
        set_lanes(to, write + s * k, (first + lanes_at(a, c * lanes)) * Number<T>{w[2 * k], w[2 * k + 1]});
      }
    }
  }
}

template <class T>
CATENA_INLINE void transform(const FftStages<T>& stages, std::size_t begin, std::int64_t length, std::int64_t s,
                             Parts<T>& a, Parts<T>& b, T* spare) {
  for (std::size_t i = begin; i < stages.stages.size(); ++i) {
    const auto& of = stages.stages[i];
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
        if (of.rader) stage_by_rader<T>(of, a, b, m, s, spare);
        else stage_by_sums<0, T>(of, a, b, m, s);
    }
    std::swap(a, b);
    length = m, s *= of.radix;
  }
}

}  // namespace

CATENA_MULTIARCH void fft_transform(const FftStages<float>& stages, std::size_t begin, std::int64_t length,
                                    std::int64_t s, Parts<float>& a, Parts<float>& b, float* spare) {
  transform(stages, begin, length, s, a, b, spare);
}
CATENA_MULTIARCH void fft_transform(const FftStages<double>& stages, std::size_t begin, std::int64_t length,
                                    std::int64_t s, Parts<double>& a, Parts<double>& b, double* spare) {
  transform(stages, begin, length, s, a, b, spare);
}

}  // namespace nd::cpu
