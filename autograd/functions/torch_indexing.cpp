#include <catena/autograd/functions/torch_indexing.h>

#include <algorithm>

#include <catena/autograd/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/torch_arithmetic.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/index_plan.h>

namespace autograd {

using catena::check;
using catena::IndexError;
using catena::normalize_axis;
using catena::ValueError;
namespace kernels = catena::kernels;

namespace {

// The key x[:, .., item].
std::vector<IndexItem> at_axis(int axis, const IndexItem& item) {
  std::vector<IndexItem> items(static_cast<std::size_t>(axis), Slice());
  items.push_back(item);
  return items;
}

// The positions of the elements of x in the flattened x, in the shape of x.
Variable places_of(const Variable& x) {
  return as_variable(reshape(arrays::arange(x.size(), Dtype::int64, x.device()), x.shape()));
}

// Returns x with `values`, broadcast to the shape of `at`, at these positions in the flattened x: x at the other
// places, and a scatter of the values. Of several values for one element, one remains.
Variable replaced_at(const Variable& x, const Variable& at, const Variable& values) {
  return reshape(scatter(flatten(x), 0, flatten(at), flatten(broadcast_to(values, at.shape()))), x.shape());
}
// The same at x[items].
Variable replaced(const Variable& x, const std::vector<IndexItem>& items, const Variable& values) {
  return replaced_at(x, get_item(places_of(x), items), values);
}

}  // namespace

Variable narrow(const Variable& x, int dim, std::int64_t start, std::int64_t length) {
  const int axis = normalize_axis("narrow", dim, x.ndim());
  const std::int64_t n = x.shape(axis), first = start < 0 ? start + n : start;
  check<IndexError>(first >= 0 && length >= 0 && first + length <= n, "narrow", "the part from ", start,
                    " of the length ", length, " does not lie within the axis ", dim, " of the shape ", x.shape());
  return get_item(x, at_axis(axis, Slice(first, first + length)));
}
Variable select(const Variable& x, int dim, std::int64_t index) {
  return get_item(x, at_axis(normalize_axis("select", dim, x.ndim()), index));
}
Variable slice(const Variable& x, int dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end,
               std::int64_t step) {
  return get_item(x, at_axis(normalize_axis("slice", dim, x.ndim()), Slice(start, end, step)));
}
Variable narrow_copy(const Variable& x, int dim, std::int64_t start, std::int64_t length) {
  return narrow(x, dim, start, length).clone();
}
Variable msort(const Variable& x) { return sort(x, 0).values; }
Variable take(const Variable& x, const Variable& index) {
  catena::check_index_dtype("take", index.dtype());
  return get_item(flatten(x), {IndexItem(index)});
}
Variable take_along_dim(const Variable& x, const Variable& indices, std::optional<int> dim) {
  if (dim) return take_along_axis(x, indices, *dim);
  return take_along_axis(flatten(x), flatten(indices), 0);
}

Variable masked_scatter(const Variable& x, const Variable& mask, const Variable& source) {
  const Array& m = mask.data();
  check<catena::TypeError>(m.dtype() == Dtype::bool_, "masked_scatter", "the mask is ", m.dtype(), ", it must be bool");
  const Array where_true = broadcast_to(m, x.shape());
  const std::int64_t count = item(sum(astype(where_true, Dtype::int64))).to<std::int64_t>();
  check<ValueError>(count <= source.size(), "masked_scatter", "the mask has ", count,
                    " true elements, but the source has ", source.size(), " elements only");
  return replaced(x, {IndexItem(contiguous(where_true))}, get_item(flatten(source), {IndexItem(Slice(0, count))}));
}
Variable index_copy(const Variable& x, int dim, const Variable& index, const Variable& source) {
  const int axis = normalize_axis("index_copy", dim, x.ndim());
  check<IndexError>(index.ndim() == 1, "index_copy", "the index has the shape ", index.shape(), ", its rank must be 1");
  return replaced(x, at_axis(axis, index), source);
}
Variable index_fill(const Variable& x, int dim, const Variable& index, double value) {
  const int axis = normalize_axis("index_fill", dim, x.ndim());
  check<IndexError>(index.ndim() == 1, "index_fill", "the index has the shape ", index.shape(), ", its rank must be 1");
  return replaced(x, at_axis(axis, index), as_variable(arrays::full({}, value, x.dtype(), x.device())));
}
Variable index_put(const Variable& x, const std::vector<IndexItem>& items, const Variable& values, bool accumulate) {
  return accumulate ? scatter_add(x, items, values) : replaced(x, items, values);
}

namespace {

// 1 for every element of x that an index names, as many times as it does.
Array counts_of(const Variable& x, int axis, const Variable& index) {
  const Variable zeros = as_variable(zeros_like(x.data()));
  return scatter_add(zeros, axis, index, as_variable(arrays::full(index.shape(), 1, x.dtype(), x.device()))).data();
}

// The greatest or least of the elements that go to one place, by their order: each place keeps the last of its values
// in ascending (or descending) order.
Variable scattered_extremum(const Variable& x, int axis, const Variable& index, const Variable& src, bool greatest,
                            bool include_self) {
  const Variable part = get_item(src, [&] {
    std::vector<IndexItem> items;
    for (int k = 0; k < src.ndim(); ++k) items.emplace_back(Slice(0, index.shape(k)));
    return items;
  }());
  // The extremum, without a graph: sorted values are written in order, so that the last one of an element is its
  // extremum. Each position of the index along the axis is a scatter into the whole array.
  const Array order = argsort(as_variable(part.data()), axis, !greatest).data();
  const Variable sorted_index = take_along_axis(index, as_variable(order), axis);
  const Variable sorted = take_along_axis(as_variable(part.data()), as_variable(order), axis);
  Array best = x.data();
  for (std::int64_t i = 0; i < index.shape(axis); ++i) {
    const Variable at = get_item(sorted_index, at_axis(axis, Slice(i, i + 1)));
    const Variable value = get_item(sorted, at_axis(axis, Slice(i, i + 1)));
    best = scatter(as_variable(best), axis, at, value).data();
  }
  if (include_self) best = apply(greatest ? kernels::maximum : kernels::minimum, {best, x.data()});
  // Shares of the gradient: the elements of src and of x that are equal to the result.
  const Variable result = as_variable(best);
  const Array hit = apply(kernels::equal, {part.data(), gather(result, axis, index).data()});
  const Variable hits = as_variable(astype(hit, x.dtype()));
  Array own = apply(kernels::equal, {x.data(), best});
  if (!include_self) own = apply(kernels::logical_and, {own, apply(kernels::equal, {counts_of(x, axis, index), 0})});
  const Array of_x = astype(own, x.dtype());
  const Array total = scatter_add(as_variable(of_x), axis, index, hits).data();
  const Variable shares = as_variable(apply(kernels::maximum, {total, 1}));
  const Variable moved = scatter_add(x * of_x, axis, index, part * hits);
  // The value is exactly the extremum, the gradient that of the mean of those that are equal to it.
  return straight_through(result, moved / shares);
}

}  // namespace

Variable scatter_reduce(const Variable& x, int dim, const Variable& index, const Variable& src, std::string_view reduce,
                        const ScatterReduceOptions& o) {
  constexpr const char* name = "scatter_reduce";
  check<ValueError>(reduce == "sum" || reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin",
                    name, "reduce is \"", reduce, "\"; it must be \"sum\", \"prod\", \"mean\", \"amax\" or \"amin\"");
  const int axis = normalize_axis(name, dim, x.ndim());
  if (reduce == "amax" || reduce == "amin")
    return scattered_extremum(x, axis, index, src, reduce == "amax", o.include_self);
  const Array count = !o.include_self || reduce == "mean" ? counts_of(x, axis, index) : Array();
  // x, with a neutral number in the place of the elements that the index names unless x is included.
  const auto start = [&](double neutral) {
    return o.include_self ? x : where(apply(kernels::not_equal, {count, 0}), neutral, x);
  };
  if (reduce == "prod") {
    Variable product = start(1);
    for (std::int64_t i = 0; i < index.shape(axis); ++i) {
      const Variable at = get_item(index, at_axis(axis, Slice(i, i + 1)));
      const Variable factor = get_item(src, at_axis(axis, Slice(i, i + 1)));
      product = product * scatter(as_variable(ones_like(x.data())), axis, at, factor);
    }
    return product;
  }
  const Variable total = scatter_add(start(0), axis, index, src);
  if (reduce == "sum") return total;
  const Array terms = o.include_self ? count + 1 : apply(kernels::maximum, {count, 1});
  return catena::is_exact(x.dtype()) ? floor_divide(total, as_variable(terms)) : total / terms;
}

Variable select_scatter(const Variable& x, const Variable& src, int dim, std::int64_t index) {
  return replaced(x, at_axis(normalize_axis("select_scatter", dim, x.ndim()), index), src);
}
Variable slice_scatter(const Variable& x, const Variable& src, int dim, std::optional<std::int64_t> start,
                       std::optional<std::int64_t> end, std::int64_t step) {
  return replaced(x, at_axis(normalize_axis("slice_scatter", dim, x.ndim()), Slice(start, end, step)), src);
}
Variable diagonal_scatter(const Variable& x, const Variable& src, std::int64_t offset, int dim1, int dim2) {
  return replaced_at(x, diagonal(places_of(x), offset, dim1, dim2), src);
}
Variable as_strided_scatter(const Variable& x, const Variable& src, const Shape& shape, const Dims& strides,
                            std::int64_t offset) {
  return replaced_at(x, as_strided(places_of(x), shape, strides, offset), src);
}
Variable index_reduce(const Variable& x, int dim, const Variable& index, const Variable& source,
                      std::string_view reduce, const ScatterReduceOptions& o) {
  constexpr const char* name = "index_reduce";
  check<ValueError>(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin", name, "reduce is \"",
                    reduce, "\"; it must be \"prod\", \"mean\", \"amax\" or \"amin\"");
  const int axis = normalize_axis(name, dim, x.ndim());
  Shape along = Shape::filled(x.ndim(), 1), full_shape = x.shape();
  check<ValueError>(index.ndim() == 1, name, "the index has the shape ", index.shape(), ", its rank must be 1");
  along[axis] = full_shape[axis] = index.size();
  check<ValueError>(source.shape() == full_shape, name, "the source has the shape ", source.shape(), ", it must be ",
                    full_shape);
  return scatter_reduce(x, axis, broadcast_to(reshape(index, along), full_shape), source, reduce, o);
}
Variable put(const Variable& x, const Variable& index, const Variable& source, bool accumulate) {
  check<ValueError>(index.size() == source.size(), "put", "the index has ", index.size(), " elements, the source ",
                    source.size());
  return reshape(index_put(flatten(x), {IndexItem(flatten(index))}, flatten(source), accumulate), x.shape());
}

Variable unflatten(const Variable& x, int dim, const Shape& sizes) {
  const int axis = normalize_axis("unflatten", dim, x.ndim());
  const Shape parts = catena::resolve_reshape("unflatten", Shape{x.shape(axis)}, sizes);
  Shape shape;
  for (int k = 0; k < x.ndim(); ++k) {
    if (k != axis) shape.push_back(x.shape(k));
    else
      for (const std::int64_t n : parts) shape.push_back(n);
  }
  return reshape(x, shape);
}

Variable column_stack(const Variables& xs) {
  Variables columns;
  for (const Variable& x : xs) columns.push_back(x.ndim() <= 1 ? reshape(x, {x.size(), 1}) : x);
  return concat(columns, 1);
}
Variable block_diag(const Variables& xs) {
  check<ValueError>(!xs.empty(), "block_diag", "there are no matrices");
  std::int64_t columns = 0;
  Variables blocks;
  for (const Variable& x : xs) {
    check<ValueError>(x.ndim() <= 2, "block_diag", "an operand has the shape ", x.shape(),
                      ", its rank must be at most 2");
    blocks.push_back(x.ndim() == 2 ? x : reshape(x, {1, x.size()}));
    columns += blocks.back().shape(1);
  }
  Variables rows;
  std::int64_t before = 0;
  for (const Variable& x : blocks) {
    const std::int64_t n = x.shape(0), width = x.shape(1);
    const auto zero = [&](std::int64_t length) {
      return as_variable(arrays::zeros({n, length}, x.dtype(), x.device()));
    };
    rows.push_back(concat({zero(before), x, zero(columns - before - width)}, 1));
    before += width;
  }
  return concat(rows, 0);
}

Variables tensor_split(const Variable& x, const Sections& s, int dim) {
  const int axis = normalize_axis("tensor_split", dim, x.ndim());
  const std::int64_t n = x.shape(axis);
  std::vector<std::int64_t> ends = s.positions();
  if (s.is_count()) {
    check<ValueError>(s.count() > 0, "tensor_split", "the number of parts is ", s.count(), ", it must be positive");
    const std::int64_t length = n / s.count(), longer = n % s.count();
    for (std::int64_t k = 1; k < s.count(); ++k) ends.push_back(k * length + std::min(k, longer));
  }
  ends.push_back(n);
  Variables parts;
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    parts.push_back(get_item(x, at_axis(axis, Slice(begin, end))));
    begin = end;
  }
  return parts;
}

