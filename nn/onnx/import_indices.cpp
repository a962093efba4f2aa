// Operators that take, add and write elements by position, and order them.
#include <algorithm>
#include <array>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/onnx/import_operator.h>

namespace nn::onnx::importing {

namespace indices {
namespace {

namespace kernels = catena::kernels;
using autograd::IndexItem;
using catena::Slice;
using Call = const OperatorCall&;
using Items = std::vector<IndexItem>;

// All elements of n axes.
Items all_of(int n) { return Items(std::size_t(n), IndexItem(Slice())); }

// ---- reading ----
// The elements of each axis: starts, ends, axes and steps are inputs, or, before version 10, attributes.
Variables slice(Call c) {
  const Variable& x = c.input(0);
  const bool by_inputs = c.opset() >= 10;
  const Integers starts = by_inputs ? c.integers_of(1) : c.integers("starts");
  const Integers ends = by_inputs ? c.integers_of(2) : c.integers("ends");
  Integers axes = by_inputs ? (c.has(3) ? c.integers_of(3) : Integers()) : c.integers("axes");
  const Integers steps = by_inputs && c.has(4) ? c.integers_of(4) : Integers(starts.size(), 1);
  if (axes.empty())
    for (std::size_t k = 0; k < starts.size(); ++k) axes.push_back(std::int64_t(k));
  if (starts.size() != ends.size() || starts.size() != axes.size() || starts.size() != steps.size())
    c.refuse("it has ", starts.size(), " starts, ", ends.size(), " ends, ", axes.size(), " axes and ", steps.size(),
             " steps");
  Items items = all_of(x.ndim());
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const int axis = c.axis(axes[k], x.ndim());
    if (steps[k] == 0) c.refuse("a step is 0");
    const std::int64_t n = x.shape(axis), step = steps[k];
    // The ends are limited to the array; the one before the first element is -n - 1 for a Slice.
    const auto limited = [n](std::int64_t i, std::int64_t low, std::int64_t high) {
      return std::clamp(i < 0 ? std::max(i + n, std::int64_t(-1)) : i, low, high);
    };
    const std::int64_t start = step > 0 ? limited(starts[k], 0, n) : limited(starts[k], -1, n - 1);
    const std::int64_t end = step > 0 ? limited(ends[k], 0, n) : limited(ends[k], -1, n - 1);
    const auto as_index = [n](std::int64_t i) { return i < 0 ? -n - 1 : i; };
    items[std::size_t(axis)] = IndexItem(Slice(as_index(start), as_index(end), step));
  }
  return {autograd::get_item(x, items)};
}

// x[:, ..., indices, ...] at an axis.
Variables gather(Call c) {
  const Variable& x = c.input(0);
  const int axis = c.axis(c.integer("axis", 0), x.ndim());
  Items items = all_of(axis);
  const Variable indices = beside(c.input(1), x);
  if (indices.ndim() == 0) items.emplace_back(autograd::item(indices.data()).to<std::int64_t>());
  else items.emplace_back(indices.data());
  return {autograd::get_item(x, items)};
}
Variables gather_elements(Call c) {
  const Variable& x = c.input(0);
  const int axis = c.axis(c.integer("axis", 0), x.ndim());
  return {autograd::gather(x, axis, beside(c.input(1), x))};
}

// Returns the items that the last axis of `indices` names, behind `batch` axes whose positions are their own.
Items items_of(Call c, const Variable& x, const Variable& indices, int batch) {
  const int rank = indices.ndim();
  if (rank == 0) c.refuse("its indices have no axis");
  if (batch < 0 || batch >= rank) c.refuse("its batch_dims is ", batch, " for indices of the shape ", indices.shape());
  const std::int64_t depth = indices.shape(rank - 1);
  if (depth + batch > x.ndim()) c.refuse("its indices name ", depth, " axes of the shape ", x.shape());
  Items items;
  for (int k = 0; k < batch; ++k) {
    Shape lengths = Shape::filled(rank - 1, 1);
    lengths[k] = indices.shape(k);
    items.emplace_back(
        autograd::reshape(autograd::arrays::arange(indices.shape(k), Dtype::int64, x.device()), lengths));
  }
  for (std::int64_t k = 0; k < depth; ++k)
    items.emplace_back(autograd::squeeze(autograd::slice(indices.data(), rank - 1, k, k + 1), rank - 1));
  return items;
}
Variables gather_nd(Call c) {
  const Variable& x = c.input(0);
  const Variable indices = beside(c.input(1), x);
  return {autograd::get_item(x, items_of(c, x, indices, int(c.integer("batch_dims", 0))))};
}

// ---- writing ----
Variables scatter_elements(Call c) {
  const Variable& x = c.input(0);
  const int axis = c.axis(c.integer("axis", 0), x.ndim());
  const std::string reduction = c.text("reduction", "none");
  Variable index = beside(c.input(1), x), updates = beside(c.input(2), x);
  if (reduction == "add") return {autograd::scatter_add(x, axis, index, updates)};
  if (reduction != "none") c.unsupported("the reduction ", reduction, " is not imported");
  return {autograd::scatter(x, axis, index, updates)};
}
// Adds the updates to x with zeros at their positions: x + (update - x) is rounded, and is not a number where x is
// infinite. Each position must be named once.
Variables scatter_nd(Call c) {
  const Variable& x = c.input(0);
  const std::string reduction = c.text("reduction", "none");
  const Variable indices = beside(c.input(1), x), updates = beside(c.input(2), x);
  const Items items = items_of(c, x, indices, 0);
  if (reduction == "add") return {autograd::scatter_add(x, items, updates)};
  if (reduction != "none") c.unsupported("the reduction ", reduction, " is not imported");
  const Variable counts = constant(autograd::arrays::zeros(x.shape(), Dtype::float32, x.device()));
  const Variable one = constant(autograd::arrays::ones({}, Dtype::float32, x.device()));
  const Array named = autograd::apply(kernels::not_equal, {autograd::scatter_add(counts, items, one).data(), 0});
  const Variable zero = constant(autograd::arrays::zeros({}, x.dtype(), x.device()));
  if (is_floating(x)) return {autograd::scatter_add(autograd::where(constant(named), zero, x), items, updates)};
  return {autograd::scatter_add(constant(autograd::where(named, zero.data(), x.data())), items, updates)};
}

// ---- padding ----
Variables pad(Call c) {
  const Variable& x = c.input(0);
  const bool by_inputs = c.opset() >= 11;
  Integers pads = by_inputs ? c.integers_of(1) : c.integers("pads");
  const std::string mode = c.text("mode", "constant");
  const double value = by_inputs ? (c.has(2) ? c.number_of(2) : 0) : c.number("value", 0);
  Integers axes = c.has(3) ? c.integers_of(3) : Integers();
  if (axes.empty())
    for (int k = 0; k < x.ndim(); ++k) axes.push_back(k);
  if (pads.size() != 2 * axes.size()) c.refuse("it has ", pads.size(), " pads for ", axes.size(), " axes");
  std::vector<std::pair<std::int64_t, std::int64_t>> widths;
  widths.resize(std::size_t(x.ndim()));
  for (std::size_t k = 0; k < axes.size(); ++k)
    widths[std::size_t(c.axis(axes[k], x.ndim()))] = {pads[k], pads[axes.size() + k]};
  Items cut = all_of(x.ndim());  // negative pads remove elements
  bool is_cut = false;
  for (std::size_t k = 0; k < widths.size(); ++k) {
    auto& [before, after] = widths[k];
    if (before < 0 || after < 0) {
      cut[k] = IndexItem(Slice(std::max<std::int64_t>(-before, 0),
                               std::max<std::int64_t>(x.shape(int(k)) + std::min<std::int64_t>(after, 0), 0)));
      is_cut = true;
      before = std::max<std::int64_t>(before, 0), after = std::max<std::int64_t>(after, 0);
    }
  }
  const Variable kept = is_cut ? autograd::get_item(x, cut) : x;
  const Variable floating = is_floating(x) ? kept : constant(autograd::astype(kept.data(), Dtype::float64));
  return {cast_to(autograd::pad(floating, widths, mode, {.constant_values = autograd::Scalar(value)}), x.dtype())};
}

// ---- order ----
Variables top_k(Call c) {
  const Variable& x = c.input(0);
  const std::int64_t k = c.opset() < 10 ? c.integer("k") : c.integer_of(1);
  const int axis = c.axis(c.integer("axis", -1), x.ndim());
  const bool largest = c.integer("largest", 1) != 0;
  // In order, of equal elements the first ones.
  const bool floating = is_floating(x);
  const Variable keys = floating ? x : constant(autograd::astype(x.data(), Dtype::float64));
  const Variable order = autograd::argsort(largest ? -keys : keys, axis);
  Items first = all_of(x.ndim());
  first[std::size_t(axis)] = IndexItem(Slice(0, k));
  if (k < 0 || k > x.shape(axis)) c.refuse("k is ", k, " for an axis of length ", x.shape(axis));
  const Variable indices = autograd::get_item(cast_to(order, Dtype::int64), first);
  return {autograd::take_along_axis(x, indices, axis), indices};
}

Variables cumsum(Call c) {
  const Variable& x = c.input(0);
  const int axis = c.axis(c.integer_of(1), x.ndim());
  const bool reverse = c.integer("reverse", 0) != 0, exclusive = c.integer("exclusive", 0) != 0;
  Variable in_order = reverse ? autograd::flip(x, axis) : x;
  if (exclusive && x.shape(axis) > 0) {  // a zero in front, and no last element
    Shape first = x.shape();
    first[axis] = 1;
    Items others = all_of(x.ndim());
    others[std::size_t(axis)] = IndexItem(Slice(0, x.shape(axis) - 1));
    in_order = autograd::concat(
        {constant(autograd::arrays::zeros(first, x.dtype(), x.device())), autograd::get_item(in_order, others)}, axis);
  }
  const Variable y = cast_to(autograd::cumsum(in_order, axis), x.dtype());
  return {reverse ? autograd::flip(y, axis) : y};
}

Variables trilu(Call c) {
  const Variable& x = c.input(0);
  const std::int64_t k = c.has(1) ? c.integer_of(1) : 0;
  return {c.integer("upper", 1) != 0 ? autograd::triu(x, k) : autograd::tril(x, k)};
}

// 1 or other values at the positions that indices name, along a new axis.
Variables one_hot(Call c) {
  const Variable& indices = c.input(0);
  const auto depth = std::int64_t(c.number_of(1));
  const Array values = c.input(2).data();
  if (values.size() != 2) c.refuse("its values have the shape ", values.shape(), "; two are needed");
  const int axis = c.axis(c.integer("axis", -1), indices.ndim() + 1);
  Array wrapped = autograd::astype(indices.data(), Dtype::int64);
  wrapped = autograd::where(autograd::apply(kernels::less, {wrapped, 0}), wrapped + autograd::Scalar(depth), wrapped);
  Shape lengths = Shape::filled(indices.ndim() + 1, 1);
  lengths[axis] = depth;
  const Array positions = autograd::reshape(autograd::arrays::arange(depth, Dtype::int64, indices.device()), lengths);
  const Array hit = autograd::apply(kernels::equal, {autograd::expand_dims(wrapped, axis), positions});
  const Array off = autograd::slice(values, 0, 0, 1), on = autograd::slice(values, 0, 1, 2);
  return {constant(autograd::where(hit, on, off))};
}

// The positions of elements other than 0, one column each.
Variables non_zero(Call c) {
  const Array x = c.input(0).data();
  const std::vector<bool> set = autograd::to_vector<bool>(autograd::apply(kernels::not_equal, {x, 0}));
  const int rank = std::max(x.shape().size(), 1);
  std::vector<Integers> rows;
  rows.resize(std::size_t(rank));
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (!set[i]) continue;
    auto rest = std::int64_t(i);
    for (int k = rank; k-- > 0;) {
      const std::int64_t n = x.shape().empty() ? 1 : x.shape()[k];
      rows[std::size_t(k)].push_back(rest % n);
      rest /= n;
    }
  }
  Integers all;
  for (const Integers& row : rows) all.insert(all.end(), row.begin(), row.end());
  return {integers(all, {rank, std::int64_t(rows[0].size())})};
}

constexpr std::array kOperators = {
    Operator{"CumSum", cumsum},
    Operator{"Gather", gather},
    Operator{"GatherElements", gather_elements},
    Operator{"GatherND", gather_nd},
    Operator{"NonZero", non_zero},
    Operator{"OneHot", one_hot, kAllButFirst},
    Operator{"Pad", pad, kAllButFirst},
    Operator{"ScatterElements", scatter_elements},
    Operator{"ScatterND", scatter_nd},
    Operator{"Slice", slice},
    Operator{"TopK", top_k},
    Operator{"Trilu", trilu},
};

}  // namespace
}  // namespace indices

std::span<const Operator> index_operators() { return indices::kOperators; }

}  // namespace nn::onnx::importing
