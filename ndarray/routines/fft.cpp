#include <catena/ndarray/routines/fft.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include <catena/ndarray/cuda/vendor/cufft.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/fft.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/fft_common.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>

namespace nd::fft {

using catena::check;
using catena::ValueError;
using internal::fft_blocks;
using internal::fft_rows;
using internal::FftAxis;
using internal::FftKind;

namespace {

// ---- rows on devices that transform complex numbers of some lengths -------------------------------
Shape with_last(Shape shape, std::int64_t length) {
  shape[shape.size() - 1] = length;
  return shape;
}

// Bluestein's algorithm (1970): j k = (j^2 + k^2 - (k - j)^2) / 2, so the transform is a chirp times the convolution of
// the conjugate chirp with the product of input and chirp.
Array convolve_rows(const Array& a, std::int64_t n, double scale) {
  std::int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  std::vector<std::complex<double>> turns;
  // j^2 modulo 2 n, by differences, which do not overflow.
  for (std::int64_t j = 0, square = 0; j < n; square = (square + 2 * j + 1) % (2 * n), ++j)
    turns.push_back(std::polar(1.0, -std::numbers::pi * static_cast<double>(square) / static_cast<double>(n)));
  const Array chirp = array(turns).astype(a.dtype());
  const Array filter = zeros({m}, {.dtype = a.dtype()});
  filter(Slice(0, n)) = conjugate(chirp);
  filter(Slice(m - n + 1, m)) = conjugate(flip(chirp(Slice(1, {})), 0));
  const Array padded = zeros(with_last(a.shape(), m), {.dtype = a.dtype()});
  padded(ellipsis, Slice(0, n)) = a * chirp;
  const Array product =
      fft_rows(FftKind::complex, padded, m, false, 1) * fft_rows(FftKind::complex, filter, m, false, 1);
  const Array y = fft_rows(FftKind::complex, product, m, true, scale / static_cast<double>(m));
  return y(ellipsis, Slice(0, n)) * chirp;
}

Array complex_rows(const Array& a, std::int64_t n, bool inverse, double scale) {
  if (!catena::bound::has_large_factor(n)) return fft_rows(FftKind::complex, a, n, inverse, scale);
  return inverse ? conjugate(convolve_rows(conjugate(a), n, scale)) : convolve_rows(a, n, scale);
}

// A copy whose rows begin, and for an even n end, with a real number.
Array with_real_ends(const Array& a, std::int64_t n) {
  const Array copy = a.copy();
  copy(ellipsis, 0).imag().fill(0);
  if (n % 2 == 0) copy(ellipsis, -1).imag().fill(0);
  return copy;
}

// Cuda's library does not scale.
bool uses_library(const Array& a) {
  return a.device().kind == Device::Kind::cuda && a.size() != 0 && cuda::uses_cufft();
}
// It reads real numbers in pairs, which are aligned like complex numbers.
Array by_library(FftKind kind, const Array& a, const Shape& lengths, bool inverse, double scale) {
  const auto pair = static_cast<std::uintptr_t>(catena::is_complex_dtype(a.dtype()) ? a.itemsize() : 2 * a.itemsize());
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(a->data) % pair == 0;
  Array out = fft_blocks(kind, is_aligned ? a : a.copy(), lengths, inverse, 1);
  if (scale != 1) out *= scale;
  return out;
}

// Transforms the rows of a C-contiguous array.
Array transform_rows(FftKind kind, const Array& a, std::int64_t n, bool inverse, double scale) {
  if (a.device().kind == Device::Kind::cpu || a.size() == 0) return fft_rows(kind, a, n, inverse, scale);
  const DeviceScope scope(a.device());
  const bool to_real = kind == FftKind::complex_to_real;
  if (uses_library(a)) return by_library(kind, to_real ? with_real_ends(a, n) : a, Shape{n}, inverse, scale);
  if (kind == FftKind::complex) return complex_rows(a, n, inverse, scale);
  const std::int64_t half = n / 2 + 1;
  if (!to_real) {
    const Array x = a.astype(a.dtype() == Dtype::float32 ? Dtype::complex64 : Dtype::complex128);
    return complex_rows(x, n, false, scale)(ellipsis, Slice(0, half));
  }
  const Array first = with_real_ends(a, n);
  const Array rest = flip(conjugate(first(ellipsis, Slice(1, n - half + 1))), -1);
  return complex_rows(concatenate({first, rest}, -1), n, true, scale).real();
}

}  // namespace
}  // namespace nd::fft

