// Fourier transforms on the CPU: plans, real transforms, and the distribution of rows over threads.
#include <catena/ndarray/cpu/fft.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/fft.h>
#include <catena/kernels/turn.h>
#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/fft_lanes.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/tuning.h>
#include <catena/ndarray/cpu/workspace.h>
#include <catena/ndarray/device/fft_plans.h>

namespace nd::cpu {

using catena::Turn;
using catena::turn;
using catena::bound::Fft;
using catena::bound::FftKind;
using catena::bound::has_large_factor;

namespace {

// The longest row that is transformed beside others although its length has a large prime factor.
constexpr std::int64_t kLargestRaderRow = 1024;

// Returns any exp(-2 pi i k / n) as the product of two numbers of tables of about sqrt(n) numbers.
class Turns {
 public:
  explicit Turns(std::int64_t n) : n_(n) {
    while (block_ * block_ < n) block_ *= 2;
    for (std::int64_t k = 0; k < block_; ++k) fine_.push_back(turn(k, n));
    for (std::int64_t k = 0; k < n; k += block_) coarse_.push_back(turn(k, n));
  }
  Turn operator[](std::int64_t k) const {
    k %= n_;
    const Turn& fine = fine_[static_cast<std::size_t>(k % block_)];
    return k < block_ ? fine : coarse_[static_cast<std::size_t>(k / block_)] * fine;
  }

 private:
  std::int64_t n_, block_ = 1;
  std::vector<Turn> fine_, coarse_;
};

template <class T> void append(std::vector<T>& to, Turn t) {
  to.push_back(static_cast<T>(t.re));
  to.push_back(static_cast<T>(t.im));
}

// In ascending order.
std::vector<std::int64_t> prime_factors(std::int64_t n) {
  std::vector<std::int64_t> factors;
  for (std::int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) factors.push_back(p);
  if (n > 1) factors.push_back(n);
  return factors;
}
// The largest divisor of n up to sqrt(n).
std::int64_t middle_divisor(std::int64_t n) {
  std::int64_t best = 1;
  for (std::int64_t d = 1; d * d <= n; ++d)
    if (n % d == 0) best = d;
  return best;
}
// Returns n1 of n = n1 * n2, or 1 for lengths that are transformed row beside row.
template <class T> std::int64_t first_length(std::int64_t n) {
  if (n < kLeastLongFft) return 1;
  const std::int64_t n1 = middle_divisor(n);
  const bool is_smooth = !has_large_factor(n);
  return is_smooth || (n1 >= kFftLanes<T> / 2 && prime_factors(n).back() <= kLargestRader) ? n1 : 1;
}
// True for a length whose divisors do not fill the lanes. Rows up to kLargestRaderRow are transformed beside other rows
// instead, if Rader's algorithm needs no longer convolution: one row takes as much time there as all lanes.
template <class T> bool uses_convolution(std::int64_t n) {
  if (!has_large_factor(n) || first_length<T>(n) != 1 || 2 * n <= kLeastLongFft) return false;
  return n > kLargestRaderRow || has_large_factor(prime_factors(n).back() - 1);
}
// The least length from `least` on of the form 2^a c with few small odd factors in c; long ones are multiples of 16, so
// that their divisors fill the lanes.
std::int64_t smooth_length(std::int64_t least) {
  std::int64_t best = 0;
  for (const std::int64_t c : {1, 3, 5, 9, 15, 25, 27, 45, 75, 81, 125, 135}) {
    std::int64_t m = least < kLeastLongFft ? c : 16 * c;
    while (m < least) m *= 2;
    if (best == 0 || m < best) best = m;
  }
  return best;
}

// True for rows that are transformed in lanes. Those of a long plan are if there are enough of them for the lanes of
// all threads, and if the numbers in the lanes stay in the cache of a core. Both steps of one row of complex numbers of
// single precision up to kLongFloatFft are as fast, because it stays in the first-level cache. The results are the same
// bits.
template <class T> bool goes_in_lanes(const FftPlan<T>& plan, FftKind kind, std::int64_t rows) {
  constexpr std::int64_t lanes = kFftLanes<T>, kLeastGroups = 4;
  if (plan.convolution) return false;
  if (!plan.is_long()) return true;
  if (kind == FftKind::complex && std::is_same_v<T, float> && plan.n <= kLongFloatFft) return false;
  return 6 * plan.n * lanes * std::int64_t(sizeof(T)) <= kCoreCache &&
         rows / lanes >= std::max<std::int64_t>(kLeastGroups, catena::available_threads());
}
// Columns fill the lanes without a transposition, which is worth more than the cache.
template <class T> bool columns_go_in_lanes(const FftPlan<T>& plan) {
  const std::int64_t bytes = 4 * plan.n * kFftLanes<T> * std::int64_t(sizeof(T));
  return !plan.convolution && (!plan.is_long() || bytes <= 2 * kCoreCache);
}

template <class T> FftRows<T> complex_rows(const T* in, T* out, std::int64_t rows, bool inverse, T scale) {
  return {FftKind::complex, in, out, rows, inverse, scale, false};
}

std::int64_t power_modulo(std::int64_t base, std::int64_t exponent, std::int64_t p) {
  unsigned __int128 result = 1, square = static_cast<unsigned __int128>(base);
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0) result = result * square % static_cast<unsigned __int128>(p);
    square = square * square % static_cast<unsigned __int128>(p);
  }
  return static_cast<std::int64_t>(result);
}
// The least number whose powers modulo the prime p are all of 1 ... p - 1.
std::int64_t generator_modulo(std::int64_t p) {
  const std::vector<std::int64_t> factors = prime_factors(p - 1);
  for (std::int64_t g = 2;; ++g)
    if (std::none_of(factors.begin(), factors.end(),
                     [&](std::int64_t q) { return power_modulo(g, (p - 1) / q, p) == 1; }))
      return g;
}

}  // namespace

