// Orders of axes and elements, repetition, parts, grids.
#include <algorithm>

#include <catena/autograd/functions/array/parts.h>
#include <catena/kernels/base/array_layout.h>

namespace autograd {

using catena::check;
using catena::ValueError;
using internal::checked_axis;
using internal::part;
using type_check::TypeInfoTuple;

namespace {

void check_axes(const char* label, const Variable& x, const Axes& axes) {
  internal::check_input_types(label, {x},
                              [&](const TypeInfoTuple& in_types) { autograd::internal::expect_axes(in_types, axes); });
}

Variable rolled(const Variable& x, std::int64_t shift, int axis) {
  const std::int64_t n = x.shape(axis);
  if (n == 0 || shift % n == 0) return x;
  const std::int64_t last = n - (shift % n + n) % n;
  return concat({part(x, axis, last, n), part(x, axis, 0, last)}, axis);
}

}  // namespace

Variable ravel(const Variable& x) { return flatten(x); }

Variable moveaxis(const Variable& x, const Dims& source, const Dims& destination) {
  constexpr const char* name = "moveaxis";
  check_axes("Moveaxis", x, source);
  check_axes("Moveaxis", x, destination);
  check<ValueError>(source.size() == destination.size(), name, "there are ", source.size(), " axes and ",
                    destination.size(), " destinations");
  const int rank = x.ndim();
  catena::normalize_axes(name, source, rank);  // neither list has an axis twice
  catena::normalize_axes(name, destination, rank);
  Dims order = Dims::filled(rank, -1);
  std::vector<bool> moved(static_cast<std::size_t>(rank));
  for (int k = 0; k < source.size(); ++k) {
    const int from = catena::normalize_axis(name, source[k], rank);
    order[catena::normalize_axis(name, destination[k], rank)] = from;
    moved[std::size_t(from)] = true;
  }
  int next = 0;
  for (std::int64_t& axis : order) {
    if (axis >= 0) continue;
    while (moved[std::size_t(next)]) ++next;
    axis = next++;
  }
  return transpose(x, order);
}

Variable atleast_1d(const Variable& x) { return reshape(x, catena::at_least(1, x.shape())); }
Variable atleast_2d(const Variable& x) { return reshape(x, catena::at_least(2, x.shape())); }
Variable atleast_3d(const Variable& x) { return reshape(x, catena::at_least(3, x.shape())); }

Variable roll(const Variable& x, std::int64_t shift, const Axes& axis) {
  if (!axis.given()) return reshape(rolled(flatten(x), shift, 0), x.shape());
  return roll(x, Dims::filled(axis.values().size(), shift), axis);
}

Variable roll(const Variable& x, const Dims& shift, const Axes& axis) {
  check<ValueError>(axis.given() && shift.size() == axis.values().size(), "roll", "there are ", shift.size(),
                    " shifts and ", axis.values().size(), " axes");
  check_axes("Roll", x, axis);
  Variable y = x;
  for (int k = 0; k < shift.size(); ++k)
    y = rolled(y, shift[k], catena::normalize_axis("roll", axis.values()[k], x.ndim()));
  return y;
}

Variable rot90(const Variable& x, int k, const Dims& axes) {
  constexpr const char* name = "rot90";
  check<ValueError>(axes.size() == 2, name, "there must be two axes, not ", axes.size());
  check_axes("Rot90", x, axes);
  const int first = catena::normalize_axis(name, axes[0], x.ndim()),
            second = catena::normalize_axis(name, axes[1], x.ndim());
  check<ValueError>(first != second, name, "the axes ", axes, " are the same one");
  switch ((k % 4 + 4) % 4) {
    case 0: return x;
    case 1: return swapaxes(flip(x, second), first, second);
    case 2: return flip(x, {first, second});
    default: return flip(swapaxes(x, first, second), second);
  }
}

Variable repeat(const Variable& x, std::int64_t repeats, std::optional<int> axis) {
  check<ValueError>(repeats >= 0, "repeat", "the number of repeats is ", repeats, ", must not be negative");
  if (!axis) return repeat(flatten(x), repeats, 0);
  const int at = checked_axis("Repeat", "repeat", x, *axis);
  Shape shape = x.shape();
  shape[at] *= repeats;
  if (repeats == 1) return x;
  Shape repeated = x.shape();
  repeated.insert(at + 1, repeats);
  return reshape(broadcast_to(expand_dims(x, at + 1), repeated), shape);
}

Variable repeat(const Variable& x, const std::vector<std::int64_t>& repeats, std::optional<int> axis) {
  if (!axis) return repeat(flatten(x), repeats, 0);
  const int at = checked_axis("Repeat", "repeat", x, *axis);
  check<ValueError>(std::int64_t(repeats.size()) == x.shape(at), "repeat", "there are ", repeats.size(),
                    " numbers of repeats, axis ", at, " has the length ", x.shape(at));
  std::vector<std::int64_t> from;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    check<ValueError>(repeats[i] >= 0, "repeat", "a number of repeats is ", repeats[i], ", must not be negative");
    from.insert(from.end(), std::size_t(repeats[i]), std::int64_t(i));
  }
  std::vector<IndexItem> items(static_cast<std::size_t>(at), Slice());
  items.emplace_back(from);
  return get_item(x, items);
}