namespace nd {

bool internal::is_single_precision(Dtype dtype) {
  return dtype == Dtype::float16 || dtype == Dtype::bfloat16 || dtype == Dtype::float32 || dtype == Dtype::complex64;
}

double internal::fft_scale(std::string_view op, std::string_view norm, double size, bool inverse) {
  catena::check<ValueError>(norm == "backward" || norm == "ortho" || norm == "forward", op, "norm \"", norm,
                            "\" is none of \"backward\", \"ortho\" and \"forward\"");
  if (norm == "ortho") return 1 / std::sqrt(size);
  return (norm == "backward") == inverse ? 1 / size : 1;
}

std::vector<internal::FftAxis> internal::fft_axes(std::string_view op, const Array& a, const std::optional<Shape>& s,
                                                  const Axes& axes) {
  catena::check<TypeError>(!a.is_null(), op, "the array is null");
  Dims wanted = axes.values();
  const int count = s ? s->size() : a.ndim();
  if (!axes.given())
    for (int k = 0; k < count; ++k) wanted.push_back(k - count);
  catena::check<ValueError>(!s || s->size() == wanted.size(), op, "s has ", count, " lengths for ", wanted.size(),
                            " axes");
  std::vector<FftAxis> result;
  for (int k = 0; k < wanted.size(); ++k) {
    result.push_back({catena::normalize_axis(op, wanted[k], a.ndim()), {}});
    if (s && (*s)[k] != -1) result.back().n = (*s)[k];
  }
  return result;
}

Array internal::rows_of_length(const Array& a, std::int64_t length, Dtype dtype) {
  if (a.shape(-1) == length) return ascontiguousarray(a, dtype);
  const DeviceScope scope(a.device());
  Shape shape = a.shape();
  shape.back() = length;
  const Array rows = zeros(shape, {.dtype = dtype});
  const Slice common(0, std::min(a.shape(-1), length));
  if (rows.size() != 0) rows(ellipsis, common) = a(ellipsis, common);
  return rows;
}

}  // namespace nd

