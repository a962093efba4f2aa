// CaffeFunction: models of both forms against Chainer 1.24, layer by layer and as the networks of the model zoo, and
// what is different by intent.
#include <catena/nn/caffe/caffe_function.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>

#include <catena/tests/support/caffe_models.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using nn::links::caffe::CaffeFunction;
using nn::links::caffe::CaffeFunctionOptions;

namespace {

using Strings = std::vector<std::string>;

const TemporaryFolder& folder() {
  static const TemporaryFolder one("caffe");
  return one;
}
CaffeFunction load(const std::string& bytes, const CaffeFunctionOptions& options = {}) {
  write_file(folder() / "model", bytes);
  return CaffeFunction(folder() / "model", options);
}
CaffeFunction load(const std::vector<Message>& layers, const CaffeFunctionOptions& options = {}) {
  return load(caffe_net(layers).bytes, options);
}
CaffeFunction load(const Golden& golden, const Json& c) {
  const catena::NpyArray model = golden.array(c["model"]);
  return load({reinterpret_cast<const char*>(model.data.data()), model.data.size()});
}
template <class E> std::string error_of(const std::vector<Message>& layers) {
  return message_of<E>([&] { load(layers); });
}

Strings texts_of(const Json& list) { return list.get<Strings>(); }
std::map<std::string, Variable> params_of(CaffeFunction& net) {
  std::map<std::string, Variable> params;
  for (const nn::NamedParam& p : net.namedparams()) params.emplace(p.path, p.param);
  return params;
}
Array array_of(const Golden& golden, const Json& key) { return to_array(golden.array(key)); }

// The input of the networks of the model zoo, as the fixture's script has it.
Variable input_of(int side) {
  std::vector<float> v(std::size_t(3 * side * side));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = float(int((i * 31 + i / 7) % 17) - 8) / 8;
  return Variable(floats(v, {1, 3, side, side}));
}
Variable ramp(const Shape& shape) { return Variable(autograd::astype(spread(shape), Dtype::float32)); }

void run_case(const Golden& golden, const Json& c) {
  CaffeFunction net = load(golden, c);
  BOOST_TEST(net.layers.size() == c["layers"].size());
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    BOOST_TEST(net.layers[i].name == c["layers"][i][0].get<std::string>());
    BOOST_TEST(net.layers[i].bottoms == texts_of(c["layers"][i][1]), boost::test_tools::per_element());
    BOOST_TEST(net.layers[i].tops == texts_of(c["layers"][i][2]), boost::test_tools::per_element());
    BOOST_TEST(net.forwards.count(net.layers[i].name) == 1u);
  }
  BOOST_TEST(net.split_map.size() == c["split_map"].items().size());
  for (const auto& [top, bottom] : c["split_map"].items())
    BOOST_TEST(net.split_map.at(top) == bottom.get<std::string>());
  auto params = params_of(net);
  BOOST_TEST(params.size() == c["params"].items().size());
  for (const auto& [path, key] : c["params"].items())
    BOOST_TEST(same_bits(params.at(path).data(), array_of(golden, key)), path);

  net.cleargrads();
  CaffeFunction::Blobs inputs;
  for (const auto& [name, key] : c["inputs"].items()) inputs.emplace_back(name, Variable(array_of(golden, key)));
  const Variables ys = net(inputs, texts_of(c["outputs"]), texts_of(c["disable"]), c["train"]);
  const double atol = c["tolerance"][0].get<double>(), rtol = c["tolerance"][1].get<double>();
  BOOST_REQUIRE(ys.size() == c["expected"].size());
  Variable sum;
  for (std::size_t i = 0; i < ys.size(); ++i) {
    check_close(ys[i].data(), array_of(golden, c["expected"][i]), atol, rtol, c["outputs"][i]);
    const Variable product = (ys[i] * array_of(golden, c["grad_outputs"][i])).sum();
    sum = i == 0 ? product : sum + product;
  }
  Strings blobs;
  for (const auto& [name, variable] : net.variables) blobs.push_back(name);
  BOOST_TEST(blobs == texts_of(c["blobs"]), boost::test_tools::per_element());
  sum.backward();
  for (const auto& [name, variable] : inputs) {
    const Json& key = c["grad_inputs"][name];
    BOOST_TEST(bool(variable.grad()) == !key.is_null(), name);
    if (!key.is_null()) check_close(variable.grad(), array_of(golden, key), atol, rtol, "gradient of " + name);
  }
  for (const auto& [path, key] : c["grad_params"].items()) {
    BOOST_TEST(bool(params.at(path).grad()) == !key.is_null(), path);
    if (!key.is_null()) check_close(params.at(path).grad(), array_of(golden, key), atol, rtol, "gradient of " + path);
  }
  for (const auto& [path, key] : c["persistents"].items()) {
    auto& bn = dynamic_cast<nn::BatchNormalization&>(net[path.substr(0, path.find('/'))]);
    const nn::Persistent& p = path.ends_with("avg_mean") ? bn.avg_mean : bn.avg_var;
    check_close(p.array(), array_of(golden, key), atol, rtol, path);
  }
}