template <class T> FftStages<T>::FftStages(std::int64_t length) : n(length) {
  std::vector<std::int64_t> radices;
  std::int64_t rest = n;
  // 16 = 4 * 4 takes fewer operations than 8 * 2.
  for (; rest % 8 == 0 && rest % 32 != 16; rest /= 8) radices.push_back(8);
  for (; rest % 4 == 0; rest /= 4) radices.push_back(4);
  for (const std::int64_t p : prime_factors(rest)) radices.push_back(p);
  std::int64_t now = n;
  for (const std::int64_t radix : radices) {
    Stage of{radix, {}, {}};
    const Turns turns(now);
    for (std::int64_t j = 0; j < now / radix; ++j)
      for (std::int64_t k = 1; k < radix; ++k) append(of.twiddles, turns[j * k]);
    if (radix > kLargestFftFactor) {
      of.rader = std::make_shared<const FftRader<T>>(radix);
      spare = std::max(spare, 4 * of.rader->convolution.n);
    } else if (radix % 2 != 0) {
      for (std::int64_t l = 0; l < radix; ++l) append(of.roots, turn(l, radix));
    }
    stages.push_back(std::move(of));
    now /= radix;
  }
}

template <class T> std::size_t FftStages<T>::numbers() const noexcept {
  std::size_t count = 0;
  for (const Stage& of : stages) {
    count += of.twiddles.size() + of.roots.size();
    if (of.rader) count += of.rader->convolution.numbers() + of.rader->spectrum.size() + of.rader->input.size();
  }
  return count;
}

template <class T>
FftRader<T>::FftRader(std::int64_t p) : convolution(has_large_factor(p - 1) ? smooth_length(2 * p - 3) : p - 1) {
  const std::int64_t n = p - 1, m = convolution.n, g = generator_modulo(p), inverse = power_modulo(g, p - 2, p);
  for (std::int64_t a = 0, power = 1; a < n; ++a, power = power * g % p) input.push_back(std::int32_t(power));
  for (std::int64_t a = 0, power = 1; a < n; ++a, power = power * inverse % p) output.push_back(std::int32_t(power));
  // Periodic in n; a longer convolution reads the numbers at the places 0 ... n - 1 and -(n - 1) ... -1.
  std::vector<T> factors(static_cast<std::size_t>(2 * m));
  for (std::int64_t c = 0; c < n; ++c) {
    const Turn t = turn(output[static_cast<std::size_t>(c)], p);
    for (const std::int64_t at : {c, c == 0 ? 0 : m - n + c}) {
      factors[static_cast<std::size_t>(2 * at)] = static_cast<T>(t.re / static_cast<double>(m));
      factors[static_cast<std::size_t>(2 * at + 1)] = static_cast<T>(t.im / static_cast<double>(m));
    }
  }
  spectrum.resize(factors.size());
  transform_rows<T>(FftPlan<T>(m), complex_rows<T>(factors.data(), spectrum.data(), 1, false, T(1)));
}

