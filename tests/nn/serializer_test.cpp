// Serializers: keys, values, errors, files of the reference, files that cannot be written.
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
#include <set>

#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/npz.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using json = test::Json;
using nn::serializers::DictionarySerializer;
using nn::serializers::load_npz;
using nn::serializers::NpzDeserializer;
using nn::serializers::save_npz;

namespace {

// One entry of every kind.
struct Everything {
  Array array = floats({1, 2, 3, 4, 5, 6}, {2, 3});
  bool yes = true;
  std::int32_t small = -3;
  std::int64_t large = std::int64_t(1) << 40;
  std::uint64_t bits = ~std::uint64_t(0);
  double number = 0.1;
  std::string text = "gr\xc3\xbc\xc3\x9f dich";
  std::vector<std::int64_t> order = {2, 0, 1};
  void serialize(nn::Serializer& s) {
    s("array", array);
    s("yes", yes);
    (*s["sub"])("small", small);
    s("/sub/large", large);
    (*s["/sub/"])("/deep/bits", bits);
    s("number", number);
    s("text", text);
    s("order", order);
  }
};

// conv, batch normalization in test mode, relu: the blocks of the stored "convbn" model.
struct Block : nn::Chain {
  nn::Convolution2D conv;
  nn::BatchNormalization bn;
  Block(int in, int out) : conv(in, out, 3, {.pad = 1}), bn(out) {}
  NN_MEMBERS(conv, bn)
  Variable operator()(const Variable& x) { return nn::relu(bn(conv(x), {.test = true})); }
};
struct PReLU : nn::Link {
  nn::Parameter W{0.25, {3}};
  NN_MEMBERS(W)
  Variable operator()(const Variable& x) { return nn::relu(x) - W * nn::relu(-x); }
};
struct ConvBN : nn::Chain {
  nn::ChainList blocks{Block(2, 3), Block(3, 2)};
  nn::Linear fc{32, 3};
  PReLU act;
  NN_MEMBERS(blocks, fc, act)
  Variable operator()(const Variable& x) { return act(fc(blocks.call({x}))); }
};

// The keys of an npz file with their shapes and dtypes, as the JSON of a stored file lists them.
void check_keys(const std::string& path, const json& keys) {
  const catena::NpzReader npz("test", path);
  const std::vector<std::string> list = npz.keys();
  BOOST_TEST(list.size() == keys.size());
  for (const std::string& key : list) {
    BOOST_TEST_CONTEXT(key) {
      BOOST_REQUIRE(keys.contains(key));
      const catena::NpyArray a = npz.read(key);
      BOOST_TEST(a.shape == Shape(keys[key]["shape"].get<std::vector<std::int64_t>>()));
      BOOST_TEST((a.dtype == catena::dtype_from_name(keys[key]["dtype"].get<std::string>())));
    }
  }
}

template <class Model> void check_model(const Golden& index, const json& c, Model& model) {
  const catena::NpzReader values_of("test", (index.folder() / "expected.npz").string());
  const std::string path = (index.folder() / c["file"].get<std::string>()).string();
  load_file(path, model);
  for (const nn::NamedParam& p : model.namedparams()) {
    const Array stored = to_array(values_of.read(c["values"][p.path.substr(1)].get<std::string>()));
    check_close(p.param.data(), autograd::astype(stored, p.param.dtype()), 0, 0, p.path);
  }
  const Array y = model(Variable(to_array(values_of.read(c["input"].get<std::string>())))).data();
  check_close(y, to_array(values_of.read(c["prediction"].get<std::string>())), c["tolerance"][0], c["tolerance"][1],
              "prediction");

  const TemporaryFolder folder("model");
  save_npz(folder / "out.npz", model);
  check_keys(folder / "out.npz", c["keys"]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(serializers)

BOOST_AUTO_TEST_CASE(keys_are_paths) {
  Everything e;
  DictionarySerializer s;
  s.save(e);
  std::vector<std::string> keys;
  for (const auto& entry : s.entries()) keys.push_back(entry.key);
  const std::vector<std::string> expected{"array",         "yes",    "sub/small", "sub/large",
                                          "sub/deep/bits", "number", "text",      "order"};
  BOOST_TEST(keys == expected, boost::test_tools::per_element());
  BOOST_TEST((s.entries()[1].dtype == Dtype::bool_));
  BOOST_TEST((s.entries()[2].dtype == Dtype::int64));  // the format has one integer type
  BOOST_TEST((s.entries()[5].dtype == Dtype::float64));
  BOOST_TEST(s.entries()[2].shape == Shape{});
  BOOST_TEST(s.entries()[6].is_text);
}

BOOST_AUTO_TEST_CASE(a_map_of_the_callers_is_filled) {
  TinyMLP model;
  std::map<std::string, autograd::Array> target, below;
  DictionarySerializer(target).save(model);
  std::vector<std::string> keys, expected;
  for (const auto& [key, values] : target) {
    keys.push_back(key);
    BOOST_TEST((values.device() == autograd::Device{autograd::Device::Kind::cpu, 0}));
  }
  for (const auto& p : model.namedparams()) {
    expected.push_back(p.path.substr(1));
    BOOST_TEST(same_bits(target.at(expected.back()), p.param.data()));
  }
  std::sort(expected.begin(), expected.end());
  BOOST_TEST(keys == expected, boost::test_tools::per_element());
  DictionarySerializer(below, "/part/").save(model);
  BOOST_TEST(below.contains("part/" + keys.front()));

  std::map<std::string, autograd::Array> all;
  Everything e;
  DictionarySerializer s(all);
  s.save(e);
  BOOST_TEST(all.size() == s.entries().size());
  const auto text = autograd::to_vector<std::uint8_t>(all.at("text"));
  BOOST_TEST(std::string(text.begin(), text.end()) == e.text);
}

BOOST_AUTO_TEST_CASE(everything_comes_back) {
  const TemporaryFolder folder("roundtrip");
  for (const bool compression : {true, false}) {
    Everything e;
    save_npz(folder / "e", e, compression);  // no extension is appended
    Everything f;
    f.array = autograd::arrays::zeros({2, 3});
    const Array same = f.array;
    f.yes = false, f.small = 0, f.large = 0, f.bits = 0, f.number = 0, f.text = "", f.order = {};
    load_npz(folder / "e", f);
    BOOST_TEST(same_bits(f.array, e.array));
    BOOST_TEST(same.get() == f.array.get());  // contents were copied into the given array
    BOOST_TEST(f.yes);
    BOOST_TEST(f.small == -3);
    BOOST_TEST(f.large == e.large);
    BOOST_TEST(f.bits == e.bits);
    BOOST_TEST(f.number == 0.1);
    BOOST_TEST(f.text == e.text);
    BOOST_TEST(f.order == e.order, boost::test_tools::per_element());
  }
  Everything e;
  save_npz(folder / "a", e);
  save_npz(folder / "b", e);
  BOOST_TEST((file_content(folder / "a") == file_content(folder / "b")));  // equal content gives equal bytes
}

BOOST_AUTO_TEST_CASE(a_null_array_becomes_what_is_stored) {
  const TemporaryFolder folder("fresh");
  Everything e;
  save_npz(folder / "e", e);
  Everything f;
  f.array = {};
  load_npz(folder / "e", f);
  BOOST_TEST(same_bits(f.array, e.array));
}

// A damaged count is an error; any dtype will do for a good one.
BOOST_AUTO_TEST_CASE(integers_are_no_nan) {
  const TemporaryFolder folder("integers");
  struct Number {
    double value;
    void serialize(nn::Serializer& s) { s("n", value); }
  };
  struct Count {
    std::int64_t n = 7;
    void serialize(nn::Serializer& s) { s("n", n); }
  };
  Count count;
  for (const double value : {std::nan(""), double(INFINITY), -1e19, 9223372036854775808.0}) {
    Number number{value};
    save_npz(folder / "n", number);
    BOOST_TEST(has(message_of<catena::ValueError>([&] { load_npz(folder / "n", count); }), "no integer can hold"));
    BOOST_TEST(count.n == 7);
  }
  Number good{-3.5};
  save_npz(folder / "n", good);
  load_npz(folder / "n", count);
  BOOST_TEST(count.n == -3);
}

BOOST_AUTO_TEST_CASE(shapes_and_dtypes_are_checked) {
  const TemporaryFolder folder("errors");
  Everything e;
  save_npz(folder / "e.npz", e);
  auto load = [&](Array target) {
    NpzDeserializer s(folder / "e.npz");
    s("array", target);
    return target;
  };
  const Array untouched = autograd::arrays::zeros({2, 1});
  const std::string shape = message_of<catena::ValueError>([&] { load(untouched); });
  BOOST_TEST(has(shape, "e.npz"));
  BOOST_TEST(has(shape, "array"));
  BOOST_TEST(has(shape, "(2, 3)"));
  BOOST_TEST(has(shape, "(2, 1)"));
  BOOST_TEST(values(untouched) == (std::vector<double>{0, 0}), boost::test_tools::per_element());
  const std::string dtype = message_of<catena::TypeError>([&] { load(autograd::arrays::zeros({2, 3}, Dtype::int32)); });
  BOOST_TEST(has(dtype, "float32"));
  BOOST_TEST(has(dtype, "int32"));
  BOOST_TEST(values(load(autograd::arrays::zeros({2, 3}, Dtype::float64)))[5] == 6);
  BOOST_TEST(values(load(autograd::arrays::zeros({2, 3}, Dtype::float16)))[5] == 6);

  NpzDeserializer s(folder / "e.npz");
  std::string text;
  double number = 0;
  std::int64_t integer = 0;
  BOOST_CHECK_THROW(s("number", text), catena::TypeError);
  BOOST_CHECK_THROW(s("text", number), catena::TypeError);
  BOOST_CHECK_THROW(s("array", number), catena::ValueError);
  std::int32_t narrow = 5;
  BOOST_TEST(has(message_of<catena::ValueError>([&] { s("sub/large", narrow); }), "1099511627776"));
  BOOST_TEST(narrow == 5);
  s("yes", number);  // any number from any number
  s("number", integer);
  BOOST_TEST(number == 1.0);
  BOOST_TEST(integer == 0);
}

// Every layout that a file may have, into arrays of its own dtype and of others.
BOOST_AUTO_TEST_CASE(layouts_of_files) {
  const TemporaryFolder folder("layouts");
  const std::vector<double> in_c_order = {1, 2, 3, 4, 5, 6};
  const std::pair<std::string, std::string> cases[] = {
      {"'>i2', 'fortran_order': True, 'shape': (2, 3)", std::string("\0\1\0\4\0\2\0\5\0\3\0\6", 12)},
      {"'<i2', 'fortran_order': False, 'shape': (2, 3)", std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12)},
      {"'|u1', 'fortran_order': True, 'shape': (2, 3)", std::string("\1\4\2\5\3\6", 6)}};
  for (const auto& [what, data] : cases)
    for (const catena::ZipMethod method : {catena::ZipMethod::stored, catena::ZipMethod::deflated}) {
      std::string file = "\x93NUMPY\1";
      const std::string dictionary = "{'descr': " + what + "}";
      file += {'\0', static_cast<char>(dictionary.size()), '\0'};
      file += dictionary + data;
      catena::MemorySink archive;
      catena::ZipWriter zip(archive);
      zip.begin("a.npy", method).write(file.data(), file.size());
      zip.end();
      zip.finish();
      const std::string content(reinterpret_cast<const char*>(archive.bytes().data()), archive.bytes().size());
      write_file(folder / "a.npz", content);
      const NpzDeserializer s(folder / "a.npz");
      for (const Dtype t : {Dtype::int16, Dtype::uint8, Dtype::int64, Dtype::float16, Dtype::float32, Dtype::float64,
                            Dtype::bfloat16, Dtype::complex64}) {
        Array target = autograd::arrays::zeros({2, 3}, t);
        NpzDeserializer reader(folder / "a.npz");
        reader("a", target);
        BOOST_TEST((target.dtype() == t));
        const Array real = t == Dtype::complex64 ? target : autograd::astype(target, Dtype::float64);
        if (t != Dtype::complex64) BOOST_TEST(values(real) == in_c_order, boost::test_tools::per_element());
        else BOOST_TEST(autograd::to_vector<catena::complex64>(real)[5].re == 6);
        Array strided = autograd::transpose(autograd::arrays::zeros({3, 2}, Dtype::float32));
        reader("a", strided);
        BOOST_TEST(values(strided) == in_c_order, boost::test_tools::per_element());
      }
      Array absent;
      NpzDeserializer reader(folder / "a.npz");
      reader("a", absent);
      BOOST_TEST(values(autograd::astype(absent, Dtype::float64)) == in_c_order, boost::test_tools::per_element());
      BOOST_TEST(absent.is_c_contiguous());
      BOOST_TEST(s.contains("a"));
      BOOST_TEST((s.stored("a")->shape == Shape{2, 3}));

      // One byte of the elements, or of what stands for them, is another one: nothing is written.
      std::string damaged = content;
      const std::size_t end = content.find("PK\1\2");
      damaged[end - 5] = static_cast<char>(damaged[end - 5] ^ 0x10);
      write_file(folder / "bad.npz", damaged);
      NpzDeserializer bad(folder / "bad.npz");
      Array untouched = autograd::arrays::ones({2, 3});
      BOOST_CHECK_THROW(bad("a", untouched), catena::ValueError);
      BOOST_TEST(values(untouched) == std::vector<double>(6, 1), boost::test_tools::per_element());
    }
  // A file that is cut is no archive.
  const std::string content = file_content(folder / "a.npz");
  write_file(folder / "cut.npz", content.substr(0, content.size() / 2));
  BOOST_CHECK_THROW(NpzDeserializer(folder / "cut.npz"), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(missing_keys) {
  const TemporaryFolder folder("missing");
  TinyMLP half;
  {
    DictionarySerializer s;
    half.l1.serialize(*s["l1"]);
    nn::serializers::internal::write_npz(folder / "half.npz", s, true);
  }
  TinyMLP model;
  const Array before = autograd::copy(model.l2.W.data());
  const std::string message = message_of<catena::KeyError>([&] { load_npz(folder / "half.npz", model); });
  BOOST_TEST(has(message, "half.npz"));
  BOOST_TEST(has(message, "l2/W"));
  load_npz(folder / "half.npz", model, false);
  BOOST_TEST(same_bits(model.l1.W.data(), half.l1.W.data()));
  BOOST_TEST(same_bits(model.l2.W.data(), before));
  // A part of a file, and a file with more than is needed.
  TinyMLP other;
  NpzDeserializer s(folder / "half.npz");
  other.l1.serialize(*s["l1"]);
  BOOST_TEST(same_bits(other.l1.b->data(), half.l1.b->data()));
  for (const char* path : {"l1", "l1/", "/l1/"}) {
    TinyMLP part;
    NpzDeserializer below(folder / "half.npz", path);
    part.l1.serialize(below);
    BOOST_TEST(same_bits(part.l1.W.data(), half.l1.W.data()));
    BOOST_TEST(below.keys().size() == 2u);
    NpzDeserializer lenient(folder / "half.npz", path, false), exact(folder / "half.npz", path, true);
    BOOST_CHECK_NO_THROW(part.serialize(lenient));  // there is no l1/l1/W
    BOOST_CHECK_THROW(part.serialize(exact), catena::KeyError);
    DictionarySerializer written(path);
    part.l1.serialize(written);
    BOOST_TEST(written.entries()[0].key.starts_with("l1/"));
    BOOST_TEST(!written.entries()[0].key.starts_with("l1//"));
  }
}

BOOST_AUTO_TEST_CASE(pending_parameters) {
  const TemporaryFolder folder("pending");
  StatefulMLP lazy;
  const std::string message = message_of<catena::ValueError>([&] { save_npz(folder / "m.npz", lazy); });
  BOOST_TEST(has(message, "l1/W"));
  BOOST_TEST(!std::filesystem::exists(folder / "m.npz"));
  lazy(Variable(autograd::arrays::ones({4, 5})));
  save_npz(folder / "m.npz", lazy);
  StatefulMLP loaded;
  load_npz(folder / "m.npz", loaded);  // creates them with the stored shapes
  BOOST_TEST(loaded.l1.W.shape() == Shape({16, 5}));
  BOOST_TEST(same_bits(loaded.l1.W.data(), lazy.l1.W.data()));
  BOOST_TEST(same_bits(loaded.bn.avg_var.array(), lazy.bn.avg_var.array()));
}

BOOST_AUTO_TEST_CASE(files_that_are_no_archives) {
  const TemporaryFolder folder("broken");
  TinyMLP model;
  BOOST_TEST(has(message_of<catena::IOError>([&] { load_npz(folder / "nowhere.npz", model); }), "nowhere.npz"));
  save_npz(folder / "good.npz", model);
  const std::string good = file_content(folder / "good.npz");
  for (std::size_t cut = 0; cut < good.size(); cut += 1 + good.size() / 50) {
    write_file(folder / "cut.npz", good.substr(0, cut));
    BOOST_TEST(has(message_of<catena::Error>([&] { load_npz(folder / "cut.npz", model); }), "cut.npz"));
  }
}

BOOST_AUTO_TEST_CASE(a_failed_save_leaves_the_old_file) {
  const TemporaryFolder folder("failed");
  TinyMLP model;
  save_npz(folder / "m.npz", model);
  const std::string old = file_content(folder / "m.npz");
  StatefulMLP big(300);
  big(Variable(autograd::arrays::ones({2, 500})));
  // No file of this process may now grow beyond 64 KiB: what a full disk does.
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit tight{64 * 1024, limit.rlim_max};
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &tight);
  const std::string message = message_of<catena::IOError>([&] { save_npz(folder / "m.npz", big, false); });
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, ignored);
  BOOST_TEST(has(message, "m.npz"));
  BOOST_TEST((file_content(folder / "m.npz") == old));
  BOOST_TEST(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);  // and nothing beside it
}

BOOST_AUTO_TEST_CASE(models_written_by_the_reference) {
  const auto index = Golden::open("serializers/index");
  int checked = 0;
  for (const json& c : reference_files(index, "model")) {
    const std::string file = c["file"];
    BOOST_TEST_CONTEXT(file) {
      ++checked;
      if (file.starts_with("convbn.")) {
        ConvBN model;
        check_model(index, c, model);
        BOOST_TEST(dynamic_cast<Block&>(model.blocks[0]).bn.N == 7);
      } else {
        TinyMLP model;
        if (file == "mlp_float64.npz")
          for (Variable& p : model.params()) p.set_data(autograd::astype(p.data(), Dtype::float64));
        check_model(index, c, model);
      }
    }
  }
  BOOST_TEST(checked == (nn::serializers::hdf5_available() ? 7 : 4));
}

BOOST_AUTO_TEST_SUITE_END()
