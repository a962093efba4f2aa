// Functions that move elements, products of matrices, and selection.
#include <algorithm>
#include <limits>

#include <catena/nn/onnx/operators.h>
#include <catena/nn/onnx/opset.h>
#include <catena/nn/onnx/tensor.h>

namespace nn::onnx::internal {

std::string cast_to(GraphBuilder& b, const std::string& x, Dtype from, Dtype to) {
  return from == to ? x : b.node("Cast", {x}, {attribute("to", std::int64_t(data_type_of(to)))});
}

namespace {

void reshape(CallView& c) { c.set(c.b.reshape(c.input(0), c.input_shape(0), c.output_shape())); }

void transpose(CallView& c) {
  std::vector<std::int64_t> axes;
  if (c.has("axes")) axes = c.integers("axes");
  else
    for (int a = c.rank(); a-- > 0;) axes.push_back(a);
  for (std::int64_t& a : axes) a += a < 0 ? c.rank() : 0;
  c.set(c.b.node("Transpose", {c.input(0)}, {attribute("perm", axes)}));
}

std::string expanded(CallView& c, std::size_t input, const DimList& shape) {
  if (c.input_shape(input) == shape) return c.input(input);
  return c.b.node("Expand", {c.input(input), c.b.lengths(shape)});
}
void broadcast_to(CallView& c) { c.set(expanded(c, 0, c.output_shape())); }
void broadcast(CallView& c) {
  for (std::size_t i = 0; i < c.num_outputs(); ++i)
    if (c.is_read(i)) c.set(i, expanded(c, i, c.output_shape(i)));
}

void identity(CallView& c) {
  for (std::size_t i = 0; i < c.num_inputs(); ++i)
    if (c.is_read(i)) c.set(i, c.b.node("Identity", {c.input(i)}));
}

void cast(CallView& c) { c.set(cast_to(c.b, c.input(0), c.input_dtype(0), c.output_dtype())); }

void sum_of_all(CallView& c) {
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given);
  std::string sum;
  for (std::size_t i = 0; i < c.num_inputs(); ++i) {
    const std::string x = cast_to(c.b, c.input(i), given, computed);
    sum = i == 0 ? x : c.b.node("Add", {sum, x});
  }
  c.set(cast_to(c.b, sum, computed, given));
}

void concat(CallView& c) { c.set(c.b.node("Concat", c.inputs(), {attribute("axis", c.integer("axis"))})); }

void split(CallView& c) {
  const Names parts = c.b.nodes("Split", {c.input(0), c.b.lengths(c.dims("lengths"))}, c.num_outputs(),
                                {attribute("axis", c.integer("axis"))});
  for (std::size_t i = 0; i < parts.size(); ++i) c.set(i, parts[i]);
}

void where(CallView& c) {
  require_operand(c.b.opset(), "Where", c.input_dtype(1));
  c.set(c.b.node("Where", c.inputs()));
}
void masked(CallView& c) {
  require_operand(c.b.opset(), "Where", c.input_dtype(0));
  const std::string condition = c.b.constant(c.arrays("condition"));
  c.set(c.b.node("Where", {condition, c.input(0), c.b.scalar(0, c.input_dtype(0))}));
}

void flip(CallView& c) {
  std::vector<std::int64_t> axes;
  if (c.has("axes")) axes = c.integers("axes");
  else
    for (int a = 0; a < c.rank(); ++a) axes.push_back(a);
  const auto all = [&](std::int64_t value) { return c.b.int64s(std::vector<std::int64_t>(axes.size(), value)); };
  c.set(c.b.node("Slice",
                 {c.input(0), all(-1), all(std::numeric_limits<std::int64_t>::min()), c.b.int64s(axes), all(-1)}));
}

// Sides with one value are padded at once; otherwise one axis after the other, each side by itself.
void pad(CallView& c) {
  const std::vector<std::int64_t> pairs = c.integers("widths");
  const std::vector<double> values = c.numbers("values");
  const std::size_t rank = pairs.size() / 2;
  std::string y = c.input(0);
  const auto add = [&](const std::vector<std::int64_t>& widths, double value) {
    y = c.b.node("Pad", {y, c.b.int64s(widths), c.b.scalar(value, c.input_dtype(0))});
  };
  const auto at = [rank](std::size_t k) { return k % 2 * rank + k / 2; };  // first all widths before, then all after
  if (std::all_of(values.begin(), values.end(), [&](double v) { return v == values[0]; })) {
    std::vector<std::int64_t> widths(pairs.size());
    for (std::size_t k = 0; k < pairs.size(); ++k) widths[at(k)] = pairs[k];
    add(widths, values.empty() ? 0 : values[0]);
  } else {
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      std::vector<std::int64_t> widths(pairs.size(), 0);
      widths[at(k)] = pairs[k];
      if (pairs[k] != 0) add(widths, values[k]);
    }
  }
  c.set(y);
}

