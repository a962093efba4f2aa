// Weights of 8 bits: values of torch.ao, layers, files, ONNX, errors.
#include <catena/nn/links/quantization.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <catena/autograd/config.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/link_hooks.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

using Strings = std::vector<std::string>;
using Doubles = std::vector<double>;
#define CHECK_LIST(a, ...) BOOST_TEST(a == (__VA_ARGS__), boost::test_tools::per_element())

Array random(const Shape& shape, std::uint64_t seed) {
  autograd::Generator g{seed, 0};
  return autograd::random_uniform(shape, -2, 2, Dtype::float32, g);
}

// ---- values of PyTorch ----
Variables parts(const GoldenCall& c) {
  const int axis = int(c.integer("axis", 0));
  const auto [values, scale] = nn::quantize_per_channel(c.array("w"), axis);
  return {Variable(values), Variable(scale), nn::dequantize(Variable(values), autograd::as_variable(scale), axis)};
}
template <class L> Variables layer(const GoldenCall& c, L link) {
  link.to_dtype(c.x("x").dtype());
  autograd::assign(link.W.data(), c.array("W"));
  autograd::assign(link.b->data(), c.array("b"));
  nn::quantize_weights(link);
  const auto no_graph = autograd::no_backprop_mode();
  return {link(c.x("x"))};
}
const GoldenFunctions kFunctions = {
    {"quantize_per_channel", parts},
    {"linear",
     [](const GoldenCall& c) { return layer(c, nn::Linear(int(c.x("W").shape(1)), int(c.x("W").shape(0)))); }},
    {"convolution_1d", [](const GoldenCall& c) { return layer(c, nn::Convolution1D(3, 4, 3)); }},
    {"convolution_2d",
     [](const GoldenCall& c) {
       return layer(c, nn::Convolution2D(3, 4, {2, 3}));
     }},
    {"convolution_3d", [](const GoldenCall& c) { return layer(c, nn::Convolution3D(2, 3, 2)); }},
};

// ---- a product in float64 ----
Doubles product(const Array& x, const nn::QuantizedWeight& W, const Doubles& b) {
  const Doubles xs = values(x), ws = values(W.values), scales = values(W.scale);
  const std::int64_t n = x.shape(0), k = x.shape(1), outputs = W.values.shape(0);
  Doubles y;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t o = 0; o < outputs; ++o) {
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p) sum += xs[std::size_t(i * k + p)] * ws[std::size_t(o * k + p)];
      y.push_back(sum * scales[std::size_t(o)] + (b.empty() ? 0 : b[std::size_t(o)]));
    }
  return y;
}
void check_product(std::int64_t n, std::int64_t k, std::int64_t outputs, bool bias) {
  const Array x = random({n, k}, 1), b = random({outputs}, 2);
  const nn::QuantizedWeight W = nn::quantize_per_channel(random({outputs, k}, 3));
  const Doubles expected = product(x, W, bias ? values(b) : Doubles());
  const auto no_graph = autograd::no_backprop_mode();
  const Variable y =
      nn::quantized_linear(Variable(x), Variable(W.values), Variable(W.scale), bias ? Variable(b) : Variable());
  BOOST_REQUIRE((y.shape() == Shape{n, outputs}));
  BOOST_TEST(y.dtype() == Dtype::float32);
  const Doubles actual = values(y.data());
  for (std::size_t i = 0; i < expected.size(); ++i)
    BOOST_TEST(std::abs(actual[i] - expected[i]) < 1e-6 * (1 + double(k)), "n " << n << " k " << k << " at " << i);
}

// A network of all layers that have such weights, and of one that has none.
struct Network : nn::Chain {
  nn::Convolution2D conv{2, 4, 3, {.pad = 1}};
  nn::BatchNormalization bn{4};
  nn::Sequential body{nn::Linear(64, 12), nn::relu};
  nn::Linear last{12, 3, {.nobias = true}};
  NN_MEMBERS(conv, bn, body, last)
  Variable operator()(const Variable& x) { return last(body(nn::relu(bn(conv(x))))); }
};
const Shape kImages{2, 2, 4, 4};

