// Layers and losses under PyTorch's names, beside PyTorch.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <utility>

#include <catena/autograd/flag.h>
#include <catena/nn/functions/probability_loss.h>
#include <catena/nn/links.h>
#include <catena/tests/support/framework_golden.h>
#include <catena/tests/support/message_of.h>

using namespace autograd;
using test::GoldenCall;

namespace {

template <class Layer> Variables with_weights(Layer layer, const GoldenCall& c) {
  layer.W.set_data(c.array("W"));
  if (layer.b) layer.b->set_data(c.array("b"));
  return {layer(c.x(0))};
}
template <class Options> Options conv_options(const GoldenCall& c) {
  const auto length = [&](const char* name, int otherwise) { return int(c.integer(name, otherwise)); };
  return {.stride = length("stride", 1),
          .padding = length("padding", 0),
          .dilation = length("dilation", 1),
          .groups = length("groups", 1),
          .bias = c.flag("bias", true)};
}
nn::MaxPool2dOptions max_options(const GoldenCall& c) {
  nn::MaxPool2dOptions o{.padding = int(c.integer("padding", 0)), .ceil_mode = c.flag("ceil_mode", false)};
  if (c.has("stride")) o.stride = int(c.integer("stride", 0));
  return o;
}
nn::AvgPool2dOptions average_options(const GoldenCall& c) {
  nn::AvgPool2dOptions o{.padding = int(c.integer("padding", 0))};
  if (c.has("stride")) o.stride = int(c.integer("stride", 0));
  return o;
}

Variables batch_norm(const GoldenCall& c) {
  nn::BatchNorm2d layer(
      3, {.eps = c.number("eps", 1e-5), .momentum = c.number("momentum", 0.1), .affine = c.flag("affine", true)});
  layer.to_dtype(c.x(0).dtype());
  const Variable y = layer(c.x(0));
  const Array mean = copy(layer.avg_mean.array()), var = copy(layer.avg_var.array());
  const auto mode = train_mode(false);
  const auto no_graph = no_backprop_mode();
  return {y, layer(c.x("moved")), Variable(mean), Variable(var)};
}

Variables embedding_bag(const GoldenCall& c) {
  nn::EmbeddingBagOptions o{.mode = c.text("mode", ""), .include_last_offset = c.flag("include_last_offset", false)};
  if (c.has("padding_idx")) o.padding_idx = c.integer("padding_idx", 0);
  nn::EmbeddingBag layer(6, 3, o);
  layer.W.set_data(c.array("W"));
  return {layer(c.x("ids"), c.x("offsets"), c.x("factors"))};
}

template <class Layer> Variables converted(Layer layer, const GoldenCall& c) {
  const nn::Sequential net(layer, nn::Identity());
  nn::Sequential model(net);
  model.to_dtype(c.x(0).dtype());
  return {model(c.x(0))};
}

const test::GoldenFunctions kLayers = {
    {"conv1d",
     [](const GoldenCall& c) { return with_weights(nn::Conv1d(2, 4, 3, conv_options<nn::ConvOptions>(c)), c); }},
    {"conv2d",
     [](const GoldenCall& c) { return with_weights(nn::Conv2d(2, 4, 3, conv_options<nn::Conv2dOptions>(c)), c); }},
    {"conv3d",
     [](const GoldenCall& c) { return with_weights(nn::Conv3d(1, 2, 2, conv_options<nn::ConvOptions>(c)), c); }},
    {"conv_transpose2d",
     [](const GoldenCall& c) {
       return with_weights(nn::ConvTranspose2d(4, 2, 3,
                                               {.stride = int(c.integer("stride", 1)),
                                                .padding = int(c.integer("padding", 0)),
                                                .groups = int(c.integer("groups", 1)),
                                                .bias = c.flag("bias", true)}),
                           c);
     }},
    {"batch_norm", batch_norm},
    {"layer_norm", [](const GoldenCall& c) { return converted(nn::LayerNorm(5), c); }},
    {"layer_norm_without_bias",
     [](const GoldenCall& c) {
       nn::LayerNorm layer(5, {.bias = false});
       layer.gamma.set_data(c.array("W"));
       return Variables{layer(c.x("x"))};
     }},
    {"layer_norm_without_affine",
     [](const GoldenCall& c) {
       return converted(nn::LayerNorm(Shape{4, 5}, {.eps = 0.01, .elementwise_affine = false}), c);
     }},
    {"embedding_bag", embedding_bag},
    {"adaptive_log_softmax",
     [](const GoldenCall& c) {
       nn::AdaptiveLogSoftmaxWithLoss layer(
           16, 12, {3, 7}, {.div_value = c.number("div_value", 4), .head_bias = c.flag("head_bias", false)});
       for (auto& [name, p] : layer.named_parameters()) {
         BOOST_TEST_REQUIRE(bool(c.array(name)), name);
         p.set_data(c.array(name));
       }
       const auto [output, loss] = layer(c.x("x"), c.x("t"));
       return Variables{output, loss, layer.log_prob(c.x("x"))};
     }},
    {"bilinear",
     [](const GoldenCall& c) {
       nn::torch::Bilinear layer(4, 5, 6, {.bias = c.flag("bias", true)});
       layer.W.set_data(c.array("W"));
       if (layer.b) layer.b->set_data(c.array("b"));
       return Variables{layer(c.x("x1"), c.x("x2"))};
     }},
    {"group_norm", [](const GoldenCall& c) { return converted(nn::GroupNorm(2, 4), c); }},
    {"instance_norm", [](const GoldenCall& c) { return converted(nn::InstanceNorm2d(4), c); }},
    {"max_pool2d", [](const GoldenCall& c) { return converted(nn::MaxPool2d(2, max_options(c)), c); }},
    {"avg_pool2d", [](const GoldenCall& c) { return converted(nn::AvgPool2d(2, average_options(c)), c); }},
    {"adaptive_avg_pool2d",
     [](const GoldenCall& c) {
       return converted(nn::AdaptiveAvgPool2d({3, 2}), c);
     }},
    {"flatten", [](const GoldenCall& c) { return converted(c.has("start") ? nn::Flatten(1, -2) : nn::Flatten(), c); }},
    {"leaky_relu", [](const GoldenCall& c) { return converted(nn::LeakyReLU(), c); }},
    {"gelu", [](const GoldenCall& c) { return converted(nn::GELU(), c); }},
    {"gelu_tanh", [](const GoldenCall& c) { return converted(nn::GELU("tanh"), c); }},
    {"silu", [](const GoldenCall& c) { return converted(nn::SiLU(), c); }},
    {"softmax", [](const GoldenCall& c) { return converted(nn::Softmax(0), c); }},
    {"log_softmax", [](const GoldenCall& c) { return converted(nn::LogSoftmax(0), c); }},
    {"relu", [](const GoldenCall& c) { return converted(nn::ReLU(), c); }},
    {"elu", [](const GoldenCall& c) { return converted(nn::ELU(), c); }},
    {"sigmoid", [](const GoldenCall& c) { return converted(nn::Sigmoid(), c); }},
    {"tanh", [](const GoldenCall& c) { return converted(nn::Tanh(), c); }},
    {"cross_entropy", [](const GoldenCall& c) {
       nn::CrossEntropyOptions o{.reduction = c.text("reduction", "mean"),
                                 .label_smoothing = c.number("label_smoothing", 0)};
       if (c.x("weight")) o.weight = c.array("weight");
       o.ignore_index = int(c.integer("ignore_index", o.ignore_index));
       return Variables{nn::cross_entropy(c.x(0), c.x(1), o)};
     }}};

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_layers)