void take_along_axis(CallView& c) {
  const std::int64_t axis = c.integer("axis");
  c.set(c.b.node("GatherElements", {c.input(0), positions(c.b, c.arrays("index"))}, {attribute("axis", axis)}));
}

// The inverse of a permutation is the order that sorts it.
void permutate(CallView& c) {
  std::string indices = cast_to(c.b, c.input(1), c.input_dtype(1), Dtype::int64);
  if (c.integer("inv") != 0)
    indices = c.b.nodes("TopK", {indices, c.b.length(c.input_shape(1)[0])}, 2, {attribute("largest", 0)})[1];
  c.set(c.b.node("Gather", {c.input(0), indices}, {attribute("axis", c.integer("axis"))}));
}

// The positions that sort and topk compute get a name, too.
template <int largest> void top_k(CallView& c) {
  const std::int64_t axis = c.integer("axis");
  const std::vector<Array> index = c.arrays("index");
  Dim k;
  for (const Array& a : index) k.values.push_back(a.shape(int(axis)));
  const Names y = c.b.nodes("TopK", {c.input(0), c.b.length(k)}, 2,
                            {attribute("axis", axis), attribute("largest", largest), attribute("sorted", 1)});
  c.set(y[0]);
  c.b.name_arrays(index, y[1]);
}

void cum_sum(CallView& c) {
  const std::string axis = c.b.scalar(double(c.integer("axis")), Dtype::int64);
  const Dtype dtype = c.input_dtype(0);
  require(catena::is_floating(dtype) || catena::itemsize(dtype) >= 4,
          "the operator CumSum takes integers of 32 and 64 ", "bits, not ", dtype, "; convert them before");
  require(c.b.opset() >= 14 || catena::itemsize(dtype) >= 4, "the operators of opset ", c.b.opset(), " do not take ",
          dtype, "; {.opset_version = 14} has them");
  c.set(c.b.node("CumSum", {c.input(0), axis}, {attribute("reverse", c.integer("reverse"))}));
}

// Windows of an axis: their elements are gathered, and the axis of the window is moved to the end.
void unfold(CallView& c) {
  const std::int64_t axis = c.integer("axis"), size = c.integer("size"), step = c.integer("step");
  const Dim length = c.input_shape(0)[std::size_t(axis)];
  require(length.is_constant(), "the axis of its windows is dynamic");
  const std::int64_t count = (length.given() - size) / step + 1;
  std::vector<std::int64_t> at;
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t k = 0; k < size; ++k) at.push_back(i * step + k);
  const std::string windows =
      c.b.node("Gather", {c.input(0), c.b.constant(autograd::array(at, {count, size}))}, {attribute("axis", axis)});
  std::vector<std::int64_t> order;
  for (int a = 0; a <= c.rank(); ++a)
    if (a != axis + 1) order.push_back(a);
  order.push_back(axis + 1);
  c.set(c.b.node("Transpose", {windows}, {attribute("perm", order)}));
}

// ---- products of matrices -----------------------------------------------------------------------

// A matrix with its last two axes exchanged; a vector is a column.
std::string matrix(CallView& c, std::size_t i, bool transposed) {
  const int rank = c.rank(i);
  if (rank == 1) {
    const std::string shape =
        c.b.int64s(transposed ? std::vector<std::int64_t>{1, -1} : std::vector<std::int64_t>{-1, 1});
    return c.b.node("Reshape", {c.input(i), shape});
  }
  if (!transposed) return c.input(i);
  std::vector<std::int64_t> order;
  for (int a = 0; a < rank; ++a) order.push_back(a);
  std::swap(order[std::size_t(rank) - 1], order[std::size_t(rank) - 2]);
  return c.b.node("Transpose", {c.input(i)}, {attribute("perm", order)});
}

