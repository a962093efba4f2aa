#include <catena/autograd/ndarray_backend/torch_options.h>

#include <catena/autograd/array.h>
#include <catena/autograd/functions/array.h>
#include <catena/ndarray/device/device.h>

namespace autograd {

using catena::check;
using catena::ValueError;

Variable repeat_interleave(const Variable& x, const Variable& repeats, const RepeatInterleaveOptions& o) {
  check<ValueError>(repeats.ndim() <= 1, "repeat_interleave", "the repeats have the shape ", repeats.shape(),
                    ", their rank must be at most 1");
  const std::vector<std::int64_t> counts = to_vector<std::int64_t>(astype(repeats.data(), Dtype::int64));
  if (repeats.ndim() == 0) return repeat_interleave(x, counts[0], o.dim);
  return repeat_interleave(x, counts, o.dim);
}

Variable scatter(const Variable& x, const ScatterOptions& o) {
  check<ValueError>(o.src || o.value, "scatter", "neither src nor value is given");
  check<ValueError>(!o.src || !o.value, "scatter", "src and value are both given");
  check<ValueError>(o.reduce.empty() || o.reduce == "add" || o.reduce == "multiply", "scatter", "reduce is \"",
                    o.reduce, "\", it must be \"add\" or \"multiply\"");
  if (o.reduce.empty()) return o.src ? scatter(x, o.dim, o.index, o.src) : scatter(x, o.dim, o.index, *o.value);
  const Variable src =
      o.src ? o.src : as_variable(arrays::full(o.index.shape(), o.value.value_or(0), x.dtype(), x.device()));
  return scatter_reduce(x, o.dim, o.index, src, o.reduce == "add" ? "sum" : "prod");
}

namespace internal {

Variable moved(const Variable& x, const Variable& there, const ToOptions& o) {
  Variable y = o.device ? there.to(*o.device) : there;
  if (o.dtype) y = y.to(*o.dtype);
  return o.copy && y.is_same(x) ? x.clone() : y;
}
Variable new_tensor_like(const Variable& x, const Shape& shape, const Scalar& value, const TensorOptions& o) {
  return filled_with(shape, value, like(x, o));
}
Variable new_tensor_like(const Variable& x, const nd::Values& values, const TensorOptions& o) {
  return tensor_of(values, like(x, o));
}

Variable places(const Variable& given, const TensorArgument& values, const SearchSortedOptions& o) {
  check<ValueError>(o.side.empty() || o.side == "left" || o.side == "right", "searchsorted", "side is \"", o.side,
                    "\", it must be \"left\" or \"right\"");
  check<ValueError>(o.side != "left" || !o.right, "searchsorted", "side is \"left\" and right is true");
  const Variable sorted = o.sorter ? take_along_axis(given, o.sorter, -1) : given;
  const Variable found = searchsorted(sorted, values, SearchOptions{o.right || o.side == "right"});
  return o.out_int32 ? cast(found, Dtype::int32) : found;
}

}  // namespace internal

Variable diag_embed(const Variable& x, std::int64_t offset, int dim1, int dim2) {
  return moveaxis(diag_embed(x, offset), {-2, -1}, {dim1, dim2});
}

namespace {
Variable there(const Variable& indices, const IndicesOptions& o) {
  const Variable y = cast(indices, o.dtype);
  return o.device ? y.to(*o.device) : y;
}
}  // namespace
Variable tril_indices(std::int64_t rows, std::int64_t columns, const IndicesOptions& o) {
  return there(tril_indices(rows, columns, o.offset), o);
}
Variable triu_indices(std::int64_t rows, std::int64_t columns, const IndicesOptions& o) {
  return there(triu_indices(rows, columns, o.offset), o);
}
Variable roll(const Variable& x, const RollOptions& o) {
  check<ValueError>(o.shifts.size() > 0, "roll", "no shifts are given");
  if (o.shifts.size() == 1) return roll(x, std::int64_t(o.shifts[0]), o.dims);
  return roll(x, o.shifts, o.dims);
}

}  // namespace autograd