BOOST_AUTO_TEST_CASE(golden_values_of_pytorch) { test::run_golden("torch_layers", kLayers); }

// Lengths by position, as PyTorch takes them.
BOOST_AUTO_TEST_CASE(lengths_by_position) {
  const Variable x(arrays::ones({1, 3, 9, 9}, Dtype::float32));
  BOOST_TEST(nn::Conv2d(3, 4, 3, 2, 1)(x).shape() == (Shape{1, 4, 5, 5}));
  BOOST_TEST(nn::ConvTranspose2d(3, 4, 4, 2, 1)(x).shape() == (Shape{1, 4, 18, 18}));
  nn::Conv2d conv(3, 6, 3, 2, 1, {.groups = 3, .bias = false});
  BOOST_TEST((conv(x).shape() == Shape{1, 6, 5, 5} && !conv.b && conv.W.shape() == Shape{6, 1, 3, 3}));
  nn::ConvTranspose2d up(3, 4, 4, 2, 1, {.output_padding = 1, .bias = false});
  BOOST_TEST((up(x).shape() == Shape{1, 4, 19, 19} && !up.b));
  BOOST_TEST(nn::MaxPool2d(3, 2)(x).shape() == (Shape{1, 3, 4, 4}));
  BOOST_TEST(nn::AvgPool2d(3, 2, 1)(x).shape() == (Shape{1, 3, 5, 5}));
}

