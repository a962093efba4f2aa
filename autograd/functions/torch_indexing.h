// Functions that select, replace, join and arrange elements, with PyTorch's names and options. Indices are integers of
// any dtype and get no gradient; those out of range are handled as in get_item (functions/array.h). Negative axes count
// from the end; AxisError for one out of range.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/kernels/base/in_place_members.h>

namespace autograd {

// ---- parts ----
// x[.., start : start + length, ..]; IndexError unless the part lies within the axis. A negative start counts from the
// end.
CATENA_EXPORT Variable narrow(const Variable& x, int dim, std::int64_t start, std::int64_t length);
// x[.., index, ..] without the axis.
CATENA_EXPORT Variable select(const Variable& x, int dim, std::int64_t index);
// x[.., start : end : step, ..]
CATENA_EXPORT Variable slice(const Variable& x, int dim, std::optional<std::int64_t> start = {},
                             std::optional<std::int64_t> end = {}, std::int64_t step = 1);
// The elements of the flattened x at `index`, in its shape.
CATENA_EXPORT Variable take(const Variable& x, const Variable& index);
// narrow in memory of its own.
CATENA_EXPORT Variable narrow_copy(const Variable& x, int dim, std::int64_t start, std::int64_t length);
// Sorted along the first axis.
CATENA_EXPORT Variable msort(const Variable& x);
// take_along_axis; without an axis, of the flattened x.
CATENA_EXPORT Variable take_along_dim(const Variable& x, const Variable& indices, std::optional<int> dim = {});
// gather(x, {.dim = 1}, index), gather(x, index, {.dim = 1})
inline Variable gather(const Variable& x, const Variable& index, const AxisOption& o) {
  return gather(x, o.value_or(0), index);
}
inline Variable flatten(const Variable& x, int start, int end = -1) { return x.flatten(start, end); }
inline Variable flatten(const Variable& x, const FlattenOptions& o) { return x.flatten(o); }

// ---- x with other elements ----
// The elements where the bool mask, which broadcasts, is true become those of source, in C order. ValueError if source
// has fewer elements.
CATENA_EXPORT Variable masked_scatter(const Variable& x, const Variable& mask, const Variable& source);
inline Variable index_add(const Variable& x, int dim, const Variable& index, const Variable& source,
                          const catena::AlphaOption& o) {
  return index_add(x, dim, index, source, o.alpha.to_double());
}
// The positions `index`, of rank 1, of an axis become those of source, which has their shape, or one value. Of several
// sources for one position one is kept.
CATENA_EXPORT Variable index_copy(const Variable& x, int dim, const Variable& index, const Variable& source);
CATENA_EXPORT Variable index_fill(const Variable& x, int dim, const Variable& index, double value);
// x[items] become `values`, which broadcast, or these are added: index_put(x, {i, Slice()}, v).
CATENA_EXPORT Variable index_put(const Variable& x, const std::vector<IndexItem>& items, const Variable& values,
                                 bool accumulate = false);
// Combines src at the positions of scatter with x: "sum", "prod", "mean", "amax" or "amin" (ValueError for others).
// Without include_self, elements that an index names are replaced. Of equal extrema each has an equal share of the
// gradient. Gradients of "prod" are NaN beside a factor of 0.
struct ScatterReduceOptions {
  bool include_self = true;
};
CATENA_EXPORT Variable scatter_reduce(const Variable& x, int dim, const Variable& index, const Variable& src,
                                      std::string_view reduce, const ScatterReduceOptions& o = {});
// x[.., index, ..], x[.., start : end : step, ..] or a diagonal become src.
CATENA_EXPORT Variable select_scatter(const Variable& x, const Variable& src, int dim, std::int64_t index);
CATENA_EXPORT Variable slice_scatter(const Variable& x, const Variable& src, int dim = 0,
                                     std::optional<std::int64_t> start = {}, std::optional<std::int64_t> end = {},
                                     std::int64_t step = 1);
CATENA_EXPORT Variable diagonal_scatter(const Variable& x, const Variable& src, std::int64_t offset = 0, int dim1 = 0,
                                        int dim2 = 1);
// The positions of as_strided become src.
CATENA_EXPORT Variable as_strided_scatter(const Variable& x, const Variable& src, const Shape& shape,
                                          const Dims& strides, std::int64_t offset = 0);
// scatter_reduce with an index of rank 1 along the axis: source has the shape of x but for the length of the index.
// "prod", "mean", "amax" or "amin" (ValueError for others).
CATENA_EXPORT Variable index_reduce(const Variable& x, int dim, const Variable& index, const Variable& source,
                                    std::string_view reduce, const ScatterReduceOptions& o = {});
// The elements of the flattened x at `index` become those of source, or these are added.
CATENA_EXPORT Variable put(const Variable& x, const Variable& index, const Variable& source, bool accumulate = false);

// ---- axes: other names of functions of array.h and of members of Variable ----
inline Variable unsqueeze(const Variable& x, int dim) { return expand_dims(x, dim); }
inline Variable permute(const Variable& x, const Dims& dims) { return transpose(x, dims); }
template <std::same_as<int> I> Variable transpose(const Variable& x, I dim0, I dim1) { return swapaxes(x, dim0, dim1); }
inline Variable movedim(const Variable& x, const Dims& source, const Dims& destination) {
  return moveaxis(x, source, destination);
}
inline Variable swapdims(const Variable& x, int dim0, int dim1) { return swapaxes(x, dim0, dim1); }
inline Variable t(const Variable& x) { return x.t(); }
inline Variable clone(const Variable& x) { return x.clone(); }
inline Variable detach(const Variable& x) { return x.detach(); }
inline std::int64_t numel(const Variable& x) { return x.numel(); }
// Splits an axis in several; one length may be -1. ValueError for lengths of another product.
CATENA_EXPORT Variable unflatten(const Variable& x, int dim, const Shape& sizes);
inline Variable expand(const Variable& x, const Shape& shape) { return x.expand(shape); }
inline Variables broadcast_tensors(const Variables& xs) { return broadcast(xs); }
template <class... X>
VariablesOf<1 + sizeof...(X)> broadcast_tensors(const Variable& x, const X&... more) requires(sizeof...(X) > 0) {
  return VariablesOf<1 + sizeof...(X)>(broadcast(Variables{x, Variable(more)...}));
}
inline Shape broadcast_shapes(const Shape& a, const Shape& b) {
  return catena::broadcast_shapes("broadcast_shapes", a, b);
}
inline Variable repeat_interleave(const Variable& x, std::int64_t repeats, std::optional<int> dim = {}) {
  return repeat(x, repeats, dim);
}
inline Variable repeat_interleave(const Variable& x, const std::vector<std::int64_t>& repeats,
                                  std::optional<int> dim = {}) {
  return repeat(x, repeats, dim);
}

// ---- joining and splitting ----
// Vectors and numbers as columns beside matrices; row_stack is vstack.
CATENA_EXPORT Variable column_stack(const Variables& xs);
inline Variable row_stack(const Variables& xs) { return vstack(xs); }
inline Variable concatenate(const Variables& xs, int dim = 0) { return concat(xs, dim); }
inline Array concatenate(const std::vector<Array>& arrays, int axis = 0) {
  return concatenate(std::span<const Array>(arrays), axis);
}
// The matrices along the diagonal of a matrix of zeros; vectors count as rows. ValueError for other ranks.
CATENA_EXPORT Variable block_diag(const Variables& xs);
template <class... X> Variable block_diag(const Variable& x, const X&... more) requires(sizeof...(X) > 0) {
  return block_diag(Variables{x, Variable(more)...});
}
// Splits as NumPy's array_split: into n parts whose lengths differ by 1 at most, or before the given positions; along
// axis 1 (0 for vectors), 0 and 2. ValueError for fewer than 1 part and for ranks that are too small; hsplit, vsplit
// and dsplit also unless a number of parts divides the length.
CATENA_EXPORT Variables tensor_split(const Variable& x, const Sections& indices_or_sections, int dim = 0);
CATENA_EXPORT Variables hsplit(const Variable& x, const Sections& indices_or_sections);
CATENA_EXPORT Variables vsplit(const Variable& x, const Sections& indices_or_sections);
CATENA_EXPORT Variables dsplit(const Variable& x, const Sections& indices_or_sections);
// chunk and split of the members; PyTorch's variants without checks.
inline Variables unsafe_chunk(const Variable& x, std::int64_t chunks, int dim = 0) { return x.chunk(chunks, dim); }
inline Variables unsafe_split(const Variable& x, std::int64_t length, int dim = 0) { return x.split(length, dim); }
inline Variables unsafe_split_with_sizes(const Variable& x, const std::vector<std::int64_t>& lengths, int dim = 0) {
  return x.split(lengths, dim);
}

// ---- diagonals and grids ----
CATENA_EXPORT Variable diagflat(const Variable& x, std::int64_t offset = 0);  // diag of the flattened x
struct MeshgridOptions {
  std::string_view indexing = "ij";
};
inline Variables meshgrid(const Variables& xs, const MeshgridOptions& o) { return meshgrid(xs, o.indexing); }
// The variables one by one, by default with "ij" as in PyTorch: auto [a, b] = meshgrid(x, y).
template <std::convertible_to<Variable>... X>
VariablesOf<1 + sizeof...(X)> meshgrid(const Variable& x, const X&... more) requires(sizeof...(X) > 0) {
  return VariablesOf<1 + sizeof...(X)>(meshgrid(Variables{x, Variable(more)...}, "ij"));
}
inline VariablesOf<2> meshgrid(const Variable& x, const Variable& y, const MeshgridOptions& o) {
  return VariablesOf<2>(meshgrid(Variables{x, y}, o));
}
inline VariablesOf<3> meshgrid(const Variable& x, const Variable& y, const Variable& z, const MeshgridOptions& o) {
  return VariablesOf<3>(meshgrid(Variables{x, y, z}, o));
}
template <std::size_t N> VariablesOf<N> meshgrid(const Variable (&xs)[N], const MeshgridOptions& o) {
  return VariablesOf<N>(meshgrid(VariablesOf<N>(xs), o));
}
// All pairs, triples, ... of elements of vectors, (n m .., number of vectors); one vector as it is.
CATENA_EXPORT Variable cartesian_prod(const Variables& xs);
template <class... X> Variable cartesian_prod(const Variable& x, const X&... more) requires(sizeof...(X) > 0) {
  return cartesian_prod(Variables{x, Variable(more)...});
}
// All selections of r elements of a vector in their order, (number, r). ValueError for another rank and a negative r.
CATENA_EXPORT Variable combinations(const Variable& x, std::int64_t r = 2, bool with_replacement = false);
// The rows and columns of the elements on and below (tril) or above (triu) a diagonal: int64, (2, number).
CATENA_EXPORT Variable tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0);
CATENA_EXPORT Variable triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0);

}  // namespace autograd
