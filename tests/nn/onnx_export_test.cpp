// Export to ONNX: messages of files, structure of graphs, and errors. The results of exported networks in
// onnxruntime are compared by tests/interop/onnx_test.py.
#include <catena/nn/onnx/export.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>

#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/fft.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/nn/onnx/import.h>
#include <catena/nn/onnx/tensor.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using nn::onnx::Attribute;
using nn::onnx::DataType;
using nn::onnx::Model;
using nn::onnx::Node;

namespace {

struct MLP : nn::Chain {
  nn::Linear l1{4, 3}, l2{3, 2};
  nn::BatchNormalization bn{3};
  NN_MEMBERS(l1, l2, bn)
  Variable operator()(const Variable& x) { return nn::softmax(l2(nn::dropout(nn::relu(bn(l1(x)))))); }
};

Variable matrix(std::int64_t rows, std::int64_t columns) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < rows * columns; ++i) v.push_back(float(i % 7) * 0.25f - 0.5f);
  return Variable(floats(v, {rows, columns}));
}
std::vector<std::string> operators(const Model& m) {
  std::vector<std::string> list;
  for (const Node& n : m.graph->node) list.push_back(n.op_type);
  return list;
}
std::set<std::string> initializers(const Model& m) {
  std::set<std::string> names;
  for (const auto& t : m.graph->initializer) names.insert(t.name);
  return names;
}
const nn::onnx::Tensor& initializer(const Model& m, const std::string& name) {
  for (const auto& t : m.graph->initializer)
    if (t.name == name) return t;
  throw catena::KeyError(name);
}
using Texts = std::vector<std::string>;

std::string source(const std::string& path) { return std::string(std::getenv("CATENA_TEST_SOURCE_DIR")) + "/" + path; }
Model golden() { return nn::onnx::read(source("tests/golden/onnx/messages.onnx")); }

template <class E, class F> std::string error(const F& f) { return message_of<E>(f); }

}  // namespace

BOOST_AUTO_TEST_SUITE(onnx_export)

// ---- files --------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(messages_of_the_package_onnx) {
  for (const Model& m : {golden(), nn::onnx::read_bytes(nn::onnx::write_bytes(golden()))}) {
    BOOST_TEST(m.ir_version == 8);
    BOOST_TEST(m.producer_name == "onnx");
    BOOST_TEST(m.producer_version == "1");
    BOOST_TEST(m.model_version == 5);
    BOOST_TEST(m.doc_string == "of the model");
    BOOST_TEST(m.opset_version() == 17);
    BOOST_TEST(m.opset_version("ai.onnx") == 17);
    BOOST_TEST(m.opset_version("own") == 2);
    BOOST_TEST(m.opset_version("other") == 0);
    BOOST_REQUIRE(m.metadata_props.size() == 1u);
    BOOST_TEST(m.metadata_props[0].key == "key");
    BOOST_TEST(m.metadata_props[0].value == "value");
    const nn::onnx::Graph& g = *m.graph;
    BOOST_TEST(g.name == "main");
    BOOST_TEST(g.doc_string == "of the graph");
    const auto& dims = g.input[0].type->tensor_type->shape->dim;
    BOOST_REQUIRE(dims.size() == 3u);
    BOOST_TEST(*dims[0].dim_param == "batch");
    BOOST_TEST(*dims[1].dim_value == 3);
    BOOST_TEST((!dims[2].dim_param && !dims[2].dim_value));
    BOOST_TEST(g.input[1].type->tensor_type->shape->dim.empty());
    BOOST_TEST((g.input[1].type->tensor_type->elem_type == DataType::int32));
    BOOST_TEST(!g.output[0].type->tensor_type->shape);
    const Node& n = g.node[0];
    BOOST_TEST((n.input == Texts{"x", "", "raw"} && n.output == Texts{"y"}));
    BOOST_TEST((n.name == "node" && n.op_type == "Anything" && n.domain == "own" && n.doc_string == "text"));
    BOOST_TEST(n.find("i")->i == -3);
    BOOST_TEST((n.find("f")->type == Attribute::Type::float_ && n.find("f")->f == 0));
    BOOST_TEST((n.find("s")->type == Attribute::Type::string && n.find("s")->s.empty()));
    BOOST_TEST((n.find("ints")->ints == std::vector<std::int64_t>{1, -1}));
    BOOST_TEST((n.find("floats")->floats == std::vector<float>{0.5f}));
    BOOST_TEST((n.find("strings")->strings == Texts{"u", "v"}));
    BOOST_TEST(n.find("g")->g[0].node[0].op_type == "Identity");
    BOOST_TEST(n.find("none") == nullptr);
    BOOST_TEST(values(nn::onnx::to_array(*n.find("t")->t))[0] == 0.125);
  }
}