namespace nd::fft {
namespace {

// ---- one axis -------------------------------------------------------------------------------------
std::string_view swapped(std::string_view norm) {
  return norm == "backward" ? "forward" : norm == "forward" ? "backward" : norm;
}

void check_length(std::string_view op, std::int64_t n) {
  check<ValueError>(n > 0, op, "the length is ", n, " and should be at least 1");
}

// The dtype of the numbers that a transform of the kind reads.
Dtype input_dtype(FftKind kind, Dtype dtype) {
  const bool single = internal::is_single_precision(dtype);
  if (kind == FftKind::real_to_complex) return single ? Dtype::float32 : Dtype::float64;
  return single ? Dtype::complex64 : Dtype::complex128;
}

// True if the CPU reads the axis where it is. A few numbers behind the axis would not fill its vectors.
bool goes_along_axis(const Array& a, int axis) {
  constexpr std::int64_t kLeastColumns = 8;
  return a.device().kind == Device::Kind::cpu && a.is_c_contiguous() &&
         internal::elements_behind(a.shape(), axis) >= kLeastColumns;
}

Array transform(std::string_view op, FftKind kind, const Array& a, const FftOptions& o, bool inverse) {
  check<catena::TypeError>(!a.is_null(), op, "the array is null");
  check<catena::TypeError>(kind != FftKind::real_to_complex || !catena::is_complex_dtype(a.dtype()), op,
                           "the numbers are ", a.dtype(), "; real ones are needed (fft transforms complex ones)");
  const int axis = catena::normalize_axis(op, o.axis, a.ndim());
  const std::int64_t given = a.shape(axis);
  const std::int64_t n = o.n.value_or(kind == FftKind::complex_to_real ? 2 * (given - 1) : given);
  check_length(op, n);
  const double scale = internal::fft_scale(op, o.norm, static_cast<double>(n), inverse);
  const Dtype dtype = input_dtype(kind, a.dtype());
  if (kind == FftKind::complex && n == given && goes_along_axis(a, axis))
    return internal::fft_along_axis(ascontiguousarray(a, dtype), axis, inverse, scale);
  const std::int64_t wanted = kind == FftKind::complex_to_real ? n / 2 + 1 : n;
  const Array rows = internal::rows_of_length(moveaxis(a, axis, -1), wanted, dtype);
  return ascontiguousarray(moveaxis(transform_rows(kind, rows, n, inverse, scale), -1, axis));
}

// ---- several axes ---------------------------------------------------------------------------------
std::vector<FftAxis> axes_of(std::string_view op, const Array& a, const FftnOptions& o) {
  return internal::fft_axes(op, a, o.s, o.axes);
}
FftnOptions last_two(FftnOptions o) {
  if (!o.axes.given()) o.axes = {-2, -1};
  return o;
}

using SomeAxes = std::span<const FftAxis>;

// The most axes that the library transforms in one call.
constexpr std::size_t kLibraryAxes = 3;

bool are_distinct(SomeAxes axes) {
  for (std::size_t k = 0; k < axes.size(); ++k)
    for (std::size_t l = 0; l < k; ++l)
      if (axes[k].axis == axes[l].axis) return false;
  return true;
}

// Up to kLibraryAxes axes in one call of the library, `complex` or `real_to_complex`.
Array transform_together(std::string_view op, FftKind kind, const Array& a, SomeAxes axes, std::string_view norm,
                         bool inverse) {
  const Dtype dtype = input_dtype(kind, a.dtype());
  Array x = a;
  Dims from, to;
  Shape lengths;
  double scale = 1;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int axis = axes[k].axis;
    const std::int64_t n = axes[k].n.value_or(a.shape(axis));
    if (n != a.shape(axis)) x = moveaxis(internal::rows_of_length(moveaxis(x, axis, -1), n, dtype), -1, axis);
    scale *= internal::fft_scale(op, norm, static_cast<double>(n), inverse);
    lengths.push_back(n);
    from.push_back(axis);
    to.push_back(static_cast<std::int64_t>(k) - static_cast<std::int64_t>(axes.size()));
  }
  const DeviceScope scope(a.device());
  const Array blocks = ascontiguousarray(moveaxis(x, from, to), dtype);
  return ascontiguousarray(moveaxis(by_library(kind, blocks, lengths, inverse, scale), to, from));
}

bool goes_together(std::string_view op, const Array& a, SomeAxes axes) {
  for (const FftAxis& one : axes) check_length(op, one.n.value_or(a.shape(one.axis)));
  return axes.size() > 1 && are_distinct(axes) && uses_library(a);
}

// Complex transforms along the axes, the last one first.
Array complex_axes(std::string_view op, const Array& a, SomeAxes axes, std::string_view norm, bool inverse) {
  Array x = a;
  if (goes_together(op, a, axes)) {
    for (std::size_t end = axes.size(); end > 0;) {
      const std::size_t begin = end - std::min(end, kLibraryAxes);
      x = transform_together(op, FftKind::complex, x, axes.subspan(begin, end - begin), norm, inverse);
      end = begin;
    }
    return x;
  }
  for (std::size_t k = axes.size(); k-- > 0;)
    x = transform(op, FftKind::complex, x, {axes[k].n, axes[k].axis, norm}, inverse);
  return x;
}

Array transform_all(std::string_view op, const Array& a, const FftnOptions& o, bool inverse) {
  const std::vector<FftAxis> axes = axes_of(op, a, o);
  if (axes.empty()) return a.astype(input_dtype(FftKind::complex, a.dtype()));
  return complex_axes(op, a, axes, o.norm, inverse);
}
Array real_forward(std::string_view op, const Array& a, const FftnOptions& o) {
  const std::vector<FftAxis> axes = axes_of(op, a, o);
  check<ValueError>(!axes.empty(), op, "there is no axis to transform");
  const SomeAxes all = axes;
  const bool together = !catena::is_complex_dtype(a.dtype()) && goes_together(op, a, all);
  const std::size_t first = all.size() - (together ? std::min(all.size(), kLibraryAxes) : 1);
  const Array x = together ? transform_together(op, FftKind::real_to_complex, a, all.subspan(first), o.norm, false)
                           : transform(op, FftKind::real_to_complex, a, {all[first].n, all[first].axis, o.norm}, false);
  return complex_axes(op, x, all.first(first), o.norm, false);
}
// The library's transforms to real numbers along several axes need the symmetry of a real signal's spectrum, so only
// the last axis is one of them.
Array real_inverse(std::string_view op, const Array& a, const FftnOptions& o) {
  const std::vector<FftAxis> axes = axes_of(op, a, o);
  check<ValueError>(!axes.empty(), op, "there is no axis to transform");
  const FftAxis last = axes.back();
  const Array x = complex_axes(op, a, SomeAxes(axes).first(axes.size() - 1), o.norm, true);
  return transform(op, FftKind::complex_to_real, x, {last.n, last.axis, o.norm}, true);
}

Array shifted(const Array& x, const Axes& axes, bool back) {
  Array result = x;
  for (const auto axis : catena::normalize_axes(back ? "ifftshift" : "fftshift", axes, x.ndim())) {
    const std::int64_t by = x.shape(static_cast<int>(axis)) / 2;
    result = roll(result, back ? -by : by, static_cast<int>(axis));
  }
  return axes.given() || x.ndim() > 0 ? result : x.copy();
}

}  // namespace

