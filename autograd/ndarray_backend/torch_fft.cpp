#include <catena/autograd/ndarray_backend/torch_fft.h>

#include <algorithm>
#include <vector>

#include <catena/autograd/config.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/autograd/ndarray_backend/torch_complex.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/fft.h>
#include <catena/ndarray/routines/in_place.h>
#include <catena/ndarray/routines/indexing.h>

namespace autograd::fft {

using catena::check;
using catena::TypeError;
using catena::ValueError;
using internal::linear;

namespace {

// ---- linear functions along an axis and their adjoints ----
// A literal, because nodes keep it.
const char* norm_of(const char* op, std::string_view norm) {
  for (const char* known : {"backward", "ortho", "forward"})
    if (norm == known) return known;
  throw ValueError(catena::concat(op, ": norm is \"", norm, "\", it must be \"backward\", \"ortho\" or \"forward\""));
}
// The place of the factor in the adjoint of a transform, which is the transform of the other direction.
const char* of_adjoint(std::string_view norm) {
  return norm == "backward" ? "forward" : norm == "forward" ? "backward" : "ortho";
}

// A view of elements along an axis.
nd::Array range(const nd::Array& a, std::int64_t start, std::int64_t stop, int axis) {
  const nd::Array first = a.swapaxes(0, axis);
  return nd::Array(first(nd::Slice(start, stop))).swapaxes(0, axis);
}
// The first numbers along an axis, with zeros behind them if there are fewer.
Variable resized(const Variable& z, std::int64_t length, int axis) {
  const std::int64_t given = z.shape(axis);
  if (given == length) return z;
  return linear(
      "resize", z,
      [=](const nd::Array& a) {
        if (length < given) return range(a, 0, length, axis).copy();
        Shape shape = a.shape();
        shape[axis] = length;
        const nd::Array all = nd::zeros(shape, a.dtype());
        range(all, 0, given, axis).copy_(a);
        return all;
      },
      [=](const Variable& g) { return resized(g, given, axis); });
}
Variable complex_transform(const Variable& z, int axis, bool inverse, const char* norm) {
  return linear(
      inverse ? "ifft" : "fft", z,
      [=](const nd::Array& a) {
        const nd::fft::FftOptions o{.axis = axis, .norm = norm};
        return inverse ? nd::fft::ifft(a, o) : nd::fft::fft(a, o);
      },
      [=](const Variable& g) { return complex_transform(g, axis, !inverse, of_adjoint(norm)); });
}
Variable half_of_real(const Variable& x, int axis, const char* norm) {
  const std::int64_t n = x.shape(axis);
  return linear(
      "rfft", x, [=](const nd::Array& a) { return nd::fft::rfft(a, {.axis = axis, .norm = norm}); },
      [=](const Variable& g) {
        return internal::real_part(complex_transform(resized(g, n, axis), axis, true, of_adjoint(norm)));
      });
}
// Of n / 2 + 1 numbers, all but the first and, if n is even, the last one times 2: they stand for two numbers of the
// whole spectrum.
Variable doubled(const Variable& z, std::int64_t n, int axis) {
  return linear(
      "doubled", z,
      [=](const nd::Array& a) {
        const nd::Array twice = a.copy();
        nd::Array inner = range(twice, 1, (n + 1) / 2, axis);
        inner *= 2;
        return twice;
      },
      [=](const Variable& g) { return doubled(g, n, axis); });
}
Variable real_of_half(const Variable& z, std::int64_t n, int axis, const char* norm) {
  return linear(
      "irfft", z, [=](const nd::Array& a) { return nd::fft::irfft(a, {.n = n, .axis = axis, .norm = norm}); },
      [=](const Variable& g) { return doubled(half_of_real(g, axis, of_adjoint(norm)), n, axis); });
}

// ---- operands ----
Variable real_operand(const char* op, const Variable& x) {
  check<TypeError>(!x.is_complex(), op, "the dtype is ", x.dtype(), ", it must be real");
  if (x.is_floating_point()) return cast(x, catena::compute_dtype(x.dtype()));
  return cast(x, get_dtype());
}
Variable complex_operand(const char* op, const Variable& x) {
  return x.is_complex() ? x : internal::to_complex(real_operand(op, x));
}
struct Along {
  int axis;
  std::int64_t n;
};
std::int64_t checked_length(const char* op, std::int64_t n) {
  check<ValueError>(n >= 1, op, "the length of the transform is ", n, ", it must be positive");
  return n;
}
// The axes with their lengths. of_half: the length of the last one is that of the real numbers.
std::vector<Along> axes_of(const char* op, const Variable& x, const FftnOptions& o, bool of_half) {
  std::vector<int> axes;
  if (o.dim.given())
    for (const int axis : o.dim.values()) axes.push_back(catena::normalize_axis(op, axis, x.ndim()));
  else {
    const int number = o.s ? o.s->size() : x.ndim();
    check<ValueError>(number <= x.ndim(), op, number, " lengths are given for the shape ", x.shape());
    for (int k = x.ndim() - number; k < x.ndim(); ++k) axes.push_back(k);
  }
  check<ValueError>(!axes.empty(), op, "there is no axis to transform");
  check<ValueError>(!o.s || std::size_t(o.s->size()) == axes.size(), op, o.s ? o.s->size() : 0, " lengths and ",
                    axes.size(), " axes are given");
  std::vector<Along> all;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    check<ValueError>(std::count(axes.begin(), axes.end(), axes[k]) == 1, op, "the axis ", axes[k], " is given twice");
    const std::int64_t own = x.shape(axes[k]), given = o.s ? (*o.s)[int(k)] : -1;
    const bool is_half = of_half && k + 1 == axes.size();
    all.push_back({axes[k], checked_length(op, given != -1 ? given : is_half ? 2 * (own - 1) : own)});
  }
  return all;
}
FftnOptions over_axis(const FftOptions& o) {
  FftnOptions all{.dim = o.dim, .norm = o.norm};
  if (o.n) all.s = Shape{*o.n};
  return all;
}
FftnOptions over_two(const FftnOptions& o) {
  FftnOptions all = o;
  if (!o.dim.given()) all.dim = Axes{-2, -1};
  return all;
}

Variable transformed(const char* op, const Variable& x, const FftnOptions& o, bool inverse) {
  const char* norm = norm_of(op, o.norm);
  Variable z = complex_operand(op, x);
  const std::vector<Along> axes = axes_of(op, x, o, false);
  for (auto a = axes.rbegin(); a != axes.rend(); ++a)
    z = complex_transform(resized(z, a->n, a->axis), a->axis, inverse, norm);
  return z;
}
Variable real_transformed(const char* op, const Variable& x, const FftnOptions& o, bool conjugate) {
  const char* given = norm_of(op, o.norm);
  const char* norm = conjugate ? of_adjoint(given) : given;
  const std::vector<Along> axes = axes_of(op, x, o, false);
  Variable z = half_of_real(resized(real_operand(op, x), axes.back().n, axes.back().axis), axes.back().axis, norm);
  for (std::size_t k = axes.size() - 1; k-- > 0;)
    z = complex_transform(resized(z, axes[k].n, axes[k].axis), axes[k].axis, false, norm);
  return conjugate ? internal::conjugated(z) : z;
}
Variable transformed_to_real(const char* op, const Variable& x, const FftnOptions& o, bool conjugate) {
  const char* given = norm_of(op, o.norm);
  const char* norm = conjugate ? of_adjoint(given) : given;
  const std::vector<Along> axes = axes_of(op, x, o, true);
  Variable z = complex_operand(op, x);
  if (conjugate) z = internal::conjugated(z);
  for (std::size_t k = axes.size() - 1; k-- > 0;)
    z = complex_transform(resized(z, axes[k].n, axes[k].axis), axes[k].axis, true, norm);
  const Along last = axes.back();
  return real_of_half(resized(z, last.n / 2 + 1, last.axis), last.n, last.axis, norm);
}

}  // namespace