BOOST_AUTO_TEST_CASE(tensors_of_all_types) {
  const Model m = golden();
  const auto numbers = [&](const std::string& name) { return values(nn::onnx::to_array(initializer(m, name))); };
  BOOST_TEST(numbers("typed") == (std::vector<double>{1, 2, 3, 4.5}), boost::test_tools::per_element());
  BOOST_TEST(numbers("raw") == (std::vector<double>{7, -2}), boost::test_tools::per_element());
  BOOST_TEST(numbers("halves") == (std::vector<double>{0.5, -2}), boost::test_tools::per_element());
  BOOST_TEST(numbers("bools") == (std::vector<double>{1, 0, 1}), boost::test_tools::per_element());
  BOOST_TEST(numbers("longs") == (std::vector<double>{9223372036854775808.0}), boost::test_tools::per_element());
  BOOST_TEST(has(error<catena::TypeError>([&] { nn::onnx::to_array(initializer(m, "texts")); }), "type 8"));
  for (int i = 0; i < catena::kNumDtypes; ++i) {
    const auto dtype = Dtype(i);
    const Array a = autograd::astype(floats({0, 1, 3}, {3}), dtype);
    const nn::onnx::Tensor t = nn::onnx::to_tensor(a, "a");
    BOOST_TEST((nn::onnx::dtype_of(t.data_type) == dtype));
    BOOST_TEST(same_bits(nn::onnx::to_array(t), a));
  }
  nn::onnx::Tensor t = nn::onnx::to_tensor(floats({1, 2}, {2}), "weights");
  t.dims = {3};
  BOOST_TEST(has(error<catena::ValueError>([&] { nn::onnx::to_array(t); }),
                 "weights of shape (3,) and dtype float32 has 8 bytes"));
  t.dims = {-1};
  BOOST_TEST(has(error<catena::ValueError>([&] { nn::onnx::to_array(t); }), "length -1"));
  t.dims = {std::int64_t(1) << 40, std::int64_t(1) << 40};
  BOOST_TEST(has(error<catena::ValueError>([&] { nn::onnx::to_array(t); }), "too large"));
  const Array empty = nn::onnx::to_array(nn::onnx::to_tensor(floats({}, {0, 2}), "e"));
  BOOST_TEST((empty.shape() == Shape{0, 2}));
}

BOOST_AUTO_TEST_CASE(files_that_are_truncated_or_no_models) {
  const std::string bytes = nn::onnx::write_bytes(golden());
  int refused = 0;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    try {
      nn::onnx::read_bytes(bytes.substr(0, n), "part");
    } catch (const catena::ValueError& e) {
      BOOST_TEST(has(e.what(), "part"));
      ++refused;
    }
  }
  BOOST_TEST(refused > int(bytes.size() / 2));
  BOOST_TEST(has(error<catena::ValueError>([] { nn::onnx::read_bytes(""); }), "is no model of ONNX: it has no graph"));
  BOOST_TEST(
      has(error<catena::ValueError>([] { nn::onnx::read_bytes("\x3a\xff\xff\xff\xff\x7f"); }), "of 34359738367 bytes"));
  // Graphs in graphs without end: field 7 (graph) > 1 (node) > 5 (attribute) > 6 (graph) > ...
  std::string deep;
  for (int k = 0; k < 400; ++k) {
    const char tag = k == 399 ? '\x3a' : k % 3 == 0 ? '\x32' : k % 3 == 1 ? '\x2a' : '\x0a';
    std::string length;
    for (std::size_t v = deep.size();; v >>= 7) {
      length += char(v >= 0x80 ? (v & 0x7f) | 0x80 : v);
      if (v < 0x80) break;
    }
    deep = tag + length + deep;
  }
  BOOST_TEST(
      has(error<catena::ValueError>([&] { nn::onnx::read_bytes(deep); }), "more than 100 messages lie in each other"));
  BOOST_CHECK_THROW(nn::onnx::read("/nowhere.onnx"), catena::IOError);
}