namespace {

Variables split_along(const char* op, const Variable& x, const Sections& s, int axis, int least_rank) {
  check<ValueError>(x.ndim() >= least_rank, op, "x has the shape ", x.shape(), ", its rank must be at least ",
                    least_rank);
  check<ValueError>(!s.is_count() || (s.count() > 0 && x.shape(axis) % s.count() == 0), op, "the length ",
                    x.shape(axis), " is no multiple of ", s.is_count() ? s.count() : 1);
  return tensor_split(x, s, axis);
}

}  // namespace

Variables hsplit(const Variable& x, const Sections& s) { return split_along("hsplit", x, s, x.ndim() == 1 ? 0 : 1, 1); }
Variables vsplit(const Variable& x, const Sections& s) { return split_along("vsplit", x, s, 0, 2); }
Variables dsplit(const Variable& x, const Sections& s) { return split_along("dsplit", x, s, 2, 3); }

Variable diagflat(const Variable& x, std::int64_t offset) { return diag(flatten(x), offset); }
Variable cartesian_prod(const Variables& xs) {
  if (xs.size() == 1) return xs[0];
  Variables columns;
  for (const Variable& grid : meshgrid(xs, "ij")) columns.push_back(flatten(grid));
  return stack(columns, 1);
}
Variable combinations(const Variable& x, std::int64_t r, bool with_replacement) {
  check<ValueError>(x.ndim() == 1, "combinations", "x has the shape ", x.shape(), ", its rank must be 1");
  check<ValueError>(r >= 0, "combinations", "the number of elements is ", r, ", it must not be negative");
  const std::int64_t n = x.size(), step = with_replacement ? 0 : 1;
  std::vector<std::int64_t> places, current;
  // The selections in ascending order of their positions; r is small.
  const auto extend = [&](const auto& self, std::int64_t first) -> void {
    if (std::int64_t(current.size()) == r) {
      places.insert(places.end(), current.begin(), current.end());
      return;
    }
    for (std::int64_t k = first; k < n; ++k) {
      current.push_back(k);
      self(self, k + step);
      current.pop_back();
    }
  };
  if (r == 0) return get_item(x, {IndexItem(Slice(0, 0))});
  extend(extend, 0);
  const std::int64_t rows = std::int64_t(places.size()) / r;
  return reshape(get_item(x, {IndexItem(places)}), {rows, r});
}

namespace {

Variable triangle_places(std::int64_t rows, std::int64_t columns, std::int64_t offset, bool lower) {
  std::vector<std::int64_t> places[2];
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t diagonal = std::clamp<std::int64_t>(i + offset + (lower ? 1 : 0), 0, columns);
    for (std::int64_t k = lower ? 0 : diagonal; k < (lower ? diagonal : columns); ++k) {
      places[0].push_back(i);
      places[1].push_back(k);
    }
  }
  const auto n = std::int64_t(places[0].size());
  places[0].insert(places[0].end(), places[1].begin(), places[1].end());
  return as_variable(array(places[0], {2, n}));
}

}  // namespace

Variable tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  return triangle_places(rows, columns, offset, true);
}
Variable triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  return triangle_places(rows, columns, offset, false);
}

}  // namespace autograd
