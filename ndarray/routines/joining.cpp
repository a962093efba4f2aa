#include <catena/ndarray/routines/joining.h>

#include <algorithm>

#include <catena/kernels/base/array_layout.h>
#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/core/view.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/manipulation.h>

namespace nd {

using catena::check;
using internal::part;
using internal::view_as;

namespace {

Array join(std::string_view op, const std::vector<Array>& arrays, int axis) try {
  std::vector<const catena::ArrayHeader*> pieces;
  for (const Array& a : arrays) pieces.push_back(a.get());
  const auto [shape, at, dtype] = catena::joined(op, pieces, axis);
  const std::vector<Operand> operands(arrays.begin(), arrays.end());
  const Array result(internal::new_array(shape, dtype, internal::common_device(op, operands), op));
  if (std::all_of(arrays.begin(), arrays.end(), [to = dtype](const Array& a) { return a.dtype() == to; })) {
    internal::execute(catena::call::Join{pieces, at, result.get(), op});
    return result;
  }
  std::int64_t position = 0;
  for (const Array& a : arrays) {
    internal::assign(op, part(result, at, position, a.shape()[at]), a);
    position += a.shape()[at];
  }
  return result;
} catch (...) {
  internal::rethrow_out_of_memory(op);
}

// Joins arrays into an output or as elements of another dtype.
Array join_as(std::string_view op, const std::vector<Array>& arrays, int axis, const Array& out,
              const std::optional<Dtype>& dtype, Casting casting) try {
  check<TypeError>(out.is_null() || !dtype, op, "an output and a dtype are given; the dtype is that of the output");
  if (out.is_null() && !dtype) return join(op, arrays, axis);
  std::vector<const catena::ArrayHeader*> pieces;
  for (const Array& a : arrays) pieces.push_back(a.get());
  const auto [shape, at, common] = catena::joined(op, pieces, axis);
  const Dtype to = dtype.value_or(out.is_null() ? common : out.dtype());
  for (const Array& a : arrays) catena::check_output_cast(op, a.dtype(), to, casting);
  const std::vector<Operand> operands(arrays.begin(), arrays.end());
  const Device device = internal::common_device(op, operands, {&out, 1});
  check<ValueError>(out.is_null() || out.shape() == shape, op, "the output has shape ",
                    out.is_null() ? Shape() : out.shape(), ", the result has ", shape);
  if (!out.is_null()) internal::check_output_layout(op, *out.get());
  const bool overlaps =
      std::any_of(arrays.begin(), arrays.end(), [&](const Array& a) { return !out.is_null() && out.shares_memory(a); });
  const Array result = out.is_null() || overlaps ? Array(internal::new_array(shape, to, device, op)) : out;
  std::int64_t position = 0;
  for (const Array& a : arrays) {
    internal::assign(op, part(result, at, position, a.shape()[at]), a);
    position += a.shape()[at];
  }
  if (overlaps) internal::assign(op, out, result);
  return out.is_null() ? result : out;
} catch (...) {
  internal::rethrow_out_of_memory(op);
}

std::vector<Array> with_new_axis(const std::vector<Array>& arrays, int axis) {
  const int rank = arrays.empty() ? 0 : arrays[0].ndim();
  catena::normalize_axis("stack", axis, rank + 1);
  std::vector<Array> expanded;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    check<ValueError>(arrays[i].shape() == arrays[0].shape(), "stack", "arrays 0 and ", i, " have the shapes ",
                      arrays[0].shape(), " and ", arrays[i].shape(), "; all must have one shape");
    expanded.push_back(expand_dims(arrays[i], axis));
  }
  return expanded;
}

}  // namespace

Array concatenate(const std::vector<Array>& arrays, int axis) { return join("concatenate", arrays, axis); }
Array concatenate(const std::vector<Array>& arrays, const ConcatenateOptions& options) try {
  std::vector<Array> pieces = arrays;
  if (!options.axis)
    for (Array& a : pieces)
      if (!a.is_null()) a = a.ravel();  // a null array is an error below
  return join_as("concatenate", pieces, options.axis.value_or(0), options.out, options.dtype, options.casting);
} catch (...) {
  internal::rethrow_out_of_memory("concatenate");
}

Array internal::from_arrays(const std::vector<Array>& arrays) { return stack(arrays, 0); }

Array stack(const std::vector<Array>& arrays, int axis) try {
  return join("stack", with_new_axis(arrays, axis), axis);
} catch (...) {
  internal::rethrow_out_of_memory("stack");
}
Array stack(const std::vector<Array>& arrays, const StackOptions& options) try {
  return join_as("stack", with_new_axis(arrays, options.axis), options.axis, options.out, options.dtype,
                 options.casting);
} catch (...) {
  internal::rethrow_out_of_memory("stack");
}

Array vstack(const std::vector<Array>& arrays) try { return join("vstack", atleast_2d(arrays), 0); } catch (...) {
  internal::rethrow_out_of_memory("vstack");
}