BOOST_AUTO_TEST_CASE(external_data) {
  const TemporaryFolder folder("onnx_external");
  Model m = golden();
  nn::onnx::Tensor& t = m.graph->initializer[0];
  t.float_data.clear();
  t.data_location = nn::onnx::Tensor::Location::external;
  const auto with = [&](const std::string& location, const std::string& offset, const std::string& length) {
    t.external_data = {{"location", location}, {"offset", offset}, {"length", length}};
    nn::onnx::write(folder / "m.onnx", m);
    return nn::onnx::read(folder / "m.onnx");
  };
  const float numbers[] = {9, 1, 2, 3, 4};
  write_file(folder / "weights.bin", std::string(reinterpret_cast<const char*>(numbers), sizeof numbers));
  const Model loaded = with("weights.bin", "4", "16");
  BOOST_TEST(values(nn::onnx::to_array(loaded.graph->initializer[0])) == (std::vector<double>{1, 2, 3, 4}),
             boost::test_tools::per_element());
  BOOST_TEST(has(error<catena::ValueError>([&] { nn::onnx::to_array(t); }), "external data"));
  const auto fails = [&](const std::string& location, const std::string& offset, const std::string& length) {
    return error<catena::ValueError>([&] { with(location, offset, length); });
  };
  BOOST_TEST(has(fails("weights.bin", "4", "17"), "17 bytes at byte 4 of \"weights.bin\", which has 20"));
  BOOST_TEST(has(fails("weights.bin", "18446744073709551615", "2"), "at byte 18446744073709551615"));
  BOOST_TEST(has(fails("weights.bin", "x", "2"), "no number of bytes"));
  BOOST_TEST(has(fails("../weights.bin", "0", "2"), "not in the folder of the model"));
  BOOST_TEST(has(fails("/etc/passwd", "0", "2"), "not in the folder of the model"));
  BOOST_TEST(has(fails("", "0", "2"), "not in the folder of the model"));
}

// ---- graphs -------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(structure_of_a_network) {
  const TemporaryFolder folder("onnx_export");
  MLP net;
  const Model made = nn::onnx::export_model(net, matrix(2, 4), folder / "mlp.onnx",
                                            {.input_names = {"x"},
                                             .output_names = {"y"},
                                             .dynamic_axes = {{"x", {{0, "batch"}}}},
                                             .graph_name = "net",
                                             .doc_string = "a network",
                                             .metadata = {{"author", "me"}}});
  const Model m = nn::onnx::read(folder / "mlp.onnx");
  BOOST_TEST(nn::onnx::write_bytes(m) == nn::onnx::write_bytes(made));
  BOOST_TEST(m.ir_version == 8);
  BOOST_TEST(m.opset_version() == 17);
  BOOST_TEST(m.producer_name == "Catena");
  BOOST_TEST(m.doc_string == "a network");
  BOOST_TEST(m.metadata_props[0].value == "me");
  BOOST_TEST(m.graph->name == "net");
  // Test mode: the averages, and no dropout.
  BOOST_TEST((operators(m) == Texts{"Gemm", "BatchNormalization", "Relu", "Gemm", "Softmax", "Identity"}));
  BOOST_TEST((initializers(m) == std::set<std::string>{"l1/W", "l1/b", "l2/W", "l2/b", "bn/gamma", "bn/beta",
                                                       "bn/avg_mean", "bn/avg_var"}));
  BOOST_TEST(same_bits(nn::onnx::to_array(initializer(m, "l2/W")), net.l2.W.data()));
  BOOST_TEST((m.graph->node[0].input == Texts{"x", "l1/W", "l1/b"}));
  BOOST_TEST((m.graph->node.back().output == Texts{"y"}));
  for (const auto* v : {&m.graph->input[0], &m.graph->output[0]}) {
    const auto& dims = v->type->tensor_type->shape->dim;
    BOOST_TEST(*dims[0].dim_param == "batch");
    BOOST_TEST(*dims[1].dim_value == (v->name == "x" ? 4 : 2));
    BOOST_TEST((v->type->tensor_type->elem_type == DataType::float_));
  }
  // Names of nodes and values occur once, and each is made before it is read.
  std::set<std::string> known = initializers(m), names;
  known.insert({"x", ""});
  for (const Node& n : m.graph->node) {
    BOOST_TEST(names.insert(n.name).second);
    for (const std::string& input : n.input) BOOST_TEST(known.count(input) == 1u);
    for (const std::string& output : n.output) BOOST_TEST(known.insert(output).second);
  }
}