// Statistics of batches, without which normalization would divide by zero.
Network with_statistics(std::uint64_t seed) {
  autograd::seed(seed);
  Network net;
  const auto no_graph = autograd::no_backprop_mode();
  for (std::uint64_t i = 0; i < 3; ++i) net(Variable(random({8, 2, 4, 4}, i)));
  return net;
}
Array output(Network& net, const Array& x) {
  const auto scope = autograd::using_config({.train = false, .enable_backprop = false});
  return net(Variable(x)).data();
}
double greatest_difference(const Array& a, const Array& b) {
  const Doubles u = values(a), v = values(b);
  double most = 0;
  for (std::size_t i = 0; i < u.size(); ++i) most = std::max(most, std::abs(u[i] - v[i]));
  return most;
}

// Null if the link has no scales.
Array scale_of(const nn::Link& link) {
  for (const nn::NamedParam& p : link.namedparams())
    if (p.path == "/W_scale") return p.param.data();
  return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quantization)

BOOST_AUTO_TEST_CASE(golden_values) { run_golden("torch_quantization", kFunctions); }

BOOST_AUTO_TEST_CASE(ties_zeros_and_tiny_weights) {
  // The scale of the first row is 1: ties go to even numbers, and the greatest weight to -128 or, cut off, 127.
  const Array w = floats({-127.5f, 0.5f,  1.5f,    2.5f,    -0.5f, -1.5f,  //
                          127.5f,  -2.5f, 126.5f,  -126.5f, 0,     3.25f,  //
                          0,       0,     -0.0f,   0,       0,     0,      //
                          1e-44f,  0,     -1e-44f, 0,       0,     0},
                         {4, 6});
  const auto [v, scale] = nn::quantize_per_channel(w);
  BOOST_TEST(v.dtype() == Dtype::int8);
  BOOST_TEST(scale.dtype() == Dtype::float32);
  CHECK_LIST(values(autograd::slice(v, 0, 0, 1)), Doubles{-128, 0, 2, 2, 0, -2});
  CHECK_LIST(values(autograd::slice(v, 0, 1, 2)), Doubles{127, -2, 126, -126, 0, 3});
  for (const double z : values(autograd::slice(v, 0, 2, 4))) BOOST_TEST(z == 0);
  BOOST_TEST(values(scale)[0] == 1);
  for (const double s : values(scale)) BOOST_TEST(s > 0);
  // Every other weight is within half a step.
  const Array many = random({7, 500}, 5);
  const nn::QuantizedWeight q = nn::quantize_per_channel(many);
  const Doubles exact = values(many), steps = values(q.scale), ints = values(q.values);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double s = steps[i / 500];
    BOOST_TEST(std::abs(exact[i] - ints[i] * s) <= s / 2 * (1 + 1e-4));
  }
  for (const Shape& empty : {Shape{0, 3}, Shape{3, 0}}) {
    const nn::QuantizedWeight none = nn::quantize_per_channel(autograd::arrays::zeros(empty));
    BOOST_TEST((none.values.shape() == empty));
    BOOST_TEST(none.scale.size() == empty[0]);
  }
  // The transposed matrix in memory, and a wider dtype.
  const nn::QuantizedWeight turned =
      nn::quantize_per_channel(autograd::transpose(autograd::astype(w, Dtype::float64)), 1);
  BOOST_TEST(same_bits(autograd::contiguous(autograd::transpose(turned.values)), v));
  BOOST_TEST(same_bits(nn::quantize_per_channel(autograd::transpose(w), -1).scale, scale));
}

BOOST_AUTO_TEST_CASE(products_of_all_sizes) {
  for (const std::int64_t k : {1, 7, 63, 64, 65, 200})
    for (const std::int64_t n : {1, 2, 3, 4, 5, 8, 9}) check_product(n, k, 5, n % 2 == 0);
  check_product(1, 3000, 70, true);
  check_product(0, 5, 3, true);
  check_product(3, 5, 0, false);
  check_product(1, 1, 1, true);
  // Rows that do not lie side by side, and sequences.
  const Array x = random({6, 10}, 7), even = autograd::slice(x, 0, 0, 6, 2);
  const nn::QuantizedWeight W = nn::quantize_per_channel(random({4, 10}, 8));
  const Variable w(W.values), s(W.scale);
  const auto no_graph = autograd::no_backprop_mode();
  check_close(nn::quantized_linear(Variable(even), w, s).data(),
              autograd::astype(autograd::array(product(autograd::copy(even), W, {}), {3, 4}), Dtype::float32), 1e-5, 0,
              "strided");
  const Variable y = nn::quantized_linear(Variable(autograd::reshape(x, {2, 3, 10})), w, s, {}, -1);
  check_close(y.data(), autograd::astype(autograd::array(product(x, W, {}), {2, 3, 4}), Dtype::float32), 1e-5, 0,
              "sequences");
  // Weights in another order of memory.
  const Array turned = autograd::transpose(autograd::contiguous(autograd::transpose(W.values)));
  check_close(nn::quantized_linear(Variable(x), Variable(turned), s).data(),
              autograd::astype(autograd::array(product(x, W, {}), {6, 4}), Dtype::float32), 1e-5, 0, "transposed");
}

