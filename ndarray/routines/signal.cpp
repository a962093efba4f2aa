#include <catena/ndarray/routines/signal.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/array_like.h>
#include <catena/ndarray/routines/fft.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/loops_signal.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>

namespace nd {
namespace {

using catena::check;

// ---- direct convolution ---------------------------------------------------------------------------
// Elements [lo, hi) of the convolution of a (n) and v (m), n >= m.
struct SumRange {
  std::int64_t lo, hi;
  std::int64_t length() const { return hi - lo; }
};

// Bools are counted as integers, integers computed modulo 2^32 or 2^64, 16-bit floats as float32.
Dtype dtype_of_products(Dtype t) {
  if (t == Dtype::int64 || t == Dtype::uint64) return Dtype::uint64;
  if (t == Dtype::bool_ || catena::is_integer(t)) return Dtype::uint32;
  return catena::compute_dtype(t);
}

// One pass for each sample of v.
Array by_samples(const Array& a, const Array& v, SumRange range) {
  const Array out = zeros_like(a, {.shape = Shape{range.length()}});
  for (std::int64_t k = 0; k < v.size(); ++k) {
    const std::int64_t begin = std::max(range.lo, k), end = std::min(range.hi, k + a.size());
    if (begin < end) out(Slice(begin - range.lo, end - range.lo)) += a(Slice(begin - k, end - k)) * v(k);
  }
  return out;
}

// ---- by transforms --------------------------------------------------------------------------------
// The least product of 2, 3 and 5 that is not smaller, even.
std::int64_t transform_length(std::int64_t n) {
  std::int64_t best = 2;
  while (best < n) best *= 2;
  for (std::int64_t five = 1; five <= 25; five *= 5)
    for (std::int64_t odd = five; odd <= 9 * five; odd *= 3) {
      std::int64_t length = 2 * odd;
      while (length < n) length *= 2;
      best = std::min(best, length);
    }
  return best;
}

Array by_transforms(const Array& a, const Array& v, SumRange range) {
  const std::int64_t n = transform_length(a.size() + v.size() - 1);
  const bool complex = catena::is_complex_dtype(a.dtype());
  Array product = complex ? fft::fft(a, n) : fft::rfft(a, n);
  product *= complex ? fft::fft(v, n) : fft::rfft(v, n);
  const Array all = complex ? fft::ifft(product) : fft::irfft(product, n);
  return internal::contiguous(all(Slice(range.lo, range.hi)));
}

// Whether transforms take fewer operations than sums of products.
bool transforms_are_faster(const Array& a, const Array& v, Dtype working) {
  if (catena::is_exact(working)) return false;
  const double n = static_cast<double>(transform_length(a.size() + v.size() - 1));
  return static_cast<double>(a.size()) * static_cast<double>(v.size()) > 16 * n * std::log2(n) + 50000;
}

bool all_finite(const Array& a) { return bool(isfinite(a).all()); }

// a is not shorter than v.
Array convolution(const Array& a_in, const Array& v_in, SumRange range) {
  const Dtype result = catena::promote_types(a_in.dtype(), v_in.dtype());
  const auto as = [&](const Array& x, Dtype t) { return internal::contiguous(x.astype(t, {.copy = false})); };
  const Dtype working = dtype_of_products(result);
  if (transforms_are_faster(a_in, v_in, working) && all_finite(a_in) && all_finite(v_in))
    return by_transforms(as(a_in, working), as(v_in, working), range).astype(result, {.copy = false});
  if (a_in.device().kind == Device::Kind::cpu) {
    const Array out(internal::new_array(Shape{range.length()}, working, a_in.device(), "convolve"));
    internal::convolve_samples(as(a_in, working), as(v_in, working), range.lo, out);
    return out.astype(result, {.copy = false});
  }
  const Dtype on_device = catena::compute_dtype(result);
  return by_samples(as(a_in, on_device), as(v_in, on_device), range).astype(result, {.copy = false});
}

Array checked_signal(std::string_view op, const Array& a, std::string_view name) {
  check<ValueError>(a.ndim() <= 1, op, name, " has the shape ", a.shape(), ", must have rank 1");
  check<ValueError>(a.size() > 0, op, name, " has no samples");
  return a.ravel();
}

// The range of a mode. Of an even number of samples, there is one more before the middle, or behind it if `late`.
SumRange range_of_mode(std::string_view op, std::string_view mode, std::int64_t n, std::int64_t m, bool late) {
  const std::int64_t longer = std::max(n, m), shorter = std::min(n, m);
  if (mode == "full") return {0, n + m - 1};
  if (mode == "valid") return {shorter - 1, longer};
  check<ValueError>(mode == "same", op, "mode is '", mode, "', must be 'full', 'same' or 'valid'");
  const std::int64_t first = late ? shorter / 2 : (shorter - 1) / 2;
  return {first, first + longer};
}

// ---- windows --------------------------------------------------------------------------------------
// pi r for the samples of a window.
Array turns(std::int64_t M) { return arange(1 - M, M, 2) * (std::numbers::pi / static_cast<double>(M - 1)); }

Array short_window(std::int64_t M) { return ones(std::max<std::int64_t>(M, 0)); }

// I0(x) for x = beta sqrt(q), by its power series in q (beta / 2)^2, of which all terms are positive.
class BesselI0 {
 public:
  explicit BesselI0(double beta) : square_(beta * beta / 4) {
    double term = 1, sum = 1;
    for (double k = 1; std::isfinite(term) && term > sum * std::numeric_limits<double>::epsilon() / 4; ++k) {
      inverse_.push_back(1 / (k * k));
      term *= square_ * inverse_.back();
      sum += term;
    }
  }
  double operator()(double q) const {
    double term = 1, sum = 1;
    for (const double inverse : inverse_) {
      term *= q * square_ * inverse;
      sum += term;
    }
    return sum;
  }