BOOST_AUTO_TEST_CASE(options_of_export) {
  MLP net;
  const Model train = nn::onnx::export_model(net, matrix(4, 4), {.opset_version = 21, .train = true});
  BOOST_TEST(train.ir_version == 10);
  BOOST_TEST(train.opset_version() == 21);
  const auto ops = operators(train);
  BOOST_TEST(std::count(ops.begin(), ops.end(), "Dropout") == 1);
  BOOST_TEST(std::count(ops.begin(), ops.end(), "ReduceMean") == 2);
  BOOST_TEST(train.graph->input[0].name == "input_0");
  BOOST_TEST(train.graph->output[0].name == "output_0");
  // The name of a variable; constant lengths; a function with the link that owns the parameters.
  Variable x = matrix(3, 4);
  x.set_name("image");
  const Model named = nn::onnx::export_model(
      [&](const Variable& v) {
        return Variables{net.l1(v), v + v};
      },
      x, {.link = &net});
  BOOST_TEST(named.graph->input[0].name == "image");
  BOOST_TEST(named.graph->output.size() == 2u);
  BOOST_TEST(*named.graph->input[0].type->tensor_type->shape->dim[0].dim_value == 3);
  BOOST_TEST((initializers(named) == std::set<std::string>{"l1/W", "l1/b"}));
  const Model unnamed = nn::onnx::export_model([&](const Variable& v) { return net.l1(v); }, x);
  BOOST_TEST((initializers(unnamed) == std::set<std::string>{"constant", "constant_1"}));
  // Lists, tuples and several inputs.
  const Model two = nn::onnx::export_model(
      [](const Variable& a, const Variable& b) {
        return std::pair{a * b, a - b};
      },
      {matrix(2, 2), matrix(2, 2)}, {.dynamic_batch = true});
  BOOST_TEST((operators(two) == Texts{"Mul", "Sub", "Identity", "Identity"}));
  BOOST_TEST(*two.graph->output[1].type->tensor_type->shape->dim[0].dim_param == "batch");
}

BOOST_AUTO_TEST_CASE(lengths_that_follow_dynamic_axes) {
  const auto exported = [](const auto& f) {
    return nn::onnx::export_model(f, matrix(3, 4), {.input_names = {"x"}, .dynamic_batch = true});
  };
  // A reshape copies the length or computes it; an expansion needs it.
  const Model reshaped = exported([](const Variable& x) { return reshape(x, {x.shape(0), 2, 2}); });
  BOOST_TEST((operators(reshaped) == Texts{"Reshape", "Identity"}));
  BOOST_TEST(values(nn::onnx::to_array(reshaped.graph->initializer[0])) == (std::vector<double>{0, 2, 2}),
             boost::test_tools::per_element());
  const Model expanded = exported([](const Variable& x) { return broadcast_to(sum(x), {x.shape(0) * 2 + 1, 2}); });
  BOOST_TEST((operators(expanded) == Texts{"ReduceSum", "Shape", "Mul", "Add", "Concat", "Expand", "Identity"}));
  const std::string message = error<catena::NotImplementedError>(
      [&] { exported([](const Variable& x) { return broadcast_to(sum(x), {x.shape(0) * x.shape(0)}); }); });
  BOOST_TEST(has(message, "a length that is 9 here depends on the dynamic axes batch"), message);
  // Slices are limited to the axis in the file, too.
  nn::onnx::ImportedModel first(exported([](const Variable& x) { return x(autograd::Slice(0, 10)); }));
  BOOST_TEST((first(matrix(12, 4)).shape() == Shape{10, 4}));
  BOOST_TEST((first(matrix(5, 4)).shape() == Shape{5, 4}));
  const auto parts = [](const Variable& x) {
    return Variables{x(autograd::Slice(-2, {})), x(autograd::Slice({}, {}, -1)), x(autograd::Slice(-1, 0, -2)),
                     x(autograd::Slice(1, x.shape(0))), x(autograd::Slice(0, x.shape(0)))};
  };
  const Variable x = matrix(7, 4);
  const Variables expected = parts(x), made = nn::onnx::ImportedModel(exported(parts)).forward({x});
  for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST(same_bits(made[i].data(), expected[i].data()));
  // The number of axes may not depend on the lengths.
  BOOST_TEST(has(error<catena::NotImplementedError>([&] {
                   nn::onnx::export_model([](const Variable& v) { return autograd::squeeze(v); }, matrix(1, 4),
                                          {.dynamic_batch = true});
                 }),
                 "an array of shape (4,) has the shape (2, 4) when the model is called again"));
}

