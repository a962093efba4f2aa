// Operators that make arrays, and those that change shapes and types.
#include <algorithm>
#include <array>
#include <cmath>

#include <catena/autograd/functions/array.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/onnx/import_operator.h>
#include <catena/nn/onnx/tensor.h>

namespace nn::onnx::importing {

namespace shapes {
namespace {

using Call = const OperatorCall&;

// ---- arrays ----
Variables constant_of(Call c) {
  if (const Attribute* a = c.attribute("value"); a != nullptr && a->t) return {constant(to_array(*a->t))};
  if (const Attribute* a = c.attribute("value_float"); a != nullptr)
    return {constant(autograd::array(std::vector<float>{a->f}, {}))};
  if (const Attribute* a = c.attribute("value_floats"); a != nullptr)
    return {constant(autograd::array(a->floats, {std::int64_t(a->floats.size())}))};
  if (const Attribute* a = c.attribute("value_int"); a != nullptr) return {integers({a->i}, Shape{})};
  if (const Attribute* a = c.attribute("value_ints"); a != nullptr) return {integers(a->ints)};
  c.unsupported("a value that is neither a tensor nor a number is not imported");
}

Variables constant_of_shape(Call c) {
  const Shape shape = shape_of(c.integers_of(0));
  const Attribute* const a = c.attribute("value");
  const Array value = a != nullptr && a->t ? to_array(*a->t) : autograd::arrays::zeros({1});
  return {constant(autograd::arrays::full(shape, autograd::item(value), value.dtype(), value.device()))};
}

Variables range(Call c) {
  const double start = c.number_of(0), limit = c.number_of(1), delta = c.number_of(2);
  if (delta == 0) c.refuse("its step is 0");
  const auto n = std::int64_t(std::max(std::ceil((limit - start) / delta), 0.0));
  const Array i = autograd::arrays::arange(n, Dtype::float64, autograd::Device{});
  return {constant(autograd::astype(i * autograd::Scalar(delta) + autograd::Scalar(start), c.input(0).dtype()))};
}

Variables shape(Call c) {
  const Shape& all = c.input(0).shape();
  const auto limited = [&](std::int64_t k) {
    return std::clamp<std::int64_t>(k < 0 ? k + all.size() : k, 0, all.size());
  };
  const std::int64_t end = limited(c.integer("end", all.size()));
  Integers lengths;
  for (std::int64_t k = limited(c.integer("start", 0)); k < end; ++k) lengths.push_back(all[int(k)]);
  return {integers(lengths)};
}
Variables size(Call c) { return {integers({c.input(0).size()}, Shape{})}; }

// ---- types ----
Variables cast(Call c) { return {cast_to(c.input(0), dtype_of(static_cast<DataType>(c.integer("to"))))}; }
Variables cast_like(Call c) { return {cast_to(c.input(0), c.input(1).dtype())}; }

// ---- shapes ----
Variables reshape(Call c) {
  const Variable& x = c.input(0);
  Integers lengths = c.opset() < 5 ? c.integers("shape") : c.integers_of(1);
  if (c.integer("allowzero", 0) == 0)
    for (std::size_t k = 0; k < lengths.size(); ++k)
      if (lengths[k] == 0) {
        if (k >= std::size_t(x.ndim())) c.refuse("its shape has a 0 for axis ", k, ", which its input does not have");
        lengths[k] = x.shape(int(k));
      }
  return {autograd::reshape(x, shape_of(lengths))};
}

Variables flatten(Call c) {
  const Variable& x = c.input(0);
  const std::int64_t given = c.integer("axis", 1);
  const int axis = given == x.ndim() ? x.ndim() : c.axis(given, std::max(x.ndim(), 1));
  return {matrix_of(x, axis)};
}

Variables squeeze(Call c) {
  const Variable& x = c.input(0);
  std::vector<bool> removed(std::size_t(x.ndim()), false);
  const Integers axes = c.integers("axes", 1, 13);
  for (const std::int64_t given : axes) {
    const int axis = c.axis(given, x.ndim());
    if (x.shape(axis) != 1) c.refuse("axis ", axis, " of the shape ", x.shape(), " has not the length 1");
    removed[std::size_t(axis)] = true;
  }
  Shape kept;
  for (int k = 0; k < x.ndim(); ++k)
    if (!(axes.empty() ? x.shape(k) == 1 : removed[std::size_t(k)])) kept.push_back(x.shape(k));
  return {autograd::reshape(x, kept)};
}

Variables unsqueeze(Call c) {
  const Variable& x = c.input(0);
  const Integers axes = c.integers("axes", 1, 13);
  const int rank = x.ndim() + int(axes.size());
  if (rank > catena::kMaxRank) c.refuse("the result has ", rank, " axes, more than ", catena::kMaxRank);
  std::vector<bool> added(std::size_t(rank), false);
  for (const std::int64_t given : axes) {
    const auto axis = std::size_t(c.axis(given, rank));
    if (added[axis]) c.refuse("the axis ", axis, " is given twice");
    added[axis] = true;
  }
  Shape lengths;
  int from = 0;
  for (int k = 0; k < rank; ++k) lengths.push_back(added[std::size_t(k)] ? 1 : x.shape(from++));
  return {autograd::reshape(x, lengths)};
}

Variables transpose(Call c) {
  const Variable& x = c.input(0);
  const Integers order = c.integers("perm");
  return {order.empty() ? autograd::transpose(x) : autograd::transpose(x, shape_of(order))};
}

// Broadcasts in both directions: a length of 1 keeps that of the input.
Variables expand(Call c) {
  const Variable& x = c.input(0);
  const Integers given = c.integers_of(1);
  const int rank = std::max(x.ndim(), int(given.size()));
  Shape lengths = Shape::filled(rank, 1);
  for (int k = 0; k < x.ndim(); ++k) lengths[rank - x.ndim() + k] = x.shape(k);
  for (int k = 0; k < int(given.size()); ++k) {
    std::int64_t& length = lengths[rank - int(given.size()) + k];
    if (length == 1) length = given[std::size_t(k)];
  }
  return {autograd::broadcast_to(x, lengths)};
}

Variables tile(Call c) { return {autograd::tile(c.input(0), shape_of(c.integers_of(1)))}; }

Variables concat(Call c) {
  Variables xs;
  for (std::size_t i = 0; i < c.n_inputs(); ++i) {
    const Variable& x = c.input(i);
    xs.push_back(xs.empty() ? x : beside(x, xs[0]));
  }
  if (xs.empty()) c.refuse("it has no input");
  return {autograd::concat(xs, c.axis(c.integer("axis", 1), xs[0].ndim()))};
}

Variables split(Call c) {
  const Variable& x = c.input(0);
  const int axis = c.axis(c.integer("axis", 0), x.ndim());
  Integers lengths = c.integers("split", 1, 13);
  if (c.n_outputs() == 0) c.refuse("it has no output");
  if (lengths.empty()) {
    const auto parts = std::int64_t(c.n_outputs());
    const std::int64_t length = (x.shape(axis) + parts - 1) / parts;
    std::int64_t rest = x.shape(axis);
    for (std::int64_t k = 0; k < parts; ++k) {
      lengths.push_back(std::min(length, rest));
      rest -= lengths.back();
    }
  }
  if (lengths.size() != c.n_outputs()) c.refuse("it has ", c.n_outputs(), " outputs and ", lengths.size(), " lengths");
  return autograd::split(x, lengths, axis);
}

Variables depth_to_space(Call c) {
  const Variable& x = c.input(0);
  if (x.ndim() != 4) c.refuse("its input has the shape ", x.shape(), "; images (n, c, h, w) are needed");
  const std::int64_t r = c.integer("blocksize"), n = x.shape(0), h = x.shape(2), w = x.shape(3);
  if (r < 1 || r > x.shape(1) || x.shape(1) % (r * r) != 0)
    c.refuse("blocks of ", r, " do not fit ", x.shape(1), " channels");
  const std::int64_t channels = x.shape(1) / (r * r);
  const bool by_depth = c.text("mode", "DCR") == "DCR";
  const Variable parts =
      by_depth ? autograd::reshape(x, {n, r, r, channels, h, w}) : autograd::reshape(x, {n, channels, r, r, h, w});
  const Variable y =
      autograd::transpose(parts, by_depth ? catena::Dims{0, 3, 4, 1, 5, 2} : catena::Dims{0, 1, 4, 2, 5, 3});
  return {autograd::reshape(y, {n, channels, h * r, w * r})};
}
Variables space_to_depth(Call c) {
  const Variable& x = c.input(0);
  if (x.ndim() != 4) c.refuse("its input has the shape ", x.shape(), "; images (n, c, h, w) are needed");
  const std::int64_t r = c.integer("blocksize"), n = x.shape(0), channels = x.shape(1);
  if (r < 1 || x.shape(2) % r != 0 || x.shape(3) % r != 0) c.refuse("blocks of ", r, " do not fit ", x.shape());
  const std::int64_t h = x.shape(2) / r, w = x.shape(3) / r;
  const Variable parts = autograd::reshape(x, {n, channels, h, r, w, r});
  const bool by_depth = c.text("mode", "DCR") == "DCR";
  const Variable y =
      autograd::transpose(parts, by_depth ? catena::Dims{0, 3, 5, 1, 2, 4} : catena::Dims{0, 1, 3, 5, 2, 4});
  return {autograd::reshape(y, {n, channels * r * r, h, w})};
}

constexpr std::array kOperators = {
    Operator{"Cast", cast},
    Operator{"CastLike", cast_like},
    Operator{"Concat", concat},
    Operator{"Constant", constant_of},
    Operator{"ConstantOfShape", constant_of_shape},
    Operator{"DepthToSpace", depth_to_space},
    Operator{"Expand", expand},
    Operator{"Flatten", flatten},
    Operator{"Range", range, ~0u},
    Operator{"Reshape", reshape},
    Operator{"Shape", shape},
    Operator{"Size", size},
    Operator{"SpaceToDepth", space_to_depth},
    Operator{"Split", split},
    Operator{"Squeeze", squeeze},
    Operator{"Tile", tile},
    Operator{"Transpose", transpose},
    Operator{"Unsqueeze", unsqueeze},
};

}  // namespace
}  // namespace shapes

std::span<const Operator> shape_operators() { return shapes::kOperators; }

}  // namespace nn::onnx::importing