BOOST_AUTO_TEST_CASE(layers_of_a_network) {
  Network net = with_statistics(1);
  const Array x = random(kImages, 9), before = output(net, x);
  Network quantized = net;
  CHECK_LIST(nn::quantize_weights(quantized), Strings{"/conv/W", "/body/0/W", "/last/W"});
  BOOST_TEST(quantized.conv.W.dtype() == Dtype::int8);
  BOOST_TEST(quantized.last.W.dtype() == Dtype::int8);
  BOOST_TEST(quantized.conv.b->dtype() == Dtype::float32);
  BOOST_TEST(quantized.bn.gamma->dtype() == Dtype::float32);
  BOOST_TEST(net.conv.W.dtype() == Dtype::float32);  // of which the other one was a copy
  const Array after = output(quantized, x);
  BOOST_TEST(after.dtype() == Dtype::float32);
  const double difference = greatest_difference(before, after);
  BOOST_TEST((difference > 0 && difference < 0.02), difference);
  // It computes what the rounded weights give.
  Network rounded = net;
  for (const auto& [from, to] :
       {std::pair<nn::Parameter*, nn::Link*>(&rounded.conv.W, &quantized.conv), {&rounded.last.W, &quantized.last}}) {
    const nn::QuantizedWeight q = nn::quantize_per_channel(from->data());
    BOOST_TEST(same_bits(q.scale, scale_of(*to)));
    from->set_data(nn::dequantize(Variable(q.values), Variable(q.scale)).data());
  }
  auto& hidden = dynamic_cast<nn::Linear&>(rounded.body[0].as_link());
  const nn::QuantizedWeight q = nn::quantize_per_channel(hidden.W.data());
  hidden.W.set_data(nn::dequantize(Variable(q.values), Variable(q.scale)).data());
  check_close(after, output(rounded, x), 1e-5, 1e-4, "rounded weights");
  // Again: nothing changes.
  const Array values_before = quantized.last.W.data();
  BOOST_TEST(nn::quantize_weights(quantized).size() == 3u);
  BOOST_TEST(same_bits(quantized.last.W.data(), values_before));
  // The same with a graph, on another path, and in copies.
  const auto test_mode = autograd::train_mode(false);
  check_close(quantized(Variable(x)).data(), after, 1e-5, 1e-4, "with a graph");
  for (const nn::CopyMode mode : {nn::CopyMode::share, nn::CopyMode::copy}) {
    Network copy = nn::copy(quantized, mode);
    check_close(output(copy, x), after, 0, 0, "copy");
  }
  BOOST_TEST(same_bits(nn::copy(quantized, nn::CopyMode::init).last.W.data(), quantized.last.W.data()));
}

BOOST_AUTO_TEST_CASE(some_of_the_layers) {
  Network net;
  CHECK_LIST(nn::quantize_weights(net, {.match = "body/*", .bits = 8}), Strings{"/body/0/W"});
  BOOST_TEST(net.conv.W.dtype() == Dtype::float32);
  CHECK_LIST(nn::quantize_weights(net, {.match = "/last/W"}), Strings{"/last/W"});
  CHECK_LIST(nn::quantize_weights(net, {.match = "/conv"}), Strings{"/conv/W"});
  nn::Linear single(3, 2);
  CHECK_LIST(nn::quantize_weights(single), Strings{"/W"});
  nn::LSTM recurrent(4, 3);
  BOOST_TEST(nn::quantize_weights(recurrent).size() >= 2u);
  const auto no_graph = autograd::no_backprop_mode();
  BOOST_TEST((recurrent(Variable(random({2, 4}, 1))).shape() == Shape{2, 3}));
  BOOST_TEST((recurrent(Variable(random({2, 4}, 2))).shape() == Shape{2, 3}));
}