BOOST_AUTO_TEST_CASE(constants_by_their_bits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Model m = nn::onnx::export_model(
      [&](const Variable& x) {
        return Variables{x * 0.5, x * nan, x * 0.0, x * -0.0};
      },
      matrix(2, 2));
  std::vector<std::string> texts;
  for (const auto& t : m.graph->initializer)
    texts.push_back(catena::concat(autograd::item(nn::onnx::to_array(t)).to_double()));
  BOOST_TEST(texts == (std::vector<std::string>{"0.5", "nan", "0", "-0"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(attention_of_a_query_that_sees_no_key) {
  const auto attention = [](const Variable& q, const Variable& mask) {
    return nn::scaled_dot_product_attention(q, q, q, {.mask = mask});
  };
  const float inf = std::numeric_limits<float>::infinity();
  const Variable q = reshape(matrix(3, 4), {1, 3, 4});
  const Variable mask(floats({0, -inf, 1, -inf, -inf, -inf, 0, 0, 0}, {3, 3}));
  const Variable y = nn::onnx::ImportedModel(nn::onnx::export_model(attention, {q, mask})).forward({q, mask})[0];
  const auto expected = values(attention(q, mask).data()), found = values(y.data());
  for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST(std::abs(found[i] - expected[i]) < 1e-6);
  for (std::size_t i = 4; i < 8; ++i) BOOST_TEST(found[i] == 0);
}

// ---- errors -------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(functions_without_an_equivalent) {
  const TemporaryFolder folder("onnx_errors");
  MLP net;
  const std::string message = error<catena::NotImplementedError>([&] {
    nn::onnx::export_model(
        [&](const Variable& x) { return autograd::inv(tanh(net.l1(x))(autograd::_, autograd::Slice(0, 3))); },
        matrix(3, 4), folder / "m.onnx", {.link = &net});
  });
  BOOST_TEST(has(message, "no equivalent of the function Inv,"), message);
  BOOST_TEST(has(message, "at input 0 -> LinearFunction (l1/W, l1/b) -> Tanh"), message);
  BOOST_TEST(!std::filesystem::exists(folder / "m.onnx"));
}

BOOST_AUTO_TEST_CASE(values_computed_beside_variables) {
  const auto fails = [](const auto& f) {
    return error<catena::NotImplementedError>([&] { nn::onnx::export_model(f, matrix(3, 4)); });
  };
  const std::string message = fails([](const Variable& x) { return x * Variable(autograd::copy(x.data())); });
  BOOST_TEST(has(message, "computed beside the variables"), message);
  BOOST_TEST(has(message, "_ * _"), message);
  BOOST_TEST(has(fails([](const Variable& x) { return x * autograd::item(autograd::sum(x.data())).to_double(); }),
                 "differs from call to call"));
  int calls = 0;
  BOOST_TEST(has(fails([&](const Variable& x) { return calls++ == 0 ? exp(x) : tanh(x); }),
                 "function 0 of the model is Tanh instead of exp"));
  calls = 0;
  BOOST_TEST(has(fails([&](const Variable& x) { return calls++ == 0 ? exp(x) : exp(exp(x)); }),
                 "runs 2 functions instead of 1"));
}

// An operator that an opset lacks is written by other operators of this opset, or the export is refused with the name
// of the opset that has it.
BOOST_AUTO_TEST_CASE(older_opsets) {
  const auto exported = [](const auto& f, const Variable& x, std::int64_t opset) {
    return nn::onnx::export_model(f, x, {.dynamic_batch = true, .opset_version = opset});
  };
  nn::LayerNormalization norm(4);
  const auto f = [&](const Variable& x) {
    const Variable sums = autograd::broadcast_to(autograd::sum(x, 1, {.keepdims = true}), x.shape());
    return reshape(nn::hard_swish(norm(x)) + sums, {x.shape(0) * 2, 2});
  };
  const struct {
    std::int64_t opset, format;
    bool has_hard_swish, has_norm;
  } cases[] = {{13, 7, false, false}, {14, 7, true, false}, {15, 8, true, false}, {16, 8, true, false},
               {17, 8, true, true},   {19, 9, true, true},  {22, 10, true, true}};
  for (const auto& c : cases) BOOST_TEST_CONTEXT("opset " << c.opset) {
      const Model m = exported(f, matrix(2, 4), c.opset);
      BOOST_TEST(m.opset_version() == c.opset);
      BOOST_TEST(m.ir_version == c.format);
      const std::vector<std::string> all = operators(m);
      const std::set<std::string> ops(all.begin(), all.end());
      BOOST_TEST(ops.count("HardSwish") == std::size_t(c.has_hard_swish));
      BOOST_TEST(ops.count("LayerNormalization") == std::size_t(c.has_norm));
      BOOST_TEST(ops.count("Shape") == 1u);
      for (const Node& n : m.graph->node)
        if (n.op_type == "Shape") BOOST_TEST((n.find("start") != nullptr) == (c.opset >= 15));
      nn::onnx::ImportedModel again{m};
      for (const std::int64_t rows : {2, 5}) {
        const Variable x = matrix(rows, 4);
        const auto expected = values(f(x).data()), found = values(again.forward({x})[0].data());
        BOOST_REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST(std::abs(found[i] - expected[i]) < 1e-5);
      }
    }
  const auto message = [&](const auto& g, const Variable& x, std::int64_t opset) {
    return error<catena::NotImplementedError>([&] { exported(g, x, opset); });
  };
  const auto sum = [](const Variable& x) { return x + x; };
  const Variable narrow(autograd::astype(floats({1, 2}, {1, 2}), Dtype::int16));
  const Variable half(autograd::astype(floats({1, 2}, {1, 2}), Dtype::bfloat16));
  BOOST_TEST(has(message(sum, narrow, 13), "the operators of opset 13 do not take int16; {.opset_version = 14}"));
  const auto cosine = [](const Variable& x) { return autograd::cos(x); };
  const Array mask = autograd::astype(ints({1, 0}), Dtype::bool_);
  const auto chosen = [&](const Variable& x) { return autograd::where(mask, x, x * 2); };
  const auto greatest = [](const Variable& x) { return autograd::maximum(x, x); };
  BOOST_TEST(has(message(cosine, half, 21), "the operators of opset 21 do not take bfloat16; {.opset_version = 22}"));
  BOOST_TEST(
      has(error<catena::NotImplementedError>([&] { nn::onnx::export_model(chosen, half, {.opset_version = 15}); }),
          "the operators of opset 15 do not take bfloat16; {.opset_version = 16}"));
  BOOST_TEST(nn::onnx::export_model(chosen, half, {.opset_version = 16}).opset_version() == 16);
  BOOST_TEST(exported(greatest, half, 13).opset_version() == 13);
  BOOST_TEST(exported(sum, narrow, 14).opset_version() == 14);
  BOOST_TEST(exported(sum, half, 13).opset_version() == 13);
  const auto transformed = [](const Variable& x) {
    const auto [re, im] = autograd::pairs::rfft(x);
    return re + im;
  };
  BOOST_TEST(
      has(message(transformed, matrix(1, 4), 16), "the operator DFT is not in opset 16; {.opset_version = 17} has it"));
}

// Axes without names, as in PyTorch's lists.
BOOST_AUTO_TEST_CASE(dynamic_axes_without_names) {
  const auto sum = [](const Variable& x, const Variable& y) { return x + y; };
  const Variables inputs = {matrix(2, 3), matrix(2, 3)};
  const auto names = [&](const nn::onnx::DynamicAxes& axes) {
    const Model m =
        nn::onnx::export_model(sum, inputs, {.input_names = {"x", "y"}, .output_names = {"z"}, .dynamic_axes = axes});
    Texts all;
    for (const auto* v : {&m.graph->input[0], &m.graph->input[1], &m.graph->output[0]})
      for (const auto& d : v->type->tensor_type->shape->dim)
        all.push_back(d.dim_param ? *d.dim_param : std::to_string(*d.dim_value));
    return all;
  };
  const std::string n = "x_dynamic_axes_0", m = "x_dynamic_axes_1";
  BOOST_TEST((names({{"x", {0}}, {"y", {0}}, {"z", {0}}}) == Texts{n, "3", n, "3", n, "3"}));
  BOOST_TEST((names({{"x", {0, 1}}, {"y", {0, -1}}}) == Texts{n, m, n, m, n, m}));
  BOOST_TEST((names({{"x", {{0, "rows"}}}, {"y", {0}}}) == Texts{"rows", "3", "rows", "3", "rows", "3"}));
  const std::vector<int> list = {0};
  const std::map<int, std::string> map = {{0, "rows"}};
  BOOST_TEST((names({{"x", list}, {"y", list}}) == Texts{n, "3", n, "3", n, "3"}));
  BOOST_TEST((names({{"x", map}, {"y", map}}) == Texts{"rows", "3", "rows", "3", "rows", "3"}));
  const Model both = nn::onnx::export_model(
      sum, inputs, {.input_names = {"x", "y"}, .dynamic_axes = {{"x", {0, 1}}, {"y", {1}}}, .dynamic_batch = true});
  for (const auto& input : both.graph->input)
    BOOST_TEST(input.type->tensor_type->shape->dim[0].dim_param.value_or("") == "batch");
}

BOOST_AUTO_TEST_CASE(arguments_that_are_refused) {
  const auto square = [](const Variable& x) { return x * x; };
  const auto fails = [&](const Variables& inputs, const nn::onnx::ExportOptions& o) {
    return error<catena::ValueError>([&] { nn::onnx::export_model(square, inputs, o); });
  };
  const Variable x = matrix(2, 3);
  BOOST_TEST(
      has(error<catena::ValueError>([&] { nn::onnx::export_model(square, Variables{}); }), "there are no inputs"));
  BOOST_TEST(has(fails({Variable()}, {}), "null Variable"));
  BOOST_TEST(has(fails({x}, {.opset_version = 12}), "opset_version is 12; it must be 13 to 22"));
  BOOST_TEST(has(fails({x}, {.input_names = {"a", "b"}}), "2 input_names are given for 1"));
  BOOST_TEST(has(fails({x}, {.output_names = {"a", "b"}}), "2 output_names are given for 1"));
  BOOST_TEST(has(fails({x}, {.input_names = {"a"}, .output_names = {"a"}}), "the name \"a\""));
  BOOST_TEST(has(fails({x}, {.dynamic_axes = {{"z", {{0, "n"}}}}}), "\"z\", which is no input and no output"));
  BOOST_TEST(
      has(fails({x}, {.dynamic_axes = {{"input_0", {{2, "n"}}}}}), "axis 2 is out of bounds for array of dimension 2"));
  BOOST_TEST(has(fails({Variable(floats({}, {0, 3}))}, {.dynamic_batch = true}), "a length that is not 0"));
  BOOST_TEST(has(fails({x}, {.dynamic_axes = {{"input_0", {{0, "n"}, {1, "n"}}}}}),
                 "the dynamic axis n has the length 2 and, as axis 1 of input_0, the length 3"));
  BOOST_TEST(has(fails({x}, {.dynamic_axes = {{"input_0", {{1, "n"}, {-1, "m"}}}}}), "of input_0 occurs twice"));
  const Model m = nn::onnx::export_model(
      square, x, {.dynamic_axes = {{"input_0", {{-2, "rows"}}}, {"output_0", {{0, "rows"}}}}, .dynamic_batch = true});
  BOOST_TEST(*m.graph->output[0].type->tensor_type->shape->dim[0].dim_param == "rows");
  BOOST_TEST(
      has(error<catena::ValueError>([&] { nn::onnx::export_model([](const Variable&) { return Variables{}; }, x); }),
          "has returned no Variables"));
  const auto fixed = [](const Variable& v) { return reshape(v, {6}); };
  BOOST_TEST(has(error<catena::ValueError>([&] { nn::onnx::export_model(fixed, x, {.dynamic_batch = true}); }),
                 "cannot be called with 2 times the length of the dynamic axis batch"));
  BOOST_CHECK_THROW(nn::onnx::export_model(square, x, "/nowhere/m.onnx"), catena::IOError);
  BOOST_CHECK_THROW(nn::onnx::export_model(square, Variables{x, x, x}), catena::TypeError);
}

// ---- the table ----------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(the_table_of_the_guide) {
  const std::string page = file_content(source("docs/guide/networks/onnx.md"));
  std::string expected;
  for (const auto& f : nn::onnx::exported_functions()) expected += "| `" + f.function + "` | " + f.operators + " |\n";
  BOOST_TEST(has(page, "| function | operators |\n|---|---|\n" + expected), expected);
}

BOOST_AUTO_TEST_CASE(operators_of_the_table) {
  std::set<std::string> declared;
  for (const auto& f : nn::onnx::exported_functions()) {
    BOOST_TEST(declared.insert(f.function).second);
    BOOST_TEST(!f.operators.empty());
  }
  // Every node of a function is one of those that the table has for it.
  const auto check = [](const Model& m) {
    for (const Node& n : m.graph->node) {
      const std::string function = n.name.substr(0, n.name.rfind('/'));
      for (const auto& f : nn::onnx::exported_functions())
        if (function.starts_with(f.function + "_") &&
            function.find_first_not_of("0123456789", f.function.size() + 1) == function.npos)
          BOOST_TEST(has(", " + f.operators + ",", ", " + n.op_type + ","), n.name);
    }
  };
  MLP net;
  check(nn::onnx::export_model(net, matrix(4, 4), {.train = true}));
  nn::StatelessLSTM cell(4, 3);
  check(nn::onnx::export_model(
      [&](const Variable& x) {
        const auto s = cell({}, {}, x);
        return Variables{s.c, s.h, nn::gelu(x), var(x, 1), pad(x, 1), flip(x, 1), sort(x, 1).values, x(autograd::_, 1)};
      },
      matrix(2, 4)));
}

// Sums and products of int32 are int64; ReduceSum has one dtype.
BOOST_AUTO_TEST_CASE(sums_of_integers) {
  const Array k = autograd::array<std::int32_t>({1, 2, 3, 4}, {2, 2});
  const auto check_sum = [&](const auto& f, const char* op_type, const std::vector<double>& expected) {
    const Model m = nn::onnx::export_model(f, Variables{Variable(k)});
    const Texts list = operators(m);
    BOOST_TEST_REQUIRE(list.size() >= 2U);
    BOOST_TEST(list[0] == "Cast");
    BOOST_TEST(list[1] == op_type);
    BOOST_TEST((m.graph->output[0].type->tensor_type->elem_type == DataType::int64));
    BOOST_TEST(values(f(Variable(k)).data()) == expected, boost::test_tools::per_element());
  };
  check_sum([](const Variable& x) { return sum(x, 0); }, "ReduceSum", {4, 6});
  check_sum([](const Variable& x) { return prod(x, 0); }, "ReduceProd", {3, 8});
  const Model m =
      nn::onnx::export_model([](const Variable& x) { return x.to(autograd::Dtype::float32); }, Variables{Variable(k)});
  BOOST_TEST(operators(m)[0] == "Cast");
}

BOOST_AUTO_TEST_CASE(names_of_pytorch) {
  nn::Linear link(3, 2);
  const Array x = floats({1, 2, 3, -1, 0, 1}, {2, 3});
  const TemporaryFolder folder("onnx_names");
  const std::string path = folder / "net.onnx";
  nn::onnx::export_(link, x, path, {.input_names = {"input"}, .output_names = {"output"}});
  auto net = nn::onnx::load(path);
  BOOST_TEST(net.input_names() == (std::vector<std::string>{"input"}), boost::test_tools::per_element());
  BOOST_TEST(net.output_names() == (std::vector<std::string>{"output"}), boost::test_tools::per_element());
  const std::vector<double> read = values(net(x).data()), own = values(link(x).data());
  for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(std::abs(read[i] - own[i]) < 1e-6);
  BOOST_TEST(nn::onnx::export_(link, Variables{Variable(x)}, path).graph->input.size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