Variables meshgrid(const Variables& xs, std::string_view indexing) {
  constexpr const char* name = "meshgrid";
  check<ValueError>(indexing == "xy" || indexing == "ij", name, "indexing is '", indexing, "', must be 'xy' or 'ij'");
  const int rank = int(xs.size());
  const bool exchange = indexing == "xy" && rank >= 2;
  const auto axis_of = [&](int k) { return exchange && k < 2 ? 1 - k : k; };
  Shape shape = Shape::filled(rank, 1);
  for (int k = 0; k < rank; ++k) {
    check<ValueError>(xs[std::size_t(k)].ndim() <= 1, name, "argument ", k, " has the shape ",
                      xs[std::size_t(k)].shape(), ", must have at most one axis");
    shape[axis_of(k)] = xs[std::size_t(k)].size();
  }
  Variables grids;
  for (int k = 0; k < rank; ++k) {
    Shape along = Shape::filled(rank, 1);
    along[axis_of(k)] = xs[std::size_t(k)].size();
    grids.push_back(broadcast_to(reshape(xs[std::size_t(k)], along), shape));
  }
  return grids;
}

Variables unbind(const Variable& x, int axis) { return separate(x, axis); }

Variables chunk(const Variable& x, std::int64_t chunks, int axis) {
  check<ValueError>(chunks > 0, "chunk", "the number of chunks is ", chunks, ", must be positive");
  const std::int64_t n = x.shape(checked_axis("Chunk", "chunk", x, axis));
  return split(x, std::max<std::int64_t>(1, (n - 1) / chunks + 1), axis);
}

Variables split(const Variable& x, std::int64_t length, int axis) {
  check<ValueError>(length > 0, "split", "the length of the parts is ", length, ", must be positive");
  const std::int64_t n = x.shape(checked_axis("Split", "split", x, axis));
  std::vector<std::int64_t> lengths(std::size_t(n / length), length);
  if (n % length != 0 || n == 0) lengths.push_back(n % length);
  return split(x, lengths, axis);
}

Variables split(const Variable& x, const std::vector<std::int64_t>& lengths, int axis) {
  constexpr const char* name = "split";
  const int at = checked_axis("Split", name, x, axis);
  const std::int64_t n = x.shape(at);
  std::vector<std::int64_t> positions;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    check<ValueError>(lengths[i] >= 0, name, "a length is ", lengths[i], ", must not be negative");
    if (i > 0) positions.push_back(sum);
    sum += lengths[i];
  }
  check<ValueError>(sum == n && !lengths.empty(), name, "the sum of the lengths is ", sum, ", axis ", at,
                    " has the length ", n);
  // split_axis takes no position at the end.
  std::size_t empty = 0;
  while (!positions.empty() && positions.back() == n) positions.pop_back(), ++empty;
  Variables parts = positions.empty() ? Variables{x} : split_axis(x, positions, at);
  for (; empty > 0; --empty) parts.push_back(part(x, at, n, n));
  return parts;
}

}  // namespace autograd