template <class T>
FftPlan<T>::FftPlan(std::int64_t length) : n(length), n1(first_length<T>(n)), n2(n / n1), first(n1), second(n2) {
  constexpr std::int64_t lanes = kFftLanes<T>;
  for (std::int64_t k = 0; k <= n / 2; ++k) append(half_turns, turn(k, 2 * n));
  if (is_long()) {
    const Turns turns(n);
    const std::int64_t groups = (n2 + lanes - 1) / lanes;
    for (std::int64_t group = 0; group < groups; ++group)
      for (std::int64_t k = 0; k < n1; ++k)
        for (std::int64_t j = group * lanes; j < (group + 1) * lanes; ++j) {
          const Turn t = turns[k * j];
          twiddle_re.push_back(static_cast<T>(t.re));
          twiddle_im.push_back(static_cast<T>(t.im));
        }
  }
  if (uses_convolution<T>(n)) {
    const std::int64_t m = smooth_length(2 * n - 1);
    convolution = std::make_shared<const FftPlan>(m);
    std::vector<T> conjugate(static_cast<std::size_t>(2 * m));
    for (std::int64_t j = 0; j < n; ++j) {
      // j * j modulo 2 n, without overflow.
      const auto square =
          static_cast<std::int64_t>(static_cast<unsigned __int128>(j) * static_cast<unsigned __int128>(j) %
                                    static_cast<unsigned __int128>(2 * n));
      const Turn t = turn(square, 2 * n);
      append(chirp, t);
      for (const std::int64_t at : {j, j == 0 ? 0 : m - j}) {
        conjugate[static_cast<std::size_t>(2 * at)] = static_cast<T>(t.re / static_cast<double>(m));
        conjugate[static_cast<std::size_t>(2 * at + 1)] = static_cast<T>(-t.im / static_cast<double>(m));
      }
    }
    chirp_transform.resize(conjugate.size());
    transform_rows<T>(*convolution, complex_rows<T>(conjugate.data(), chirp_transform.data(), 1, false, T(1)));
  }
}

template <class T> std::size_t FftPlan<T>::bytes() const noexcept {
  const std::size_t numbers = twiddle_re.size() * 2 + chirp.size() + chirp_transform.size() + half_turns.size() +
                              first.numbers() + second.numbers();
  return numbers * sizeof(T) + (convolution ? convolution->bytes() : 0);
}

namespace {

template <class T> T* numbers_of(const Workspace& w) { return reinterpret_cast<T*>(w.data()); }

// Bluestein's algorithm for one row. jk = (j^2 + k^2 - (k - j)^2) / 2, so the transform is the product of a chirp and
// a convolution with its conjugate. The inverse exchanges real and imaginary parts.
template <class T> void convolve(const FftPlan<T>& plan, const T* in, T* out, bool inverse, T scale, T* a, T* b) {
  const std::int64_t n = plan.n, m = plan.convolution->n;
  fft_products(in, plan.chirp.data(), a, n, inverse, false);
  std::fill(a + 2 * n, a + 2 * m, T(0));
  transform_rows<T>(*plan.convolution, complex_rows<T>(a, b, 1, false, T(1)));
  fft_products(b, plan.chirp_transform.data(), b, m, false, false);
  transform_rows<T>(*plan.convolution, complex_rows<T>(b, a, 1, true, scale));
  fft_products(a, plan.chirp.data(), out, n, false, inverse);
}

// Both steps of a long transform: first(begin, end, between, scratch) for groups of lanes, then finish likewise.
template <class T, class First, class Finish>
void two_steps(const FftPlan<T>& plan, FftGroups groups, First first, Finish finish) {
  const Workspace between(static_cast<std::size_t>(2 * plan.n) * sizeof(T));
  const auto scratch_bytes = static_cast<std::size_t>(fft_scratch(plan)) * sizeof(T);
  const auto grain = [&](std::int64_t count) { return std::max<std::int64_t>(1, kFftGrain * count / plan.n); };
  catena::parallel_for(groups.columns, grain(groups.columns), [&](std::int64_t begin, std::int64_t end) {
    const Workspace scratch(scratch_bytes);
    first(begin, end, numbers_of<T>(between), numbers_of<T>(scratch));
  });
  catena::parallel_for(groups.finish, grain(groups.finish), [&](std::int64_t begin, std::int64_t end) {
    const Workspace scratch(scratch_bytes);
    finish(begin, end, numbers_of<T>(between), numbers_of<T>(scratch));
  });
}

template <class T> void transform_long(const FftPlan<T>& plan, const T* in, T* out, bool inverse, T scale) {
  constexpr std::int64_t lanes = kFftLanes<T>;
  two_steps(
      plan, {(plan.n2 + lanes - 1) / lanes, (plan.n1 + lanes - 1) / lanes},
      [&](std::int64_t begin, std::int64_t end, T* between, T* scratch) {
        fft_columns(plan, in, between, begin, end, inverse, scratch);
      },
      [&](std::int64_t begin, std::int64_t end, T* between, T* scratch) {
        fft_finish(plan, between, out, begin, end, inverse, scale, scratch);
      });
}

}  // namespace

