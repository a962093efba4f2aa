// Convolution, pooling, linear maps, softmax, recurrent cells, embeddings of positions.
#include <algorithm>
#include <limits>

#include <catena/nn/onnx/operators.h>

namespace nn::onnx::internal {

using Integers = std::vector<std::int64_t>;

namespace {

// ---- windows ------------------------------------------------------------------------------------

Integers joined(Integers a, const Integers& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
DimList spatial(const DimList& shape) { return {shape.begin() + 2, shape.end()}; }
Integers constant_lengths(const DimList& dims, const char* what) {
  require(is_constant(dims), what, " depends on dynamic axes");
  return given(dims);
}
// The options `dilate` of a convolution may be empty, which means 1 everywhere.
Integers dilation_of(const CallView& c, std::size_t axes) {
  const Integers dilate = c.integers("dilate");
  return dilate.empty() ? Integers(axes, 1) : dilate;
}

// The padding behind each axis with which windows of length `reach` give the output's length. (With cover_all there
// may be one window more than the symmetric padding has.)
Integers padding_behind(const CallView& c, const Integers& reach) {
  const Integers stride = c.integers("stride"), pad = c.integers("pad");
  if (c.integer("cover_all") == 0) return pad;
  const Integers in = constant_lengths(spatial(c.input_shape(0)), "the padding of cover_all"),
                 out = constant_lengths(spatial(c.output_shape()), "the padding of cover_all");
  Integers behind;
  for (std::size_t a = 0; a < pad.size(); ++a)
    behind.push_back(std::max(pad[a], (out[a] - 1) * stride[a] + reach[a] - in[a] - pad[a]));
  return behind;
}

Integers reach_of(const Integers& kernel, const Integers& dilate) {
  Integers reach;
  for (std::size_t a = 0; a < kernel.size(); ++a) reach.push_back((kernel[a] - 1) * dilate[a] + 1);
  return reach;
}

// The operands of a convolution in the dtype of x.
Names in_dtype_of_x(CallView& c, std::size_t x) {
  Names names;
  for (std::size_t i = 0; i < c.num_inputs(); ++i)
    names.push_back(cast_to(c.b, c.input(i), c.input_dtype(i), c.input_dtype(x)));
  return names;
}

void convolution(CallView& c) {
  const Integers kernel = constant_lengths(spatial(c.input_shape(1)), "the size of the filters");
  const Integers dilate = dilation_of(c, kernel.size());
  c.set(c.b.node("Conv", in_dtype_of_x(c, 0),
                 {attribute("kernel_shape", kernel), attribute("strides", c.integers("stride")),
                  attribute("dilations", dilate), attribute("group", c.integer("groups")),
                  attribute("pads", joined(c.integers("pad"), padding_behind(c, reach_of(kernel, dilate))))}));
}

// The length of a transposed convolution is stride * (in - 1) + reach - 2 * pad. Elements that are missing at the end
// are output_padding, and those that are too many are padding behind the axis.
struct EndPadding {
  Integers behind, added;
};
EndPadding end_padding(const CallView& c, const Integers& reach, const DimList& in, const DimList& out) {
  const Integers stride = c.integers("stride"), pad = c.integers("pad");
  EndPadding end;
  for (std::size_t a = 0; a < pad.size(); ++a) {
    Dim more = out[a];
    for (std::size_t t = 0; t < more.values.size(); ++t)
      more.values[t] -= stride[a] * (in[a].values[t] - 1) + reach[a] - 2 * pad[a];
    require(more.is_constant(), "outsize depends on dynamic axes");
    end.behind.push_back(pad[a] + std::max<std::int64_t>(-more.given(), 0));
    end.added.push_back(std::max<std::int64_t>(more.given(), 0));
  }
  return end;
}

void deconvolution(CallView& c) {
  const Integers kernel = constant_lengths(spatial(c.input_shape(0)), "the size of the filters");
  const Integers dilate = dilation_of(c, kernel.size());
  const EndPadding end = end_padding(c, reach_of(kernel, dilate), spatial(c.input_shape(1)), c.dims("spatial"));
  const Names operands = in_dtype_of_x(c, 1);
  c.set(c.b.node("ConvTranspose", {operands[1], operands[0]},
                 {attribute("kernel_shape", kernel), attribute("strides", c.integers("stride")),
                  attribute("dilations", dilate), attribute("group", c.integer("groups")),
                  attribute("pads", joined(c.integers("pad"), end.behind)), attribute("output_padding", end.added)}));
}

// Operators limit padding to less than the window; where cover_all needs more, the input is padded by itself.
void max_pooling(CallView& c) {
  const Integers size = c.integers("size"), before = c.integers("pad"), behind = padding_behind(c, size);
  std::string x = c.input(0);
  Integers pads = joined(before, behind);
  bool fits = true;
  for (std::size_t a = 0; a < size.size(); ++a) fits = fits && before[a] < size[a] && behind[a] < size[a];
  if (!fits) {
    const Integers none = {0, 0};
    x = c.b.node("Pad", {x, c.b.int64s(joined(joined(none, before), joined(none, behind))),
                         c.b.scalar(-std::numeric_limits<double>::infinity(), c.input_dtype(0))});
    pads.assign(pads.size(), 0);
  }
  c.set(
      c.b.node("MaxPool", {x},
               {attribute("kernel_shape", size), attribute("strides", c.integers("stride")), attribute("pads", pads)}));
}

void average_pooling(CallView& c) {
  const Integers pad = c.integers("pad");
  c.set(c.b.node("AveragePool", {c.input(0)},
                 {attribute("kernel_shape", c.integers("size")), attribute("strides", c.integers("stride")),
                  attribute("pads", joined(pad, pad)), attribute("count_include_pad", 1)}));
}

std::int64_t channels_of(const CallView& c) {
  const Dim channels = c.input_shape(0)[1];
  require(channels.is_constant(), "the number of channels is dynamic");
  return channels.given();
}

// Every element is written to its whole window: a transposed convolution of each channel with ones.
void unpooling(CallView& c) {
  const Integers size = c.integers("size");
  const std::int64_t channels = channels_of(c);
  const EndPadding end = end_padding(c, size, spatial(c.input_shape(0)), spatial(c.output_shape()));
  Shape filters{channels, 1};
  for (const std::int64_t n : size) filters.push_back(n);
  const std::string ones = c.b.constant(autograd::arrays::full(filters, 1, c.input_dtype(0)));
  c.set(c.b.node(
      "ConvTranspose", {c.input(0), ones},
      {attribute("kernel_shape", size), attribute("strides", c.integers("stride")), attribute("group", channels),
       attribute("pads", joined(c.integers("pad"), end.behind)), attribute("output_padding", end.added)}));
}

// Filters of single elements: one for each element of the windows of each channel.
std::string unit_filters(CallView& c, std::int64_t channels, const Integers& size) {
  const std::int64_t elements = size[0] * size[1];
  std::vector<float> one(std::size_t(channels * elements * elements), 0);
  for (std::int64_t k = 0; k < channels * elements; ++k) one[std::size_t(k * elements + k % elements)] = 1;
  return c.b.constant(
      autograd::astype(autograd::array(one, {channels * elements, 1, size[0], size[1]}), c.input_dtype(0)));
}

// The elements of a window become channels: a convolution of each channel with the unit vectors.
void im2col(CallView& c) {
  const Integers size = c.integers("size"), dilate = dilation_of(c, size.size());
  const std::int64_t channels = channels_of(c);
  c.set(c.b.node("Conv", {c.input(0), unit_filters(c, channels, size)},
                 {attribute("kernel_shape", size), attribute("strides", c.integers("stride")),
                  attribute("dilations", dilate), attribute("group", channels),
                  attribute("pads", joined(c.integers("pad"), padding_behind(c, reach_of(size, dilate))))}));
}

// Its adjoint adds the windows.
void col2im(CallView& c) {
  const Integers size = c.integers("size"), dilate = dilation_of(c, size.size());
  const std::int64_t channels = channels_of(c) / (size[0] * size[1]);
  const EndPadding end = end_padding(c, reach_of(size, dilate), spatial(c.input_shape(0)), spatial(c.output_shape()));
  c.set(c.b.node("ConvTranspose", {c.input(0), unit_filters(c, channels, size)},
                 {attribute("kernel_shape", size), attribute("strides", c.integers("stride")),
                  attribute("dilations", dilate), attribute("group", channels),
                  attribute("pads", joined(c.integers("pad"), end.behind)), attribute("output_padding", end.added)}));
}

// Interpolation along an axis: a matrix of weights, or a selection where every output is one input.
void resampling(CallView& c) {
  const std::int64_t axis = c.integer("axis");
  const Integers outputs = c.integers("outputs"), inputs = c.integers("inputs");
  const std::vector<double> weights = c.numbers("weights");
  const Dim length = c.output_shape()[std::size_t(axis)];
  require(length.is_constant(), "the length of a resized axis depends on dynamic axes");
  const std::int64_t to = length.given(), from = c.input_shape(0)[std::size_t(axis)].given();
  const bool selects = std::int64_t(outputs.size()) == to &&
                       std::all_of(weights.begin(), weights.end(), [](double w) { return w == 1; });
  if (selects) {
    c.set(c.b.node("Gather", {c.input(0), c.b.constant(autograd::array(inputs, {to}))}, {attribute("axis", axis)}));
    return;
  }
  std::vector<double> matrix(std::size_t(from * to), 0);
  for (std::size_t k = 0; k < outputs.size(); ++k) matrix[std::size_t(inputs[k] * to + outputs[k])] += weights[k];
  const std::string w = c.b.constant(autograd::astype(autograd::array(matrix, {from, to}), c.input_dtype(0)));
  const int last = c.rank() - 1;
  if (axis == last) return c.set(c.b.node("MatMul", {c.input(0), w}));
  Integers order;
  for (int a = 0; a < c.rank(); ++a) order.push_back(a);
  std::swap(order[std::size_t(axis)], order[std::size_t(last)]);
  const Attributes exchange = {attribute("perm", order)};
  c.set(c.b.node("Transpose", {c.b.node("MatMul", {c.b.node("Transpose", {c.input(0)}, exchange), w})}, exchange));
}

// ---- linear maps, softmax -----------------------------------------------------------------------

void linear(CallView& c) {
  Names operands = in_dtype_of_x(c, 0);
  if (c.rank() > 2) operands[0] = c.b.node("Flatten", {operands[0]}, {attribute("axis", 1)});
  c.set(c.b.node("Gemm", operands, {attribute("transB", 1)}));
}

// Scales are float32 before opset 19, and so is the result.
void dequantize(CallView& c) {
  const Dtype scale = c.input_dtype(1);
  const std::string y = c.b.node("DequantizeLinear", {c.input(0), cast_to(c.b, c.input(1), scale, Dtype::float32)},
                                 {attribute("axis", c.integer("axis"))});
  c.set(cast_to(c.b, y, Dtype::float32, scale));
}

void softmax(CallView& c) { c.set(c.b.node("Softmax", {c.input(0)}, {attribute("axis", c.integer("axis"))})); }
void log_softmax(CallView& c) { c.set(c.b.node("LogSoftmax", {c.input(0)}, {attribute("axis", c.integer("axis"))})); }

void dropout(CallView& c) {
  GraphBuilder& b = c.b;
  c.set(b.node("Dropout", {c.input(0), b.scalar(c.number("ratio"), Dtype::float32), b.scalar(1, Dtype::bool_)}));
}

// ---- recurrent cells ----------------------------------------------------------------------------

// The gates a, i, f and o of x (B, 4 H, ...): four adjacent rows belong to one unit.
Names gates_of(CallView& c, std::size_t input) {
  const DimList from = c.input_shape(input);
  DimList to = from;
  for (std::int64_t& v : to[1].values) v /= 4;
  to.insert(to.begin() + 2, Dim{Integers(from[0].values.size(), 4)});
  const std::string apart = c.b.reshape(c.input(input), from, to);
  Names gates;
  for (const std::string& part : c.b.nodes("Split", {apart, c.b.int64s({1, 1, 1, 1})}, 4, {attribute("axis", 2)}))
    gates.push_back(c.b.node("Squeeze", {part, c.b.int64s({2})}));
  return gates;
}

// tanh(a) sigmoid(i) + sigmoid(f) c
std::string next_state(GraphBuilder& b, const Names& gates, const std::string& before) {
  const std::string written = b.node("Mul", {b.node("Tanh", {gates[0]}), b.node("Sigmoid", {gates[1]})});
  return b.node("Add", {written, b.node("Mul", {b.node("Sigmoid", {gates[2]}), before})});
}

std::string part_of_batch(GraphBuilder& b, const std::string& x, const DimList& begin, const DimList& end) {
  return b.node("Slice", {x, b.lengths(begin), b.lengths(end), b.int64s({0})});
}

// The batch of x may be shorter than that of the state: the other states pass through.
void lstm(CallView& c) {
  GraphBuilder& b = c.b;
  const Dim all = c.input_shape(0)[0], going_on = c.input_shape(1)[0];
  const std::string before = c.input(0);
  const Dim zero{Integers(all.values.size(), 0)};
  const std::string continued = all == going_on ? before : part_of_batch(b, before, {zero}, {going_on});
  const Names gates = gates_of(c, 1);
  const std::string state = next_state(b, gates, continued);
  c.set(1, b.node("Mul", {b.node("Sigmoid", {gates[3]}), b.node("Tanh", {state})}));
  if (all == going_on) return c.set(0, state);
  const std::string ended = part_of_batch(b, before, {going_on}, {all});
  c.set(0, b.node("Concat", {state, ended}, {attribute("axis", 0)}));
}

void slstm(CallView& c) {
  GraphBuilder& b = c.b;
  const Names first = gates_of(c, 2), second = gates_of(c, 3);
  const std::string state = b.node("Add", {next_state(b, first, c.input(0)), next_state(b, second, c.input(1))});
  const std::string gate = b.node("Sigmoid", {b.node("Add", {first[3], second[3]})});
  c.set(0, state);
  c.set(1, b.node("Mul", {gate, b.node("Tanh", {state})}));
}

// ---- rotary embedding ---------------------------------------------------------------------------

// The pairs (u, v) of x become (u cos - v sin, u sin + v cos).
void rotary(CallView& c) {
  GraphBuilder& b = c.b;
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given);
  const std::string x = cast_to(b, c.input(0), given, computed);
  const std::string angles = b.constant(c.arrays("angles"));
  const auto wide = [&](const char* op) {
    return cast_to(b, b.node(op, {angles}), c.arrays("angles")[0].dtype(), computed);
  };
  const std::string cosine = wide("Cos");
  const std::string sine = b.node("Mul", {wide("Sin"), b.scalar(c.number("sign"), computed)});
  const bool halves = c.integer("halves") != 0;
  const DimList from = c.input_shape(0);
  DimList pairs = from;
  for (std::int64_t& v : pairs.back().values) v /= 2;
  const Dim two{Integers(from[0].values.size(), 2)};
  // (..., 2, d / 2) or (..., d / 2, 2)
  pairs.insert(halves ? pairs.end() - 1 : pairs.end(), two);
  const std::int64_t axis = c.rank() - (halves ? 1 : 0);
  const Names parts = b.nodes("Split", {b.reshape(x, from, pairs), b.int64s({1, 1})}, 2, {attribute("axis", axis)});
  const std::string u = b.node("Squeeze", {parts[0], b.int64s({axis})}),
                    v = b.node("Squeeze", {parts[1], b.int64s({axis})});
  const auto times = [&](const std::string& p, const std::string& q) { return b.node("Mul", {p, q}); };
  const std::string first = b.node("Sub", {times(u, cosine), times(v, sine)}),
                    second = b.node("Add", {times(u, sine), times(v, cosine)});
  const std::string both = b.node(
      "Concat", {b.node("Unsqueeze", {first, b.int64s({axis})}), b.node("Unsqueeze", {second, b.int64s({axis})})},
      {attribute("axis", axis)});
  c.set(cast_to(b, b.reshape(both, pairs, from), computed, given));
}

constexpr Operators kNetworksTable[] = {
    {"AveragePooling", "AveragePool", average_pooling},
    {"Col2Im", "ConvTranspose", col2im},
    {"Convolution", "Cast, Conv", convolution},
    {"Deconvolution", "Cast, ConvTranspose", deconvolution},
    {"Dequantize", "Cast, DequantizeLinear", dequantize},
    {"Dropout", "Dropout", dropout},
    {"Im2Col", "Conv", im2col},
    {"LSTM", "Add, Concat, Mul, Reshape, Sigmoid, Slice, Split, Squeeze, Tanh", lstm},
    {"LinearFunction", "Cast, Flatten, Gemm", linear},
    {"LogSoftmax", "LogSoftmax", log_softmax},
    {"MaxPooling", "MaxPool, Pad", max_pooling},
    {"Resampling", "Gather, MatMul, Transpose", resampling},
    {"RotaryEmbedding", "Add, Cast, Concat, Cos, Mul, Reshape, Sin, Split, Squeeze, Sub, Unsqueeze", rotary},
    {"SLSTM", "Add, Mul, Reshape, Sigmoid, Split, Squeeze, Tanh", slstm},
    {"Softmax", "Softmax", softmax},
    {"Unpooling", "ConvTranspose", unpooling},
};

}  // namespace

std::span<const Operators> network_operators() noexcept { return kNetworksTable; }

}  // namespace nn::onnx::internal
