// Networks in ONNX files: those that PyTorch exports, the tests of operators of the onnx package, training, errors.
#include <catena/nn/onnx/import.h>

#include <cmath>
#include <cstring>
#include <map>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/gradient_check.h>
#include <catena/nn/onnx/model.h>
#include <catena/nn/onnx/tensor.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/reference_backend.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
namespace onnx = nn::onnx;
using onnx::import_model;
using onnx::ImportedModel;

namespace {

const std::filesystem::path& folder() {
  static const std::filesystem::path path = test::source_folder() / "tests/golden/onnx";
  return path;
}
std::string file(const std::string& name) { return (folder() / name).string(); }

Array host_array(const catena::NpyArray& a) { return autograd::from_host(a.data.data(), a.shape, *a.dtype); }

const char* const kNetworks[] = {"resnet",
                                 "vgg",
                                 "mobilenet_v2",
                                 "squeezenet",
                                 "transformer",
                                 "lstm",
                                 "gru",
                                 "transformer_norm_first",
                                 "unet",
                                 "shapes",
                                 "mobilenet_v2_old_exporter"};

struct Stored {
  Variables inputs;
  std::vector<Array> outputs;
};
Stored stored(const std::string& network) {
  const catena::NpzReader npz("test", file("networks.npz"));
  Stored s;
  for (int i = 0; npz.contains(network + "/x" + std::to_string(i)); ++i)
    s.inputs.push_back(host_array(npz.read(network + "/x" + std::to_string(i))));
  for (int i = 0; npz.contains(network + "/y" + std::to_string(i)); ++i)
    s.outputs.push_back(host_array(npz.read(network + "/y" + std::to_string(i))));
  return s;
}

// A tensor of the golden file of nodes.
Array node_array(const Json& described, const std::vector<std::byte>& bytes) {
  static const std::map<std::string, Dtype> dtypes = {
      {"bool", Dtype::bool_},    {"int8", Dtype::int8},       {"uint8", Dtype::uint8},     {"int16", Dtype::int16},
      {"uint16", Dtype::uint16}, {"int32", Dtype::int32},     {"uint32", Dtype::uint32},   {"int64", Dtype::int64},
      {"uint64", Dtype::uint64}, {"float16", Dtype::float16}, {"float32", Dtype::float32}, {"float64", Dtype::float64}};
  Shape shape;
  for (const Json& n : described["shape"]) shape.push_back(n.get<std::int64_t>());
  return autograd::from_host(bytes.data() + described["at"].get<std::int64_t>(), shape,
                             dtypes.at(described["dtype"].get<std::string>()));
}

// A model of one node.
onnx::Node node(const std::string& type, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  onnx::Node n;
  n.op_type = type;
  n.name = "the_" + type;
  n.input = std::move(inputs);
  n.output = std::move(outputs);
  return n;
}
onnx::Attribute attribute(const std::string& name, std::int64_t value) {
  onnx::Attribute a;
  a.name = name;
  a.type = onnx::Attribute::Type::int_;
  a.i = value;
  return a;
}
onnx::ValueInfo value(const std::string& name) {
  onnx::ValueInfo v;
  v.name = name;
  return v;
}
onnx::Model model_of(std::vector<onnx::Node> nodes, std::vector<onnx::Tensor> initializers = {},
                     const std::string& output = "y", std::int64_t opset = 17) {
  onnx::Model m;
  m.ir_version = 8;
  m.opset_import = {{"", opset}};
  m.graph.emplace();
  m.graph->node = std::move(nodes);
  m.graph->initializer = std::move(initializers);
  m.graph->input = {value("x")};
  m.graph->output = {value(output)};
  return m;
}
onnx::Tensor tensor(const std::string& name, const Array& a) { return onnx::to_tensor(a, name); }

}  // namespace

BOOST_AUTO_TEST_SUITE(onnx_import)

BOOST_AUTO_TEST_CASE(networks_of_pytorch) {
  for (const char* const name : kNetworks) BOOST_TEST_CONTEXT(std::string(name)) {
      ImportedModel net = import_model(file(std::string(name) + ".onnx"));
      const Stored s = stored(name);
      const Variables outputs = net.forward(s.inputs);
      BOOST_REQUIRE(outputs.size() == s.outputs.size());
      for (std::size_t i = 0; i < outputs.size(); ++i)
        check_close(outputs[i].data(), s.outputs[i], 2e-5, 2e-4, std::string(name) + " output " + std::to_string(i));
    }
}