template <class T> void transform_rows(const FftPlan<T>& plan, const FftRows<T>& all) {
  const bool in_lanes = goes_in_lanes(plan, all.kind, all.rows);
  const std::int64_t n = plan.n, together = in_lanes ? fft_rows_at_once(plan) : 1;
  const std::int64_t groups = (all.rows + together - 1) / together;
  const std::int64_t grain = std::max<std::int64_t>(1, kFftGrain / (n * together));
  const std::int64_t in_length = all.in_length(n), out_length = all.out_length(n);
  // One long row at a time uses all threads; several are distributed.
  if (!in_lanes && plan.is_long() && groups < catena::available_threads()) {
    for (std::int64_t r = 0; r < all.rows; ++r)
      transform_long(plan, all.in + r * in_length, all.out + r * out_length, all.inverse, all.scale);
    return;
  }
  const std::int64_t numbers = plan.convolution ? 4 * plan.convolution->n : in_lanes ? fft_lanes_scratch(plan) : 0;
  const std::int64_t of_group = together * in_length * std::int64_t(sizeof(T));
  const bool ahead = groups * of_group >= kFetchedTransposed && of_group <= kFetchedFftGroup;
  catena::parallel_for(groups, grain, [&](std::int64_t begin, std::int64_t end) {
    const Workspace scratch(static_cast<std::size_t>(numbers) * sizeof(T));
    T* const s = numbers_of<T>(scratch);
    for (std::int64_t r = begin * together; r < std::min(end * together, all.rows); r += together) {
      const T* const from = all.in + r * in_length;
      T* const to = all.out + r * out_length;
      if (plan.convolution) convolve(plan, from, to, all.inverse, all.scale, s, s + numbers / 2);
      else if (!in_lanes) transform_long(plan, from, to, all.inverse, all.scale);
      else
        fft_rows_in_lanes(plan, {all.kind, from, to, std::min(together, all.rows - r), all.inverse, all.scale, ahead},
                          s);
    }
  });
}

