// Reversed order, repetition and padding.
#include <algorithm>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/view.h>
#include <catena/kernels/base/array_layout.h>

namespace autograd {

using catena::check;
using catena::ValueError;
using internal::view_as;
using type_check::TypeInfoTuple;

namespace {

class Flip final : public FunctionNode, public internal::HasOptions {
 public:
  // `rank`: minimal number of axes of a floating input; 0: any input.
  Flip(const Axes& axes, const char* label, int rank = 0) : axes_(axes), label_(label), rank_(rank) {}
  std::string label() const override { return label_; }
  void options(internal::FunctionOptions& o) const override {
    o.function("Flip");
    if (axes_.given()) o.integers("axes", axes_.values());
  }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    if (rank_ > 0) expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim >= rank_);
    autograd::internal::expect_axes(in_types, axes_);
  }
  Arrays forward(const Arrays& x) override {
    return {view_as(x[0], catena::flipped_axes("flip", x[0].shape(), x[0].strides(), axes_))};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    return apply_node<Flip>({gy[0]}, axes_, label_, rank_);
  }

 private:
  Axes axes_;
  const char* label_;
  int rank_;
};

class Pad final : public FunctionNode, public internal::HasOptions {
 public:
  Pad(const catena::PadWidths& widths, const std::vector<PadSides<Scalar>::Pair>& values)
      : widths_(widths), values_(values) {}
  std::string label() const override { return "Pad"; }
  void options(internal::FunctionOptions& o) const override {
    std::vector<std::int64_t> widths;
    std::vector<double> values;
    for (const auto& [before, after] : widths_) widths.insert(widths.end(), {before, after});
    for (const auto& [before, after] : values_) values.insert(values.end(), {before.to_double(), after.to_double()});
    o.integers("widths", widths);
    o.numbers("values", values);
  }
  Arrays forward(const Arrays& x) override {
    const catena::Padded p = catena::padded(x[0].shape(), widths_, catena::itemsize(x[0].dtype()));
    const Array y = x[0].backend().empty(p.shape, x[0].dtype(), x[0].device());
    assign(view_as(y, p.interior), x[0]);
    for (const catena::Padded::Side& side : p.sides) {
      const auto& [before, after] = values_[std::size_t(side.axis)];
      fill(view_as(y, side.view), side.after ? after : before);
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
  catena::PadWidths widths_;
  std::vector<PadSides<Scalar>::Pair> values_;
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
Variable pad_by_elements(const Variable& x, const catena::PadWidths& widths, Source source) {
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
// Of integers and bools too, as in PyTorch; Chainer's functions are of floating variables.
Variable fliplr(const Variable& a) {
  if (!catena::is_floating(a.dtype()) && a.ndim() >= 2) return flip(a, Axes(1));
  return apply_node<Flip>({a}, Axes(1), "FlipLR", 2)[0];
}
Variable flipud(const Variable& a) {
  if (!catena::is_floating(a.dtype()) && a.ndim() >= 1) return flip(a, Axes(0));
  return apply_node<Flip>({a}, Axes(0), "FlipUD", 1)[0];
}

Variable tile(const Variable& x, const Dims& reps) {
  const catena::Tiling t = catena::tiling("tile", x.shape(), x.data().strides(), reps);
  return reshape(broadcast_to(reshape(x, t.apart), t.repeated), t.result);
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
  const catena::PadWidths widths = catena::pad_widths(pad_width, x.ndim());
  if (mode != "constant") return pad_by_elements(x, widths, source_of(mode));
  const auto values = catena::sides_of_axes("constant_values", options.constant_values, x.ndim());
  return apply_node<Pad>({x}, widths, values)[0];
}

}  // namespace autograd