Array hstack(const std::vector<Array>& arrays) try {
  const std::vector<Array> lines = atleast_1d(arrays);
  return join("hstack", lines, lines.empty() || lines[0].ndim() == 1 ? 0 : 1);
} catch (...) {
  internal::rethrow_out_of_memory("hstack");
}

Array dstack(const std::vector<Array>& arrays) try { return join("dstack", atleast_3d(arrays), 2); } catch (...) {
  internal::rethrow_out_of_memory("dstack");
}

Array column_stack(const std::vector<Array>& arrays) try {
  std::vector<Array> columns;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const int rank = arrays[i].ndim();
    check<ValueError>(rank == 1 || rank == 2, "column_stack", "array ", i, " has rank ", rank, ", must be 1-D or 2-D");
    columns.push_back(rank == 1 ? expand_dims(arrays[i], 1) : arrays[i]);
  }
  return join("column_stack", columns, 1);
} catch (...) {
  internal::rethrow_out_of_memory("column_stack");
}

// ---- joining by position ------------------------------------------------------------------------
Joined::Joined(const Slice&) : ArrayLike(0) {
  catena::fail<NotImplementedError>("r_", "slices as ranges are not supported; write arange or linspace");
}
Joined::Joined(std::string_view directive) : ArrayLike(0) {
  catena::fail<NotImplementedError>("r_", "the directive '", directive,
                                    "' is not supported; write an AxisConcatenator with these numbers");
}

namespace {

// Returns `a` with at least c.ndmin axes.
Array raised(const AxisConcatenator& c, const Array& a) {
  const int rank = a.ndim(), added = c.ndmin - rank;
  if (added <= 0) return a;
  const int at = c.trans1d < 0 ? c.trans1d + added + 1 : c.trans1d;  // position of the first of its own axes
  check<ValueError>(at >= 0 && at <= added, "r_", "trans1d is ", c.trans1d, ", but an array of rank ", rank,
                    " gets only ", added, " axes");
  Shape shape = Shape::filled(c.ndmin, 1);
  std::copy(a.shape().begin(), a.shape().end(), shape.begin() + at);
  return a.reshape(shape);
}

}  // namespace

Array AxisConcatenator::join(const std::vector<Joined>& items) const try {
  std::vector<catena::Input> inputs;
  internal::OneDevice one("r_");
  for (const Joined& item : items) {
    inputs.push_back(item.number() ? catena::Input(*item.number()) : Operand(item.array()));
    if (item.is_array()) one.add(item.array().get());
  }
  const DeviceScope scope(one.get());  // device of arrays from numbers and lists
  std::vector<Array> arrays;
  for (const Joined& item : items) {
    const Array a = item.number() ? array(*item.number(), catena::result_type(inputs)) : item.array();
    arrays.push_back(raised(*this, item.is_array() ? a : a.to_device(one.get())));
  }
  const Array result = concatenate(arrays, axis);
  return matrix && result.ndim() == 1 ? atleast_2d(result) : result;
} catch (...) {
  internal::rethrow_out_of_memory("r_");
}

// ---- splitting ----------------------------------------------------------------------------------
namespace {

std::vector<Array> cut(std::string_view op, const Array& a, const Sections& sections, int axis, bool equal) try {
  const int at = catena::normalize_axis(op, axis, a.ndim());
  std::vector<Array> parts;
  for (const catena::SliceRange& r : catena::split_ranges(op, sections, at, a.shape()[at], equal))
    parts.push_back(view_as(a, catena::sliced_axis(a.shape(), a.strides(), at, r)));
  return parts;
} catch (...) {
  internal::rethrow_out_of_memory(op);
}

void check_rank(std::string_view op, const Array& a, int least) {
  check<ValueError>(a.ndim() >= least, op, "an array of rank ", a.ndim(),
                    " cannot be cut so; the rank must be at least ", least);
}

}  // namespace

std::vector<Array> split(const Array& a, const Sections& sections, int axis) {
  return cut("split", a, sections, axis, true);
}
std::vector<Array> array_split(const Array& a, const Sections& sections, int axis) {
  return cut("array_split", a, sections, axis, false);
}

std::vector<Array> vsplit(const Array& a, const Sections& sections) {
  check_rank("vsplit", a, 2);
  return cut("vsplit", a, sections, 0, true);
}
std::vector<Array> hsplit(const Array& a, const Sections& sections) {
  check_rank("hsplit", a, 1);
  return cut("hsplit", a, sections, a.ndim() == 1 ? 0 : 1, true);
}
std::vector<Array> dsplit(const Array& a, const Sections& sections) {
  check_rank("dsplit", a, 3);
  return cut("dsplit", a, sections, 2, true);
}

std::vector<Array> unstack(const Array& x, int axis) {
  check<TypeError>(!x.is_null(), "unstack", "the array is null");
  const int k = catena::normalize_axis("unstack", axis, x.ndim());
  std::vector<Array> slices;
  slices.reserve(static_cast<std::size_t>(x.shape()[k]));
  for (std::int64_t i = 0; i < x.shape()[k]; ++i) slices.push_back(internal::part(x, k, i, 1).squeeze(k));
  return slices;
}

}  // namespace nd