// An average over the windows that Caffe counts, divided by what of them lies in the image and its padding.
double caffe_average(const std::vector<double>& x, int h, int w, int py, int px, int k, int s, int p) {
  const int y0 = py * s - p, x0 = px * s - p;
  const int y1 = std::min(y0 + k, h + p), x1 = std::min(x0 + k, w + p);
  double sum = 0;
  for (int y = std::max(y0, 0); y < std::min(y1, h); ++y)
    for (int i = std::max(x0, 0); i < std::min(x1, w); ++i) sum += x[std::size_t(y * w + i)];
  return sum / ((y1 - y0) * (x1 - x0));
}
int caffe_length(int n, int k, int s, int p) {
  int windows = int(std::ceil(double(n + 2 * p - k) / s)) + 1;
  if (p > 0 && (windows - 1) * s >= n + p) --windows;
  return windows;
}

Message pooling(int method, int k, int s, int p) {
  return caffe_layer("Pooling", "pool", {"x"}, {"y"})
      .message(121, Message()
                        .varint(1, std::uint64_t(method))
                        .varint(2, std::uint64_t(k))
                        .varint(3, std::uint64_t(s))
                        .varint(4, std::uint64_t(p)));
}
Message relu_of(const std::string& name, const std::string& bottom, const std::string& top) {
  return caffe_layer("ReLU", name, {bottom}, {top});
}
Message linear_of(const std::string& name, const std::string& bottom, const std::string& top) {
  return caffe_layer("InnerProduct", name, {bottom}, {top})
      .message(7, caffe_blob({2, 3}, {1, 2, 3, 4, 5, 6}))
      .message(7, caffe_blob({2}, {0.5f, -0.5f}));
}
Message batch_norm(const std::vector<Message>& blobs, const Message& param) {
  Message layer = caffe_layer("BatchNorm", "bn", {"x"}, {"y"});
  for (const Message& b : blobs) layer.message(7, b);
  return layer.message(139, param);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(caffe)

// Every type of layer in both forms of files: structure, weights, values, gradients, statistics.
BOOST_AUTO_TEST_CASE(layers_of_chainer) {
  const Golden golden = Golden::open("caffe/cases");
  BOOST_TEST((golden.folder() == source_folder() / "tests/golden/caffe"));
  int cases = 0;
  for (const Json& c : golden.cases()) {
    if (c["name"].get<std::string>().starts_with("zoo.")) continue;
    BOOST_TEST_CONTEXT(c["name"].get<std::string>()) { BOOST_CHECK_NO_THROW(run_case(golden, c)); }
    ++cases;
  }
  BOOST_TEST(cases == 86);
}

// AlexNet, CaffeNet, VGG-16, GoogLeNet and ResNet of 50, 101 and 152 layers, with a sixteenth of the channels.
BOOST_AUTO_TEST_CASE(networks_of_the_model_zoo) {
  const Golden golden = Golden::open("caffe/cases");
  int cases = 0;
  for (const Json& c : golden.cases()) {
    const std::string name = c["name"];
    if (!name.starts_with("zoo.")) continue;
    ++cases;
    BOOST_TEST_CONTEXT(name) {
      const Warnings warnings;
      CaffeFunction net = load(golden, c);
      BOOST_TEST(warnings.texts.empty());
      Strings children;
      for (const auto& [key, child] : net.named_children()) {
        children.push_back(key);
        BOOST_TEST(child->name() == key);
      }
      std::sort(children.begin(), children.end());
      BOOST_TEST(children == texts_of(c["children"]), boost::test_tools::per_element());
      const auto scope = autograd::no_backprop_mode();
      const Variables ys = net({{"data", input_of(c["side"])}}, texts_of(c["outputs"]), texts_of(c["disable"]), false);
      for (std::size_t i = 0; i < ys.size(); ++i)
        check_close(ys[i].data(), array_of(golden, c["expected"][i]), 1e-4, 1e-3, c["outputs"][i]);
    }
  }
  BOOST_TEST(cases == 8);
}

BOOST_AUTO_TEST_CASE(inputs_of_other_forms) {
  CaffeFunction net = load({linear_of("fc", "x", "h"), relu_of("relu", "h", "h")});
  const Variable x = ramp({4, 3});
  const Array expected = net({{"x", x}}, {"h"})[0].data();
  check_close(
      net({{"x", Variable(autograd::transpose(autograd::copy(autograd::transpose(x.data()))))}}, {"h"})[0].data(),
      expected, 1e-6, 1e-6, "strided");
  BOOST_TEST(net({{"x", ramp({0, 3})}}, {"h"})[0].shape() == Shape({0, 2}));
  BOOST_TEST(net({{"x", ramp({1, 3})}}, {"h"})[0].shape() == Shape({1, 2}));
  BOOST_TEST(has(message_of<catena::InvalidType>([&] {
                   net({{"x", ramp({2, 4})}}, {"h"});
                 }),
                 "/fc: Linear: x has 4 columns, W 3"));
}

// ---- calls -----------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(which_layers_are_called) {
  CaffeFunction net = load({relu_of("a", "x", "a"), relu_of("b", "a", "b"), relu_of("c", "nowhere", "c"),
                            caffe_layer("Eltwise", "d", {"b", "x"}, {"x"}), relu_of("e", "x", "e")});
  const Variable x(floats({-1, 2}, {1, 2}));
  const auto names = [&] {
    Strings list;
    for (const auto& [name, variable] : net.variables) list.push_back(name);
    return list;
  };
  // In the order of the file; d replaces its bottom, c has none.
  const Variables ys = net({{"x", x}}, {"e", "b", "x"});
  BOOST_TEST(values(ys[0].data()) == std::vector<double>({0, 4}), boost::test_tools::per_element());
  BOOST_TEST(values(ys[1].data()) == std::vector<double>({0, 2}), boost::test_tools::per_element());
  BOOST_TEST(values(ys[2].data()) == std::vector<double>({-1, 4}), boost::test_tools::per_element());
  BOOST_TEST(names() == Strings({"a", "b", "e", "x"}), boost::test_tools::per_element());
  BOOST_TEST(net.variables.at("e").is_same(ys[0]));
  // Without a, b has no bottom, and d neither.
  BOOST_TEST(net({{"x", x}}, {"e"}, {"a"})[0].data().size() == 2);
  BOOST_TEST(names() == Strings({"e", "x"}), boost::test_tools::per_element());
  // A call that fails leaves the blobs of the one before.
  const std::string message = message_of<catena::KeyError>([&] { net({{"x", x}}, {"c"}); });
  BOOST_TEST(message == "CaffeFunction: no layer has given the blob c");
  BOOST_TEST(names() == Strings({"e", "x"}), boost::test_tools::per_element());
  // Forwards are the caller's to replace and to remove.
  net.forwards["b"] = [](CaffeFunction&, const Variables& v) -> Variables { return {v[0] * 10.0}; };
  net.forwards.erase("d");
  BOOST_TEST(values(net({{"x", x}}, {"b"})[0].data()) == std::vector<double>({0, 20}),
             boost::test_tools::per_element());
  BOOST_TEST(values(net({{"x", x}}, {"x"})[0].data()) == std::vector<double>({-1, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(net({}, {}).empty());
}

BOOST_AUTO_TEST_CASE(numbers_of_bottoms) {
  CaffeFunction net =
      load({caffe_layer("ReLU", "r", {"x", "x"}, {"y"}), caffe_layer("SoftmaxWithLoss", "l", {"z"}, {})});
  const Variable x = ramp({2, 3});
  BOOST_TEST(message_of<catena::TypeError>([&] {
               net({{"x", x}}, {"y"});
             }) == "CaffeFunction: the layer r: it takes 1 bottom, not 2");
  BOOST_TEST(has(message_of<catena::TypeError>([&] { net({{"z", x}}, {}); }), "it takes 2 bottoms, not 1"));
}

BOOST_AUTO_TEST_CASE(dropout_in_training) {
  CaffeFunction net = load({caffe_layer("Dropout", "drop", {"x"}, {"y"}).message(108, Message().float32(1, 0.75f))});
  const Variable x(autograd::arrays::ones({100, 10}));
  const Variable y = net({{"x", x}}, {"y"})[0];  // training is the default
  BOOST_TEST(net.train);
  int kept = 0;
  for (const double v : values(y.data())) {
    BOOST_TEST((v == 0 || v == 4));
    kept += v == 4;
  }
  BOOST_TEST((kept > 180 && kept < 320));  // 250 +- 5 deviations
  BOOST_TEST(same_bits(net({{"x", x}}, {"y"}, {}, false)[0].data(), x.data()));
  BOOST_TEST(!net.train);
}

BOOST_AUTO_TEST_CASE(splits) {
  // Of a split of a split, and of a blob that a layer writes in place: its later readers get what it has written.
  CaffeFunction net =
      load({caffe_layer("Split", "s", {"x"}, {"x0", "x1"}), caffe_layer("Split", "t", {"x1"}, {"x2", "x3"}),
            relu_of("in_place", "x0", "x0"), caffe_layer("Eltwise", "sum", {"x0", "x2"}, {"y"})});
  BOOST_TEST(net.layers.size() == 2u);
  BOOST_TEST(net.layers[1].bottoms == Strings({"x0", "x"}), boost::test_tools::per_element());
  BOOST_TEST(net.split_map.at("x3") == "x");
  const Variable x(floats({-1, 2}, {1, 2}));
  const Variables ys = net({{"x", x}}, {"y", "x3"});
  BOOST_TEST(values(ys[0].data()) == std::vector<double>({-1, 4}), boost::test_tools::per_element());
  BOOST_TEST(ys[1].is_same(x));  // no copy
}

BOOST_AUTO_TEST_CASE(slices_and_their_tops) {
  CaffeFunction net = load({caffe_layer("Slice", "s", {"x"}, {"a"}).message(126, Message().varint(2, 1))});
  const Variables ys = net({{"x", Variable(floats({1, 2, 3}, {1, 3}))}}, {"a"});  // parts without a name are dropped
  BOOST_TEST(values(ys[0].data()) == std::vector<double>({1}), boost::test_tools::per_element());
}

// ---- pooling ---------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(average_pooling_of_caffe) {
  int odd = 0;
  for (const int h : {3, 5, 6})
    for (const int k : {2, 3})
      for (const int s : {1, 2, 3})
        for (const int p : {0, 1}) {
          const int w = 7, oh = caffe_length(h, k, s, p), ow = caffe_length(w, k, s, p);
          CaffeFunction net = load({pooling(1, k, s, p)}, {.ceil_average_pooling = true});
          const Variable x = ramp({2, 1, h, w});
          const Variable y = net({{"x", x}}, {"y"})[0];
          BOOST_TEST(y.shape() == Shape({2, 1, oh, ow}));
          std::vector<float> expected;
          for (int n = 0; n < 2; ++n) {
            const std::vector<double> all = values(x.data());
            const std::vector<double> image(all.begin() + n * h * w, all.begin() + (n + 1) * h * w);
            for (int i = 0; i < oh; ++i)
              for (int j = 0; j < ow; ++j) expected.push_back(float(caffe_average(image, h, w, i, j, k, s, p)));
          }
          check_close(y.data(), floats(expected, y.shape()), 1e-6, 1e-5, catena::concat(h, " ", k, " ", s, " ", p));
          // Where no window is cut off, both rules agree; else the default gives fewer windows.
          CaffeFunction floor = load({pooling(1, k, s, p)});
          const Variable z = floor({{"x", x}}, {"y"})[0];
          BOOST_TEST(z.shape(2) == (h + 2 * p - k) / s + 1);
          odd += z.shape() != y.shape();
        }
  BOOST_TEST(odd > 5);
  // Gradients, and gradients of gradients.
  CaffeFunction net = load({pooling(1, 3, 2, 1)}, {.ceil_average_pooling = true});
  check_derivatives("average", [&](const Variables& xs) { return net({{"x", xs[0]}}, {"y"}); }, {spread({1, 2, 4, 6})});
  BOOST_TEST(has(message_of<catena::InvalidType>([&] { net({{"x", ramp({2, 3})}}, {"y"}); }), "x.ndim == 4"));
}

// A window that lies in the padding has no maximum: Caffe leaves it out.
BOOST_AUTO_TEST_CASE(windows_in_the_padding) {
  CaffeFunction net = load({pooling(0, 2, 2, 1)});
  const Variable x(floats({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 3, 3}));
  const Variable y = net({{"x", x}}, {"y"})[0];
  BOOST_TEST(y.shape() == Shape({1, 1, 2, 2}));
  BOOST_TEST(values(y.data()) == std::vector<double>({1, 3, 7, 9}), boost::test_tools::per_element());
  y.sum().backward();
  BOOST_TEST(values(x.grad()) == std::vector<double>({1, 0, 1, 0, 0, 0, 1, 0, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(global_pooling) {
  const auto global = [](int method) {
    return caffe_layer("Pooling", "pool", {"x"}, {"y"})
        .message(121, Message().varint(1, std::uint64_t(method)).varint(12, 1));
  };
  CaffeFunction max = load({global(0)}), mean = load({global(1)});
  const Variable x = ramp({2, 3, 4, 5});
  check_close(max({{"x", x}}, {"y"})[0].data(), autograd::amax(x.data(), {2, 3}, true), 0, 0, "max");
  check_close(mean({{"x", x}}, {"y"})[0].data(), autograd::mean(x.data(), {2, 3}, true), 1e-6, 1e-5, "mean");
  BOOST_TEST(has(message_of<catena::InvalidType>([&] { max({{"x", ramp({2, 3})}}, {"y"}); }), "2 != 4"));
}

// ---- weights ---------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(dilated_convolution) {
  CaffeFunction net = load({caffe_layer("Convolution", "c", {"x"}, {"y"})
                                .message(7, caffe_blob({1, 1, 2, 2}, {1, 2, 3, 4}))
                                .message(106, Message().varint(2, 0).varint(4, 2).varint(18, 2))});
  const Variable x = ramp({1, 1, 4, 3});
  const auto v = values(x.data());
  const Variable y = net({{"x", x}}, {"y"})[0];
  BOOST_TEST(y.shape() == Shape({1, 1, 2, 1}));
  for (std::size_t i = 0; i < 2; ++i)
    BOOST_TEST(std::abs(values(y.data())[i] - (v[3 * i] + 2 * v[3 * i + 2] + 3 * v[3 * i + 6] + 4 * v[3 * i + 8])) <
               1e-5);
}

BOOST_AUTO_TEST_CASE(one_side_of_a_pair) {
  // pad_h is 0 by default where only pad_w is there.
  CaffeFunction net = load({caffe_layer("Convolution", "c", {"x"}, {"y"})
                                .message(7, caffe_blob({1, 1, 1, 1}, {2}))
                                .message(106, Message().varint(2, 0).varint(4, 1).varint(10, 2))});
  BOOST_TEST(net({{"x", ramp({1, 1, 3, 3})}}, {"y"})[0].shape() == Shape({1, 1, 3, 7}));
}

BOOST_AUTO_TEST_CASE(statistics_of_batch_norm) {
  const Message mean = caffe_blob({2}, {2, 4}), var = caffe_blob({2}, {8, 16});
  const Variable x = ramp({4, 2});
  // The factor divides both; 0, of a network that has seen nothing, does not.
  for (const float factor : {4.0f, 0.0f}) {
    CaffeFunction net = load({batch_norm({mean, var, caffe_blob({1}, {factor})}, Message().varint(1, 1))});
    const auto& bn = dynamic_cast<nn::BatchNormalization&>(net["bn"]);
    const double by = factor == 0 ? 1 : factor;
    BOOST_TEST(values(bn.avg_mean.array()) == std::vector<double>({2 / by, 4 / by}), boost::test_tools::per_element());
    BOOST_TEST(values(bn.avg_var.array()) == std::vector<double>({8 / by, 16 / by}), boost::test_tools::per_element());
    BOOST_TEST((!bn.gamma && !bn.beta));
    BOOST_TEST(bn.eps == 1e-5);  // not what float32 makes of it, which cuDNN refuses
    BOOST_TEST(std::abs(bn.decay - 0.999) < 1e-7);
  }
  // Without use_global_stats the phase decides.
  CaffeFunction net = load({batch_norm({mean, var}, Message())});
  const auto& bn = dynamic_cast<nn::BatchNormalization&>(net["bn"]);
  const Array before = autograd::copy(bn.avg_mean.array());
  const auto v = values(x.data());
  const auto tested = values(net({{"x", x}}, {"y"}, {}, false)[0].data());
  for (std::size_t i = 0; i < 8; ++i)
    BOOST_TEST(std::abs(tested[i] - (v[i] - (i % 2 ? 4 : 2)) / std::sqrt((i % 2 ? 16 : 8) + 1e-5)) < 1e-5);
  BOOST_TEST(same_bits(bn.avg_mean.array(), before));
  const Variable trained = net({{"x", x}}, {"y"})[0];
  for (const double m : values(autograd::mean(trained.data(), {0}))) BOOST_TEST(std::abs(m) < 1e-5);
  BOOST_TEST(!same_bits(bn.avg_mean.array(), before));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { load({batch_norm({mean}, Message())}); }), "blob 1 is needed"));
}

BOOST_AUTO_TEST_CASE(groups_have_dense_weights) {
  CaffeFunction net = load({caffe_layer("Convolution", "c", {"x"}, {"y"})
                                .message(7, caffe_blob({2, 2, 1, 1}, {1, 2, 3, 4}))
                                .message(106, Message().varint(2, 0).varint(4, 1).varint(5, 2))});
  auto& conv = dynamic_cast<nn::Convolution2D&>(net["c"]);
  BOOST_TEST(conv.W.shape() == Shape({2, 4, 1, 1}));
  BOOST_TEST(values(conv.W.data()) == std::vector<double>({1, 2, 0, 0, 0, 0, 3, 4}), boost::test_tools::per_element());
  // So many groups that the dense weights would not fit in memory.
  const int n = 20000;
  const std::string message =
      error_of<catena::ValueError>({caffe_layer("Convolution", "c", {"x"}, {"y"})
                                        .message(7, caffe_blob({n, 1, 1, 1}, std::vector<float>(n)))
                                        .message(106, Message().varint(2, 0).varint(4, 1).varint(5, n))});
  BOOST_TEST(has(message, "the layer c (Convolution): 20000 groups of weights (20000, 1, 1, 1) are too large"),
             message);
}

// ---- as a link -------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(keys_of_saved_weights) {
  const auto model = [](float b) {
    return std::vector<Message>{caffe_layer("InnerProduct", "conv1/7x7_s2", {"x"}, {"h"})
                                    .message(7, caffe_blob({1, 2}, {b, 2}))
                                    .message(7, caffe_blob({1}, {b})),
                                caffe_layer("Scale", "conv1/scale", {"h"}, {"y"})
                                    .message(142, Message().varint(4, 1))
                                    .message(7, caffe_blob({1}, {b}))
                                    .message(7, caffe_blob({1}, {b})),
                                batch_norm({caffe_blob({1}, {b}), caffe_blob({1}, {b})}, Message())};
  };
  const Strings keys = {"conv1/7x7_s2/W", "conv1/7x7_s2/b", "conv1/scale/W", "conv1/scale/bias/b",
                        "bn/avg_mean",    "bn/avg_var",     "bn/N"};
  CaffeFunction saved = load(model(3));
  nn::serializers::DictionarySerializer s;
  s.save(saved);
  Strings found;
  for (const auto& e : s.entries()) found.push_back(e.key);
  BOOST_TEST(found == keys, boost::test_tools::per_element());

  const auto round_trip = [&](const char* name, auto&& save, auto&& load_from) {
    CaffeFunction loaded = load(model(5));
    BOOST_TEST(values(params_of(loaded).at("/conv1/7x7_s2/W").data())[0] == 5);
    save(folder() / name, saved);
    const nn::LoadReport report = load_from(folder() / name, loaded);
    BOOST_TEST(report.loaded.size() == keys.size());
    BOOST_TEST((report.missing.empty() && report.unexpected.empty()));
    for (const auto& [path, p] : params_of(loaded)) BOOST_TEST(same_bits(p.data(), params_of(saved).at(path).data()));
    BOOST_TEST(values(dynamic_cast<nn::BatchNormalization&>(loaded["bn"]).avg_var.array())[0] == 3);
    BOOST_TEST(has(message_of<catena::KeyError>([&] { loaded["conv1"]; }), "conv1/7x7_s2"));
  };
  using namespace nn::serializers;
  round_trip(
      "w.npz", [](const std::string& f, CaffeFunction& n) { save_npz(f, n); },
      [](const std::string& f, CaffeFunction& n) { return load_npz(f, n); });
  round_trip(
      "w.safetensors", [](const std::string& f, CaffeFunction& n) { save_safetensors(f, n); },
      [](const std::string& f, CaffeFunction& n) { return load_safetensors(f, n); });
  if (!hdf5_available()) {
    std::cout << "HDF5 files are not tested: this build has no HDF5\n";
    return;
  }
  round_trip(
      "w.h5", [](const std::string& f, CaffeFunction& n) { save_hdf5(f, n); },
      [](const std::string& f, CaffeFunction& n) { return load_hdf5(f, n); });
}

BOOST_AUTO_TEST_CASE(copies_are_independent) {
  CaffeFunction net = load({linear_of("fc/1", "x", "y")});
  CaffeFunction copy = net;
  for (Variable& p : copy.params()) autograd::fill(p.data(), 0.0);
  const Variable x(floats({1, 1, 1}, {1, 3}));
  BOOST_TEST(values(net({{"x", x}}, {"y"})[0].data()) == std::vector<double>({6.5, 14.5}),
             boost::test_tools::per_element());
  BOOST_TEST(values(copy({{"x", x}}, {"y"})[0].data()) == std::vector<double>({0, 0}),
             boost::test_tools::per_element());
  CaffeFunction moved = std::move(net);
  BOOST_TEST(values(moved({{"x", x}}, {"y"})[0].data())[0] == 6.5);
  // Weights are the link's: gradients, freezing, another device.
  moved.cleargrads();
  moved({{"x", x}}, {"y"})[0].sum().backward();
  BOOST_TEST(values(params_of(moved).at("/fc/1/W").grad()) == std::vector<double>(6, 1),
             boost::test_tools::per_element());
  moved.disable_update("/fc/1/W");
  BOOST_TEST(!params_of(moved).at("/fc/1/W").requires_grad());
  if (const auto device = other_device()) {
    moved.to_device(*device);
    const Variable there(autograd::to_device(x.data(), *device));
    const Array y = moved({{"x", there}}, {"y"})[0].data();
    BOOST_TEST((y.device() == *device));
    BOOST_TEST(values(autograd::to_device(y, kCpu))[0] == 6.5);
  }
}

// ---- what is refused, and what is skipped ----------------------------------------------------------
BOOST_AUTO_TEST_CASE(layers_that_are_skipped) {
  const Warnings warnings;
  CaffeFunction net = load({caffe_layer("Data", "data", {}, {"x"}), caffe_layer("Sigmoid", "sigmoid", {"x"}, {"y"}),
                            relu_of("relu", "x", "z")});
  BOOST_REQUIRE(warnings.texts.size() == 1u);
  BOOST_TEST(has(warnings.texts[0], "the layer sigmoid (Sigmoid) is skipped"), warnings.texts[0]);
  BOOST_TEST(net.forwards.size() == 1u);
  BOOST_TEST(net.layers.size() == 1u);
  // V1 files have numbers, of which some have names.
  Message v1;
  v1.message(2, caffe_v1_layer(5, "data", {}, {"x"}));
  for (const int type : {19, 39, 0, 40}) v1.message(2, caffe_v1_layer(type, catena::concat("l", type), {"x"}, {"y"}));
  BOOST_TEST(load(v1.bytes).layers.empty());
  BOOST_REQUIRE(warnings.texts.size() == 5u);
  const char* const texts[] = {"l19 (SIGMOID)", "l39 (DECONVOLUTION)", "l0 (NONE)", "l40 (type 40)"};
  for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(has(warnings.texts[1 + i], texts[i]), warnings.texts[1 + i]);
  // BatchNorm and Scale have no number: -1, the int32 of ten bytes, is none of theirs.
  load(Message().message(2, caffe_v1_layer(-1, "minus", {"x"}, {"y"})).bytes);
  BOOST_TEST(has(warnings.texts.back(), "minus (type -1)"), warnings.texts.back());
  // Where there are layers of both forms, those of V1 are left out.
  Message both;
  both.message(2, caffe_v1_layer(18, "old", {"x"}, {"y"})).message(100, relu_of("new", "x", "y"));
  const CaffeFunction newer = load(both.bytes);
  BOOST_REQUIRE(newer.layers.size() == 1u);
  BOOST_TEST(newer.layers[0].name == "new");
}

BOOST_AUTO_TEST_CASE(what_is_not_supported) {
  const auto with = [](const char* type, std::uint32_t field, const Message& param) {
    return std::vector<Message>{caffe_layer(type, "l", {"x"}, {"y"}).message(field, param)};
  };
  const auto fails = [](const std::vector<Message>& layers, const char* part) {
    const std::string message = error_of<catena::RuntimeError>(layers);
    BOOST_TEST(message.starts_with("CaffeFunction: \""), message);
    BOOST_TEST(has(message, part), message);
  };
  fails({pooling(2, 2, 2, 0)}, "the layer pool (Pooling): stochastic pooling is not supported");
  fails({pooling(3, 2, 2, 0)}, "this method of pooling");
  fails(with("LRN", 118, Message().varint(4, 1)), "within channels");
  fails(with("Softmax", 125, Message().varint(2, 2)), "softmax along axis 2");
  fails(with("SoftmaxWithLoss", 125, Message().varint(2, std::uint64_t(-1))), "softmax along axis -1");
  fails(with("InnerProduct", 117, Message().varint(5, 2)), "the axis 2 is not supported");
  fails(with("Scale", 142, Message().varint(1, std::uint64_t(-1))), "the axis -1 is not supported");
  fails(with("Convolution", 106, Message().varint(16, 2)), "channels along axis 2");
  fails({caffe_layer("InnerProduct", "l", {"x"}, {"y"}).message(7, caffe_blob({1, 1, 1}, {1}))},
        "weights of 3 dimensions");
}

BOOST_AUTO_TEST_CASE(values_that_make_no_layer) {
  const auto layer = [](const char* type, std::uint32_t field, const Message& param,
                        const std::vector<Message>& blobs = {}) {
    Message l = caffe_layer(type, "l", {"x"}, {"y"}).message(field, param);
    for (const Message& b : blobs) l.message(7, b);
    return std::vector<Message>{l};
  };
  const auto fails = [](const std::vector<Message>& layers, const std::string& part) {
    const std::string message = error_of<catena::ValueError>(layers);
    BOOST_TEST(has(message, part), message);
  };
  const auto conv = [] { return Message().varint(2, 0).varint(4, 1); };
  const Message w = caffe_blob({2, 1, 1, 1}, {1, 2});
  fails(layer("Convolution", 106, conv()), "it has 0 blobs of weights; blob 0 is needed");
  fails(layer("Convolution", 106, Message().varint(4, 1), {w}), "blob 1 is needed");
  fails(layer("Convolution", 106, Message().varint(4, 1), {w, caffe_blob({3}, {1, 2, 3})}), "a bias of 3 numbers");
  fails(layer("Convolution", 106, Message().varint(2, 0), {w}), "its kernel_size is 0 x 0");
  fails(layer("Convolution", 106, conv().varint(4, 2).varint(4, 3), {w}), "its kernel_size has 3 entries");
  fails(layer("Convolution", 106, Message().varint(2, 0).varint(4, 3), {w}), "the kernel is 3 x 3");
  fails(layer("Convolution", 106, conv().varint(6, 0), {w}), "its stride is 0 x 0");
  fails(layer("Convolution", 106, conv().varint(13, 2), {w}), "its stride is 2 x 0");
  fails(layer("Convolution", 106, conv().varint(18, 0), {w}), "its dilation is 0 x 0");
  fails(layer("Convolution", 106, conv().varint(3, 4000000000u), {w}), "its pad is 4000000000");
  fails(layer("Convolution", 106, conv().varint(5, 3), {w}), "3 groups do not divide");
  fails(layer("Convolution", 106, conv().varint(5, 0), {w}), "0 groups do not divide");
  fails(layer("Convolution", 106, conv(), {caffe_blob({2, 1}, {1, 2})}), "blob 0 has the shape (2, 1)");
  fails(layer("Convolution", 106, conv(), {caffe_blob({2, 1, 1, 2}, {1, 2})}), "which do not fill its shape");
  fails(layer("Convolution", 106, conv(), {caffe_blob({-2, -1, 1, 1}, {1, 2})}), "which do not fill its shape");
  const std::int64_t big = std::int64_t(1) << 32;
  fails(layer("Convolution", 106, conv(), {caffe_blob({big, big, 1, 1}, {})}), "which do not fill its shape");
  fails(layer("Convolution", 106, conv(), {caffe_blob(std::vector<std::int64_t>(100, 1), {1})}), "100 dimensions");
  fails(layer("InnerProduct", 117, Message(), {caffe_blob({2, 1, 1, 2}, {1, 2, 3, 4})}), "are no matrix");
  fails(layer("InnerProduct", 117, Message(), {caffe_blob({1, 2}, {1, 2})}), "blob 1 is needed");
  fails(layer("Scale", 142, Message()), "blob 0 is needed");
  fails(layer("Dropout", 108, Message().float32(1, 1)), "its dropout_ratio is 1");
  fails(layer("LRN", 118, Message().varint(1, 0)), "its local_size is 0");
  fails(layer("Pooling", 121, Message()), "its kernel_size is 0 x 0");
  fails({pooling(0, 2, 0, 0)}, "its stride is 0 x 0");
  fails(layer("Eltwise", 110, Message().varint(1, 3)), "its operation is 3");
  fails(layer("Eltwise", 110, Message().float32(2, 1).float32(2, 2)), "it has 2 coefficients for 1 bottoms");
  fails({caffe_layer("Eltwise", "l", {}, {"y"})}, "it has no bottom");
  fails({caffe_layer("Split", "l", {}, {"y"})}, "it has no bottom");
  fails(layer("Concat", 104, Message().varint(1, 4000000000u)), "its concat_dim is 4000000000");
}

BOOST_AUTO_TEST_CASE(names_of_layers_with_weights) {
  for (const char* const name : {"", "/fc", "fc/", "a//b"}) {
    const std::string message = error_of<catena::AttributeError>({linear_of(name, "x", "y")});
    BOOST_TEST(has(message, "its name cannot be a part of the keys"), message);
  }
  BOOST_TEST(has(error_of<catena::AttributeError>({linear_of("fc", "x", "y"), linear_of("fc", "y", "z")}),
                 "there are two layers with weights of this name"));
  // Of layers without weights the last one counts, as in Chainer.
  BOOST_TEST(load({relu_of("r", "x", "y"), relu_of("r", "y", "z")}).forwards.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
