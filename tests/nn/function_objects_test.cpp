// The function classes of the reference as objects: values, gradients and gradients of these are those of the
// functions; every call is one node, with the label of the reference.
#include <catena/nn/functions/objects.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/hooks.h>
#include <catena/autograd/testing.h>
#include <catena/autograd/variable_node.h>
#include <catena/nn/functions.h>
#include <catena/nn/walker_alias.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using test::spread;
namespace F = nn::functions;

namespace {

Variables list(const Variable& y) { return {y}; }
Variables list(const Variables& ys) { return ys; }
Variables list(const nn::LSTMState& s) { return {s.c, s.h}; }
Variables list(const nn::ClassificationSummary& s) { return {s.precision, s.recall, s.fbeta, s.support}; }
Variables list(const nn::NStepLSTMResult& r) {
  Variables all{r.hy, r.cy};
  for (const Variable& y : r.ys) all.push_back(y);
  return all;
}
Variables list(const nn::NStepResult& r) {
  Variables all{r.hy};
  for (const Variable& y : r.ys) all.push_back(y);
  return all;
}

using Call = std::function<Variables(const Variables&)>;
struct Case {
  std::string object, label;
  Call of_object, of_function;
  Arrays inputs;
  std::string name() const { return object.substr(0, object.find('(')); }
};
Case make_case(const char* object, const char* label, Call of_object, Call of_function, const Arrays& inputs) {
  return {object, label, std::move(of_object), std::move(of_function), inputs};
}
#define CASE(label, object, function, ...)                                    \
  make_case(                                                                  \
      #object, label, [=](const Variables& x) { return list(F::object(x)); }, \
      [=](const Variables& x) { return list(function); }, Arrays({__VA_ARGS__}))

Array ints(const std::vector<std::int32_t>& v, const Shape& shape) { return array(v, shape); }
Array positive(const Shape& shape, int seed = 0) { return spread(shape, 0.2, 2, seed); }

// Well-conditioned matrices.
Array matrices(const Shape& shape) {
  const std::int64_t n = shape.back();
  std::vector<double> v = to_vector<double>(spread(shape, -0.3, 0.3));
  for (std::int64_t m = 0; m < catena::size_of(shape) / (n * n); ++m)
    for (std::int64_t i = 0; i < n; ++i) v[std::size_t(m * n * n + i * (n + 1))] += 2;
  return array(v, shape);
}

std::vector<Case> activations() {
  const Array x = spread({2, 4}), cells = spread({2, 3}, -1, 1, 1), gates = spread({2, 12}, -1, 1, 2);
  return {CASE("ClippedReLU", ClippedReLU(0.5), nn::clipped_relu(x[0], 0.5), x),
          CASE("CReLU", CReLU(), nn::crelu(x[0]), x),
          CASE("CReLU", CReLU(0), nn::crelu(x[0], 0), x),
          CASE("ELU", ELU(), nn::elu(x[0]), x),
          CASE("ELU", ELU(0.3), nn::elu(x[0], 0.3), x),
          CASE("HardSigmoid", HardSigmoid(), nn::hard_sigmoid(x[0]), x),
          CASE("LeakyReLU", LeakyReLU(), nn::leaky_relu(x[0]), x),
          CASE("LeakyReLU", LeakyReLU(0.1), nn::leaky_relu(x[0], 0.1), x),
          CASE("LogSoftmax", LogSoftmax(false), nn::log_softmax(x[0]), x),
          CASE("LSTM", LSTM(), nn::lstm(x[0], x[1]), cells, gates),
          CASE("PReLUFunction", PReLUFunction(), nn::prelu(x[0], x[1]), x, spread({4}, 0, 1, 3)),
          CASE("ReLU", ReLU(), nn::relu(x[0]), x),
          CASE("ReLU", ReLU(false), nn::relu(x[0]), x),
          CASE("Sigmoid", Sigmoid(), nn::sigmoid(x[0]), x),
          CASE("SLSTM", SLSTM(), nn::slstm(x[0], x[1], x[2], x[3]), cells, spread({2, 3}, -1, 1, 4), gates,
               spread({2, 12}, -1, 1, 5)),
          CASE("Softmax", Softmax(), nn::softmax(x[0]), x),
          CASE("Softmax", Softmax(true, 0), nn::softmax(x[0], 0), x),
          CASE("Softplus", Softplus(), nn::softplus(x[0]), x),
          CASE("Softplus", Softplus(2), nn::softplus(x[0], 2), x),
          CASE("Tanh", Tanh(), nn::tanh(x[0]), x)};
}

std::vector<Case> arrays() {
  const Array x = spread({2, 3}), image = spread({2, 4, 4, 6}), row = spread({3}, -1, 1, 1);
  const Array y = spread({2, 3}, -1, 1, 2);
  return {CASE("Broadcast", Broadcast(), broadcast(x), x, row),
          CASE("Broadcast", Broadcast(), identity(x), x),
          CASE("BroadcastTo", BroadcastTo({4, 3}), broadcast_to(x[0], {4, 3}), row),
          CASE("BroadcastTo", BroadcastTo({2, 3}), identity(x[0]), x),
          CASE("Cast", Cast(Dtype::float32), cast(x[0], Dtype::float32), x),
          CASE("Cast", Cast(Dtype::float64), identity(x[0]), x),
          CASE("Concat", Concat(), concat(x), x, y),
          CASE("Concat", Concat(0), concat(x, 0), x, y, x),
          CASE("Copy", Copy(-1), copy(x[0], -1), to_device(x, Device())),
          CASE("Depth2Space", Depth2Space(2), nn::depth2space(x[0], 2), image),
          CASE("Dstack", Dstack(), dstack(x), x, y),
          CASE("ExpandDims", ExpandDims(1), expand_dims(x[0], 1), x),
          CASE("Flatten", Flatten(), flatten(x[0]), x),
          CASE("FlipLR", FlipLR(), fliplr(x[0]), x),
          CASE("FlipUD", FlipUD(), flipud(x[0]), x),
          CASE("GetItem", GetItem({1, Slice(0, 2)}), x[0](1, Slice(0, 2)), x),
          CASE("GetItem", GetItem({ellipsis, std::vector<int>{2, 0, 2}}), x[0](ellipsis, std::vector<int>{2, 0, 2}), x),
          CASE("Hstack", Hstack(), hstack(x), x, y),
          CASE("Im2Col", Im2Col({3, 2}, 2, 1, false, 1), nn::im2col(x[0], {3, 2}, 2, 1), image),
          CASE("Pad", Pad({1, 2}, "constant"), pad(x[0], {1, 2}, "constant"), x),
          CASE("Pad", Pad(1, "constant", {.constant_values = 3}), pad(x[0], 1, "constant", {.constant_values = 3}), x),
          CASE("PadSequence", PadSequence({}, 0), nn::pad_sequence(x), x, spread({3, 3}, -1, 1, 4)),
          CASE("PadSequence", PadSequence(5, -1), nn::pad_sequence(x, 5, -1), x, spread({1, 3}, -1, 1, 4)),
          CASE("Permutate", Permutate(), nn::permutate(x[0], x[1]), x, ints({1, 0}, {2})),
          CASE("Permutate", Permutate(1, true), nn::permutate(x[0], x[1], 1, true), x, ints({1, 2, 0}, {3})),
          CASE("Reshape", Reshape({3, 2}), reshape(x[0], {3, 2}), x),
          CASE("Reshape", Reshape({2, 3}), identity(x[0]), x),
          CASE("ResizeImages", ResizeImages({3, 7}), nn::resize_images(x[0], {3, 7}), image),
          CASE("Rollaxis", Rollaxis(2, 0), rollaxis(x[0], 2, 0), image),
          CASE("SelectItem", SelectItem(), nn::select_item(x[0], x[1]), x, ints({2, 0}, {2})),
          CASE("Space2Depth", Space2Depth(2), nn::space2depth(x[0], 2), image),
          CASE("SpatialTransformerGrid", SpatialTransformerGrid({3, 4}), nn::spatial_transformer_grid(x[0], {3, 4}),
               spread({2, 2, 3})),
          CASE("SpatialTransformerSampler", SpatialTransformerSampler(), nn::spatial_transformer_sampler(x[0], x[1]),
               image, spread({2, 2, 3, 2}, -0.8, 0.8, 1)),
          CASE("SplitAxis", SplitAxis(3, 1), split_axis(x[0], 3, 1), x),
          CASE("SplitAxis", SplitAxis({1, 3}, 3), split_axis(x[0], {1, 3}, 3), image),
          CASE("Squeeze", Squeeze(), squeeze(x[0]), spread({1, 3, 1})),
          CASE("Squeeze", Squeeze({0}), squeeze(x[0], 0), spread({1, 3, 1})),
          CASE("Swapaxes", Swapaxes(0, 2), swapaxes(x[0], 0, 2), image),
          CASE("Tile", Tile({2, 3}), tile(x[0], {2, 3}), x),
          CASE("Transpose", Transpose(), transpose(x[0]), image),
          CASE("Transpose", Transpose({1, 0, 3, 2}), transpose(x[0], {1, 0, 3, 2}), image),
          CASE("TransposeSequence", TransposeSequence(), nn::transpose_sequence(x), spread({3, 2}), spread({2, 2})),
          CASE("Vstack", Vstack(), vstack(x), x, y),
          CASE("Where", Where(), where(x[0], x[1], x[2]), array(std::vector<bool>{true, false, true}, {3}), x, y)};
}

std::vector<Case> connections() {
  const Array x = spread({2, 3, 5, 5}), W = spread({4, 3, 3, 2}, -1, 1, 1), b = spread({4}, -1, 1, 2);
  const Array V = spread({3, 4, 3, 2}, -1, 1, 3), c = spread({4}, -1, 1, 4), volume = spread({1, 2, 4, 3, 4});
  const Array e1 = spread({2, 3}, -1, 1, 5), e2 = spread({2, 4}, -1, 1, 6), T = spread({3, 4, 2}, -1, 1, 7);
  const Array K = spread({3, 2, 2, 2, 2}, -1, 1, 8), D = spread({2, 3, 2, 2, 2}, -1, 1, 9);
  return {CASE("BilinearFunction", BilinearFunction(), nn::bilinear(x[0], x[1], x[2]), e1, e2, T),
          CASE("BilinearFunction", BilinearFunction(), nn::bilinear(x[0], x[1], x[2], x[3], x[4], x[5]), e1, e2, T,
               spread({3, 2}), spread({4, 2}), spread({2})),
          CASE("Convolution2DFunction", Convolution2DFunction(), nn::convolution_2d(x[0], x[1]), x, W),
          CASE("Convolution2DFunction", Convolution2DFunction({2, 1}, 1, false, true, true),
               nn::convolution_2d(x[0], x[1], x[2], {.stride = {2, 1}, .pad = 1, .cover_all = true}), x, W, b),
          CASE("ConvolutionND", ConvolutionND(3), nn::convolution_nd(x[0], x[1]), volume, K),
          CASE("ConvolutionND", ConvolutionND(3, {2, 1, 1}, 1, false, true),
               nn::convolution_nd(x[0], x[1], x[2], {.stride = {2, 1, 1}, .pad = 1, .cover_all = true}), volume, K,
               spread({3})),
          CASE("Deconvolution2DFunction", Deconvolution2DFunction(), nn::deconvolution_2d(x[0], x[1]), x, V),
          CASE("Deconvolution2DFunction", Deconvolution2DFunction(2, 1, {10, 9}, false, true),
               nn::deconvolution_2d(x[0], x[1], x[2], 2, 1, {10, 9}), x, V, c),
          CASE("DeconvolutionND", DeconvolutionND(3), nn::deconvolution_nd(x[0], x[1]), volume, D),
          CASE("DeconvolutionND", DeconvolutionND(3, 2, 0, {}, false), nn::deconvolution_nd(x[0], x[1], x[2], 2),
               volume, D, spread({3})),
          CASE("DepthwiseConvolution2D", DepthwiseConvolution2D(2, 1),
               nn::depthwise_convolution_2d(x[0], x[1], x[2], 2, 1), x, spread({2, 3, 3, 3}, -1, 1, 1), spread({6})),
          CASE("DilatedConvolution2DFunction", DilatedConvolution2DFunction(1, 2, 2),
               nn::dilated_convolution_2d(x[0], x[1], x[2], 1, 2, 2), x, W, b),
          CASE("EmbedIDFunction", EmbedIDFunction(), nn::embed_id(x[0], x[1]), ints({1, 0, 1}, {3}), e1),
          CASE("EmbedIDFunction", EmbedIDFunction(-1), nn::embed_id(x[0], x[1], -1), ints({1, -1, 0}, {3}), e1),
          CASE("LinearFunction", LinearFunction(), nn::linear(x[0], x[1]), e1, spread({4, 3})),
          CASE("LinearFunction", LinearFunction(), nn::linear(x[0], x[1], x[2]), x, spread({2, 75}), spread({2}))};
}

// States, then the matrices and vectors of two layers, then three times of batches 2, 2 and 1.
Arrays recurrent_inputs(int states, int directions, int matrices) {
  Arrays all;
  const std::int64_t in = 3, n = 2;
  for (int i = 0; i < states; ++i) all.push_back(spread({2 * directions, 2, n}, -1, 1, i));
  for (int layer = 0; layer < 2 * directions; ++layer)
    for (int i = 0; i < matrices; ++i) {
      const std::int64_t width = i >= matrices / 2 ? n : layer < directions ? in : n * directions;
      all.push_back(spread({n, width}, -1, 1, layer + i));
    }
  for (int i = 0; i < 2 * directions * matrices; ++i) all.push_back(spread({n}, -1, 1, i));
  for (const std::int64_t batch : {2, 2, 1}) all.push_back(spread({batch, in}, -1, 1, int(all.size())));
  return all;
}
struct Lists {
  std::vector<Variables> ws, bs;
  Variables xs;
  Lists(const Variables& x, std::size_t states, std::size_t layers, std::size_t matrices) : ws(layers), bs(layers) {
    std::size_t next = states;
    for (auto* all : {&ws, &bs})
      for (Variables& of_layer : *all)
        for (std::size_t i = 0; i < matrices; ++i) of_layer.push_back(x[next++]);
    for (; next < x.size(); ++next) xs.push_back(x[next]);
  }
};

std::vector<Case> recurrent() {
  const auto cell = [](auto function, std::size_t layers, std::size_t matrices, auto options) {
    return [=](const Variables& x) {
      const Lists l(x, 1, layers, matrices);
      return list(function(2, 0.3, x[0], l.ws, l.bs, l.xs, options));
    };
  };
  const auto lstm = [](auto function, std::size_t layers) {
    return [=](const Variables& x) {
      const Lists l(x, 2, layers, 8);
      return list(function(2, 0.3, x[0], x[1], l.ws, l.bs, l.xs, nn::NStepOptions{.train = true}));
    };
  };
#define PASS(name) [](const auto&... a) { return nn::name(a...); }
  const nn::NStepOptions train{.train = true};
  const nn::NStepRNNOptions tanh{.train = true}, relu{.train = true, .activation = "relu"};
  const Call lstm1 = lstm(PASS(n_step_lstm), 2), lstm2 = lstm(PASS(n_step_bilstm), 4);
  const Call gru1 = cell(PASS(n_step_gru), 2, 6, train), gru2 = cell(PASS(n_step_bigru), 4, 6, train);
  const Call tanh1 = cell(PASS(n_step_rnn), 2, 2, tanh), tanh2 = cell(PASS(n_step_birnn), 4, 2, tanh);
  const Call relu1 = cell(PASS(n_step_rnn), 2, 2, relu), relu2 = cell(PASS(n_step_birnn), 4, 2, relu);
#undef PASS
  const auto with = [](Case c, const Arrays& inputs) {
    c.inputs = inputs;
    return c;
  };
  return {with(CASE("NStepLSTM", NStepLSTM(2, 0.3), lstm1(x)), recurrent_inputs(2, 1, 8)),
          with(CASE("NStepBiLSTM", NStepBiLSTM(2, 0.3, true), lstm2(x)), recurrent_inputs(2, 2, 8)),
          with(CASE("NStepGRU", NStepGRU(2, 0.3), gru1(x)), recurrent_inputs(1, 1, 6)),
          with(CASE("NStepBiGRU", NStepBiGRU(2, 0.3), gru2(x)), recurrent_inputs(1, 2, 6)),
          with(CASE("NStepRNNTanh", NStepRNNTanh(2, 0.3), tanh1(x)), recurrent_inputs(1, 1, 2)),
          with(CASE("NStepBiRNNTanh", NStepBiRNNTanh(2, 0.3), tanh2(x)), recurrent_inputs(1, 2, 2)),
          with(CASE("NStepRNNReLU", NStepRNNReLU(2, 0.3), relu1(x)), recurrent_inputs(1, 1, 2)),
          with(CASE("NStepBiRNNReLU", NStepBiRNNReLU(2, 0.3), relu2(x)), recurrent_inputs(1, 2, 2))};
}

std::vector<Case> losses() {
  const Array x = spread({3, 4}), y = spread({3, 4}, -1, 1, 1), z = spread({3, 4}, -1, 1, 2);
  const Array t = ints({1, 3, 0}, {3}), signs = ints({1, 0, -1, 1, 0, 0, 1, 1, 0, -1, 1, 0}, {3, 4});
  const Array same = ints({1, 0, 1}, {3}), ignored = ints({1, -1, 0}, {3}), weights = positive({4});
  const nn::Sampler sampler = [](const Shape& shape) { return arrays::zeros(shape, Dtype::int32); };
  const Arrays times{spread({2, 4}), spread({2, 4}, -1, 1, 1), spread({2, 4}, -1, 1, 2)};
  const Array lengths = ints({3, 2}, {2}), label_lengths = ints({2, 1}, {2}), sequence = ints({1, 2, 3, 0}, {2, 2});
  return {
      CASE("AbsoluteError", AbsoluteError(), nn::absolute_error(x[0], x[1]), x, y),
      CASE("Contrastive", Contrastive(1), nn::contrastive(x[0], x[1], x[2]), x, y, same),
      CASE("Contrastive", Contrastive(2, "no"), nn::contrastive(x[0], x[1], x[2], 2, "no"), x, y, same),
      CASE("ConnectionistTemporalClassification", ConnectionistTemporalClassification(0, "no"),
           nn::connectionist_temporal_classification({x[3], x[4], x[5]}, x[2], 0, x[0].data(), x[1].data(), "no"),
           lengths, label_lengths, sequence, times[0], times[1], times[2]),
      CASE("CrossCovariance", CrossCovariance(), nn::cross_covariance(x[0], x[1]), x, y),
      CASE("CrossCovariance", CrossCovariance("no"), nn::cross_covariance(x[0], x[1], "no"), x, y),
      CASE("DeCov", DeCov(), nn::decov(x[0]), x),
      CASE("DeCov", DeCov("no"), nn::decov(x[0], "no"), x),
      CASE("Hinge", Hinge(), nn::hinge(x[0], x[1]), x, t),
      CASE("Hinge", Hinge("L2", "no"), nn::hinge(x[0], x[1], "L2", "no"), x, t),
      CASE("HuberLoss", HuberLoss(0.5), nn::huber_loss(x[0], x[1], 0.5), x, y),
      CASE("HuberLoss", HuberLoss(0.5, "no"), nn::huber_loss(x[0], x[1], 0.5, "no"), x, y),
      CASE("MeanAbsoluteError", MeanAbsoluteError(), nn::mean_absolute_error(x[0], x[1]), x, y),
      CASE("MeanSquaredError", MeanSquaredError(), nn::mean_squared_error(x[0], x[1]), x, y),
      CASE("NegativeSamplingFunction", NegativeSamplingFunction(sampler, 2),
           nn::negative_sampling(x[0], x[1], x[2], sampler, 2), x, t, spread({5, 4}, -1, 1, 3)),
      CASE("NegativeSamplingFunction", NegativeSamplingFunction(sampler, 2, "no"),
           nn::negative_sampling(x[0], x[1], x[2], sampler, 2, "no"), x, t, spread({5, 4}, -1, 1, 3)),
      CASE("SigmoidCrossEntropy", SigmoidCrossEntropy(), nn::sigmoid_cross_entropy(x[0], x[1]), x, signs),
      CASE("SigmoidCrossEntropy", SigmoidCrossEntropy(true, false, "no"),
           nn::sigmoid_cross_entropy(x[0], x[1], {.normalize = false, .reduce = "no"}), x, signs),
      CASE("SoftmaxCrossEntropy", SoftmaxCrossEntropy(), nn::softmax_cross_entropy(x[0], x[1]), x, ignored),
      CASE("SoftmaxCrossEntropy", SoftmaxCrossEntropy(false, false, false, weights, 0, "no"),
           nn::softmax_cross_entropy(
               x[0], x[1],
               {.normalize = false, .cache_score = false, .class_weight = weights, .ignore_label = 0, .reduce = "no"}),
           x, t),
      CASE("SquaredError", SquaredError(), nn::squared_error(x[0], x[1]), x, y),
      CASE("Triplet", Triplet(0.2), nn::triplet(x[0], x[1], x[2]), x, y, z),
      CASE("Triplet", Triplet(0.5, "no"), nn::triplet(x[0], x[1], x[2], 0.5, "no"), x, y, z),
      CASE("Accuracy", Accuracy(), nn::accuracy(x[0], x[1]), x, t),
      CASE("Accuracy", Accuracy(0), nn::accuracy(x[0], x[1], 0), x, t),
      CASE("BinaryAccuracy", BinaryAccuracy(), nn::binary_accuracy(x[0], x[1]), x, signs),
      CASE("ClassificationSummary", ClassificationSummary(4, 2, -1),
           nn::classification_summary(x[0], x[1], {.label_num = 4, .beta = 2}), x, t),
      CASE("R2_score", R2_score({}, "raw_values"), nn::r2_score(x[0], x[1], {.multioutput = "raw_values"}), x, y)};
}

std::vector<Case> operators() {
  const Array x = positive({2, 3}), y = positive({2, 3}, 1), M = spread({3, 2}), c = positive({3}, 2);
  return {CASE("__neg__", Neg(), -x[0], x),
          CASE("|_|", Absolute(), absolute(x[0]), spread({2, 3})),
          CASE("_ + _", Add(), x[0] + x[1], x, y),
          CASE("_ + 2", AddConstant(2), x[0] + 2, x),
          CASE("_ + (-2)", AddConstant(-2), x[0] + -2, x),
          CASE("_ + constant array", AddConstant({c}), x[0] + c, x),
          CASE("_ - _", Sub(), x[0] - x[1], x, y),
          CASE("2 - _", SubFromConstant(2), 2 - x[0], x),
          CASE("_ * _", Mul(), x[0] * x[1], x, y),
          CASE("_ * 2.5", MulConstant({2.5}), x[0] * 2.5, x),
          CASE("_ / _", Div(), x[0] / x[1], x, y),
          CASE("_ / 2", DivFromConstant(2), 2 / x[0], x),
          CASE("_ ** _", PowVarVar(), pow(x[0], x[1]), x, y),
          CASE("_ ** 3", PowVarConst(3), pow(x[0], 3), x),
          CASE("_ ** 2", PowVarConst(2), pow(x[0], 2), x),
          CASE("2 ** _", PowConstVar(2), pow(2, x[0]), x),
          CASE("_ @ _", MatMulVarVar(), operator_matmul(x[0], x[1]), x, M),
          CASE("_ @ constant array", MatMulVarConst(M), operator_matmul(x[0], M), x),
          CASE("constant array @ _", MatMulConstVar(M), operator_matmul(M, x[0]), x)};
}

std::vector<Case> mathematics() {
  const Array x = spread({2, 3}, -0.9, 0.9), p = positive({2, 3}), y = spread({2, 3}, 1, 3, 1);
  const Array stack = spread({2, 3, 4}), other = spread({2, 4, 2}, -1, 1, 1);
#define UNARY(Class, name, in) CASE(#name, Class(), name(x[0]), in)
  return {CASE("BatchL2NormSquared", BatchL2NormSquared(), batch_l2_norm_squared(x[0]), x),
          UNARY(Ceil, ceil, y),
          CASE("Clip", Clip(-0.5, 0.4), clip(x[0], -0.5, 0.4), x),
          CASE("det", BatchDet(), batch_det(x[0]), matrices({2, 3, 3})),
          UNARY(Exp, exp, x),
          UNARY(Log, log, p),
          UNARY(Log2, log2, p),
          UNARY(Log10, log10, p),
          UNARY(Expm1, expm1, x),
          UNARY(Floor, floor, y),
          CASE("fmod", Fmod(), fmod(x[0], x[1]), spread({2, 3}, 4, 6), y),
          UNARY(Cosh, cosh, x),
          UNARY(Sinh, sinh, x),
          CASE("Identity", Identity(), identity(x), x),
          CASE("Identity", Identity(), identity(x), x, y),
          CASE("Inv", Inv(), inv(x[0]), matrices({3, 3})),
          CASE("BatchInv", BatchInv(), batch_inv(x[0]), matrices({2, 3, 3})),
          CASE("LinearInterpolate", LinearInterpolate(), linear_interpolate(x[0], x[1], x[2]), p, x, y),
          UNARY(Log1p, log1p, p),
          CASE("LogSumExp", LogSumExp(), logsumexp(x[0]), x),
          CASE("LogSumExp", LogSumExp({0, 2}), logsumexp(x[0], {0, 2}), stack),
          CASE("MatMul", MatMul(), matmul(x[0], x[1]), x, spread({3, 2})),
          CASE("MatMul", MatMul(true), matmul(x[0], x[1], true), x, y),
          CASE("MatMul", MatMul(false, true), matmul(x[0], x[1], false, true), x, y),
          CASE("BatchMatMul", BatchMatMul(), batch_matmul(x[0], x[1]), stack, other),
          CASE("BatchMatMul", BatchMatMul(true, true), batch_matmul(x[0], x[1], true, true), other,
               spread({2, 3, 4}, -1, 1, 2)),
          CASE("Maximum", Maximum(), maximum(x[0], x[1]), x, spread({2, 3}, -1, 1, 1)),
          CASE("Minimum", Minimum(), minimum(x[0], x[1]), x, spread({2, 3}, -1, 1, 1)),
          CASE("Max", Max(), max(x[0]), stack),
          CASE("Max", Max({0, 2}, true), max(x[0], {0, 2}, true), stack),
          CASE("Min", Min(1), min(x[0], 1), stack),
          CASE("ArgMax", ArgMax(), argmax(x[0]), stack),
          CASE("ArgMax", ArgMax(1), argmax(x[0], 1), stack),
          CASE("ArgMin", ArgMin(2), argmin(x[0], 2), stack),
          UNARY(Sqrt, sqrt, p),
          UNARY(Square, square, x),
          CASE("SquaredDifference", SquaredDifference(), squared_difference(x[0], x[1]), x, y),
          CASE("Sum", Sum(), sum(x[0]), stack),
          CASE("Sum", Sum({0, 1}), sum(x[0], {0, 1}), stack),
          CASE("Sum", Sum(-1, true), sum(x[0], -1, true), stack),
          UNARY(Sin, sin, x),
          UNARY(Cos, cos, x),
          UNARY(Tan, tan, x),
          UNARY(Arcsin, arcsin, x),
          UNARY(Arccos, arccos, x),
          UNARY(Arctan, arctan, x)};
#undef UNARY
}

std::vector<Case> noise_and_normalization() {
  const Array x = spread({4, 3}), y = spread({4, 3}, -1, 1, 1), W = spread({2, 3}), b = spread({2});
  const Array gamma = positive({3}), beta = spread({3}), mean = spread({3}, -1, 1, 3), var = positive({3}, 4);
  const Array mask = ints({1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0}, {4, 2, 3});
  return {CASE("Dropout", Dropout(0.4), nn::dropout(x[0], {.ratio = 0.4, .train = true}), x),
          CASE("Gaussian", Gaussian(), nn::gaussian(x[0], x[1]), x, y),
          CASE("SimplifiedDropconnect", SimplifiedDropconnect(0.3),
               nn::simplified_dropconnect(x[0], x[1], x[2], {.ratio = 0.3, .train = true}), x, W, b),
          CASE("SimplifiedDropconnect", SimplifiedDropconnect(0.3, mask),
               nn::simplified_dropconnect(x[0], x[1], {}, {.ratio = 0.3, .train = true, .mask = mask}), x, W),
          CASE("Zoneout", Zoneout(0.4), nn::zoneout(x[0], x[1], {.ratio = 0.4, .train = true}), x, y),
          CASE("BatchNormalizationFunction", BatchNormalizationFunction(1e-3, {}, {}, true),
               nn::batch_normalization(x[0], x[1], x[2], {.eps = 1e-3}), x, gamma, beta),
          CASE("BatchNormalizationFunction", BatchNormalizationFunction(2e-5, {}, {}, true, 0.9, false),
               nn::batch_normalization(x[0], x[1], x[2]), x, gamma, beta),
          CASE("BatchNormalizationFunction", BatchNormalizationFunction(),
               nn::fixed_batch_normalization(x[0], x[1], x[2], x[3], x[4]), x, gamma, beta, mean, var),
          CASE("NormalizeL2", NormalizeL2(), nn::normalize(x[0]), x),
          CASE("NormalizeL2", NormalizeL2(1e-2, 0), nn::normalize(x[0], 1e-2, 0), x),
          CASE("LocalResponseNormalization", LocalResponseNormalization(), nn::local_response_normalization(x[0]),
               spread({2, 7, 2})),
          CASE("LocalResponseNormalization", LocalResponseNormalization(3, 1, 0.1, 0.5),
               nn::local_response_normalization(x[0], 3, 1, 0.1, 0.5), spread({2, 7, 2}))};
}

std::vector<Case> pooling() {
  const Array x = spread({2, 2, 6, 5}), volume = spread({1, 2, 4, 3, 4}),
              rois = array<double>({0, 0, 0, 3, 4, 1, 1, 1, 4, 4}, {2, 5});
  const Array indexes = ints({0, 3, 1, 2, 2, 1, 3, 0}, {1, 2, 2, 2});
  return {
      CASE("AveragePooling2D", AveragePooling2D(2), nn::average_pooling_2d(x[0], 2), x),
      CASE("AveragePooling2D", AveragePooling2D({3, 2}, 2, 1, true, false), nn::average_pooling_2d(x[0], {3, 2}, 2, 1),
           x),
      CASE("AveragePoolingND", AveragePoolingND(3, 2, {1, 1, 2}), nn::average_pooling_nd(x[0], 2, {1, 1, 2}), volume),
      CASE("MaxPooling2D", MaxPooling2D(2), nn::max_pooling_2d(x[0], 2), x),
      CASE("MaxPooling2D", MaxPooling2D({3, 2}), nn::max_pooling_2d(x[0], {3, 2}), x),
      CASE("MaxPooling2D", MaxPooling2D(3, 2, 1, false, false),
           nn::max_pooling_2d(x[0], 3, {.stride = 2, .pad = 1, .cover_all = false}), x),
      CASE("MaxPooling2D", MaxPooling2D(3, {}, {1, 0}), nn::max_pooling_2d(x[0], 3, {.pad = {1, 0}}), x),
      CASE("MaxPoolingND", MaxPoolingND(3, 2, 2, 1), nn::max_pooling_nd(x[0], 2, {.stride = 2, .pad = 1}), volume),
      CASE("ROIPooling2D", ROIPooling2D(2, 3, 1.0), nn::roi_pooling_2d(x[0], x[1], 2, 3, 1.0), x, rois),
      CASE("SpatialPyramidPooling2D", SpatialPyramidPooling2D({2, 6, 5}, 2, nn::PoolingClass::max),
           nn::spatial_pyramid_pooling_2d(x[0], 2), x),
      CASE("Unpooling2D", Unpooling2D(2), nn::unpooling_2d(x[0], 2), x),
      CASE("Unpooling2D", Unpooling2D(3, 2, 0, {14, 11}, false),
           nn::unpooling_2d(x[0], 3, {.stride = 2, .outsize = {14, 11}, .cover_all = false}), x),
      CASE("UnpoolingND", UnpoolingND(3, 2, 2, 0), nn::unpooling_nd(x[0], 2, {.stride = 2}), volume),
      CASE("Upsampling2D", Upsampling2D(indexes, 2, 2), nn::upsampling_2d(x[0], indexes, 2, {.stride = 2}),
           spread({1, 2, 2, 2}))};
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& part :
       {activations, arrays, connections, recurrent, losses, operators, mathematics, noise_and_normalization, pooling})
    for (const Case& c : part()) all.push_back(c);
  return all;
}