#define CATENA_TRANSFORM(one, several, two, function, flag)                                              \
  Variable one(const Variable& x, const FftOptions& o) { return function(#one, x, over_axis(o), flag); } \
  Variable several(const Variable& x, const FftnOptions& o) { return function(#several, x, o, flag); }   \
  Variable two(const Variable& x, const FftnOptions& o) { return function(#two, x, over_two(o), flag); }
CATENA_TRANSFORM(fft, fftn, fft2, transformed, false)
CATENA_TRANSFORM(ifft, ifftn, ifft2, transformed, true)
CATENA_TRANSFORM(rfft, rfftn, rfft2, real_transformed, false)
CATENA_TRANSFORM(ihfft, ihfftn, ihfft2, real_transformed, true)
CATENA_TRANSFORM(irfft, irfftn, irfft2, transformed_to_real, false)
CATENA_TRANSFORM(hfft, hfftn, hfft2, transformed_to_real, true)
#undef CATENA_TRANSFORM

namespace {

Variable frequencies(const nd::Array& a, const TensorOptions& o) {
  return internal::tensor_root(a.astype(o.dtype.value_or(get_dtype())), o);
}
Variable shifted(const char* op, const Variable& x, const Axes& dim, bool back) {
  Dims shifts, axes;
  if (dim.given())
    for (const int axis : dim.values()) axes.push_back(catena::normalize_axis(op, axis, x.ndim()));
  else
    for (int k = 0; k < x.ndim(); ++k) axes.push_back(k);
  for (const int axis : axes) shifts.push_back(int(back ? -(x.shape(axis) / 2) : x.shape(axis) / 2));
  return axes.empty() ? x : roll(x, shifts, Axes(axes));
}

}  // namespace

Variable fftfreq(std::int64_t n, double d, const TensorOptions& o) { return frequencies(nd::fft::fftfreq(n, d), o); }
Variable rfftfreq(std::int64_t n, double d, const TensorOptions& o) { return frequencies(nd::fft::rfftfreq(n, d), o); }
Variable fftshift(const Variable& x, const Axes& dim) { return shifted("fftshift", x, dim, false); }
Variable ifftshift(const Variable& x, const Axes& dim) { return shifted("ifftshift", x, dim, true); }

}  // namespace autograd::fft