BOOST_AUTO_TEST_CASE(memory) {
  nn::Linear layer(256, 128, {.nobias = true});
  const auto bytes = [&] {
    std::size_t n = std::size_t(layer.W.size()) * catena::itemsize(layer.W.dtype());
    if (const Array s = scale_of(layer)) n += std::size_t(s.size()) * sizeof(float);
    return n;
  };
  const std::size_t before = bytes();
  nn::quantize_weights(layer);
  BOOST_TEST(before == 256u * 128 * 4);
  BOOST_TEST(bytes() == 256u * 128 + 128 * 4);
}

BOOST_AUTO_TEST_CASE(files) {
  const TemporaryFolder folder("quantized");
  Network net = with_statistics(2), other, plain;
  const Array x = random(kImages, 3);
  nn::serializers::save_npz(folder / "float.npz", net, false);
  nn::quantize_weights(net);
  nn::quantize_weights(other);
  const Array expected = output(net, x);
  nn::serializers::save_npz(folder / "net.npz", net, false);
  nn::serializers::save_safetensors(folder / "net.safetensors", net);
  BOOST_TEST(nn::serializers::load_npz(folder / "net.npz", other).is_complete());
  BOOST_TEST(same_bits(output(other, x), expected));
  Network third;
  nn::quantize_weights(third);
  BOOST_TEST(nn::serializers::load_safetensors(folder / "net.safetensors", third).is_complete());
  BOOST_TEST(same_bits(output(third, x), expected));
  Network fourth;
  nn::quantize_weights(fourth);
  fourth.load_state_dict(net.state_dict());
  BOOST_TEST(same_bits(output(fourth, x), expected));
  // A model and a file that do not fit leave the model as it was.
  const Array before = output(plain, x);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::serializers::load_npz(folder / "net.npz", plain); }),
                 "W of conv is int8 in the file: call nn::quantize_weights() before the file is loaded"));
  BOOST_TEST(same_bits(output(plain, x), before));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::serializers::load_npz(folder / "float.npz", other); }),
                 "is int8 and that of the file is not: load before nn::quantize_weights()"));
  BOOST_TEST(same_bits(output(other, x), expected));
}

BOOST_AUTO_TEST_CASE(programs) {
  const TemporaryFolder folder("quantized_program");
  Network net = with_statistics(4);
  nn::quantize_weights(net);
  const Array x = random(kImages, 5), expected = output(net, x);
  const nn::onnx::Model model =
      nn::onnx::export_model(net, {Variable(x)}, folder / "net.onnx", {.input_names = {"x"}, .dynamic_batch = true});
  int dequantized = 0;
  for (const nn::onnx::Node& n : model.graph->node)
    if (n.op_type == "DequantizeLinear") {
      ++dequantized;
      BOOST_REQUIRE(n.find("axis") != nullptr);
      BOOST_TEST(n.find("axis")->i == 0);
    }
  BOOST_TEST(dequantized == 3);
  Network frozen = net;
  frozen.disable_update();
  const nn::onnx::Model of_constants = nn::onnx::export_model(frozen, Variable(x));
  BOOST_TEST(std::count_if(of_constants.graph->node.begin(), of_constants.graph->node.end(),
                           [](const nn::onnx::Node& n) { return n.op_type == "DequantizeLinear"; }) == 3);
  std::size_t int8s = 0;
  for (const nn::onnx::Tensor& t : model.graph->initializer)
    if (t.name == "last/W") {
      BOOST_TEST(int(t.data_type) == int(nn::onnx::DataType::int8));
      ++int8s;
    } else if (t.name == "last/W_scale") {
      ++int8s;
    }
  BOOST_TEST(int8s == 2u);
  for (const bool fuse : {true, false}) {
    const nn::Program program(folder / "net.onnx", {.fuse = fuse});
    check_close(program(x), expected, 1e-5, 1e-5, fuse ? "fused" : "as written");
    const Array one = autograd::slice(x, 0, 0, 1);
    check_close(program(one), output(net, autograd::copy(one)), 1e-5, 1e-5, "one image");
  }
  nn::onnx::ImportedModel imported = nn::onnx::import_model(folder / "net.onnx");
  check_close(imported(Variable(x)).data(), expected, 1e-5, 1e-5, "imported");
}

