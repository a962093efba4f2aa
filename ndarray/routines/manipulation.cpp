#include <catena/ndarray/routines/manipulation.h>

#include <algorithm>

#include <catena/kernels/base/array_layout.h>
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/core/view.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/datatype.h>
#include <catena/ndarray/routines/indexing.h>

namespace nd {

using catena::check;
using catena::fail;
using catena::normalize_axis;
using internal::part;
using internal::view_as;

Array internal::part(const Array& a, int axis, std::int64_t start, std::int64_t length) {
  return view_as(a, catena::sliced_axis(a.shape(), a.strides(), axis, {start, length, 1}));
}

namespace {

Array empty_beside(const Array& a, const Shape& shape) {
  return Array(internal::new_array(shape, a.dtype(), a.device()));
}

void copy_from_any_device(const Array& dst, const Array& src) {
  const bool same_bytes = src.dtype() == dst.dtype() && src.shape() == dst.shape() && src.is_c_contiguous() &&
                          dst.is_c_contiguous() && !(src.device() == dst.device());
  if (same_bytes) internal::copy_bytes(*dst.get(), *src.get());
  else internal::assign("copyto", dst, dst.size() == 0 ? src : src.to_device(dst.device()));
}

Array atleast(int rank, const Array& a) { return a.ndim() >= rank ? a : a.reshape(catena::at_least(rank, a.shape())); }
std::vector<Array> atleast(int rank, const std::vector<Array>& arrays) {
  std::vector<Array> result;
  for (const Array& a : arrays) result.push_back(atleast(rank, a));
  return result;
}

}  // namespace

// ---- copying ------------------------------------------------------------------------------------
void copyto(const Array& dst, const Operand& src, const CopytoOptions& options) {
  const Dtype from = src.is_array() ? src.array().dtype() : min_scalar_type(src);
  catena::check_output_cast("copyto", from, dst.dtype(), options.casting);
  if (options.where.is_null()) return src.is_array() ? copy_from_any_device(dst, src.array()) : dst.fill(src.scalar());
  const Array mask = broadcast_to(options.where, dst.shape()).astype(Dtype::bool_, {.copy = false});
  if (dst.size() == 0) return;
  Array value(internal::new_array(Shape{}, dst.dtype(), dst.device()));
  if (src.is_array())
    value = broadcast_to(src.array().to_device(dst.device()), dst.shape()).astype(dst.dtype(), {.copy = false});
  else value.fill(src.scalar());
  const Operand in[3] = {mask, value, dst};
  internal::apply_ufunc(catena::kernels::where, in, UfuncOptions{.out = dst});
}

// ---- shape --------------------------------------------------------------------------------------
Array expand_dims(const Array& a, int axis) {
  return view_as(a, catena::expanded_axes("expand_dims", a.shape(), a.strides(), axis, a.itemsize()));
}
Array expand_dims(const Array& a, const Dims& axes) {
  check<TypeError>(!a.is_null(), "expand_dims", "the array is null");
  Array view = a;
  for (const std::int64_t axis : catena::normalize_axes("expand_dims", axes, a.ndim() + axes.size()))
    view = expand_dims(view, static_cast<int>(axis));
  return view;
}
Array Array::unsqueeze(int axis) const { return expand_dims(*this, axis); }

Array atleast_1d(const Array& a) { return atleast(1, a); }
Array atleast_2d(const Array& a) { return atleast(2, a); }
Array atleast_3d(const Array& a) { return atleast(3, a); }
std::vector<Array> atleast_1d(const std::vector<Array>& arrays) { return atleast(1, arrays); }
std::vector<Array> atleast_2d(const std::vector<Array>& arrays) { return atleast(2, arrays); }
std::vector<Array> atleast_3d(const std::vector<Array>& arrays) { return atleast(3, arrays); }

// ---- axes ---------------------------------------------------------------------------------------
Array rollaxis(const Array& a, int axis, int start) {
  const Dims axes = catena::rolled_axes("rollaxis", axis, start, a.ndim());
  return std::is_sorted(axes.begin(), axes.end()) ? a : a.transpose(axes);
}

Array moveaxis(const Array& a, const Axes& source, const Axes& destination) {
  const Dims &from = source.values(), &to = destination.values();
  check<ValueError>(from.size() == to.size(), "moveaxis", "source ", from, " and destination ", to,
                    " have different lengths");
  // Checks both lists for axes out of range or repeated.
  const Dims moved = catena::normalize_axes("moveaxis", from, a.ndim());
  catena::normalize_axes("moveaxis", to, a.ndim());
  Dims axes = Dims::filled(a.ndim(), -1);
  for (int k = 0; k < from.size(); ++k)
    axes[normalize_axis("moveaxis", to[k], a.ndim())] = normalize_axis("moveaxis", from[k], a.ndim());
  int next = 0;
  for (std::int64_t& axis : axes) {
    if (axis >= 0) continue;
    while (std::find(moved.begin(), moved.end(), next) != moved.end()) ++next;
    axis = next++;
  }
  return a.transpose(axes);
}

Array matrix_transpose(const Array& a) {
  check<ValueError>(a.ndim() >= 2, "matrix_transpose", "an array of rank ", a.ndim(),
                    " is no matrix; the rank must be at least 2");
  return a.swapaxes(-1, -2);
}

// ---- broadcasting -------------------------------------------------------------------------------
Array broadcast_to(const Array& array, const Shape& shape) {
  return view_as(array, catena::broadcast_view("broadcast_to", array.shape(), array.strides(), shape));
}

broadcast::broadcast(const std::vector<Operand>& arrays) {
  for (const Operand& a : arrays)
    if (a.is_array()) shape_ = catena::broadcast_shapes("broadcast", shape_, a.header()->shape);
  for (const Operand& a : arrays) values_.push_back(a.is_array() ? broadcast_to(a.array(), shape_) : array(a.scalar()));
}

Shape broadcast_shapes(const std::vector<Shape>& shapes) {
  Shape shape;
  for (const Shape& s : shapes) shape = catena::broadcast_shapes("broadcast_shapes", shape, s);
  return shape;
}

std::vector<Array> broadcast_arrays(const std::vector<Array>& arrays) {
  Shape shape;
  for (const Array& a : arrays) shape = catena::broadcast_shapes("broadcast_arrays", shape, a.shape());
  std::vector<Array> result;
  for (const Array& a : arrays) result.push_back(broadcast_to(a, shape));
  return result;
}

// ---- repeating ----------------------------------------------------------------------------------
// The result is viewed with an extra axis for the repetitions, along which the source has stride 0, so that a single
// copy writes all elements.
Array tile(const Array& a, const Dims& reps) try {
  const catena::Tiling t = catena::tiling("tile", a.shape(), a.strides(), reps);
  const Array result = empty_beside(a, t.result);
  if (result.size() == 0) return result;
  internal::assign("tile", internal::make_view(result, t.repeated, catena::c_strides(t.repeated, a.itemsize())),
                   internal::make_view(a, t.repeated, t.strides));
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("tile");
}

Array repeat(const Array& a, std::int64_t repeats, std::optional<int> axis) try {
  check<ValueError>(repeats >= 0, "repeat", "the number of repetitions ", repeats, " is negative");
  const Array source = axis ? a : a.ravel();
  const int at = axis ? normalize_axis("repeat", *axis, a.ndim()) : 0;
  if (a.ndim() == catena::kMaxRank && axis)  // there is no room for another axis
    return take(a, repeat(arange(a.shape()[at]).to_device(a.device()), repeats, 0), {.axis = at});
  Shape shape = source.shape(), split = source.shape();
  check<ValueError>(!__builtin_mul_overflow(shape[at], repeats, &shape[at]), "repeat", "shape ", source.shape(),
                    " repeated ", repeats, " times is too large");
  const Array result = empty_beside(a, shape);
  if (result.size() == 0) return result;
  Strides strides = source.strides();
  split.insert(at + 1, repeats);
  strides.insert(at + 1, 0);
  internal::assign("repeat", result.reshape(split), internal::make_view(source, split, strides));
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("repeat");
}

Array repeat(const Array& a, const std::vector<std::int64_t>& repeats, std::optional<int> axis) try {
  if (repeats.size() == 1) return repeat(a, repeats[0], axis);
  if (!axis) return repeat(a.ravel(), repeats, 0);
  const int at = normalize_axis("repeat", *axis, a.ndim());
  check<ValueError>(std::int64_t(repeats.size()) == a.shape()[at], "repeat", repeats.size(),
                    " repetitions are given for axis ", at, " of length ", a.shape()[at]);
  Shape shape = a.shape();
  shape[at] = 0;
  for (const std::int64_t n : repeats) {
    check<ValueError>(n >= 0, "repeat", "the number of repetitions ", n, " is negative");
    check<ValueError>(!__builtin_add_overflow(shape[at], n, &shape[at]), "repeat",
                      "the repetitions add up to more than 2^63 - 1");
  }
  const Array result = empty_beside(a, shape), indices(internal::new_array(Shape{shape[at]}, Dtype::int64, cpu_device));
  auto* to = indices.data<std::int64_t>();
  for (std::size_t i = 0; i < repeats.size(); ++i) to = std::fill_n(to, repeats[i], static_cast<std::int64_t>(i));
  return take(a, indices.to_device(a.device()), {.axis = at, .out = result});
} catch (...) {
  internal::rethrow_out_of_memory("repeat");
}

Array internal::repeat_each(const Array& a, const Array& repeats, std::optional<int> axis) {
  check<TypeError>(catena::is_integer(repeats.dtype()), "repeat", "the repetitions have the dtype ", repeats.dtype(),
                   ", must be integers");
  check<ValueError>(repeats.ndim() <= 1, "repeat", "the repetitions have rank ", repeats.ndim(), ", must have rank 1");
  return repeat(a, repeats.to_vector<std::int64_t>(), axis);
}

// ---- rearranging --------------------------------------------------------------------------------
namespace {

Array flipped(std::string_view op, const Array& a, int axis) {
  return view_as(a, catena::flipped_axes(op, a.shape(), a.strides(), axis));
}

}  // namespace

Array flip(const Array& a, int axis) { return flipped("flip", a, axis); }
Array flip(const Array& a, const Axes& axes) {
  Array result = a.view();
  for (std::int64_t axis : catena::normalize_axes("flip", axes, a.ndim()))
    result = flip(result, static_cast<int>(axis));
  return result;
}
Array fliplr(const Array& a) { return flipped("fliplr", a, 1); }
Array flipud(const Array& a) { return flipped("flipud", a, 0); }

Array roll(const Array& a, std::int64_t shift, std::optional<int> axis) try {
  if (!axis) return a.size() == 0 ? a : roll(a.ravel(), shift, 0).reshape(a.shape());
  const int at = normalize_axis("roll", *axis, a.ndim());
  if (a.size() == 0) return a;
  const std::int64_t n = a.shape()[at], by = (shift % n + n) % n;
  const Array result = empty_beside(a, a.shape());
  internal::assign("roll", part(result, at, by, n - by), part(a, at, 0, n - by));
  if (by > 0) internal::assign("roll", part(result, at, 0, by), part(a, at, n - by, by));
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("roll");
}

namespace {

// Copies an array whose axes from `axis` on move by by[axis]... positions: both parts of each axis in turn.
void assign_rolled(const Array& to, const Array& from, const Dims& by, int axis) {
  while (axis < by.size() && by[axis] == 0) ++axis;
  if (axis == by.size()) return internal::assign("roll", to, from);
  const std::int64_t n = from.shape()[axis], shift = by[axis];
  assign_rolled(part(to, axis, shift, n - shift), part(from, axis, 0, n - shift), by, axis + 1);
  assign_rolled(part(to, axis, 0, shift), part(from, axis, n - shift, shift), by, axis + 1);
}

}  // namespace

Array roll(const Array& a, const Dims& shift, const Dims& axes) try {
  const int n = std::max(shift.size(), axes.size());
  check<ValueError>((shift.size() == n || shift.size() == 1) && (axes.size() == n || axes.size() == 1), "roll",
                    shift.size(), " numbers do not belong to ", axes.size(),
                    " axes; give one for each axis, or a single one");
  Dims by = Dims::filled(a.ndim(), 0);
  for (int k = 0; k < n; ++k) {
    const int axis = normalize_axis("roll", axes[axes.size() == 1 ? 0 : k], a.ndim());
    const std::int64_t length = std::max(a.shape()[axis], std::int64_t(1));
    by[axis] = ((by[axis] + shift[shift.size() == 1 ? 0 : k] % length) % length + length) % length;
  }
  const Array result = empty_beside(a, a.shape());
  if (a.size() > 0) assign_rolled(result, a, by, 0);
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("roll");
}

Array rot90(const Array& a, int k, const Dims& axes) {
  check<ValueError>(axes.size() == 2, "rot90", "a plane has two axes, given were ", axes);
  check<ValueError>(a.ndim() >= 2, "rot90", "an array of rank ", a.ndim(),
                    " cannot be turned; the rank must be at least 2");
  const int first = normalize_axis("rot90", axes[0], a.ndim()), second = normalize_axis("rot90", axes[1], a.ndim());
  check<ValueError>(first != second, "rot90", "axes ", axes, " are the same");
  switch ((k % 4 + 4) % 4) {
    case 0: return a.view();
    case 1: return flip(a, second).swapaxes(first, second);
    case 2: return flip(flip(a, first), second);
    default: return flip(a.swapaxes(first, second), second);
  }
}

Array Array::repeat(std::int64_t repeats, std::optional<int> axis) const { return nd::repeat(*this, repeats, axis); }

}  // namespace nd
