// PyTorch's functions that return parts and other shapes of a variable in memory of their own, and reductions of
// segments and whole slices. The copies are differentiable, like the functions after which they are named.
#pragma once

#include <concepts>
#include <optional>
#include <string_view>
#include <vector>

#include <catena/autograd/functions/torch_indexing.h>
#include <catena/autograd/functions/torch_names.h>

namespace autograd {

// ---- copies ----
// Functions with the name of a view and _copy: the elements of the view in memory of its own. The gradient goes to x,
// but for detach_copy, of which the result requires no gradient. The errors are those of the function without _copy.

#define CATENA_COPY(name, function, parameters, ...) \
  inline Variable name parameters { return function(__VA_ARGS__).clone(); }
inline Variable alias_copy(const Variable& x) { return x.clone(); }
inline Variable detach_copy(const Variable& x) { return x.detach().clone(); }
CATENA_COPY(view_copy, reshape, (const Variable& x, const Shape& shape), x, shape)
CATENA_COPY(expand_copy, expand, (const Variable& x, const Shape& shape), x, shape)
CATENA_COPY(permute_copy, permute, (const Variable& x, const Dims& dims), x, dims)
CATENA_COPY(transpose_copy, transpose, (const Variable& x, int dim0, int dim1), x, dim0, dim1)
CATENA_COPY(t_copy, t, (const Variable& x), x)
CATENA_COPY(squeeze_copy, squeeze, (const Variable& x, const Axes& dim = {}), x, dim)
CATENA_COPY(unsqueeze_copy, unsqueeze, (const Variable& x, int dim), x, dim)
CATENA_COPY(select_copy, select, (const Variable& x, int dim, std::int64_t index), x, dim, index)
CATENA_COPY(slice_copy, slice,
            (const Variable& x, int dim = 0, std::optional<std::int64_t> start = {},
             std::optional<std::int64_t> end = {}, std::int64_t step = 1),
            x, dim, start, end, step)
CATENA_COPY(diagonal_copy, diagonal, (const Variable& x, std::int64_t offset = 0, int dim1 = 0, int dim2 = 1), x,
            offset, dim1, dim2)
CATENA_COPY(unfold_copy, unfold, (const Variable& x, int dim, std::int64_t size, std::int64_t step), x, dim, size, step)
CATENA_COPY(as_strided_copy, as_strided,
            (const Variable& x, const Shape& shape, const Dims& strides, std::int64_t offset = 0), x, shape, strides,
            offset)
#undef CATENA_COPY
// The parts of the given lengths along an axis. ValueError unless the lengths add up to that of the axis.
inline Variables split_with_sizes(const Variable& x, const std::vector<std::int64_t>& lengths, int dim = 0) {
  return split(x, lengths, dim);
}
namespace internal {
CATENA_EXPORT Variables cloned(const Variables& xs);
}
inline Variables unbind_copy(const Variable& x, int dim = 0) { return internal::cloned(unbind(x, dim)); }
inline Variables split_copy(const Variable& x, std::int64_t length, int dim = 0) {
  return internal::cloned(split(x, length, dim));
}
inline Variables split_with_sizes_copy(const Variable& x, const std::vector<std::int64_t>& lengths, int dim = 0) {
  return internal::cloned(split(x, lengths, dim));
}

// ---- reductions ----
struct SegmentOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Variable lengths = {}, offsets = {};  // integers of rank 1
  int axis = 0;
  bool unsafe = false;  // without effect: the lengths are checked in any case
  std::optional<double> initial = {};
};
// Reduces consecutive parts of an axis, "sum", "mean", "max", "min" or "prod" (ValueError for others). The lengths of
// the parts add up to that of the axis; the offsets are their beginnings, and the end of the last one (ValueError). An
// empty part gives the initial value: 0, NaN, -inf, inf and 1 unless it is given. TypeError unless x is floating.
CATENA_EXPORT Variable segment_reduce(const Variable& x, std::string_view reduce, const SegmentOptions& o);
// The p-norms over all axes but one, which stay with the length 1; dim = -1: over all axes, a number.
CATENA_EXPORT Variable norm_except_dim(const Variable& v, double p = 2, int dim = 0);

// ---- properties ----
// True for two variables of one shape.
inline bool is_same_size(const Variable& x, const Variable& y) { return x.is_same_size(y); }
// True for a dtype with negative numbers: signed integers, floating and complex dtypes.
inline bool is_signed(const Variable& x) { return x.is_signed(); }
// Always false: a variable is on one device.
inline bool is_distributed(const Variable&) noexcept { return false; }

}  // namespace autograd