BOOST_AUTO_TEST_CASE(lengths_that_vary) {  // exported with 2 examples of length 3
  ImportedModel net = import_model(file("shapes.onnx"));
  const Variables longer = net.forward({Variable(autograd::arrays::ones({3, 5, 3}))});
  BOOST_TEST(longer[0].shape() == Shape({3, 9, 1}));
  const Variables one = net.forward({Variable(autograd::arrays::ones({1, 5, 3}))});
  check_close(one[0].data(), autograd::slice(longer[0].data(), 0, 0, 1), 1e-6, 1e-6, "one example");
  BOOST_TEST(has(message_of<catena::ValueError>([&] {
                   net.forward({Variable(autograd::arrays::ones({3, 5, 4}))});
                 }),
                 "the input x0 has the shape"));
}

// Of the node tests of the onnx package: everything is equal but for rounding.
BOOST_AUTO_TEST_CASE(operators_of_the_onnx_package) {
  const catena::NpzReader npz("test", file("nodes.npz"));
  const catena::NpyArray text = npz.read("index"), bytes = npz.read("bytes");
  const Json index = Json::parse({reinterpret_cast<const char*>(text.data.data()), text.data.size()});
  int run = 0, not_supported = 0;
  for (const Json& c : index) {
    const auto name = c["name"].get<std::string>();
    const auto at = std::size_t(c["model"][0].get<std::int64_t>()), n = std::size_t(c["model"][1].get<std::int64_t>());
    try {
      ImportedModel net(onnx::read_bytes({reinterpret_cast<const char*>(bytes.data.data()) + at, n}, name), name);
      Variables inputs;
      for (const Json& x : c["inputs"]) inputs.push_back(autograd::as_variable(node_array(x, bytes.data)));
      const Variables outputs = net.forward(inputs);
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        const Array expected = node_array(c["outputs"][i], bytes.data);
        const bool narrow = expected.dtype() == Dtype::float16;
        const bool rounded = name == "averagepool_2d_ceil_last_window_starts_on_pad";  // its values have four digits
        BOOST_TEST(outputs[i].shape() == expected.shape(), name);
        if (outputs[i].shape() != expected.shape()) continue;
        BOOST_TEST(outputs[i].dtype() == expected.dtype(), name);
        check_close(outputs[i].data(), expected, narrow ? 2e-3 : 1e-5, narrow ? 2e-3 : rounded ? 1e-3 : 1e-4, name);
      }
      ++run;
    } catch (const catena::NotImplementedError& e) {
      ++not_supported;
      std::cout << "not supported: " << e.what() << "\n";
    } catch (const std::exception& e) {
      BOOST_ERROR(name + ": " + e.what());
    }
  }
  std::cout << run << " tests of operators, and " << not_supported << " of options that are not imported\n";
  BOOST_TEST(run == 712);
  BOOST_TEST(not_supported == 8);  // reductions of Scatter other than add
}

// Ends beyond the array in both directions, and elements in reverse order up to the first one.
BOOST_AUTO_TEST_CASE(limits_of_slices) {
  struct Case {
    std::int64_t start, end, step;
    std::vector<double> expected;
  };
  const Case cases[] = {{-1, INT64_MIN, -1, {4, 3, 2, 1}},
                        {INT64_MAX, INT64_MIN, -2, {4, 2}},
                        {2, -5, -1, {3, 2, 1}},
                        {2, 0, -1, {3, 2}},
                        {INT64_MIN, INT64_MAX, 3, {1, 4}},
                        {-2, 9, 1, {3, 4}},
                        {3, 1, 1, {}},
                        {-9, -4, -1, {}}};
  for (const Case& c : cases) {
    const auto number = [](const std::string& name, std::int64_t v) {
      return tensor(name, autograd::array(std::vector<std::int64_t>{v}, {1}));
    };
    ImportedModel net(model_of({node("Slice", {"x", "s", "e", "a", "t"}, {"y"})},
                               {number("s", c.start), number("e", c.end), number("a", 0), number("t", c.step)}));
    BOOST_TEST(values(net(floats({1, 2, 3, 4}, {4})).data()) == c.expected, boost::test_tools::per_element());
  }
}

