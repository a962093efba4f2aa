// Programs: networks of ONNX files that only compute, and batch normalization that becomes a part of convolutions.
#include <catena/nn/onnx/program.h>

#include <cmath>
#include <thread>

#include <catena/autograd/config.h>
#include <catena/nn/onnx/tensor.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
namespace onnx = nn::onnx;

namespace {

std::string golden(const std::string& name) {
  static const std::filesystem::path path = test::source_folder() / "tests/golden/onnx";
  return (path / name).string();
}

Array random(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1) {
  autograd::Generator g{seed, 0};
  return autograd::random_uniform(shape, low, high, Dtype::float32, g);
}

struct Graph {
  onnx::Model model;
  explicit Graph(const std::vector<std::string>& outputs = {"y"}) {
    model.ir_version = 8;
    model.opset_import = {{"", 17}};
    model.graph.emplace();
    model.graph->input.resize(1);
    model.graph->input[0].name = "x";
    for (const std::string& name : outputs) {
      model.graph->output.emplace_back();
      model.graph->output.back().name = name;
    }
  }
  void add(const std::string& type, const std::vector<std::string>& inputs, const std::string& output) {
    onnx::Node n;
    n.op_type = type;
    n.name = output;
    n.input = inputs;
    n.output = {output};
    model.graph->node.push_back(n);
  }
  // Convolution and normalization with parameters "<output>/W" and so on.
  void add_pair(const std::string& input, const std::string& output, const Shape& W, bool bias, std::uint64_t seed) {
    const auto parameter = [&](const std::string& name, const Array& a) {
      model.graph->initializer.push_back(onnx::to_tensor(a, output + name));
      return output + name;
    };
    const Shape channels{W[0]};
    std::vector<std::string> inputs = {input, parameter("/W", random(W, seed))};
    if (bias) inputs.push_back(parameter("/b", random(channels, seed + 1)));
    add("Conv", inputs, output + "/conv");
    add("BatchNormalization",
        {output + "/conv", parameter("/gamma", random(channels, seed + 2)),
         parameter("/beta", random(channels, seed + 3)), parameter("/mean", random(channels, seed + 4)),
         parameter("/var", random(channels, seed + 5, 0.5, 2))},
        output);
    onnx::Attribute eps;
    eps.name = "epsilon";
    eps.type = onnx::Attribute::Type::float_;
    eps.f = 0.1f;
    model.graph->node.back().attribute = {eps};
  }
};

// A model with batch statistics, without its class.
struct Network : nn::Chain {
  nn::Convolution2D conv{2, 4, 3, {.pad = 1}}, last{4, 3, 1};
  nn::BatchNormalization bn{4}, bn_of_last{3};
  nn::Linear fc{12, 5};
  NN_MEMBERS(conv, bn, last, bn_of_last, fc)
  Variable operator()(const Variable& x) {
    const Variable h = nn::relu(bn(conv(x)));
    return fc(nn::max_pooling_2d(bn_of_last(last(nn::dropout(h))), 2));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(onnx_program)

BOOST_AUTO_TEST_CASE(the_same_without_the_class) {
  const TemporaryFolder folder("exported");
  autograd::seed(3);
  Network net;
  for (std::uint64_t i = 0; i < 3; ++i) net(Variable(random({8, 2, 4, 4}, i)));  // running statistics
  nn::export_program(folder / "net.onnx", net, {Variable(random({1, 2, 4, 4}, 4))},
                     {.input_names = {"x"}, .dynamic_batch = true});
  const nn::Program program(folder / "net.onnx"), as_written(folder / "net.onnx", {.fuse = false});
  BOOST_TEST(program.input_names() == std::vector<std::string>{"x"}, boost::test_tools::per_element());
  const auto scope = autograd::using_config({.train = false, .enable_backprop = false});
  for (const std::int64_t n : {1, 3}) {
    const Array x = random({n, 2, 4, 4}, 5), expected = net(Variable(x)).data();
    check_close(program(x), expected, 1e-5, 1e-5, "fused");
    check_close(as_written(x), expected, 1e-6, 1e-6, "as written");
  }
}

BOOST_AUTO_TEST_CASE(networks_of_pytorch) {
  const catena::NpzReader npz("test", golden("networks.npz"));
  const auto stored = [&](const std::string& key) {
    const catena::NpyArray a = npz.read(key);
    return autograd::from_host(a.data.data(), a.shape, *a.dtype);
  };
  for (const std::string name : {"resnet", "mobilenet_v2_old_exporter", "transformer"}) {
    const nn::Program program(golden(name + ".onnx"));
    check_close(program(stored(name + "/x0")), stored(name + "/y0"), 2e-5, 2e-4, name);
  }
  const nn::Program unet(golden("unet.onnx"));
  BOOST_TEST(unet.input_names().size() == 1u);
  BOOST_TEST(unet.output_names().size() == 2u);
  const std::vector<Array> y = unet.run({stored("unet/x0")});
  check_close(y[1], stored("unet/y1"), 2e-5, 2e-4, "second output");
  BOOST_TEST(has(message_of<catena::ValueError>([&] { unet(stored("unet/x0")); }), "has 2 outputs: call run()"));
}

BOOST_AUTO_TEST_CASE(normalization_becomes_a_part_of_convolutions) {
  const TemporaryFolder folder("program");
  Graph g;
  g.add_pair("x", "h", {4, 2, 3, 3}, true, 1);
  g.add("Relu", {"h"}, "r");
  g.add_pair("r", "y", {3, 4, 1, 1}, false, 11);
  onnx::write(folder / "net.onnx", g.model);
  const nn::Program fused(folder / "net.onnx"), as_written(folder / "net.onnx", {.fuse = false});
  const Array x = random({2, 2, 5, 6}, 21);
  check_close(fused(x), as_written(x), 1e-5, 1e-5, "fused");
  // By the formula, for one element of the first pair.
  Graph first({"h"});
  first.add_pair("x", "h", {1, 1, 1, 1}, true, 1);
  onnx::write(folder / "first.onnx", first.model);
  const auto number = [&](std::size_t i) {
    return autograd::item(onnx::to_array(first.model.graph->initializer[i])).to_double();
  };
  const double W = number(0), b = number(1), gamma = number(2), beta = number(3), mean = number(4), var = number(5);
  const double expected = gamma * (W * 2 + b - mean) / std::sqrt(var + 0.1) + beta;
  const nn::Program one(folder / "first.onnx");
  check_close(one(floats({2}, {1, 1, 1, 1})), floats({float(expected)}, {1, 1, 1, 1}), 1e-5, 1e-5, "formula");
}

// A convolution is not joined with its normalization where another node reads its result, too.
BOOST_AUTO_TEST_CASE(values_that_are_read_twice) {
  const TemporaryFolder folder("shared");
  Graph g({"y", "h/conv", "sum"});
  g.add_pair("x", "h", {4, 2, 3, 3}, true, 1);
  g.add_pair("h", "y", {3, 4, 1, 1}, true, 11);
  g.add("Add", {"y/conv", "y/conv"}, "sum");
  onnx::write(folder / "net.onnx", g.model);
  const nn::Program fused(folder / "net.onnx"), as_written(folder / "net.onnx", {.fuse = false});
  const Array x = random({1, 2, 4, 4}, 21);
  const std::vector<Array> a = fused.run({x}), b = as_written.run({x});
  for (std::size_t i = 0; i < 3; ++i) check_close(a[i], b[i], 1e-5, 1e-5, std::to_string(i));
}

// A normalization whose parameters do not have one element for each channel is left to its operator, which refuses it.
BOOST_AUTO_TEST_CASE(parameters_that_do_not_fit) {
  const TemporaryFolder folder("unfit");
  Graph g;
  g.add_pair("x", "y", {4, 2, 3, 3}, false, 1);
  for (onnx::Tensor& t : g.model.graph->initializer)
    if (t.name != "y/W") t = onnx::to_tensor(random({1}, 5, 1, 2), t.name);
  onnx::write(folder / "net.onnx", g.model);
  const nn::Program program(folder / "net.onnx");
  const std::string message = message_of<catena::ValueError>([&] { program(random({1, 2, 4, 4}, 21)); });
  BOOST_TEST(has(message, "(BatchNormalization)"), message);
}

BOOST_AUTO_TEST_CASE(several_threads_call_one_program) {
  const nn::Program program(golden("vgg.onnx"));
  const Array x = random({2, 3, 32, 32}, 3), expected = program(x);
  std::vector<Array> results(4);
  {
    std::vector<std::jthread> threads;
    for (Array& y : results) threads.emplace_back([&] { y = program(x); });
  }
  for (const Array& y : results) BOOST_TEST(same_bits(y, expected));
}

BOOST_AUTO_TEST_CASE(errors) {
  const TemporaryFolder folder("errors");
  const nn::Program program(golden("vgg.onnx"));
  const Array x = random({2, 3, 32, 32}, 3);
  BOOST_TEST(has(message_of<catena::TypeError>([&] { program(x, x); }), "takes 1 inputs, not 2"));
  BOOST_TEST(has(message_of<catena::TypeError>([&] { program.run({Array()}); }), "is null"));
  BOOST_TEST(has(message_of<catena::IOError>([&] { nn::Program p(folder / "none.onnx"); }), "none.onnx"));
  write_file(folder / "no.onnx", "nothing");
  BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::Program p(folder / "no.onnx"); }), "no.onnx"));
}

BOOST_AUTO_TEST_CASE(on_another_device) {
  const auto device = other_device();
  if (!device) return;
  const nn::Program here(golden("vgg.onnx")), there(golden("vgg.onnx"), {.device = device});
  const Array x = random({2, 3, 32, 32}, 3), y = there(autograd::to_device(x, *device));
  BOOST_TEST((y.device() == *device));
  check_close(autograd::to_device(y, default_device()), here(x), 1e-5, 1e-5, "another device");
}

BOOST_AUTO_TEST_SUITE_END()
