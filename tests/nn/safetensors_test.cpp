// safetensors files: what comes back, the format byte by byte, the names of PyTorch, hostile files.
#include <catena/nn/serializers/safetensors.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using nn::KeyStyle;
using nn::serializers::get_tensor;
using nn::serializers::load_safetensors;
using nn::serializers::SafetensorsFile;
using nn::serializers::save_safetensors;

namespace {

using Strings = std::vector<std::string>;

std::string file_of(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  return text + header + data;
}

struct Numbers {
  Array a = floats({1, 2, 3, 4, 5, 6}, {2, 3}), none = autograd::arrays::zeros({0, 2}), scalar = floats({7}, {});
  bool yes = true;
  std::int64_t n = -5;
  void serialize(nn::Serializer& s) {
    s("a", a);
    s("none", none);
    (*s["sub"])("scalar", scalar);
    s("yes", yes);
    s("n", n);
  }
};

// An LSTM as the link of that name stores it: gates a, i, f, o by unit.
struct Recurrent : nn::Chain {
  nn::Linear upward, lateral;
  explicit Recurrent(int in = 3, int units = 2) : upward(in, 4 * units), lateral(units, 4 * units, {.nobias = true}) {}
  NN_MEMBERS(upward, lateral)
};
struct Everything : nn::Chain {
  nn::Convolution2D conv{2, 3, 3, {.pad = 1}};
  nn::BatchNormalization bn{3};
  nn::Linear fc{12, 4};
  nn::LayerNormalization norm{4};
  Recurrent lstm;
  NN_MEMBERS(conv, bn, fc, norm, lstm)
};

void fill_all(nn::Link& link) {
  int k = 0;
  for (Variable& p : link.params()) {
    std::vector<float> v(std::size_t(p.size()));
    for (float& x : v) x = float(++k) / 8;
    p.set_data(autograd::array(v, p.shape()));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(safetensors)

BOOST_AUTO_TEST_CASE(everything_comes_back) {
  const TemporaryFolder folder("safetensors");
  Numbers saved, loaded;
  loaded.a = autograd::arrays::zeros({2, 3}), loaded.none = {}, loaded.scalar = {}, loaded.yes = false, loaded.n = 0;
  const Array same = loaded.a;
  save_safetensors(folder / "n", saved);
  const nn::LoadReport report = load_safetensors(folder / "n", loaded);
  BOOST_TEST(same.get() == loaded.a.get());
  BOOST_TEST(same_bits(loaded.a, saved.a));
  BOOST_TEST(loaded.none.shape() == Shape({0, 2}));
  BOOST_TEST(same_bits(loaded.scalar, saved.scalar));
  BOOST_TEST((loaded.yes && loaded.n == -5));
  BOOST_TEST(report.loaded.size() == 5u);
  BOOST_TEST((report.missing.empty() && report.unexpected.empty()));
  save_safetensors(folder / "again", saved);
  BOOST_TEST((file_content(folder / "again") == file_content(folder / "n")));  // equal content gives equal bytes
  // A part of a file.
  struct Part {
    double scalar = 0;
    void serialize(nn::Serializer& s) { s("scalar", scalar); }
  } part;
  load_safetensors(folder / "n", part, "sub/");
  BOOST_TEST(part.scalar == 7);
}

// By the letter of the format's description.
BOOST_AUTO_TEST_CASE(bytes_of_a_file) {
  const TemporaryFolder folder("bytes");
  Numbers numbers;
  save_safetensors(folder / "n", numbers, {.metadata = {{"who", "\"me\""}, {"k", ""}}});
  const std::string file = file_content(folder / "n");
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  BOOST_TEST(length % 8 == 0u);  // padded by spaces
  std::string header = file.substr(8, length);
  header.erase(header.find_last_not_of(' ') + 1);
  BOOST_TEST(header ==
             "{\"__metadata__\":{\"who\":\"\\\"me\\\"\",\"k\":\"\"},"
             "\"n\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},"  // the widest first
             "\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[8,32]},"
             "\"none\":{\"dtype\":\"F32\",\"shape\":[0,2],\"data_offsets\":[32,32]},"
             "\"sub/scalar\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[32,36]},"
             "\"yes\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[36,37]}}");
  BOOST_TEST(file.size() == 8 + length + 37);
  for (std::size_t n = 0; n < 8; ++n) {
    save_safetensors(folder / "padded", numbers, {.metadata = {{"k", std::string(n, 'x')}}});
    BOOST_TEST(std::uint64_t(file_content(folder / "padded")[0] & 7) == 0u,
               n);  // the lowest byte of the header's length
  }
  float third = 0;
  std::memcpy(&third, file.data() + 8 + length + 8 + 2 * 4, 4);
  BOOST_TEST(third == 3);
}

BOOST_AUTO_TEST_CASE(every_dtype_survives) {
  const TemporaryFolder folder("dtypes");
  const char* const names[] = {"BOOL", "I8",  "U8",  "I16", "U16", "I32",  "U32",
                               "I64",  "U64", "F16", "F32", "F64", "BF16", "C64"};
  for (int i = 0; i < catena::kNumDtypes; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    BOOST_TEST_CONTEXT(std::string(catena::name_of(dtype))) {
      struct One {
        Array a;
        void serialize(nn::Serializer& s) { s("a", a); }
      } saved, loaded;
      std::vector<std::byte> bytes(4 * catena::itemsize(dtype));
      for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = std::byte(k % 3 == 0);
      saved.a = autograd::from_host(bytes.data(), {2, 2}, dtype, autograd::Device{});
      if (dtype == Dtype::complex128) {
        BOOST_TEST(has(message_of<catena::TypeError>([&] { save_safetensors(folder / "a", saved); }), "complex128"));
        continue;
      }
      save_safetensors(folder / "a", saved);
      load_safetensors(folder / "a", loaded);
      BOOST_TEST(same_bits(loaded.a, saved.a));
      const SafetensorsFile file(folder / "a");
      BOOST_TEST(file.find("a")->dtype_name == names[i]);
      BOOST_TEST(same_bits(get_tensor(file, "a"), saved.a));
    }
  }
}

// 16-bit floats load into float32 parameters, and float32 into them.
BOOST_AUTO_TEST_CASE(dtypes_are_converted) {
  const TemporaryFolder folder("convert");
  for (const Dtype narrow : {Dtype::float16, Dtype::bfloat16}) {
    TinyMLP model, wide;
    fill_all(model);
    const std::vector<double> values_before = values(model.l1.W.data());
    for (Variable& p : model.params()) p.set_data(autograd::astype(p.data(), narrow));
    save_safetensors(folder / "m", model);
    BOOST_TEST((SafetensorsFile(folder / "m").find("l1/W")->dtype == narrow));
    load_safetensors(folder / "m", wide);
    BOOST_TEST((wide.l1.W.dtype() == Dtype::float32));
    BOOST_TEST(values(wide.l1.W.data()) == values_before, boost::test_tools::per_element());
    save_safetensors(folder / "w", wide);
    load_safetensors(folder / "w", model);
    BOOST_TEST((model.l1.W.dtype() == narrow));
    BOOST_TEST(values(model.l1.W.data()) == values_before, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(names_of_pytorch) {
  const TemporaryFolder folder("pytorch");
  Everything model, loaded;
  fill_all(model);
  model.bn.N = 12;
  autograd::fill(model.bn.avg_mean.array(), 0.5);
  autograd::fill(model.bn.avg_var.array(), 2);
  save_safetensors(folder / "m", model, {.style = KeyStyle::pytorch});
  const SafetensorsFile file(folder / "m");
  Strings names = file.keys();
  std::sort(names.begin(), names.end());
  const Strings expected{"bn.bias",           "bn.num_batches_tracked",
                         "bn.running_mean",   "bn.running_var",
                         "bn.weight",         "conv.bias",
                         "conv.weight",       "fc.bias",
                         "fc.weight",         "lstm.bias_hh_l0",
                         "lstm.bias_ih_l0",   "lstm.weight_hh_l0",
                         "lstm.weight_ih_l0", "norm.bias",
                         "norm.weight"};
  BOOST_TEST(names == expected, boost::test_tools::per_element());
  BOOST_REQUIRE(file.metadata().size() == 1u);
  BOOST_TEST((file.metadata()[0] == std::pair<std::string, std::string>("format", "pt")));
  BOOST_TEST(same_bits(get_tensor(file, "fc.weight"), model.fc.W.data()));  // both are (out, in)
  BOOST_TEST(values(get_tensor(file, "bn.running_var"))[0] == 2);
  BOOST_TEST(values(get_tensor(file, "bn.num_batches_tracked"))[0] == 12);
  // Rows of the gates: i, f, g, o of PyTorch are the rows 1, 2, 0, 3 of each unit.
  const std::vector<double> W = values(model.lstm.upward.W.data()),
                            ours = values(get_tensor(file, "lstm.weight_ih_l0"));
  const int row_of[] = {1, 2, 0, 3};
  for (int gate = 0; gate < 4; ++gate)
    for (int unit = 0; unit < 2; ++unit)
      for (int k = 0; k < 3; ++k)
        BOOST_TEST(ours[std::size_t((2 * gate + unit) * 3 + k)] == W[std::size_t((4 * unit + row_of[gate]) * 3 + k)]);
  BOOST_TEST(values(get_tensor(file, "lstm.bias_hh_l0")) == std::vector<double>(8, 0),
             boost::test_tools::per_element());

  const nn::LoadReport report = load_safetensors(folder / "m", loaded, {.style = KeyStyle::pytorch});
  BOOST_TEST((report.unexpected.empty() && report.missing.empty()));
  const std::vector<nn::NamedParam> a = model.namedparams(), b = loaded.namedparams();
  for (std::size_t i = 0; i < a.size(); ++i) BOOST_TEST(same_bits(a[i].param.data(), b[i].param.data()), a[i].path);
  BOOST_TEST(loaded.bn.N == 12);
  BOOST_TEST(values(loaded.bn.avg_mean.array())[2] == 0.5);
}

namespace {

// pytorch.safetensors is written by tests/interop/interop_test.py --fixture: a state dict under "model", what the model
// was given, and what PyTorch predicted.
struct OfPyTorch : nn::Chain {
  nn::Convolution2D conv{2, 3, 3, {.pad = 1}};
  nn::BatchNormalization bn{3};
  nn::Linear fc{48, 5};
  struct Words : nn::Link {
    nn::Parameter W{0.0, {7, 4}};
    NN_MEMBERS(W)
  } embed;
  Recurrent lstm{4, 5};
  NN_MEMBERS(conv, bn, fc, embed, lstm)
  Variable operator()(const Variable& x, const Array& ids) {
    Variable c(autograd::arrays::zeros({ids.shape(0), 5})), h = c;
    for (std::int64_t k = 0; k < ids.shape(1); ++k) {
      const Array words = autograd::reshape(autograd::slice(ids, 1, k, k + 1), {ids.shape(0)});
      auto [next_c, next_h] = nn::lstm(c, lstm.upward(nn::embed_id(Variable(words), embed.W)) + lstm.lateral(h));
      c = next_c, h = next_h;
    }
    return fc(nn::relu(bn(conv(x), {.test = true}))) + h;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_model_of_pytorch) {
  const std::string path = (Golden::open("serializers/index").folder() / "pytorch.safetensors").string();
  const SafetensorsFile file(path);
  OfPyTorch model;
  const nn::LoadReport report = load_safetensors(path, model, {.path = "model", .style = KeyStyle::pytorch});
  Strings unexpected = report.unexpected;
  std::sort(unexpected.begin(), unexpected.end());
  BOOST_TEST(unexpected == (Strings{"ids", "x", "y"}), boost::test_tools::per_element());
  BOOST_TEST(report.loaded.size() == 13u);
  const auto at_home = [&](const char* name) { return autograd::to_device(get_tensor(file, name), default_device()); };
  check_close(model(Variable(at_home("x")), at_home("ids")).data(), at_home("y"), 1e-5, 1e-5, "prediction");
}

BOOST_AUTO_TEST_CASE(biases_of_an_lstm_are_added_in_float32) {
  const TemporaryFolder folder("biases");
  struct Biases {
    Array ih = autograd::astype(autograd::arrays::full({8}, 256), Dtype::bfloat16),
          hh = autograd::astype(autograd::arrays::full({8}, 1), Dtype::bfloat16);
    void serialize(nn::Serializer& s) {
      s("lstm.bias_ih_l0", ih);
      s("lstm.bias_hh_l0", hh);
    }
  } biases;
  save_safetensors(folder / "b", biases);
  Recurrent lstm;
  nn::serializers::SafetensorsDeserializer s(folder / "b",
                                             {.path = "lstm", .strict = false, .style = KeyStyle::pytorch});
  s.load(lstm);
  BOOST_TEST(values(lstm.upward.b->data()) == std::vector<double>(8, 257), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(renamed_modules) {
  const TemporaryFolder folder("renamed");
  TinyMLP model, loaded;
  const nn::KeyRenames rename = {{"l1", "features.0"}, {"l2/W", "head"}};
  save_safetensors(folder / "m", model, {.style = KeyStyle::pytorch, .rename = rename});
  Strings names = SafetensorsFile(folder / "m").keys();
  std::sort(names.begin(), names.end());
  BOOST_TEST(names == (Strings{"features.0.bias", "features.0.weight", "head", "l2.bias"}),
             boost::test_tools::per_element());
  load_safetensors(folder / "m", loaded, {.style = KeyStyle::pytorch, .rename = rename});
  BOOST_TEST(same_bits(loaded.l1.W.data(), model.l1.W.data()));
  BOOST_TEST(same_bits(loaded.l2.W.data(), model.l2.W.data()));
  // Two beginnings of a state dict for a model within another one, and all of them below a prefix.
  nn::Classifier<TinyMLP> whole{TinyMLP()};
  load_safetensors(folder / "m", whole,
                   {.style = KeyStyle::pytorch,
                    .rename = {{"predictor/l2/W", "head"}, {"predictor/l1", "features.0"}, {"predictor", ""}}});
  BOOST_TEST(same_bits(whole.predictor.l2.b->data(), model.l2.b->data()));
  // The name that is missing is the file's.
  const std::string message =
      message_of<catena::KeyError>([&] { load_safetensors(folder / "m", whole, {.style = KeyStyle::pytorch}); });
  BOOST_TEST(has(message, "predictor.l1.weight"));
  BOOST_TEST(has(message, "predictor/l1/W"));
  // A part of a name that only PyTorch has is reported by its name.
  const nn::LoadReport report = load_safetensors(
      folder / "m", loaded, {.strict = false, .style = KeyStyle::pytorch, .rename = {{"l1", "features.0"}}});
  BOOST_TEST(report.unexpected == (Strings{"head"}), boost::test_tools::per_element());
  BOOST_TEST(report.missing == (Strings{"l2/W"}), boost::test_tools::per_element());
}

// Files that lack what PyTorch does not always store.
BOOST_AUTO_TEST_CASE(batches_need_not_be_counted) {
  const TemporaryFolder folder("counted");
  struct Normalized : nn::Chain {
    nn::BatchNormalization bn{1};
    NN_MEMBERS(bn)
  } model;
  model.bn.N = 3;
  const std::string f32 = "\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":";
  const float numbers[] = {2, 3, 4, 5};
  const std::string data(reinterpret_cast<const char*>(numbers), sizeof numbers);
  const std::string header = "{\"bn.weight\":{" + f32 + "[0,4]},\"bn.bias\":{" + f32 + "[4,8]},\"bn.running_mean\":{" +
                             f32 + "[8,12]},\"bn.running_var\":{" + f32 + "[12,16]}}";
  write_file(folder / "bn", file_of(header, data));
  load_safetensors(folder / "bn", model, {.style = KeyStyle::pytorch});
  BOOST_TEST(model.bn.N == 3);
  BOOST_TEST(values(model.bn.gamma->data())[0] == 2);
  BOOST_TEST(values(model.bn.beta->data())[0] == 3);
  BOOST_TEST(values(model.bn.avg_mean.array())[0] == 4);
  BOOST_TEST(values(model.bn.avg_var.array())[0] == 5);
}

BOOST_AUTO_TEST_CASE(errors) {
  const TemporaryFolder folder("errors");
  TinyMLP model;
  save_safetensors(folder / "m", model);
  const std::string good = file_content(folder / "m");
  struct Text {
    std::string text = "x";
    void serialize(nn::Serializer& s) { s("text", text); }
  } text;
  const std::string message = message_of<catena::TypeError>([&] { save_safetensors(folder / "m", text); });
  BOOST_TEST((has(message, "text") && has(message, "save_npz")));
  struct Twice {
    double x = 1;
    void serialize(nn::Serializer& s) {
      s("W", x);
      s("gamma", x);
    }
  } twice;
  save_safetensors(folder / "t", twice);
  BOOST_TEST(
      has(message_of<catena::ValueError>([&] { save_safetensors(folder / "m", twice, {.style = KeyStyle::pytorch}); }),
          "two entries named weight"));
  BOOST_CHECK_THROW(save_safetensors(folder / "m", model, {.metadata = {{"k", "\xff"}}}), catena::ValueError);
  BOOST_CHECK_THROW(save_safetensors(folder / "m", model, {.metadata = {{"k", "1"}, {"k", "2"}}}), catena::ValueError);
  BOOST_TEST((file_content(folder / "m") == good));  // failed saves leave the old file
  BOOST_TEST(has(message_of<catena::IOError>([&] { load_safetensors(folder / "nowhere", model); }), "No such file"));
  BOOST_CHECK_THROW(load_safetensors(folder.path.string(), model), catena::IOError);
  const SafetensorsFile file(folder / "m");
  BOOST_TEST(has(message_of<catena::KeyError>([&] { get_tensor(file, "l3/W"); }), "l3/W"));
  // An element type that no array can hold is an error for whoever asks for it.
  write_file(folder / "f8", file_of("{\"x\":{\"dtype\":\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[0,2]}}", "ab"));
  const SafetensorsFile f8(folder / "f8");
  BOOST_TEST(f8.keys() == Strings{"x"}, boost::test_tools::per_element());
  BOOST_TEST(has(message_of<catena::TypeError>([&] { get_tensor(f8, "x"); }), "F8_E4M3"));
}

BOOST_AUTO_TEST_CASE(hostile_files) {
  const TemporaryFolder folder("hostile");
  const auto error_of = [&](const std::string& content) {
    write_file(folder / "x", content);
    return message_if_thrown<catena::ValueError>([&] { SafetensorsFile file(folder / "x"); });
  };
  const auto tensor = [](const std::string& shape, const std::string& offsets, const std::string& dtype = "F32") {
    return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
  };
  const std::string four(4, 'x');
  BOOST_TEST(error_of(file_of("{\"a\":" + tensor("[1]", "[0,4]") + "}  ", four)) == "(nothing was thrown)");
  BOOST_TEST(error_of(file_of("{}")) == "(nothing was thrown)");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "0 bytes"},
      {"1234567", "7 bytes"},
      {std::string(8, '\xff'), "limit"},
      {file_of("{}").substr(0, 9), "the header has 2 bytes"},
      {file_of(""), "does not start with {"},
      {file_of(" {}"), "does not start with {"},
      {file_of("[]"), "does not start with {"},
      {file_of("{\"a\""), "no JSON"},
      {file_of("{} x"), "no JSON"},
      {file_of("{\"\xff\":1}"), "no JSON"},
      {file_of("{\"a\":1}"), "a number"},
      {file_of("{\"a\":null}"), "null"},
      {file_of("{\"a\":[" + std::string(100000, '[') + "]}"), "a list"},
      {file_of("{\"a\":{\"b\":{}}}"), "an object"},
      {file_of("{\"a\":{}}"), "not all of"},
      {file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", four), "not all of"},
      {file_of("{\"a\":" + tensor("[1]", "[0]") + "}", four), "not all of"},
      {file_of("{\"a\":" + tensor("[1]", "[0,4,4]") + "}", four), "not all of"},
      {file_of("{\"a\":{\"dtype\":5}}"), "a number"},
      {file_of("{\"a\":{\"size\":\"x\"}}"), "a text"},
      {file_of("{\"__metadata__\":{\"k\":1}}"), "a number"},
      {file_of("{\"__metadata__\":{\"k\":[]}}"), "a list"},
      {file_of("{\"a\":" + tensor("[-1]", "[0,4]") + "}", four), "a negative number"},
      {file_of("{\"a\":" + tensor("[1.5]", "[0,4]") + "}", four), "no integer"},
      {file_of("{\"a\":" + tensor("[99999999999999999999]", "[0,4]") + "}", four), "no integer"},
      {file_of("{\"a\":" + tensor("[[1]]", "[0,4]") + "}", four), "a list"},
      {file_of("{\"a\":" + tensor("[1]", "[0,4]") + ",\"a\":" + tensor("[1]", "[0,4]") + "}", four), "twice"},
      {file_of("{\"a\":{\"shape\":[1],\"shape\":[1]}}"), "twice"},
      {file_of("{\"a\":" + tensor("[4294967296,4294967296]", "[0,4]") + "}", four), "63 bits"},
      {file_of("{\"a\":" + tensor("[1152921504606846976]", "[0,4]") + "}", four), "63 bits"},
      {file_of("{\"a\":" + tensor("[2]", "[0,4]") + "}", four), "has 8"},
      {file_of("{\"a\":" + tensor("[2]", "[0,8]") + "}", four), "there are 4 bytes"},
      {file_of("{\"a\":" + tensor("[1]", "[4,0]") + "}", four), "lies at 4 to 0"},
      {file_of("{\"a\":" + tensor("[1]", "[18446744073709551612,0]") + "}", four), "lies at"},
      {file_of("{\"a\":" + tensor("[1]", "[4,8]") + "}", four + four), "after a gap"},
      {file_of("{\"a\":" + tensor("[1]", "[0,4]") + ",\"b\":" + tensor("[1]", "[0,4]") + "}", four), "within"},
      {file_of("{\"a\":" + tensor("[1]", "[0,4]") + "}", four + "y"), "belong to no tensor"},
      {file_of("{\"a\":" +
                   tensor(
                       "[1" +
                           [] {
                             std::string s;
                             for (int i = 0; i < 40; ++i) s += ",1";
                             return s;
                           }() +
                           "]",
                       "[0,4]") +
                   "}",
               four),
       "dimensions"},
  };
  for (const auto& [content, part] : cases) {
    const std::string message = error_of(content);
    BOOST_TEST(has(message, part), message << " for " << content.substr(0, 120));
  }
  // Every cut of a good file.
  TinyMLP model;
  save_safetensors(folder / "good", model);
  const std::string good = file_content(folder / "good");
  for (std::size_t cut = 0; cut < good.size(); ++cut)
    BOOST_TEST(error_of(good.substr(0, cut)) != "(nothing was thrown)", cut);
}

// Names of single arrays: those of nn.LSTM hold gates, whatever the link; slashes around ours do not matter.
BOOST_AUTO_TEST_CASE(renamed_arrays_of_an_lstm) {
  const TemporaryFolder folder("gates");
  Recurrent saved, loaded;
  fill_all(saved);
  struct Bias {
    Array b = floats({1, 2, 3, 4, 5, 6, 7, 8}, {8});
    void serialize(nn::Serializer& s) { s("rnn.bias_hh_l1", b); }
  };
  const nn::KeyRenames rename = {{"/upward/W", "rnn.weight_ih_l1"},
                                 {"upward/b/", "rnn.bias_ih_l1"},
                                 {"lateral/W", "rnn.weight_hh_l1"},
                                 {"", "rnn"}};
  save_safetensors(folder / "m", saved, {.style = KeyStyle::pytorch, .rename = rename});
  Recurrent plain;
  plain.copyparams(saved);
  save_safetensors(folder / "plain", plain, {.style = KeyStyle::pytorch});
  const SafetensorsFile file(folder / "m"), by_path(folder / "plain");
  BOOST_TEST(same_bits(get_tensor(file, "rnn.weight_ih_l1"), get_tensor(by_path, "weight_ih_l0")));
  BOOST_TEST(same_bits(get_tensor(file, "rnn.weight_hh_l1"), get_tensor(by_path, "weight_hh_l0")));
  BOOST_TEST(same_bits(get_tensor(file, "rnn.bias_ih_l1"), get_tensor(by_path, "bias_ih_l0")));
  BOOST_TEST(file.keys().size() == 4u);
  const nn::LoadReport report = load_safetensors(folder / "m", loaded, {.style = KeyStyle::pytorch, .rename = rename});
  BOOST_TEST(same_bits(loaded.upward.W.data(), saved.upward.W.data()));
  BOOST_TEST(same_bits(loaded.lateral.W.data(), saved.lateral.W.data()));
  BOOST_TEST(same_bits(loaded.upward.b->data(), saved.upward.b->data()));
  BOOST_TEST(report.unexpected.empty());
  // The first pair that fits counts: of a link ahead of its array, the link's.
  TinyMLP model;
  save_safetensors(folder / "t", model, {.style = KeyStyle::pytorch, .rename = {{"l1", "a"}, {"l1/W", "w"}}});
  const SafetensorsFile first(folder / "t");
  BOOST_TEST(get_tensor(first, "a.weight").size() == model.l1.W.size());
  // The names that were looked for are named, those of nn.LSTM ahead.
  BOOST_TEST(
      has(message_of<catena::KeyError>([&] { load_safetensors(folder / "t", loaded, {.style = KeyStyle::pytorch}); }),
          "there is no entry weight_ih_l0 or upward.weight (for upward/W)"));
}

// Names that are none of nn.LSTM's arrays, or of one of its biases alone: rows are reordered for the latter only, and
// nothing is added.
BOOST_AUTO_TEST_CASE(renames_that_are_none_of_an_lstm) {
  const TemporaryFolder folder("no_gates");
  Recurrent saved, loaded;
  fill_all(saved);
  save_safetensors(folder / "plain", saved, {.style = KeyStyle::pytorch});
  const nn::KeyRenames renames[] = {
      {{"upward", "child"}}, {{"upward/W", "child.weight"}, {"upward/b", "child.bias"}}, {{"upward/b", "bias_hh_l3"}}};
  for (const nn::KeyRenames& rename : renames) {
    save_safetensors(folder / "m", saved, {.style = KeyStyle::pytorch, .rename = rename});
    const SafetensorsFile file(folder / "m"), plain(folder / "plain");
    const bool is_bias = rename[0].second == "bias_hh_l3";
    if (is_bias) {
      BOOST_TEST(same_bits(get_tensor(file, "bias_hh_l3"), get_tensor(plain, "bias_ih_l0")));
    } else {
      BOOST_TEST(same_bits(get_tensor(file, "child.weight"), autograd::to_device(saved.upward.W.data(), {})));
      BOOST_TEST(same_bits(get_tensor(file, "child.bias"), autograd::to_device(saved.upward.b->data(), {})));
    }
    BOOST_TEST(file.keys().size() == 3u);
    const nn::LoadReport report =
        load_safetensors(folder / "m", loaded, {.style = KeyStyle::pytorch, .rename = rename});
    BOOST_TEST(same_bits(loaded.upward.W.data(), saved.upward.W.data()));
    BOOST_TEST(same_bits(loaded.upward.b->data(), saved.upward.b->data()));
    BOOST_TEST(report.unexpected.empty());
  }
}

// Another process may shorten a file that is open here.
BOOST_AUTO_TEST_CASE(a_file_that_is_cut_while_it_is_open) {
  const TemporaryFolder folder("cut");
  struct Large : nn::Chain {
    nn::Linear l{512, 512};
    NN_MEMBERS(l)
  } model;
  save_safetensors(folder / "m", model);
  const SafetensorsFile file(folder / "m");
  nn::serializers::SafetensorsDeserializer loader(folder / "m");
  const Array whole = get_tensor(file, "l/W");
  BOOST_TEST(same_bits(whole, model.l.W.data()));
  std::filesystem::resize_file(folder / "m", 4096);
  BOOST_TEST(has(message_of<catena::IOError>([&] { get_tensor(file, "l/W"); }), "the file ends at byte 4096"));
  BOOST_TEST(has(message_of<catena::IOError>([&] { loader.load(model); }), "the file ends at byte"));
  BOOST_TEST(same_bits(model.l.W.data(), whole));
}

// A format that hands out fewer bytes than the shape of an entry has.
BOOST_AUTO_TEST_CASE(entries_of_too_few_bytes) {
  struct Short : nn::Serializer {
    Short(const nn::LoadOptions& options) : Serializer(options) {}
    bool is_writer() const noexcept override { return false; }
    catena::Owned<Serializer> child(std::string) const override { return {}; }
    std::optional<catena::NpyArray> fetch(const std::string&) const override {
      return catena::NpyArray{"<f4", Dtype::float32, 4, false, {8}, std::vector<std::byte>(24)};
    }
    std::string source() const override { return "Short"; }
  };
  Array a = autograd::arrays::ones({8});
  Short gates({.style = KeyStyle::pytorch}), plain({});
  BOOST_TEST(message_of<catena::ValueError>([&] { gates("lateral/W", a); }) ==
             "LSTM: the entry lateral/W has 24 bytes, which is not the size of shape (8,)");
  BOOST_TEST(message_of<catena::ValueError>([&] { plain("lateral/W", a); }) ==
             "Short: 32 bytes were asked for after 0 of 24");
  BOOST_TEST(values(a) == std::vector<double>(8, 1), boost::test_tools::per_element());
}

// Ignored arrays are no unexpected ones, whatever the file calls them.
BOOST_AUTO_TEST_CASE(ignored_names_of_pytorch) {
  const TemporaryFolder folder("ignored");
  Recurrent lstm;
  save_safetensors(folder / "m", lstm, {.style = KeyStyle::pytorch});
  const nn::LoadReport report =
      load_safetensors(folder / "m", lstm, {.ignore_names = {"upward/W", "upward/b"}, .style = KeyStyle::pytorch});
  BOOST_TEST(report.ignored == (Strings{"upward/W", "upward/b"}), boost::test_tools::per_element());
  BOOST_TEST(report.unexpected.empty());
}

BOOST_AUTO_TEST_CASE(gates_of_an_unknown_dtype) {
  const TemporaryFolder folder("f8");
  Recurrent lstm;
  for (const std::string shape : {"0", "10"}) {
    write_file(folder / "m",
               file_of("{\"weight_ih_l0\":{\"dtype\":\"F8_E4M3\",\"shape\":[" + shape + "],\"data_offsets\":[0,10]}}",
                       "0123456789"));
    BOOST_TEST(has(message_of<catena::TypeError>(
                       [&] { load_safetensors(folder / "m", lstm, {.strict = false, .style = KeyStyle::pytorch}); }),
                   "F8_E4M3"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