 private:
  double square_;
  std::vector<double> inverse_;
};

}  // namespace

Array convolve(const ArrayLike& a_in, const ArrayLike& v_in, const ConvolveOptions& options) try {
  const auto [x, y] = internal::on_one_device("convolve", a_in, v_in);
  const Array a = checked_signal("convolve", x, "a"), v = checked_signal("convolve", y, "v");
  const SumRange range = range_of_mode("convolve", options.mode, a.size(), v.size(), false);
  return a.size() < v.size() ? convolution(v, a, range) : convolution(a, v, range);
} catch (...) {
  internal::rethrow_out_of_memory("convolve");
}

Array correlate(const ArrayLike& a_in, const ArrayLike& v_in, const CorrelateOptions& options) try {
  const auto [x, y] = internal::on_one_device("correlate", a_in, v_in);
  const Array a = checked_signal("correlate", x, "a"), v = checked_signal("correlate", y, "v");
  const bool swapped = a.size() < v.size();
  const SumRange range = range_of_mode("correlate", options.mode, a.size(), v.size(), swapped);
  const Array reversed = flip(catena::is_complex_dtype(v.dtype()) ? conjugate(v) : v, 0);
  return swapped ? convolution(reversed, a, range) : convolution(a, reversed, range);
} catch (...) {
  internal::rethrow_out_of_memory("correlate");
}

Array bartlett(std::int64_t M) {
  if (M < 2) return short_window(M);
  const Array r = absolute(arange(1 - M, M, 2)) / static_cast<double>(M - 1);
  return subtract(1.0, r, {.out = r});
}
Array blackman(std::int64_t M) {
  if (M < 2) return short_window(M);
  const Array x = turns(M);
  return 0.42 + 0.5 * cos(x) + 0.08 * cos(2.0 * x);
}
Array hamming(std::int64_t M) { return M < 2 ? short_window(M) : 0.54 + 0.46 * cos(turns(M)); }
Array hanning(std::int64_t M) { return M < 2 ? short_window(M) : 0.5 + 0.5 * cos(turns(M)); }

Array kaiser(std::int64_t M, double beta) {
  if (M < 2) return short_window(M);
  const BesselI0 i0(beta);
  const double peak = i0(1);
  std::vector<double> window(static_cast<std::size_t>(M));
  catena::parallel_for((M + 1) / 2, 1024, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const double r = static_cast<double>(2 * k) / static_cast<double>(M - 1) - 1;
      window[static_cast<std::size_t>(k)] = window[static_cast<std::size_t>(M - 1 - k)] = i0(1 - r * r) / peak;
    }
  });
  return array(window);
}

}  // namespace nd