struct Result {
  Arrays values, gradients, second;
};
Variable sum_of_squares(const Variables& vs) {
  Variable total;
  for (const Variable& v : vs)
    if (v) total = total ? total + sum(square(cast(v, Dtype::float64))) : sum(square(cast(v, Dtype::float64)));
  return total;
}
Arrays data_of(const Variables& vs) {
  Arrays all;
  for (const Variable& v : vs) all.push_back(v ? v.data() : Array());
  return all;
}

// Gradients of a weighted sum of the outputs, and of the sum of their squares.
Result run(const Call& call, const Arrays& inputs) {
  seed(17);
  Variables x, floating;
  for (const Array& a : inputs) {
    x.push_back(Variable(a));
    if (catena::is_floating(a.dtype())) floating.push_back(x.back());
  }
  Variables y = call(x);
  Result r;
  r.values = data_of(y);
  Variables outputs, weights;
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (y[k].creator() == nullptr || !catena::is_floating(y[k].dtype())) continue;
    outputs.push_back(y[k]);
    const Array weight = astype(spread(y[k].shape(), -1, 1, int(k) + 3), y[k].dtype());
    weights.push_back(Variable(to_device(weight, y[k].device())));
  }
  if (outputs.empty()) return r;
  r.gradients = data_of(grad(outputs, floating, weights));
  const Variables recorded = grad(outputs, floating, weights, true);
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    BOOST_TEST(bool(recorded[i]) == bool(r.gradients[i]));
    if (recorded[i]) BOOST_CHECK_NO_THROW(testing::assert_allclose(recorded[i].data(), r.gradients[i], 1e-9, 1e-9));
  }
  if (const Variable loss = sum_of_squares(recorded); loss && loss.creator() != nullptr)
    r.second = data_of(grad({loss}, floating));
  return r;
}