void matmul(CallView& c) {
  const std::string a = matrix(c, 0, c.integer("transa") != 0), b = matrix(c, 1, c.integer("transb") != 0);
  c.set(c.b.node("MatMul", {a, b}));
}

void einsum(CallView& c) {
  const auto letters = [&](std::string_view option) {
    std::string text;
    for (const std::int64_t label : c.integers(option)) {
      require(label < 52, "it has more than 52 axes");
      text += char(label < 26 ? 'a' + label : 'A' + label - 26);
    }
    return text;
  };
  const std::string equation = letters("first") + "," + letters("second") + "->" + letters("result");
  c.set(c.b.node("Einsum", c.inputs(), {attribute("equation", equation.c_str())}));
}

void determinant(CallView& c) { c.set(c.b.node("Det", {c.input(0)})); }

void slogdet(CallView& c) {
  const std::string det = c.b.node("Det", {c.input(0)});
  c.set(0, c.b.node("Sign", {det}));
  c.set(1, c.b.node("Log", {c.b.node("Abs", {det})}));
}

// The operator has real and imaginary parts as the last axis, needs an axis before that of the transform, and divides
// the inverse by the length, which the function does not.
template <bool inverse> void fourier(CallView& c) {
  GraphBuilder& b = c.b;
  const bool is_vector = c.rank() == 1;
  const std::int64_t axis = is_vector ? 1 : c.rank() - 1;
  const std::string added = b.int64s(is_vector ? std::vector<std::int64_t>{0, 2} : std::vector<std::int64_t>{axis + 1});
  const auto part = [&](std::size_t i) { return b.node("Unsqueeze", {c.input(i), added}); };
  const std::string x = b.node("Concat", {part(0), part(1)}, {attribute("axis", axis + 1)});
  const Attribute direction = attribute("inverse", inverse ? 1 : 0);
  std::string y;
  if (b.opset() >= 20) y = b.node("DFT", {x, "", b.scalar(double(axis), Dtype::int64)}, {direction});
  else y = b.node("DFT", {x}, {attribute("axis", axis), direction});
  if (inverse) y = b.node("Mul", {y, number_of(b, c.input_shape(0).back(), c.input_dtype(0))});
  const Names parts = b.nodes("Split", {y, b.int64s({1, 1})}, 2, {attribute("axis", axis + 1)});
  for (std::size_t i = 0; i < 2; ++i) c.set(i, b.node("Squeeze", {parts[i], added}));
}

constexpr Operators kArraysTable[] = {
    {"Add", "Add, Cast", sum_of_all},
    {"Broadcast", "Expand", broadcast},
    {"BroadcastTo", "Expand", broadcast_to},
    {"BottomK", "TopK", top_k<0>},
    {"Cast", "Cast", cast},
    {"Concat", "Concat", concat},
    {"Copy", "Identity", identity},
    {"CumSum", "CumSum", cum_sum},
    {"Det", "Det", determinant},
    {"FFT", "Concat, DFT, Split, Squeeze, Unsqueeze", fourier<false>},
    {"Flip", "Slice", flip},
    {"IFFT", "Cast, Concat, DFT, Mul, Reshape, Shape, Split, Squeeze, Unsqueeze", fourier<true>},
    {"Identity", "Identity", identity},
    {"MatMul", "MatMul, Reshape, Transpose", matmul},
    {"Pad", "Pad", pad},
    {"Permutate", "Cast, Gather, TopK", permutate},
    {"Reshape", "Reshape", reshape},
    {"Slogdet", "Abs, Det, Log, Sign", slogdet},
    {"SplitAxis", "Split", split},
    {"TakeAlongAxis", "Cast, GatherElements", take_along_axis},
    {"TopK", "TopK", top_k<1>},
    {"Transpose", "Transpose", transpose},
    {"Unfold", "Gather, Transpose", unfold},
    {"Where", "Where", where},
    {"einsum", "Einsum", einsum},
    {"masked", "Where", masked},
};

}  // namespace

std::span<const Operators> array_operators() noexcept { return kArraysTable; }

}  // namespace nn::onnx::internal