// Written elements have exactly the values of the updates, whatever was there before.
BOOST_AUTO_TEST_CASE(updates_replace_elements) {
  const Array at = autograd::array(std::vector<std::int64_t>{0, 2, 3}, {3, 1});
  ImportedModel net(
      model_of({node("ScatterND", {"x", "at", "u"}, {"y"})}, {tensor("at", at), tensor("u", floats({1, 2, 3}, {3}))}));
  const Variable x(floats({-HUGE_VALF, 5, 1e8f, 4}, {4}));
  const Variable y = net(x);
  BOOST_TEST(values(y.data()) == (std::vector<double>{1, 5, 2, 3}), boost::test_tools::per_element());
  y.sum().backward();
  BOOST_TEST(values(x.grad()) == (std::vector<double>{0, 1, 0, 0}), boost::test_tools::per_element());
  BOOST_TEST(values(net.params()[0].grad()) == (std::vector<double>{1, 1, 1}), boost::test_tools::per_element());
  ImportedModel whole(
      model_of({node("ScatterND", {"x", "at", "u"}, {"y"})},
               {tensor("at", at), tensor("u", autograd::array(std::vector<std::int64_t>{7, 8, 9}, {3}))}));
  const Array numbers = autograd::array(std::vector<std::int64_t>{1, INT64_MAX, 3, 4}, {4});
  BOOST_TEST(autograd::to_vector<std::int64_t>(whole.forward({autograd::as_variable(numbers)})[0].data()) ==
                 (std::vector<std::int64_t>{7, INT64_MAX, 8, 9}),
             boost::test_tools::per_element());
}