BOOST_AUTO_TEST_CASE(operators_of_files) {
  namespace onnx = nn::onnx;
  // y = (q - zero point) scale + x, for weights as other programs write them.
  const auto result = [](const Array& q, const Array& scale, const Array& zero, std::optional<std::int64_t> axis) {
    onnx::Model model;
    model.ir_version = 8;
    model.opset_import = {{"", 17}};
    model.graph.emplace();
    model.graph->input.resize(1);
    model.graph->input[0].name = "x";
    model.graph->output.resize(1);
    model.graph->output[0].name = "y";
    model.graph->initializer = {onnx::to_tensor(q, "q"), onnx::to_tensor(scale, "scale")};
    onnx::Node node, add;
    node.op_type = "DequantizeLinear";
    node.input = {"q", "scale"};
    node.output = {"w"};
    if (zero) {
      model.graph->initializer.push_back(onnx::to_tensor(zero, "zero"));
      node.input.push_back("zero");
    }
    if (axis) {
      onnx::Attribute a;
      a.name = "axis";
      a.type = onnx::Attribute::Type::int_;
      a.i = *axis;
      node.attribute = {a};
    }
    add.op_type = "Add";
    add.input = {"w", "x"};
    add.output = {"y"};
    model.graph->node = {node, add};
    onnx::ImportedModel net(model);
    return values(net(Variable(autograd::arrays::zeros({2, 3}))).data());
  };
  const Array q = autograd::astype(floats({0, 2, 4, 6, 8, 10}, {2, 3}), Dtype::int8);
  const Array u = autograd::astype(q, Dtype::uint8), one = floats({0.5f}, {});
  CHECK_LIST(result(q, one, {}, {}), Doubles{0, 1, 2, 3, 4, 5});
  CHECK_LIST(result(u, floats({0.5f}, {1}), autograd::astype(floats({4}, {1}), Dtype::uint8), {}),
             Doubles{-2, -1, 0, 1, 2, 3});
  const Array columns = floats({1, 0.5f, 2}, {3}), rows = floats({1, 0.5f}, {2});
  CHECK_LIST(result(q, columns, {}, {}), Doubles{0, 1, 8, 6, 4, 20});  // along axis 1
  CHECK_LIST(result(q, columns, {}, -1), Doubles{0, 1, 8, 6, 4, 20});
  CHECK_LIST(result(q, rows, {}, 0), Doubles{0, 2, 4, 3, 4, 5});
  CHECK_LIST(result(u, rows, autograd::astype(floats({1, 6}, {2}), Dtype::uint8), 0), Doubles{-1, 1, 3, 0, 1, 2});
  BOOST_TEST(has(message_of<catena::ValueError>([&] { result(u, columns, {}, 0); }), "its scale or zero point (3,)"));
}

BOOST_AUTO_TEST_CASE(training_is_refused) {
  Network net;
  const Variable x(random(kImages, 6));
  nn::quantize_weights(net);
  net.cleargrads();
  Variable loss = autograd::sum(net(x));
  BOOST_TEST(has(message_of<catena::RuntimeError>([&] { loss.backward(); }), "nn::quantize_weights() afterwards"));
  // Frozen weights are constants: what lies before and behind them is trained.
  net.disable_update("*/W_scale");
  Variable frozen_loss = autograd::sum(net(x));
  frozen_loss.backward();
  BOOST_TEST(bool(net.bn.beta->grad()));
  BOOST_TEST(bool(x.grad()));
  BOOST_TEST(!bool(net.conv.W.grad()));
  net.enable_update();
  BOOST_TEST(!net.conv.W.requires_grad());
  Variable again = autograd::sum(net(x));
  BOOST_CHECK_THROW(again.backward(), catena::RuntimeError);
  // Layers that were frozen before are constants.
  Network frozen;
  frozen.last.disable_update();
  nn::quantize_weights(frozen, {.match = "/last"});
  Variable y = autograd::sum(frozen(x));
  y.backward();
  BOOST_TEST(bool(frozen.conv.W.grad()));
}