Array fft(const Array& a, const FftOptions& o) { return transform("fft", FftKind::complex, a, o, false); }
Array ifft(const Array& a, const FftOptions& o) { return transform("ifft", FftKind::complex, a, o, true); }
Array rfft(const Array& a, const FftOptions& o) { return transform("rfft", FftKind::real_to_complex, a, o, false); }
Array irfft(const Array& a, const FftOptions& o) { return transform("irfft", FftKind::complex_to_real, a, o, true); }
Array hfft(const Array& a, const FftOptions& o) {
  check<catena::TypeError>(!a.is_null(), "hfft", "the array is null");
  return transform("hfft", FftKind::complex_to_real, conjugate(a), {o.n, o.axis, swapped(o.norm)}, true);
}
Array ihfft(const Array& a, const FftOptions& o) {
  return conjugate(transform("ihfft", FftKind::real_to_complex, a, {o.n, o.axis, swapped(o.norm)}, false));
}

Array fftn(const Array& a, const FftnOptions& o) { return transform_all("fftn", a, o, false); }
Array ifftn(const Array& a, const FftnOptions& o) { return transform_all("ifftn", a, o, true); }
Array rfftn(const Array& a, const FftnOptions& o) { return real_forward("rfftn", a, o); }
Array irfftn(const Array& a, const FftnOptions& o) { return real_inverse("irfftn", a, o); }
Array fft2(const Array& a, const FftnOptions& o) { return transform_all("fft2", a, last_two(o), false); }
Array ifft2(const Array& a, const FftnOptions& o) { return transform_all("ifft2", a, last_two(o), true); }
Array rfft2(const Array& a, const FftnOptions& o) { return real_forward("rfft2", a, last_two(o)); }
Array irfft2(const Array& a, const FftnOptions& o) { return real_inverse("irfft2", a, last_two(o)); }

Array fftfreq(std::int64_t n, double d) {
  check<ValueError>(n > 0, "fftfreq", "the length is ", n, " and should be at least 1");
  return concatenate({arange((n + 1) / 2), arange(-(n / 2), 0)}) * (1 / (static_cast<double>(n) * d));
}
Array rfftfreq(std::int64_t n, double d) {
  check<ValueError>(n > 0, "rfftfreq", "the length is ", n, " and should be at least 1");
  return arange(n / 2 + 1) * (1 / (static_cast<double>(n) * d));
}
Array fftshift(const Array& x, const Axes& axes) { return shifted(x, axes, false); }
Array ifftshift(const Array& x, const Axes& axes) { return shifted(x, axes, true); }

}  // namespace nd::fft
