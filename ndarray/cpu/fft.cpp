// Fourier transforms on the CPU: plans, real transforms, and the distribution of rows over threads.
#include <catena/ndarray/cpu/fft.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/fft.h>
#include <catena/kernels/turn.h>
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
  for (; rest % 8 == 0 && rest != 16; rest /= 8) radices.push_back(8);
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
  transform_rows(FftPlan<T>(m), factors.data(), spectrum.data(), 1, false, T(1));
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
    transform_rows(*convolution, conjugate.data(), chirp_transform.data(), 1, false, T(1));
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
  transform_rows(*plan.convolution, a, b, 1, false, T(1));
  fft_products(b, plan.chirp_transform.data(), b, m, false, false);
  transform_rows(*plan.convolution, b, a, 1, true, scale);
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

template <class T>
void transform_rows(const FftPlan<T>& plan, const T* in, T* out, std::int64_t rows, bool inverse, T scale) {
  constexpr std::int64_t lanes = kFftLanes<T>;
  const std::int64_t n = plan.n, together = plan.is_long() || plan.convolution ? 1 : lanes;
  const std::int64_t groups = (rows + together - 1) / together;
  const std::int64_t grain = std::max<std::int64_t>(1, kFftGrain / (n * together));
  // One long row at a time uses all threads; several are distributed.
  if (groups < catena::available_threads() && plan.is_long()) {
    for (std::int64_t r = 0; r < rows; ++r) transform_long(plan, in + 2 * r * n, out + 2 * r * n, inverse, scale);
    return;
  }
  const std::int64_t numbers = plan.convolution ? 4 * plan.convolution->n : fft_scratch(plan);
  catena::parallel_for(groups, grain, [&](std::int64_t begin, std::int64_t end) {
    const Workspace scratch(static_cast<std::size_t>(numbers) * sizeof(T));
    T* const s = numbers_of<T>(scratch);
    for (std::int64_t r = begin * together; r < std::min(end * together, rows); r += together) {
      const T* const from = in + 2 * r * n;
      T* const to = out + 2 * r * n;
      if (plan.convolution) convolve(plan, from, to, inverse, scale, s, s + numbers / 2);
      else if (plan.is_long()) transform_long(plan, from, to, inverse, scale);
      else fft_short(plan, from, to, std::min(together, rows - r), inverse, scale, s);
    }
  });
}

namespace {

// ---- real transforms ------------------------------------------------------------------------------
// From the transform z of h complex numbers, made of pairs of real ones, the h + 1 numbers of the transform of the real
// ones: x[k] = e + w^k o with e = (z[k] + z*[h - k]) / 2, o = (z[k] - z*[h - k]) / 2i, w = exp(-2 pi i / 2h).
template <class T> void split_halves(const FftPlan<T>& plan, const T* z, T* x) {
  const std::int64_t h = plan.n;
  for (std::int64_t k = 0; 2 * k <= h; ++k) {
    const std::int64_t l = h - k, from = k == 0 ? 0 : l;
    const T a = z[2 * k], b = z[2 * k + 1], c = z[2 * from], d = -z[2 * from + 1];
    const T e_re = (a + c) / 2, e_im = (b + d) / 2, o_re = (b - d) / 2, o_im = (c - a) / 2;
    const T w_re = plan.half_turns[static_cast<std::size_t>(2 * k)],
            w_im = plan.half_turns[static_cast<std::size_t>(2 * k + 1)];
    const T t_re = w_re * o_re - w_im * o_im, t_im = w_re * o_im + w_im * o_re;
    x[2 * k] = e_re + t_re, x[2 * k + 1] = e_im + t_im;
    x[2 * l] = e_re - t_re, x[2 * l + 1] = t_im - e_im;
  }
  x[1] = x[2 * h + 1] = 0;
}
// The reverse, times 2: z[k] = (x[k] + x*[h - k]) + i (x[k] - x*[h - k]) w^-k.
template <class T> void join_halves(const FftPlan<T>& plan, const T* x, T* z) {
  const std::int64_t h = plan.n;
  for (std::int64_t k = 0; 2 * k <= h; ++k) {
    const std::int64_t l = h - k;
    // The first and the last number are real.
    const T a = x[2 * k], b = k == 0 ? T(0) : x[2 * k + 1], c = x[2 * l], d = k == 0 ? T(0) : -x[2 * l + 1];
    const T e_re = a + c, e_im = b + d, p_re = a - c, p_im = b - d;
    const T w_re = plan.half_turns[static_cast<std::size_t>(2 * k)],
            w_im = -plan.half_turns[static_cast<std::size_t>(2 * k + 1)];
    const T o_re = p_re * w_re - p_im * w_im, o_im = p_re * w_im + p_im * w_re;
    z[2 * k] = e_re - o_im, z[2 * k + 1] = e_im + o_re;
    if (k > 0 && l != k) z[2 * l] = e_re + o_im, z[2 * l + 1] = o_re - e_im;
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

template <class T> void real_rows(const Fft& f, const FftPlan<T>& plan, std::int64_t begin, std::int64_t rows) {
  const bool forward = f.kind == FftKind::real_to_complex, even = f.n % 2 == 0;
  const std::int64_t n = f.n, half = n / 2 + 1, length = plan.n;
  const T scale = static_cast<T>(f.scale);
  const T* in = reinterpret_cast<const T*>(f.in) + begin * (forward ? n : 2 * half);
  T* out = reinterpret_cast<T*>(f.out) + begin * (forward ? 2 * half : n);
  if (!even && transform_odd(plan, in, out, rows, !forward, scale)) return;
  const Workspace memory(static_cast<std::size_t>(4 * rows * length) * sizeof(T));
  T *const a = numbers_of<T>(memory), *const b = a + 2 * rows * length;
  if (forward) {
    if (even) {
      transform_rows(plan, in, b, rows, false, scale);
      for (std::int64_t r = 0; r < rows; ++r) split_halves(plan, b + 2 * r * length, out + 2 * r * half);
    } else {
      for (std::int64_t i = 0; i < rows * n; ++i) a[2 * i] = in[i], a[2 * i + 1] = 0;
      transform_rows(plan, a, b, rows, false, scale);
      for (std::int64_t r = 0; r < rows; ++r) std::copy_n(b + 2 * r * n, 2 * half, out + 2 * r * half);
    }
  } else if (even) {
    for (std::int64_t r = 0; r < rows; ++r) join_halves(plan, in + 2 * r * half, a + 2 * r * length);
    transform_rows(plan, a, out, rows, true, scale);
  } else {
    for (std::int64_t r = 0; r < rows; ++r) {
      const T* const x = in + 2 * r * half;
      T* const whole = a + 2 * r * n;
      whole[0] = x[0], whole[1] = 0;
      for (std::int64_t k = 1; k < half; ++k) {
        whole[2 * k] = whole[2 * (n - k)] = x[2 * k];
        whole[2 * k + 1] = x[2 * k + 1], whole[2 * (n - k) + 1] = -x[2 * k + 1];
      }
    }
    transform_rows(plan, a, b, rows, true, scale);
    for (std::int64_t i = 0; i < rows * n; ++i) out[i] = b[2 * i];
  }
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
  if (f.kind == FftKind::complex) {
    transform_rows(*plan, reinterpret_cast<const T*>(f.in), reinterpret_cast<T*>(f.out), f.rows, f.inverse,
                   static_cast<T>(f.scale));
    return;
  }
  // A few rows at a time, so that what lies between the steps stays in a cache; one long row uses all threads.
  const std::int64_t together = std::max<std::int64_t>(plan->is_long() ? 1 : kFftLanes<T>, kFftGrain / f.n);
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