// A sum that ends before its element is that of the elements before it, whatever the element is.
BOOST_AUTO_TEST_CASE(exclusive_sums) {
  onnx::Node sums = node("CumSum", {"x", "axis"}, {"y"});
  sums.attribute = {attribute("exclusive", 1)};
  const onnx::Tensor axis = tensor("axis", autograd::array(std::vector<std::int64_t>{0}, {}));
  ImportedModel net(model_of({sums}, {axis}));
  const auto of = [&](const std::vector<float>& x) { return values(net(floats(x, {std::int64_t(x.size())})).data()); };
  BOOST_TEST(of({1, 1e8f, HUGE_VALF}) == (std::vector<double>{0, 1, 1e8}), boost::test_tools::per_element());
  BOOST_TEST(of({3}) == (std::vector<double>{0}), boost::test_tools::per_element());
  BOOST_TEST(of({}).empty());
  sums.attribute.push_back(attribute("reverse", 1));
  ImportedModel reversed(model_of({sums}, {axis}));
  BOOST_TEST(values(reversed(floats({HUGE_VALF, 2, 1}, {3})).data()) == (std::vector<double>{3, 1, 0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(batches_without_examples) {
  ImportedModel softmax(model_of({node("Softmax", {"x"}, {"y"})}, {}, "y", 11));
  BOOST_TEST(softmax(floats({}, {0, 3})).shape() == Shape({0, 3}));
}

// A constant that is needed only to compute another one is not kept.
BOOST_AUTO_TEST_CASE(memory_of_constants) {
  const Array large = autograd::arrays::ones({1000}, Dtype::int64);
  onnx::Model model =
      model_of({node("Shape", {"large"}, {"n"}), node("Cast", {"n"}, {"f"}), node("Mul", {"x", "f"}, {"y"})},
               {tensor("large", large), tensor("unread", large)});
  model.graph->node[1].attribute = {attribute("to", std::int64_t(onnx::DataType::float_))};
  const std::int64_t before = test::reference_live_bytes();
  ImportedModel net(model);
  if (autograd::default_backend().name() == "reference") BOOST_TEST(test::reference_live_bytes() - before < 4000);
  BOOST_TEST(values(net(floats({2}, {1})).data()) == (std::vector<double>{2000}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(names_and_gradients) {
  ImportedModel net = import_model(file("vgg.onnx"));
  std::vector<std::string> paths;
  for (const nn::NamedParam& p : net.namedparams()) paths.push_back(p.path);
  BOOST_TEST(std::count(paths.begin(), paths.end(), "/classifier.3.weight") == 1);
  BOOST_TEST(std::count(paths.begin(), paths.end(), "/features.0.weight") == 1);
  const Stored s = stored("vgg");
  const Array labels = ints({1, 4});
  const auto loss = [&] { return nn::softmax_cross_entropy(net(s.inputs[0]), labels); };
  const Variable before = loss();
  before.backward();
  for (const nn::NamedParam& p : net.namedparams()) BOOST_TEST(bool(p.param.grad()), p.path);
  // The derivative along the gradient of one weight, by differences.
  for (nn::NamedParam& p : net.namedparams()) {
    if (p.path != "/features.0.weight") continue;
    const std::vector<double> g = values(p.param.grad());
    double squares = 0;
    for (const double v : g) squares += v * v;
    const Array kept = autograd::copy(p.param.data());
    const double h = 1e-2 / std::sqrt(squares);
    p.param.set_data(kept + p.param.grad() * autograd::Scalar(h));
    const double up = loss().item<double>();
    p.param.set_data(kept - p.param.grad() * autograd::Scalar(h));
    const double down = loss().item<double>();
    BOOST_TEST((up - down) / (2 * h) == squares, boost::test_tools::tolerance(0.02));
    p.param.set_data(kept);
  }
  // A step against the gradient, and copies and files of the model.
  ImportedModel copied = net;
  for (Variable& p : net.params()) p.set_data(p.data() - p.grad() * autograd::Scalar(0.05));
  BOOST_TEST(loss().item<double>() < before.item<double>());
  const TemporaryFolder temporary("onnx");
  nn::serializers::save_npz(temporary / "net.npz", net);
  nn::serializers::load_npz(temporary / "net.npz", copied);
  BOOST_TEST(same_bits(copied(s.inputs[0]).data(), net(s.inputs[0]).data()));
}

BOOST_AUTO_TEST_CASE(statistics_are_persistent) {
  const Array x = floats({1, 2, 3, 4}, {2, 2}), ones = floats({1, 1}, {2}), mean = floats({1, 3}, {2});
  ImportedModel net(
      model_of({node("BatchNormalization", {"x", "g", "b", "m", "v"}, {"y"})},
               {tensor("g", ones), tensor("b", ones), tensor("m", mean), tensor("/v", ones), tensor("v", ones)}));
  BOOST_TEST(net.params().size() == 2u);
  const Variable y = net(Variable(x));
  check_close(y.data(), floats({1, 0, 3, 2}, {2, 2}), 1e-4, 0, "normalized");
  y.sum().backward();
  BOOST_TEST(bool(net.params()[0].grad()));
}

// Nodes that depend on no input and on no parameter are computed once.
BOOST_AUTO_TEST_CASE(constants_and_devices) {
  const Array two = floats({2, 2}, {2});
  std::vector<onnx::Node> nodes = {node("Constant", {}, {"c"}), node("Add", {"c", "c"}, {"twice"}),
                                   node("Mul", {"x", "twice"}, {"m"}), node("Add", {"m", "w"}, {"y"})};
  onnx::Attribute a;
  a.name = "value";
  a.type = onnx::Attribute::Type::tensor;
  a.t = tensor("", two);
  nodes[0].attribute = {a};
  ImportedModel net(model_of(nodes, {tensor("w", floats({1, 3}, {2}))}));
  BOOST_TEST(values(net(floats({1, 2}, {2})).data()) == (std::vector<double>{5, 11}), boost::test_tools::per_element());
  if (const auto other = other_device()) {
    net.to_device(*other);
    const Variable y = net(autograd::to_device(floats({1, 2}, {2}), *other));
    BOOST_TEST((y.device() == *other));
    BOOST_TEST(values(autograd::to_device(y.data(), kCpu)) == (std::vector<double>{5, 11}),
               boost::test_tools::per_element());
    onnx::Model lengths =
        model_of({node("Shape", {"x"}, {"n"}), node("Cast", {"n"}, {"f"}), node("Max", {"x", "f"}, {"y"})});
    lengths.graph->node[1].attribute = {attribute("to", std::int64_t(onnx::DataType::float_))};
    ImportedModel greatest(lengths);  // the lengths are on the host
    const Variable z = greatest(autograd::to_device(floats({1, 5}, {2}), *other));
    BOOST_TEST((z.device() == *other));
    BOOST_TEST(values(autograd::to_device(z.data(), kCpu)) == (std::vector<double>{2, 5}),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(errors) {
  using catena::NotImplementedError;
  using catena::TypeError;
  using catena::ValueError;
  onnx::Node foreign = node("FusedThing", {"x"}, {"a"});
  foreign.domain = "com.example";
  onnx::Model unknown = model_of({foreign, node("Unheard", {"a"}, {"y"})});
  unknown.opset_import.push_back({"com.example", 3});
  const std::string all = message_of<NotImplementedError>([&] { ImportedModel m(unknown, "net"); });
  for (const char* part : {"net: operators are not supported: FusedThing", "the_FusedThing",
                           "\"com.example\", version 3", "Unheard", "the_Unheard", "version 17"})
    BOOST_TEST(has(all, part), all);
  BOOST_TEST(has(message_of<ValueError>([&] { ImportedModel m(model_of({node("Relu", {"z"}, {"y"})})); }),
                 "reads z, which nothing before it gives"));
  BOOST_TEST(has(message_of<ValueError>([&] {
                   ImportedModel m(model_of({node("Relu", {"x"}, {"y"}), node("Relu", {"x"}, {"y"})}));
                 }),
                 "two values named y"));
  BOOST_TEST(has(message_of<ValueError>([&] { ImportedModel m(model_of({node("Relu", {"x"}, {"y"})}, {}, "z")); }),
                 "the list of outputs reads z"));
  BOOST_TEST(has(message_of<ValueError>([&] { ImportedModel m(onnx::Model{}); }), "no graph"));

  ImportedModel relu(model_of({node("Relu", {"x"}, {"y"})}));
  const Variable x(floats({1, -1}, {2}));
  BOOST_TEST(has(message_of<TypeError>([&] { relu.forward({x, x}); }), "takes 1 inputs, not 2"));
  BOOST_TEST(has(message_of<TypeError>([&] { relu.forward({Variable()}); }), "the input x is null"));
  ImportedModel typed = import_model(file("vgg.onnx"));
  BOOST_TEST(
      has(message_of<TypeError>([&] { typed.forward({Variable(ints({1}))}); }), "is int32; the file has float32"));
  ImportedModel several = import_model(file("unet.onnx"));
  BOOST_TEST(has(message_of<ValueError>([&] { several(stored("unet").inputs[0]); }), "call forward()"));

  onnx::Node flat = node("Softmax", {"x"}, {"y"});
  flat.attribute = {attribute("axis", 3)};
  ImportedModel softmax(model_of({flat}));
  const std::string where = message_of<ValueError>([&] { softmax(x); });
  BOOST_TEST(has(where, "the node the_Softmax (Softmax)"), where);
  BOOST_TEST(has(where, "axis 3 is out of range"), where);
  onnx::Node wrong = flat;
  wrong.attribute[0].type = onnx::Attribute::Type::float_;
  ImportedModel mistyped(model_of({wrong}));
  BOOST_TEST(has(message_of<ValueError>([&] { mistyped(x); }), "its attribute axis has another type"));
  ImportedModel missing(model_of({node("MatMul", {"x"}, {"y"})}));
  BOOST_TEST(has(message_of<ValueError>([&] { missing(x); }), "its input 1 is left out"));
  ImportedModel silent(model_of({node("Split", {"x"}, {}), node("Relu", {"x"}, {"y"})}));
  BOOST_TEST(has(message_of<ValueError>([&] { silent(x); }), "it has no output"));
  const onnx::Tensor none = tensor("k", autograd::arrays::zeros({0}, Dtype::int64));
  ImportedModel sorted(model_of({node("TopK", {"x", "k"}, {"y", "i"})}, {none}));
  BOOST_TEST(has(message_of<ValueError>([&] { sorted(x); }), "its input 1 has the shape (0,); one number is needed"));
  onnx::Node turned = node("RNN", {"x", "w", "w"}, {"y"});
  turned.attribute.resize(1);
  turned.attribute[0].name = "direction";
  turned.attribute[0].type = onnx::Attribute::Type::string;
  turned.attribute[0].s = "backward";
  ImportedModel cells(model_of({turned}, {tensor("w", floats({1}, {1, 1, 1}))}));
  BOOST_TEST(has(message_of<ValueError>([&] { cells(floats({1}, {1, 1, 1})); }), "its direction is backward"));
  onnx::Node blocks = node("DepthToSpace", {"x"}, {"y"});
  blocks.attribute = {attribute("blocksize", std::int64_t(1) << 32)};
  ImportedModel huge(model_of({blocks}));
  BOOST_TEST(has(message_of<ValueError>([&] {
                   huge(Variable(autograd::arrays::ones({1, 4, 2, 2})));
                 }),
                 "do not fit 4 channels"));
  onnx::Node nd = node("GatherND", {"x", "at"}, {"y"});
  nd.attribute = {attribute("batch_dims", 1)};
  ImportedModel batched(model_of({nd}, {tensor("at", autograd::array(std::vector<std::int64_t>{0}, {1}))}));
  BOOST_TEST(has(message_of<ValueError>([&] { batched(x); }), "its batch_dims is 1 for indices of the shape (1,)"));
  BOOST_TEST(has(message_of<catena::IOError>([&] { import_model("none.onnx"); }), "none.onnx"));
}

BOOST_AUTO_TEST_CASE(operators_have_one_function) {
  const std::vector<std::string> names = onnx::imported_operators();
  BOOST_TEST(std::is_sorted(names.begin(), names.end()));
  BOOST_TEST((std::adjacent_find(names.begin(), names.end()) == names.end()));
  BOOST_TEST(names.size() > 120u);
}

BOOST_AUTO_TEST_SUITE_END()