// kernel_size by its name.
BOOST_AUTO_TEST_CASE(kernels_by_name) {
  const Variable x(arrays::ones({1, 3, 9, 9}, Dtype::float32));
  BOOST_TEST(nn::Conv2d(3, 4, {.kernel_size = 3, .stride = 2, .padding = 1})(x).shape() == (Shape{1, 4, 5, 5}));
  const nn::Conv2d grouped(4, 4, {.kernel_size = {3, 1}, .dilation = 2, .groups = 2, .bias = false});
  BOOST_TEST((grouped.W.shape() == (Shape{4, 2, 3, 1}) && grouped.geometry.dilate == nn::Pair(2) && !grouped.b));
  BOOST_TEST(nn::ConvTranspose2d(3, 4, {.kernel_size = 4, .stride = 2, .padding = 1})(x).shape() ==
             (Shape{1, 4, 18, 18}));
  BOOST_TEST(nn::MaxPool2d({.kernel_size = 3, .stride = 2})(x).shape() == (Shape{1, 3, 4, 4}));
  BOOST_TEST(nn::MaxPool2d({.kernel_size = 2, .ceil_mode = true})(x).shape() == (Shape{1, 3, 5, 5}));
  BOOST_TEST(nn::AvgPool2d({.kernel_size = 3, .stride = 2, .padding = 1})(x).shape() == (Shape{1, 3, 5, 5}));
  BOOST_TEST(nn::AvgPool2d({.kernel_size = 2, .ceil_mode = true})(x).shape() == (Shape{1, 3, 5, 5}));
  BOOST_CHECK_THROW(nn::MaxPool2d(nn::MaxPoolOptions())(x), catena::ValueError);
  BOOST_CHECK_THROW(nn::Conv2d(3, 4, nn::ConvOptions()), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(dropout_keeps_its_mean_and_is_off_in_test_mode) {
  const nn::Dropout drop(0.25);
  const Variable x(arrays::ones({1000}, Dtype::float32));
  std::size_t kept = 0;
  for (const double v : to_vector<double>(drop(x).data())) {
    BOOST_TEST((v == 0 || std::abs(v - 1 / 0.75) < 1e-6));
    kept += v != 0;
  }
  BOOST_TEST(kept > 650);
  BOOST_TEST(kept < 850);
  const auto mode = train_mode(false);
  for (const double v : to_vector<double>(drop(x).data())) BOOST_TEST(v == 1);
}

// Arguments that PyTorch leaves out are no parameters.
BOOST_AUTO_TEST_CASE(layer_norm_options) {
  const auto paths = [](const nn::Link& link) {
    std::string text;
    for (const nn::NamedParam& p : link.namedparams()) text += p.path + " ";
    return text;
  };
  BOOST_TEST(paths(nn::LayerNorm(5)) == "/gamma /beta ");
  BOOST_TEST(paths(nn::LayerNorm(5, {.bias = false})) == "/gamma ");
  BOOST_TEST(paths(nn::LayerNorm(5, {.elementwise_affine = false})) == "");
  BOOST_TEST(paths(nn::LayerNorm(5, 1e-6, true, false)) == "/gamma ");
  BOOST_TEST(nn::LayerNorm(5, 1e-6).eps == 1e-6);
  nn::LayerNorm plain(nn::LayerNormalizationLinkOptions{.elementwise_affine = false});
  BOOST_TEST(plain(Variable(arrays::ones({2, 5}, Dtype::float64))).shape() == (Shape{2, 5}));
  BOOST_CHECK_THROW(plain(Variable(arrays::ones({2, 4}, Dtype::float64))), catena::InvalidType);
  nn::LayerNorm copied = plain;
  BOOST_TEST(!copied.elementwise_affine);
  BOOST_TEST(nn::Sequential(plain).count_params() == 0);
}

BOOST_AUTO_TEST_CASE(bags_of_embeddings) {
  nn::EmbeddingBag bag(5, 3, {.padding_idx = -1, .initialW = nn::initializers::Constant(2)});
  BOOST_TEST(*bag.padding_idx == 4);
  BOOST_TEST(to_vector<double>(nn::EmbeddingBag(5, 3, {.padding_idx = 4}).W.data())[12] == 0);
  const Variable ids(array(std::vector<std::int64_t>{0, 4, 1, 2}, {2, 2}));
  const Variable y = bag(ids);
  BOOST_TEST(to_vector<double>(y.data()) == std::vector<double>(6, 2.0), boost::test_tools::per_element());
  y.sum().backward();
  BOOST_TEST(bool(bag.W.grad()));
  BOOST_TEST(bag.call({ids}).shape() == (Shape{2, 3}));
  BOOST_CHECK_THROW(nn::EmbeddingBag(5, 3, {.mode = "no"})(ids), catena::ValueError);
  BOOST_CHECK_THROW(nn::EmbeddingBag(5, 3, {.padding_idx = 5}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(adaptive_log_softmax) {
  nn::AdaptiveLogSoftmaxWithLoss layer(8, 12, {3, 7}, 2.0, true);
  BOOST_TEST(layer.head.W.shape() == (Shape{5, 8}));
  BOOST_TEST(layer.params().size() == 6u);
  const auto labels = [](std::vector<std::int64_t> t) {
    const auto n = std::int64_t(t.size());
    return Variable(array(t, {n}));
  };
  const Variable x(arrays::ones({2, 8}, Dtype::float32));
  const std::vector<double> log_prob = to_vector<double>(layer.log_prob(x).data());
  double sum = 0;
  std::int64_t best = 0;
  for (std::size_t k = 0; k < 12; ++k) {
    sum += std::exp(log_prob[k]);
    if (log_prob[k] > log_prob[std::size_t(best)]) best = std::int64_t(k);
  }
  BOOST_TEST(std::abs(sum - 1) < 1e-5);
  BOOST_TEST(to_vector<std::int64_t>(layer.predict(x).data()) == (std::vector<std::int64_t>{best, best}),
             boost::test_tools::per_element());
  // One example, without the axis of examples.
  const auto [one, mean] =
      layer(Variable(arrays::ones({8}, Dtype::float32)), Variable(reshape(labels({9}).data(), {})));
  BOOST_TEST(one.shape() == Shape());
  BOOST_TEST(std::abs(to_vector<double>(mean.data())[0] + log_prob[9]) < 1e-5);
  BOOST_CHECK_THROW(layer(x, labels({1, 12})), catena::ValueError);
  BOOST_CHECK_THROW(layer(x, labels({-1, 1})), catena::ValueError);
  BOOST_CHECK_THROW(layer(x, labels({1})), catena::ValueError);
  for (const std::vector<std::int64_t>& cutoffs : {std::vector<std::int64_t>{}, {0, 3}, {3, 3}, {5, 3}, {3, 12}, {-1}})
    BOOST_CHECK_THROW(nn::AdaptiveLogSoftmaxWithLoss(8, 12, cutoffs), catena::ValueError);
  BOOST_CHECK_THROW(nn::AdaptiveLogSoftmaxWithLoss(8, 12, {3, 7}, {.div_value = 10}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(bilinear_layer) {
  nn::torch::Bilinear layer(4, 5, 6);
  BOOST_TEST(layer.W.shape() == (Shape{6, 4, 5}));
  for (const double w : to_vector<double>(layer.W.data())) BOOST_TEST(std::abs(w) <= 0.5);
  const auto x = [](const Shape& shape) { return Variable(arrays::ones(shape, Dtype::float32)); };
  BOOST_TEST(layer(x({0, 4}), x({0, 5})).shape() == (Shape{0, 6}));
  BOOST_CHECK_THROW(layer(x({2, 4}), x({3, 5})), catena::InvalidType);
  BOOST_CHECK_THROW(layer(x({2, 5}), x({2, 5})), catena::InvalidType);
  BOOST_CHECK_THROW(layer(x({2, 4}), x({5})), catena::InvalidType);
  BOOST_TEST(!nn::torch::Bilinear(4, 5, 6, false).b);
}

// A copy is deep, also of a class that has no members of its own.
BOOST_AUTO_TEST_CASE(copies_and_keys) {
  nn::Sequential net(nn::Conv2d(1, 2, 3, {.bias = false}), nn::BatchNorm2d(2), nn::ReLU(), nn::Flatten());
  std::string paths;
  for (const nn::NamedParam& p : net.namedparams()) paths += p.path + " ";
  BOOST_TEST(paths == "/0/W /1/gamma /1/beta ");
  nn::Sequential other(net);
  autograd::fill(other.params()[0].data(), 0);
  BOOST_TEST(to_vector<double>(net.params()[0].data())[0] != 0);
}

// running_mean and running_var are the averages of the layer itself, also of a copy, and of a layer that was assigned
// to.
BOOST_AUTO_TEST_CASE(running_averages) {
  nn::BatchNorm2d layer(2), source(2);
  nn::BatchNorm2d other(layer), moved(std::move(source)), assigned(2), move_assigned(2);
  assigned = other;
  move_assigned = nn::BatchNorm2d(2);
  for (nn::BatchNorm2d* l : {&layer, &other, &moved, &assigned, &move_assigned}) {
    BOOST_TEST(&l->running_mean == &l->avg_mean);
    BOOST_TEST(&l->running_var == &l->avg_var);
  }
  layer.running_mean = Array(arrays::ones({2}, Dtype::float32));
  BOOST_TEST(to_vector<double>(layer.avg_mean.array())[1] == 1);
  BOOST_TEST(to_vector<double>(other.running_mean.array())[1] == 0);
}

BOOST_AUTO_TEST_CASE(other_reductions_are_refused) {
  const Variable x(arrays::ones({2, 3}, Dtype::float32));
  const Variable t(astype(arrays::zeros({2}, Dtype::float32), Dtype::int32));
  BOOST_TEST(test::message_of<catena::ValueError>([&] { nn::cross_entropy(x, t, {.reduction = "no"}); }).find("none") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