void compare(const char* what, const Arrays& a, const Arrays& b) {
  BOOST_TEST_CONTEXT(what) {
    BOOST_REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      BOOST_TEST(bool(a[i]) == bool(b[i]), "entry " << i);
      if (!a[i] || !b[i]) continue;
      BOOST_CHECK(a[i].dtype() == b[i].dtype());
      BOOST_TEST(a[i].shape() == b[i].shape());
      BOOST_CHECK_NO_THROW(testing::assert_allclose(a[i], b[i], 1e-12, 1e-10));
    }
  }
}

struct Started : FunctionHook {
  std::vector<std::string> labels;
  std::string name() const override { return "Started"; }
  void forward_preprocess(const FunctionNode& f, const Arrays&) override { labels.push_back(f.label()); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(function_objects)

BOOST_AUTO_TEST_CASE(values_and_gradients_are_those_of_the_functions) {
  for (const Case& c : all_cases()) BOOST_TEST_CONTEXT(c.object) {
      const Result object = run(c.of_object, c.inputs), function = run(c.of_function, c.inputs);
      compare("values", object.values, function.values);
      compare("gradients", object.gradients, function.gradients);
      compare("second derivatives", object.second, function.second);
    }
}

// The node's inputs are those of the call, also where the function is made of others, and hooks see it first.
BOOST_AUTO_TEST_CASE(each_call_is_one_labelled_node) {
  for (const Case& c : all_cases()) BOOST_TEST_CONTEXT(c.object) {
      Variables x;
      for (const Array& a : c.inputs) x.push_back(Variable(a));
      Started started;
      Variables y;
      {
        const HookScope scope(started);
        y = c.of_object(x);
      }
      FunctionNode* const f = y[0].creator();
      BOOST_REQUIRE(f != nullptr);
      BOOST_TEST(f->label() == c.label);
      for (const Variable& v : y) BOOST_TEST(v.creator() == f);
      BOOST_TEST(f->num_inputs() == x.size());
      for (std::size_t i = 0; i < f->num_inputs(); ++i)
        BOOST_TEST(f->input_node(i) == internal::Access::node(x[i]), "input " << i);
      BOOST_REQUIRE(!started.labels.empty());
      BOOST_TEST(started.labels[0] == c.label);
      const auto scope = no_backprop_mode();
      BOOST_TEST(c.of_object(x)[0].creator() == nullptr);
    }
}

BOOST_AUTO_TEST_CASE(every_class_has_a_case) {
  std::set<std::string> tested;
  for (const Case& c : all_cases()) tested.insert(c.name());
  const std::string folder = std::string(std::getenv("CATENA_TEST_SOURCE_DIR")) + "/nn/functions/objects";
  const std::regex declaration(
      "\\n(?:struct|using) (?:CATENA_EXPORT )?(\\w+) [:=] "
      "(?:FunctionObjectOf|(?:Unary|Binary|Constant|FromConstant)Object)<");
  std::size_t classes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".h" || file.path().filename() == "function_object.h") continue;
    std::ifstream in(file.path());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    for (std::sregex_iterator m(text.begin(), text.end(), declaration), end; m != end; ++m, ++classes)
      BOOST_TEST(tested.contains((*m)[1].str()), (*m)[1].str());
  }
  BOOST_TEST(classes == tested.size());
}

BOOST_AUTO_TEST_SUITE_END()
