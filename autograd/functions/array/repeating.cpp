// Reversed order, repetition and padding.
#include <algorithm>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/input_types.h>

namespace autograd {

using catena::check;
using catena::ValueError;
using type_check::TypeInfoTuple;

namespace {

class Flip final : public FunctionNode {
 public:
  // `rank`: minimal number of axes of a floating input; 0: any input.
  Flip(const Axes& axes, const char* label, int rank = 0) : axes_(axes), label_(label), rank_(rank) {}
  std::string label() const override { return label_; }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    if (rank_ > 0) expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim >= rank_);
    autograd::internal::expect_axes(in_types, axes_);
  }
  Arrays forward(const Arrays& x) override {
    Array y = x[0];
    for (const std::int64_t axis : catena::normalize_axes("flip", axes_, y.ndim()))
      y = slice(y, int(axis), y.shape(int(axis)) - 1, -y.shape(int(axis)) - 1, -1);
    return {y};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    return apply_node<Flip>({gy[0]}, axes_, label_, rank_);
  }

 private:
  Axes axes_;
  const char* label_;
  int rank_;
};

using Widths = PadSides<std::int64_t>::Pair;

// Returns the widths or values for an axis: the only pair of a list for all axes, or the pair of that axis.
template <class T> const typename PadSides<T>::Pair& side(const PadSides<T>& sides, int axis) {
  return sides.sides()[sides.sides().size() == 1 ? 0 : std::size_t(axis)];
}
template <class T> void check_sides(const PadSides<T>& sides, int rank, const char* what) {
  const std::size_t n = sides.sides().size();
  check<ValueError>(n == 1 || n == std::size_t(rank), "pad", what, " has ", n,
                    " pairs, which is neither 1 nor the rank ", rank);
}

class Pad final : public FunctionNode {
 public:
  Pad(const std::vector<Widths>& widths, const PadSides<Scalar>& values) : widths_(widths), values_(values) {}
  std::string label() const override { return "Pad"; }

  // Writes the interior first, then the sides of one axis after the other. The sides of an axis include the sides of
  // earlier axes.
  Arrays forward(const Arrays& x) override {
    Shape shape = x[0].shape();
    for (int i = 0; i < shape.size(); ++i) shape[i] += widths_[std::size_t(i)].first + widths_[std::size_t(i)].second;
    const Array y = x[0].backend().empty(shape, x[0].dtype(), x[0].device());
    Array filled = y;  // the result without the sides of axes >= i
    std::vector<Array> parts(std::size_t(shape.size()));
    for (int i = shape.size() - 1; i >= 0; --i) {
      parts[std::size_t(i)] = filled;
      filled = slice(filled, i, widths_[std::size_t(i)].first, widths_[std::size_t(i)].first + x[0].shape(i));
    }
    assign(filled, x[0]);
    for (int i = 0; i < shape.size(); ++i) {
      const auto& [before, after] = widths_[std::size_t(i)];
      const Array& part = parts[std::size_t(i)];
      if (before > 0) fill(slice(part, i, 0, before), side(values_, i).first);
      if (after > 0) fill(slice(part, i, shape[i] - after, shape[i]), side(values_, i).second);
    }
    return {y};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    const Shape shape = input_shape(0);
    std::vector<IndexItem> interior;
    for (int i = 0; i < shape.size(); ++i) {
      const std::int64_t before = widths_[std::size_t(i)].first;
      interior.emplace_back(Slice(before, before + shape[i]));
    }
    return {get_item(gy[0], interior)};
  }

 private:
  std::vector<Widths> widths_;
  PadSides<Scalar> values_;
};

// Returns the element of an axis of length n that a mode copies to position i, which may be outside the axis.
using Source = std::int64_t (*)(std::int64_t i, std::int64_t n);

std::int64_t modulo(std::int64_t i, std::int64_t n) { return (i % n + n) % n; }

Source source_of(std::string_view mode) {
  if (mode == "edge") return [](std::int64_t i, std::int64_t n) { return std::clamp<std::int64_t>(i, 0, n - 1); };
  if (mode == "wrap") return modulo;
  if (mode == "symmetric")
    return [](std::int64_t i, std::int64_t n) {
      const std::int64_t at = modulo(i, 2 * n);
      return at < n ? at : 2 * n - 1 - at;
    };
  if (mode == "reflect")
    return [](std::int64_t i, std::int64_t n) {
      const std::int64_t at = n == 1 ? 0 : modulo(i, 2 * n - 2);
      return at < n ? at : 2 * n - 2 - at;
    };
  catena::fail<ValueError>("pad", "the mode is '", mode, "'; it is one of constant, edge, reflect, symmetric, wrap");
}

// Gathers the copied elements, so that their gradients are added at their sources.
Variable pad_by_elements(const Variable& x, const std::vector<Widths>& widths, Source source) {
  Variable y = x;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const auto& [before, after] = widths[std::size_t(axis)];
    const std::int64_t n = x.shape(axis);
    if (before + after == 0) continue;
    check<ValueError>(n > 0, "pad", "axis ", axis, " of shape ", x.shape(), " has no elements to copy");
    std::vector<std::int64_t> from;
    for (std::int64_t i = -before; i < n + after; ++i) from.push_back(source(i, n));
    std::vector<IndexItem> items(static_cast<std::size_t>(axis), Slice());
    items.emplace_back(from);
    y = get_item(y, items);
  }
  return y;
}

}  // namespace

Variable flip(const Variable& x, const Axes& axis) { return apply_node<Flip>({x}, axis, "Flip")[0]; }
Variable fliplr(const Variable& a) { return apply_node<Flip>({a}, Axes(1), "FlipLR", 2)[0]; }
Variable flipud(const Variable& a) { return apply_node<Flip>({a}, Axes(0), "FlipUD", 1)[0]; }

// A repeated axis becomes two: an axis of repetitions, which is broadcast, and the original one.
Variable tile(const Variable& x, const Dims& reps) {
  for (const std::int64_t r : reps) check<ValueError>(r >= 0, "tile", "the repetitions ", reps, " are negative");
  const Shape& own = x.shape();
  const int rank = std::max(own.size(), reps.size());
  Shape apart, repeated, result;
  for (int k = 0; k < rank; ++k) {
    const int axis = k - (rank - own.size()), at = k - (rank - reps.size());
    const std::int64_t n = axis >= 0 ? own[axis] : 1, times = at >= 0 ? reps[at] : 1;
    if (times != 1) {
      apart.push_back(1);
      repeated.push_back(times);
    }
    apart.push_back(n);
    repeated.push_back(n);
    result.push_back(n * times);
  }
  return reshape(broadcast_to(reshape(x, apart), repeated), result);
}

Variable pad(const Variable& x, const PadSides<std::int64_t>& pad_width, std::string_view mode,
             const PadOptions& options) {
  internal::check_input_types(
      "Pad", {x},
      [](const TypeInfoTuple& in_types) {
        using namespace type_check;
        expect(in_types[0].dtype.kind() == 'f');
      },
      "x");
  check_sides(pad_width, x.ndim(), "pad_width");
  std::vector<Widths> widths;
  for (int i = 0; i < x.ndim(); ++i) {
    widths.push_back(side(pad_width, i));
    check<ValueError>(widths.back().first >= 0 && widths.back().second >= 0, "pad", "the width of axis ", i,
                      " is negative: ", widths.back().first, " and ", widths.back().second);
  }
  if (mode != "constant") return pad_by_elements(x, widths, source_of(mode));
  check_sides(options.constant_values, x.ndim(), "constant_values");
  return apply_node<Pad>({x}, widths, options.constant_values)[0];
}

}  // namespace autograd