BOOST_AUTO_TEST_CASE(gradients_pass_frozen_weights) {
  nn::Linear layer(5, 3);
  const Array x = random({2, 5}, 1);
  nn::quantize_weights(layer);
  layer.disable_update();
  const Variable in(x);
  Variable y = autograd::sum(layer(in));
  y.backward();
  const Doubles w = values(layer.W.data()), s = values(scale_of(layer)), g = values(in.grad());
  for (std::size_t k = 0; k < 5; ++k) {
    double expected = 0;
    for (std::size_t o = 0; o < 3; ++o) expected += w[o * 5 + k] * s[o];
    BOOST_TEST(std::abs(g[k] - expected) < 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(errors) {
  const auto infinite = std::numeric_limits<float>::infinity();
  for (const float bad : {infinite, -infinite, std::nanf("")}) {
    Network net;
    const Array w = net.last.W.data();
    std::vector<float> numbers(std::size_t(w.size()), 0.5f);
    numbers[13] = bad;
    net.last.W.set_data(floats(numbers, w.shape()));
    BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::quantize_weights(net); }),
                   "/last/W: quantize_per_channel: the weights of channel 1 have NaN or infinity"));
    BOOST_TEST(net.conv.W.dtype() == Dtype::float32);  // nothing has changed
    BOOST_TEST(!bool(scale_of(net.conv)));
  }
  Network net;
  BOOST_TEST(has(message_of<catena::KeyError>([&] { nn::quantize_weights(net, {.match = "head/*"}); }),
                 "no Linear or convolution layer matches \"head/*\""));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::quantize_weights(net, {.bits = 4}); }), "bits is 4"));
  nn::Linear pending(3);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::quantize_weights(pending); }),
                 "/W has no shape yet: call the model once"));
  BOOST_CHECK_THROW(nn::quantize_per_channel(ints({1, 2})), catena::TypeError);
  BOOST_CHECK_THROW(nn::quantize_per_channel(autograd::arrays::ones({2, 3}), 2), catena::ValueError);
  const Variable v(autograd::astype(autograd::arrays::ones({2, 3}), Dtype::int8)), s(autograd::arrays::ones({2}));
  BOOST_CHECK_THROW(nn::dequantize(s, s), catena::InvalidType);
  BOOST_CHECK_THROW(nn::dequantize(v, s, 1), catena::InvalidType);
  BOOST_CHECK_THROW(nn::dequantize(v, s, 2), catena::ValueError);
  const auto no_graph = autograd::no_backprop_mode();
  const Variable x(autograd::arrays::ones({1, 3}));
  BOOST_CHECK_THROW(nn::quantized_linear(Variable(autograd::arrays::ones({1, 4})), v, s), catena::InvalidType);
  BOOST_CHECK_THROW(nn::quantized_linear(x, v, Variable(autograd::arrays::ones({3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::quantized_linear(x, v, s, Variable(autograd::arrays::ones({3}))), catena::InvalidType);
  nn::quantize_weights(net);
  Network target;
  BOOST_TEST(has(message_of<catena::TypeError>([&] { target.copyparams(net); }), "the parameter /conv/W is int8"));
  BOOST_TEST(has(message_of<catena::KeyError>([&] { net.copyparams(target); }), "no parameter /conv/W_scale"));
  nn::quantize_weights(target);
  target.copyparams(net);
  BOOST_TEST(same_bits(output(target, random(kImages, 2)), output(net, random(kImages, 2))));
  BOOST_TEST(has(message_of<catena::TypeError>([&] { net.last.add_hook(nn::link_hooks::SpectralNormalization()); }),
                 "W is int8: delete_hook() before nn::quantize_weights()"));
  Network hooked;
  hooked.last.add_hook(nn::link_hooks::WeightStandardization());
  nn::quantize_weights(hooked);
  BOOST_TEST(has(message_of<catena::TypeError>([&] {
                   hooked.last(Variable(autograd::arrays::ones({1, 12})));
                 }),
                 "W is int8"));
}

BOOST_AUTO_TEST_CASE(on_another_device) {
  const std::optional<autograd::Device> other = other_device();
  if (!other) return;
  Network net = with_statistics(6);
  nn::quantize_weights(net);
  const Array x = random(kImages, 7), expected = output(net, x);
  net.to_device(*other);
  BOOST_TEST((net.last.W.device() == *other));
  check_close(output(net, autograd::to_device(x, *other)), expected, 1e-5, 1e-5, "moved");
}

BOOST_AUTO_TEST_SUITE_END()
