// Plans of Fourier transforms on the CPU, and the loops that execute them. Internal to ndarray/cpu.
//
// Complex numbers are processed in lanes: numbers of several transforms side by side, real and imaginary parts apart. A
// transform of length n is a sequence of stages, one per factor of n, in the order of Stockham, which needs no
// permutation of the elements. A long transform of length n1 * n2 is n2 transforms of length n1 and n1 transforms of
// length n2, in lanes, with a multiplication in between (the four-step algorithm: Bailey, FFTs in external or
// hierarchical memory, 1990); where there are many rows, or columns, a lane has both steps of one of them. A stage
// whose factor p is a large prime is a cyclic convolution of length p - 1 (Rader, 1968). Where the divisors of a long
// length do not fill the lanes, a transform is a convolution of another length (Bluestein, 1970).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <catena/kernels/registry/fft.h>
#include <catena/ndarray/cpu/tuning.h>

namespace nd::cpu {

template <class T> inline constexpr int kFftLanes = 64 / sizeof(T);
using catena::bound::FftKind;
using catena::bound::kLargestFftFactor;  // larger prime factors are left to Rader's algorithm

template <class T> struct FftRader;

// The stages of a transform.
template <class T> struct FftStages {
  struct Stage {
    std::int64_t radix;
    std::vector<T> twiddles;  // for each j < length / radix: w^j, w^2j, ... w^((radix - 1) j); real, imaginary part
    std::vector<T> roots;     // exp(-2 pi i l / radix), for odd radices up to kLargestFftFactor
    std::shared_ptr<const FftRader<T>> rader = nullptr;  // for larger radices
  };
  std::int64_t n = 1;
  std::int64_t spare = 0;  // numbers that the stages need in addition to the elements, per lane
  std::vector<Stage> stages;

  explicit FftStages(std::int64_t length);
  std::size_t numbers() const noexcept;  // in the tables
};

// A transform of prime length p: with a generator g of the multiplicative group modulo p, the result g^-b is in[0] plus
// the sum of in[g^a] exp(-2 pi i g^(a - b) / p) over a, a cyclic convolution of length p - 1.
template <class T> struct FftRader {
  std::vector<std::int32_t> input, output;  // g^a and g^-a, for a < p - 1
  FftStages<T> convolution;  // of length p - 1, or 2 p - 3 and more if p - 1 has a large prime factor as well
  std::vector<T> spectrum;   // the transform of exp(-2 pi i g^-c / p), divided by the length of the convolution

  explicit FftRader(std::int64_t p);
};

// The tables for transforms of one length.
template <class T> struct FftPlan {
  std::int64_t n = 1, n1 = 1, n2 = 1;  // n = n1 * n2; n1 is 1 for short transforms
  FftStages<T> first, second;          // of the lengths n1 and n2
  // exp(-2 pi i k j / n) for the result k of the first transforms and the group j of lanes: (n2 / lanes, n1, lanes).
  std::vector<T> twiddle_re, twiddle_im;
  // Bluestein's algorithm, for a length whose divisors do not fill the lanes: the plan of a length m >= 2
  // n - 1, exp(-pi i j j / n) for j < n, and the transform of the conjugates of these numbers, divided by m. Null and
  // empty for other lengths.
  std::shared_ptr<const FftPlan> convolution;
  std::vector<T> chirp, chirp_transform;
  std::vector<T> half_turns;  // exp(-pi i k / n) for k <= n / 2: for real transforms of the length 2 n

  explicit FftPlan(std::int64_t length);
  bool is_long() const noexcept { return n1 > 1; }
  std::size_t bytes() const noexcept;  // of the tables
};

// A vector of complex numbers: real parts, then imaginary parts.
template <class T> struct Parts {
  T* re;
  T* im;
};

// s / kFftLanes transforms of one length in each lane, by the stages from `begin` on: number j of transform t is at
// [s j + kFftLanes t]. `a` and `b` are exchanged so that the result is in `a`. `spare`: stages.spare numbers per lane.
void fft_transform(const FftStages<float>& stages, std::size_t begin, std::int64_t length, std::int64_t s,
                   Parts<float>& a, Parts<float>& b, float* spare);
void fft_transform(const FftStages<double>& stages, std::size_t begin, std::int64_t length, std::int64_t s,
                   Parts<double>& a, Parts<double>& b, double* spare);
template <class T> void fft_transform(const FftStages<T>& stages, Parts<T>& a, Parts<T>& b, T* spare) {
  fft_transform(stages, 0, stages.n, kFftLanes<T>, a, b, spare);
}

// Rows that are transformed in lanes at once: one group of lanes, or several for a length of a few numbers.
template <class T> constexpr std::int64_t fft_rows_at_once(const FftPlan<T>& plan) {
  return kFftLanes<T> * (plan.n < kFftGroup ? kFftGroup / plan.n : 1);
}
// Numbers of the workspace of transforms in lanes, for rows of a plan that has no convolution, and of the steps of a
// long row.
template <class T> constexpr std::int64_t fft_spare(const FftPlan<T>& plan) {
  return kFftLanes<T> * (plan.first.spare > plan.second.spare ? plan.first.spare : plan.second.spare);
}
template <class T> constexpr std::int64_t fft_lanes_scratch(const FftPlan<T>& plan) {
  return fft_rows_at_once(plan) * (6 * plan.n + 2) + fft_spare(plan);
}
template <class T> constexpr std::int64_t fft_scratch(const FftPlan<T>& plan) {
  return kFftLanes<T> * 6 * (plan.n1 > plan.n2 ? plan.n1 : plan.n2) + fft_spare(plan);
}

// Up to fft_rows_at_once(plan) rows of n complex numbers, or, for the kinds with real numbers, of 2 n real numbers and
// the n + 1 first results.
template <class T> struct FftRows {
  FftKind kind;
  const T* in;
  T* out;
  std::int64_t rows;
  bool inverse;
  T scale;
  bool ahead;  // the rows that follow are prefetched

  std::int64_t in_length(std::int64_t n) const { return kind == FftKind::complex_to_real ? 2 * n + 2 : 2 * n; }
  std::int64_t out_length(std::int64_t n) const { return kind == FftKind::real_to_complex ? 2 * n + 2 : 2 * n; }
};
// By a plan without a convolution. `scratch` has fft_lanes_scratch(plan) numbers and is aligned to 64 bytes.
void fft_rows_in_lanes(const FftPlan<float>& plan, const FftRows<float>& rows, float* scratch);
void fft_rows_in_lanes(const FftPlan<double>& plan, const FftRows<double>& rows, double* scratch);
// The same for up to kFftLanes columns of a matrix of n rows, whose complex numbers are `columns` numbers apart.
void fft_columns_in_lanes(const FftPlan<float>& plan, const float* in, float* out, std::int64_t columns,
                          std::int64_t count, bool inverse, float scale, float* scratch);
void fft_columns_in_lanes(const FftPlan<double>& plan, const double* in, double* out, std::int64_t columns,
                          std::int64_t count, bool inverse, double scale, double* scratch);
// The transforms of length n1 of one row, for groups [begin, end) of lanes, which are columns of the matrix (n1, n2).
// `between` has 2 n numbers.
void fft_columns(const FftPlan<float>& plan, const float* in, float* between, std::int64_t begin, std::int64_t end,
                 bool inverse, float* scratch);
void fft_columns(const FftPlan<double>& plan, const double* in, double* between, std::int64_t begin, std::int64_t end,
                 bool inverse, double* scratch);
// The transforms of length n2 of the numbers in `between`, for groups of its columns.
void fft_finish(const FftPlan<float>& plan, const float* between, float* out, std::int64_t begin, std::int64_t end,
                bool inverse, float scale, float* scratch);
void fft_finish(const FftPlan<double>& plan, const double* between, double* out, std::int64_t begin, std::int64_t end,
                bool inverse, double scale, double* scratch);

// The same for rows of an odd number n of real numbers, whose results are the n / 2 + 1 first ones, or, if `inverse`,
// of n / 2 + 1 complex numbers, whose results are n real ones. Columns are those of fft_real_groups(plan, inverse).
void fft_real_rows(const FftPlan<float>& plan, const float* in, float* out, std::int64_t rows, bool inverse,
                   float scale, float* scratch);
void fft_real_rows(const FftPlan<double>& plan, const double* in, double* out, std::int64_t rows, bool inverse,
                   double scale, double* scratch);
void fft_real_columns(const FftPlan<float>& plan, const float* in, float* between, std::int64_t begin, std::int64_t end,
                      bool inverse, float* scratch);
void fft_real_columns(const FftPlan<double>& plan, const double* in, double* between, std::int64_t begin,
                      std::int64_t end, bool inverse, double* scratch);
void fft_real_finish(const FftPlan<float>& plan, const float* between, float* out, std::int64_t begin, std::int64_t end,
                     bool inverse, float scale, float* scratch);
void fft_real_finish(const FftPlan<double>& plan, const double* between, double* out, std::int64_t begin,
                     std::int64_t end, bool inverse, double scale, double* scratch);
// The numbers of groups of fft_real_columns and of fft_real_finish. A lane has two columns where these are real.
struct FftGroups {
  std::int64_t columns, finish;
};
template <class T> constexpr FftGroups fft_real_groups(const FftPlan<T>& plan, bool inverse) {
  constexpr std::int64_t lanes = kFftLanes<T>;
  const std::int64_t real = inverse ? plan.n1 : plan.n2, complex = (inverse ? plan.n2 : plan.n1) / 2 + 1;
  const std::int64_t of_real = (real + 2 * lanes - 1) / (2 * lanes), of_complex = (complex + lanes - 1) / lanes;
  return inverse ? FftGroups{of_complex, of_real} : FftGroups{of_real, of_complex};
}

// out[j] = a[j] b[j] for n complex numbers, with the parts of a, or those of the results, exchanged. `out` may be `a`.
void fft_products(const float* a, const float* b, float* out, std::int64_t n, bool exchange_a, bool exchange_out);
void fft_products(const double* a, const double* b, double* out, std::int64_t n, bool exchange_a, bool exchange_out);

// Transforms contiguous rows by any plan, on several threads; `in` and `out` do not overlap. The kinds with real
// numbers need rows that go in lanes.
template <class T> void transform_rows(const FftPlan<T>& plan, const FftRows<T>& all);

}  // namespace nd::cpu
