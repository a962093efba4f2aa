#include <catena/ndarray/routines/cosine_transforms.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/fft_common.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>

namespace nd::fft {
namespace {

using catena::check;
using catena::ValueError;

const Slice kReversed({}, {}, -1);

// exp(i turn k) for k < n, as complex numbers of the precision of `like`.
Array turns(std::int64_t n, double turn, const Array& like) {
  std::vector<std::complex<double>> v;
  for (std::int64_t k = 0; k < n; ++k) v.push_back(std::polar(1.0, turn * static_cast<double>(k)));
  return array(v).astype(like.dtype() == Dtype::float32 ? Dtype::complex64 : Dtype::complex128, {.copy = false});
}
// 1, -1, 1, ...
Array alternating(const Array& like) {
  const Array signs = ones(like.shape(-1), {.dtype = like.dtype()});
  signs(Slice(1, {}, 2)) = -1;
  return signs;
}

// ---- unscaled transforms of rows --------------------------------------------------------------------
Array dct1(const Array& x) { return rfft(concatenate({x, x(ellipsis, Slice(-2, 0, -1))}, -1)).real(); }
// Makhoul: A fast cosine transform in one and two dimensions, IEEE Transactions on Acoustics, Speech, and Signal
// Processing 28(1), 1980: a real transform of the same length, of the even elements and the reversed odd ones.
Array dct2(const Array& x) {
  const std::int64_t n = x.shape(-1), half = n / 2 + 1;
  const Array v = concatenate({x(ellipsis, Slice({}, {}, 2)), x(ellipsis, Slice(1, {}, 2))(ellipsis, kReversed)}, -1);
  const Array w = rfft(v) * turns(half, -std::numbers::pi / (2 * static_cast<double>(n)), x);
  return concatenate({2 * w.real(), -2 * w.imag()(ellipsis, Slice(1, n - half + 1))(ellipsis, kReversed)}, -1);
}
Array dct3(const Array& x) {
  const std::int64_t n = x.shape(-1), half = n / 2 + 1;
  Array w = turns(half, std::numbers::pi / (2 * static_cast<double>(n)), x) * x(ellipsis, Slice(half));
  // The number behind the last one is 0.
  const Array mirrored =
      concatenate({zeros_like(x(ellipsis, Slice(1))), x(ellipsis, Slice(1, {}))(ellipsis, kReversed)}, -1);
  const Array other = turns(half, std::numbers::pi / (2 * static_cast<double>(n)), x) * mirrored(ellipsis, Slice(half));
  w = w - std::complex<double>(0, 1) * other;
  const Array v = irfft(w, {.n = n, .norm = "forward"}), y = empty_like(x);
  y(ellipsis, Slice({}, {}, 2)) = v(ellipsis, Slice((n + 1) / 2));
  y(ellipsis, Slice(1, {}, 2)) = v(ellipsis, Slice((n + 1) / 2, {}))(ellipsis, kReversed);
  return y;
}
// The factor exp(-i pi (2 k + 1)(2 j + 1) / 4 n) is one of k, one of j, and one of a transform of 2 n numbers.
Array dct4(const Array& x) {
  const std::int64_t n = x.shape(-1);
  const double step = std::numbers::pi / (2 * static_cast<double>(n));
  const Array z = fft(x * turns(n, -step, x), {.n = 2 * n})(ellipsis, Slice(n));
  return 2 * (z * (turns(n, -step, x) * std::polar(1.0, -step / 2))).real();
}
Array dst1(const Array& x) {
  const Array zero = zeros_like(x(ellipsis, Slice(1)));
  return -rfft(concatenate({zero, x, zero, -x(ellipsis, kReversed)}, -1)).imag()(ellipsis, Slice(1, x.shape(-1) + 1));
}

Array cosine(int type, const Array& x) {
  switch (type) {
    case 1: return dct1(x);
    case 2: return dct2(x);
    case 3: return dct3(x);
    default: return dct4(x);
  }
}
// Sine transforms are cosine transforms of reversed rows, or give them.
Array sine(int type, const Array& x) {
  if (type == 1) return dst1(x);
  if (type == 2) return dct2(x * alternating(x))(ellipsis, kReversed);
  return cosine(type, x(ellipsis, kReversed)) * alternating(x);
}

// ---- one axis ---------------------------------------------------------------------------------------
enum class Kind { cosine, sine };

// Multiplies the numbers at the ends which the factor sqrt(2) belongs to.
void scale_ends(const Array& rows, bool first, bool last, double factor) {
  if (first) rows(ellipsis, 0) *= factor;
  if (last) rows(ellipsis, -1) *= factor;
}

Array transform_real(Kind kind, int type, const Array& rows, bool orthogonalize, double scale) {
  const bool cosine_kind = kind == Kind::cosine;
  const bool is_input = orthogonalize && (type == 3 || (type == 1 && cosine_kind));
  const bool is_output = orthogonalize && (type == 2 || (type == 1 && cosine_kind));
  const bool first = cosine_kind, last = !cosine_kind || type == 1;
  const Array x = is_input ? rows.copy() : rows;
  if (is_input) scale_ends(x, first, last, std::numbers::sqrt2);
  const Array y = (cosine_kind ? cosine(type, x) : sine(type, x)) * scale;
  if (is_output) scale_ends(y, first, last, 1 / std::numbers::sqrt2);
  return y;
}

Array transform(std::string_view op, Kind kind, const Array& a, const DctOptions& o, bool inverse) try {
  check<catena::TypeError>(!a.is_null(), op, "the array is null");
  check<ValueError>(o.type >= 1 && o.type <= 4, op, "the type is ", o.type, " and should be 1, 2, 3 or 4");
  const int axis = catena::normalize_axis(op, o.axis, a.ndim());
  const std::int64_t n = o.n.value_or(a.shape(axis)), least = kind == Kind::cosine && o.type == 1 ? 2 : 1;
  check<ValueError>(n >= least, op, "the length is ", n, " and should be at least ", least);
  const std::int64_t rest = o.type != 1 ? 0 : kind == Kind::cosine ? -1 : 1;
  const double scale = internal::fft_scale(op, o.norm, 2 * static_cast<double>(n + rest), inverse);
  const bool orthogonalize = o.orthogonalize.value_or(o.norm == "ortho");
  const int type = inverse && (o.type == 2 || o.type == 3) ? 5 - o.type : o.type;
  const bool complex = catena::is_complex_dtype(a.dtype());
  const Dtype real = internal::is_single_precision(a.dtype()) ? Dtype::float32 : Dtype::float64;
  const DeviceScope scope(a.device());
  const auto transformed = [&](const Array& part) {
    return transform_real(kind, type, internal::rows_of_length(part, n, real), orthogonalize, scale);
  };
  const Array rows = moveaxis(a, axis, -1);
  Array result;
  if (complex) {
    result = empty(rows.shape(), real == Dtype::float32 ? Dtype::complex64 : Dtype::complex128);
    if (rows.shape(-1) != n) result = internal::rows_of_length(result, n, result.dtype());
    internal::assign(op, result.real(), transformed(rows.real()));
    internal::assign(op, result.imag(), transformed(rows.imag()));
  } else {
    result = transformed(rows);
  }
  return ascontiguousarray(moveaxis(result, -1, axis));
} catch (...) {
  internal::rethrow_out_of_memory(op);
}

Array transform_all(std::string_view op, Kind kind, const Array& a, const DctnOptions& o, bool inverse) {
  const std::vector<internal::FftAxis> axes = internal::fft_axes(op, a, o.s, o.axes);
  if (o.axes.given()) catena::normalize_axes(op, o.axes, a.ndim());  // no axis twice
  Array result = a;
  for (const internal::FftAxis& k : axes)
    result = transform(op, kind, result,
                       {.type = o.type, .n = k.n, .axis = k.axis, .norm = o.norm, .orthogonalize = o.orthogonalize},
                       inverse);
  return result;
}

}  // namespace

Array dct(const Array& a, const DctOptions& o) { return transform("dct", Kind::cosine, a, o, false); }
Array idct(const Array& a, const DctOptions& o) { return transform("idct", Kind::cosine, a, o, true); }
Array dst(const Array& a, const DctOptions& o) { return transform("dst", Kind::sine, a, o, false); }
Array idst(const Array& a, const DctOptions& o) { return transform("idst", Kind::sine, a, o, true); }
Array dctn(const Array& a, const DctnOptions& o) { return transform_all("dctn", Kind::cosine, a, o, false); }
Array idctn(const Array& a, const DctnOptions& o) { return transform_all("idctn", Kind::cosine, a, o, true); }
Array dstn(const Array& a, const DctnOptions& o) { return transform_all("dstn", Kind::sine, a, o, false); }
Array idstn(const Array& a, const DctnOptions& o) { return transform_all("idstn", Kind::sine, a, o, true); }

}  // namespace nd::fft