namespace {

// ---- columns --------------------------------------------------------------------------------------
// Groups of columns are read into the lanes of a short plan, or written as rows first.
template <class T> void transform_columns(const FftPlan<T>& plan, const Fft& f) {
  constexpr std::int64_t lanes = kFftLanes<T>;
  constexpr std::size_t item = 2 * sizeof(T);
  const std::int64_t n = plan.n, columns = f.columns, groups = (columns + lanes - 1) / lanes;
  const bool in_lanes = columns_go_in_lanes(plan);
  const std::int64_t numbers = in_lanes ? fft_lanes_scratch(plan) : 4 * n * lanes;
  const T scale = static_cast<T>(f.scale);
  const auto from_row = columns * std::int64_t(item), row = n * std::int64_t(item);
  catena::parallel_for(
      f.rows / columns * groups, std::max<std::int64_t>(1, kFftGrain / (n * lanes)),
      [&](std::int64_t begin, std::int64_t end) {
        const Workspace scratch(static_cast<std::size_t>(numbers) * sizeof(T));
        for (std::int64_t b = begin; b < end; ++b) {
          const std::int64_t column = b % groups * lanes, count = std::min(lanes, columns - column);
          const std::int64_t offset = (b / groups * n * columns + column) * std::int64_t(item);
          if (in_lanes) {
            fft_columns_in_lanes(plan, reinterpret_cast<const T*>(f.in + offset), reinterpret_cast<T*>(f.out + offset),
                                 columns, count, f.inverse, scale, numbers_of<T>(scratch));
            continue;
          }
          std::byte *const rows = scratch.data(), *const results = rows + lanes * row;
          transpose_block(rows, row, f.in + offset, from_row, count, n, item);
          transform_rows<T>(plan, complex_rows<T>(reinterpret_cast<const T*>(rows), reinterpret_cast<T*>(results),
                                                  count, f.inverse, scale));
          transpose_block(f.out + offset, from_row, results, row, n, count, item);
        }
      });
}

// ---- real transforms ------------------------------------------------------------------------------
// One row of complex numbers, which are pairs of real ones.
template <class T> Number<T> number_at(const T* p, std::int64_t k) { return {p[2 * k], p[2 * k + 1]}; }
template <class T> void set_number(T* p, std::int64_t k, Number<T> z) { p[2 * k] = z.re, p[2 * k + 1] = z.im; }
template <class T> void split_row(const FftPlan<T>& plan, const T* z, T scale, T* x) {
  const std::int64_t h = plan.n;
  for (std::int64_t k = 0; 2 * k <= h; ++k) {
    const auto both = split_halves(number_at(z, k), number_at(z, k == 0 ? 0 : h - k),
                                   number_at(plan.half_turns.data(), k), scale / 2);
    set_number(x, k, both.at);
    set_number(x, h - k, both.opposite);
  }
  x[1] = x[2 * h + 1] = 0;
}
template <class T> void join_row(const FftPlan<T>& plan, const T* x, T* z) {
  const std::int64_t h = plan.n;
  for (std::int64_t k = 0; 2 * k <= h; ++k) {
    // The first and the last number are real.
    Number<T> at = number_at(x, k), opposite = number_at(x, h - k), w = number_at(plan.half_turns.data(), k);
    if (k == 0) at.im = opposite.im = 0;
    w.im = -w.im;
    const auto both = join_halves(at, opposite, w);
    set_number(z, k, both.at);
    if (k > 0) set_number(z, h - k, both.opposite);
  }
}

// Rows of an odd length; false if the plan has no form for real numbers.
template <class T>
bool transform_odd(const FftPlan<T>& plan, const T* in, T* out, std::int64_t rows, bool inverse, T scale) {
  const auto& stages = plan.second.stages;
  if (plan.convolution || (!plan.is_long() && !stages.empty() && stages[0].rader)) return false;
  const std::int64_t n = plan.n, from = inverse ? n + 1 : n, to = inverse ? n : n + 1;
  if (plan.is_long()) {
    for (std::int64_t r = 0; r < rows; ++r)
      two_steps(
          plan, fft_real_groups(plan, inverse),
          [&](std::int64_t begin, std::int64_t end, T* between, T* scratch) {
            fft_real_columns(plan, in + r * from, between, begin, end, inverse, scratch);
          },
          [&](std::int64_t begin, std::int64_t end, T* between, T* scratch) {
            fft_real_finish(plan, between, out + r * to, begin, end, inverse, scale, scratch);
          });
    return true;
  }
  const Workspace scratch(static_cast<std::size_t>(fft_scratch(plan)) * sizeof(T));
  constexpr std::int64_t lanes = kFftLanes<T>;
  for (std::int64_t r = 0; r < rows; r += lanes)
    fft_real_rows(plan, in + r * from, out + r * to, std::min(lanes, rows - r), inverse, scale, numbers_of<T>(scratch));
  return true;
}

// Rows of an even length n, as half as many complex numbers. `memory` has rows n numbers.
template <class T>
void even_rows(const FftPlan<T>& plan, const T* in, T* out, std::int64_t rows, bool inverse, T scale, T* memory) {
  const std::int64_t length = plan.n, half = length + 1;
  if (inverse) {
    for (std::int64_t r = 0; r < rows; ++r) join_row(plan, in + 2 * r * half, memory + 2 * r * length);
    transform_rows<T>(plan, complex_rows<T>(memory, out, rows, true, scale));
  } else {
    transform_rows<T>(plan, complex_rows<T>(in, memory, rows, false, T(1)));
    for (std::int64_t r = 0; r < rows; ++r) split_row(plan, memory + 2 * r * length, scale, out + 2 * r * half);
  }
}

// Rows of any length as complex numbers. `memory` has 4 rows n numbers.
template <class T>
void whole_rows(const FftPlan<T>& plan, const T* in, T* out, std::int64_t rows, bool inverse, T scale, T* memory) {
  const std::int64_t n = plan.n, half = n / 2 + 1;
  T *const a = memory, *const b = memory + 2 * rows * n;
  if (inverse) {
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t k = 0; k < half; ++k) {
        Number<T> x = number_at(in, r * half + k);
        if (k == 0) x.im = 0;  // the first number is real
        else set_number(a, r * n + n - k, Number<T>{x.re, -x.im});
        set_number(a, r * n + k, x);
      }
    transform_rows<T>(plan, complex_rows<T>(a, b, rows, true, scale));
    for (std::int64_t i = 0; i < rows * n; ++i) out[i] = b[2 * i];
  } else {
    for (std::int64_t i = 0; i < rows * n; ++i) set_number(a, i, Number<T>{in[i], 0});
    transform_rows<T>(plan, complex_rows<T>(a, b, rows, false, scale));
    for (std::int64_t r = 0; r < rows; ++r) std::copy_n(b + 2 * r * n, 2 * half, out + 2 * r * half);
  }
}

template <class T> void real_rows(const Fft& f, const FftPlan<T>& plan, std::int64_t begin, std::int64_t rows) {
  const bool forward = f.kind == FftKind::real_to_complex, even = f.n % 2 == 0;
  const std::int64_t n = f.n, half = n / 2 + 1;
  const T scale = static_cast<T>(f.scale);
  const T* in = reinterpret_cast<const T*>(f.in) + begin * (forward ? n : 2 * half);
  T* out = reinterpret_cast<T*>(f.out) + begin * (forward ? 2 * half : n);
  if (!even && transform_odd(plan, in, out, rows, !forward, scale)) return;
  const Workspace memory(static_cast<std::size_t>((even ? 2 : 4) * rows * plan.n) * sizeof(T));
  if (even) even_rows(plan, in, out, rows, !forward, scale, numbers_of<T>(memory));
  else whole_rows(plan, in, out, rows, !forward, scale, numbers_of<T>(memory));
}

// ---- plans ----------------------------------------------------------------------------------------
template <class T> std::shared_ptr<const FftPlan<T>> plan_of(std::int64_t n) {
  const internal::FftPlanKey key{
      .dtype = std::is_same_v<T, float> ? catena::Dtype::complex64 : catena::Dtype::complex128, .lengths = {1, 1, n}};
  return internal::fft_plans({catena::Device::Kind::cpu, 0}).get<FftPlan<T>>(key, [n] {
    auto plan = std::make_shared<FftPlan<T>>(n);
    const std::size_t bytes = plan->bytes();
    return std::pair(std::move(plan), bytes);
  });
}

template <class T> void run_as(const Fft& f) {
  const bool halves = f.kind != FftKind::complex && f.n % 2 == 0;
  const auto plan = plan_of<T>(halves ? f.n / 2 : f.n);
  if (f.columns > 1) return transform_columns(*plan, f);
  if (f.kind == FftKind::complex || (halves && goes_in_lanes(*plan, f.kind, f.rows))) {
    transform_rows<T>(*plan, {f.kind, reinterpret_cast<const T*>(f.in), reinterpret_cast<T*>(f.out), f.rows, f.inverse,
                              static_cast<T>(f.scale), false});
    return;
  }
  // A few rows at a time, so that what lies between the steps stays in a cache, and all lanes have one, or two of an
  // odd length; one long row uses all threads.
  const std::int64_t least = plan->is_long() ? 1 : halves ? kFftLanes<T> : 2 * kFftLanes<T>;
  const std::int64_t together = std::max<std::int64_t>(least, kFftGrain / f.n / least * least);
  const std::int64_t groups = (f.rows + together - 1) / together;
  const auto some = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin * together; r < std::min(end * together, f.rows); r += together)
      real_rows<T>(f, *plan, r, std::min(together, f.rows - r));
  };
  if (groups == 1) some(0, 1);
  else catena::parallel_for(groups, 1, some);
}

}  // namespace

void run(const Fft& f) {
  if (f.dtype == catena::Dtype::complex64) run_as<float>(f);
  else run_as<double>(f);
}

template struct FftStages<float>;
template struct FftStages<double>;
template struct FftRader<float>;
template struct FftRader<double>;
template struct FftPlan<float>;
template struct FftPlan<double>;

}  // namespace nd::cpu
