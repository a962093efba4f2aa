// HDF5 files: what comes back, their layout, several objects in one file, files of other programs, hostile ones.
#include <catena/nn/serializers/hdf5.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <thread>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/missing_parts.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using nn::serializers::HDF5Deserializer;
using nn::serializers::HDF5File;
using nn::serializers::HDF5Group;
using nn::serializers::HDF5Serializer;
using nn::serializers::load_hdf5;
using nn::serializers::save_hdf5;

namespace {

using Strings = std::vector<std::string>;

// One entry of every kind.
struct Everything {
  Array array = floats({1, 2, 3, 4, 5, 6}, {2, 3}), one = floats({7}, {1}), scalar = floats({8}, {}),
        empty = autograd::arrays::zeros({0, 3});
  bool yes = true;
  std::int32_t small = -3;
  std::uint64_t bits = ~std::uint64_t(0);
  double number = 0.1;
  std::string text = "gr\xc3\xbc\xc3\x9f dich", nothing;
  std::vector<std::int64_t> order = {2, 0, 1}, no_order;
  void serialize(nn::Serializer& s) {
    s("array", array);
    s("one", one);
    s("scalar", scalar);
    s("empty", empty);
    s("yes", yes);
    (*s["sub"])("small", small);
    (*s["/sub/"])("/deep//bits", bits);
    s("number", number);
    s("text", text);
    s("nothing", nothing);
    s("order", order);
    s("no_order", no_order);
    s["without/entries"];
  }
};

// Without HDF5 in this build: the error that says so, and a line on standard output.
bool has_hdf5() {
  if (!test::lacks(nn::serializers::hdf5_available(), "HDF5")) return true;
  TinyMLP model;
  for (const std::string& message : {message_of<catena::RuntimeError>([&] { save_hdf5("model.h5", model); }),
                                     message_of<catena::RuntimeError>([&] { load_hdf5("model.h5", model); }),
                                     message_of<catena::RuntimeError>([&] { HDF5File("model.h5", "w"); })}) {
    BOOST_TEST(has(message, "model.h5"));
    BOOST_TEST(has(message, "CATENA_WITH_HDF5"));
  }
  return false;
}

std::string golden_file(const std::string& name) {
  return (Golden::open("serializers/index").folder() / name).string();
}

std::string read_text(nn::Serializer& s, const std::string& key) {
  std::string text = "(untouched)";
  s(key, text);
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hdf5)

BOOST_AUTO_TEST_CASE(everything_comes_back) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("hdf5");
  for (const std::optional<int> compression :
       {std::optional(4), std::optional(0), std::optional(9), std::optional<int>()}) {
    Everything e;
    save_hdf5(folder / "e.h5", e, compression);
    Everything f;
    f.array = autograd::arrays::zeros({2, 3}), f.one = autograd::arrays::zeros({1}), f.scalar = {}, f.empty = {};
    f.yes = false, f.small = 0, f.bits = 0, f.number = 0, f.text = "", f.nothing = "x", f.order = {}, f.no_order = {1};
    const Array same = f.array;
    const nn::LoadReport report = load_hdf5(folder / "e.h5", f);
    BOOST_TEST(same.get() == f.array.get());  // contents were copied into the given array
    BOOST_TEST(same_bits(f.array, e.array));
    BOOST_TEST(same_bits(f.one, e.one));
    BOOST_TEST(same_bits(f.scalar, e.scalar));
    BOOST_TEST(f.empty.shape() == Shape({0, 3}));
    BOOST_TEST((f.yes && f.small == -3 && f.bits == e.bits && f.number == 0.1));
    BOOST_TEST(f.text == e.text);
    BOOST_TEST(f.nothing == "");
    BOOST_TEST(f.order == e.order, boost::test_tools::per_element());
    BOOST_TEST(f.no_order.empty());
    BOOST_TEST(report.loaded.size() == 12u);
    BOOST_TEST((report.missing.empty() && report.unexpected.empty()));
  }
  Everything e;
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // times in files would differ by a second
  save_hdf5(folder / "again.h5", e, std::nullopt);
  BOOST_TEST((file_content(folder / "again.h5") == file_content(folder / "e.h5")));  // equal content gives equal bytes
  nn::serializers::save_npz(folder / "e.npz", e);
  BOOST_TEST(nn::serializers::load_npz(folder / "e.npz", e).unexpected.empty());  // doubled slashes there, too
}

BOOST_AUTO_TEST_CASE(every_dtype_survives) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("dtypes");
  for (int i = 0; i < catena::kNumDtypes; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    BOOST_TEST_CONTEXT(std::string(catena::name_of(dtype))) {
      struct One {
        Array a;
        void serialize(nn::Serializer& s) { s("a", a); }
      } saved, loaded;
      std::vector<std::byte> bytes(4 * catena::itemsize(dtype));
      for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = std::byte(k % 3 == 0);  // true and false for bool
      saved.a = autograd::from_host(bytes.data(), {4}, dtype, autograd::Device{});
      save_hdf5(folder / "a.h5", saved);
      load_hdf5(folder / "a.h5", loaded);
      BOOST_TEST(same_bits(loaded.a, saved.a));
    }
  }
}

// Files that are not in one chunk of 1 MiB.
BOOST_AUTO_TEST_CASE(large_arrays) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("large");
  struct Arrays {
    Array rows = autograd::reshape(autograd::arrays::arange(700 * 1000, Dtype::int32), {700, 1000}),
          one_row = autograd::arrays::arange(300 * 1000, Dtype::int64),
          blocks = autograd::reshape(autograd::arrays::arange(3 * 2 * 500 * 200, Dtype::int32), {3, 2, 500, 200});
    void serialize(nn::Serializer& s) {
      s("rows", rows);
      s("one_row", one_row);
      s("blocks", blocks);
    }
  } saved, loaded;
  loaded.rows = {}, loaded.one_row = {}, loaded.blocks = {};
  save_hdf5(folder / "a.h5", saved);
  load_hdf5(folder / "a.h5", loaded);
  BOOST_TEST(same_bits(loaded.rows, saved.rows));
  BOOST_TEST(same_bits(loaded.one_row, saved.one_row));
  BOOST_TEST(same_bits(loaded.blocks, saved.blocks));
}

// The text of h5dump, which is not ours, about a file.
BOOST_AUTO_TEST_CASE(properties_of_datasets) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("properties");
  if (std::system("h5dump --version > /dev/null 2>&1") != 0) {
    std::cout << "skipped: h5dump (hdf5-tools) is not installed\n";
    return;
  }
  Everything e;
  save_hdf5(folder / "e.h5", e);
  const auto dump = [&](const std::string& options) {
    const std::string to = folder / "dump";
    BOOST_REQUIRE(std::system(("h5dump " + options + " " + folder / "e.h5" + " > " + to + " 2>&1").c_str()) == 0);
    return file_content(to);
  };
  const std::string array = dump("-p -H -d /array");
  for (const char* part :
       {"H5T_IEEE_F32LE", "SIMPLE { ( 2, 3 ) / ( 2, 3 ) }", "CHUNKED ( 2, 3 )", "COMPRESSION DEFLATE { LEVEL 4 }"})
    BOOST_TEST(has(array, part), array);
  BOOST_TEST(!has(array, "SHUFFLE"));
  const std::string one = dump("-p -H -d /one");
  for (const char* part : {"SIMPLE { ( 1 ) / ( 1 ) }", "CONTIGUOUS", "NONE"}) BOOST_TEST(has(one, part), one);
  const std::string number = dump("-p -H -d /number");
  for (const char* part : {"H5T_IEEE_F64LE", "SCALAR", "CONTIGUOUS", "NONE"}) BOOST_TEST(has(number, part), number);
  const std::string yes = dump("-d /yes");
  for (const char* part : {"H5T_ENUM", "H5T_STD_I8LE", "\"FALSE\"            0", "\"TRUE\"             1", "(0): TRUE"})
    BOOST_TEST(has(yes, part), yes);
  BOOST_TEST(has(dump("-d /sub/small"), "H5T_STD_I64LE"));
  const std::string text = dump("-d /text");
  for (const char* part : {"STRSIZE H5T_VARIABLE", "CSET H5T_CSET_UTF8", "SCALAR", "dich"})
    BOOST_TEST(has(text, part), text);
  BOOST_TEST(has(dump("-H -g /without/entries"), "GROUP \"/without/entries\" {\n}"));  // an empty group
  BOOST_TEST(has(dump("-H -d /sub/deep/bits"), "H5T_STD_I64LE"));                      // doubled slashes count once
}

BOOST_AUTO_TEST_CASE(several_objects_in_one_file) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("groups");
  TinyMLP first, second;
  {
    HDF5File file(folder / "f.h5", "w");
    HDF5Serializer(file.create_group("models/first")).save(first);
    HDF5Serializer(file.require_group("/models/second/"), 9).save(second);
    BOOST_TEST(has(message_of<catena::ValueError>([&] { file.create_group("models/first"); }), "models/first"));
    BOOST_TEST(has(message_of<catena::ValueError>([&] { file.require_group("models/first/l1/W"); }), "dataset"));
    BOOST_TEST(has(message_of<catena::ValueError>([&] { HDF5Serializer(file["models/first"]).save(second); }), "l1/W"));
    file.flush();
  }
  const HDF5File file(folder / "f.h5");
  BOOST_TEST(file["models"].name() == "/models");
  BOOST_TEST(file["models"]["first"].keys() == (Strings{"l1/W", "l1/b", "l2/W", "l2/b"}),
             boost::test_tools::per_element());
  BOOST_TEST((file.contains("models/first/l1/W") && file.contains("models") && !file.contains("models/third")));
  BOOST_TEST(has(message_of<catena::KeyError>([&] { file["models/third"]; }), "models/third"));
  TinyMLP a, b, c;
  HDF5Deserializer(file["models/first"]).load(a);
  HDF5Deserializer(file, {.path = "/models/second/"}).load(b);
  double absent = 7;
  HDF5Deserializer(file["models/first"], false)("absent", absent);
  BOOST_TEST(absent == 7);
  BOOST_CHECK_THROW(HDF5Deserializer(file["models/first"], true)("absent", absent), catena::KeyError);
  const nn::LoadReport report = load_hdf5(folder / "f.h5", c, "models/first");
  BOOST_TEST(
      report.loaded == (Strings{"models/first/l1/W", "models/first/l1/b", "models/first/l2/W", "models/first/l2/b"}),
      boost::test_tools::per_element());
  BOOST_TEST(report.unexpected.empty());
  BOOST_TEST(same_bits(a.l1.W.data(), first.l1.W.data()));
  BOOST_TEST(same_bits(b.l2.W.data(), second.l2.W.data()));
  BOOST_TEST(same_bits(c.l2.b->data(), first.l2.b->data()));
  // Nothing can be written to what is open for reading.
  BOOST_TEST(has(message_of<catena::IOError>([&] { HDF5Serializer(file.require_group("new")).save(a); }), "f.h5"));
}

BOOST_AUTO_TEST_CASE(modes) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("modes");
  const std::string path = folder / "f.h5";
  BOOST_TEST(has(message_of<catena::IOError>([&] { HDF5File file(path); }), "No such file"));
  BOOST_TEST(has(message_of<catena::IOError>([&] { HDF5File file(path, "r+"); }), "No such file"));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { HDF5File file(path, "rw"); }), "rw"));
  HDF5File(path, "a").create_group("a");
  HDF5File(path, "a").create_group("b");
  HDF5File(path, "r+").create_group("c");
  BOOST_TEST((HDF5File(path).contains("a") && HDF5File(path).contains("b") && HDF5File(path).contains("c")));
  BOOST_TEST(has(message_of<catena::IOError>([&] { HDF5File file(path, "w-"); }), "exists"));
  BOOST_CHECK_THROW(HDF5File(path, "x"), catena::IOError);
  HDF5File(path, "w").create_group("d");
  BOOST_TEST((!HDF5File(path).contains("a") && HDF5File(path).contains("d")));
  BOOST_CHECK_THROW(HDF5File(folder / "nowhere/f.h5", "w"), catena::IOError);
  for (const int level : {-1, 10})
    BOOST_CHECK_THROW(HDF5Serializer(HDF5File(folder / "g.h5", "w"), level), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(errors) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("errors");
  TinyMLP model;
  const std::string path = folder / "m.h5";
  save_hdf5(path, model);
  const std::string good = file_content(path);
  struct Wider : nn::Chain {
    nn::Linear l1{4, 6}, l2{6, 3}, l3{3, 3};
    NN_MEMBERS(l1, l2, l3)
  } wider;
  const Array before = autograd::copy(wider.l1.W.data());
  const std::string message = message_of<catena::KeyError>([&] { load_hdf5(path, wider); });
  BOOST_TEST(has(message, "m.h5"));
  BOOST_TEST(has(message, "l3/W"));
  BOOST_TEST(same_bits(wider.l1.W.data(), before));  // as it was
  BOOST_TEST(load_hdf5(path, wider, false).missing == (Strings{"l3/W", "l3/b"}), boost::test_tools::per_element());
  BOOST_TEST(same_bits(wider.l1.W.data(), model.l1.W.data()));
  // A dataset where groups are asked for, and the other way round.
  struct Deeper {
    double x = 1;
    std::string key;
    void serialize(nn::Serializer& s) { s(key, x); }
  } deeper{1, "l1/W/m"}, group{1, "l1"};
  BOOST_TEST(has(message_of<catena::KeyError>([&] { load_hdf5(path, deeper); }), "l1/W/m"));
  BOOST_TEST(has(message_of<catena::KeyError>([&] { load_hdf5(path, group); }), "l1"));

  struct Text {
    std::string text;
    void serialize(nn::Serializer& s) { s("text", text); }
  } with_nul{std::string("a\0b", 3)}, no_utf8{"\xff"};
  BOOST_TEST(has(message_of<catena::ValueError>([&] { save_hdf5(path, with_nul); }), "NUL"));
  BOOST_CHECK_THROW(save_hdf5(path, no_utf8), catena::ValueError);
  StatefulMLP pending;
  BOOST_CHECK_THROW(save_hdf5(path, pending), catena::ValueError);
  BOOST_TEST((file_content(path) == good));  // failed saves leave the old file
  BOOST_TEST(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
  BOOST_CHECK_THROW(save_hdf5(folder / "nowhere/m.h5", model), catena::IOError);
}

BOOST_AUTO_TEST_CASE(files_that_are_damaged) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("damaged");
  TinyMLP model;
  save_hdf5(folder / "good.h5", model);
  const std::string good = file_content(folder / "good.h5");
  for (std::size_t cut = 0; cut < good.size(); cut += 1 + good.size() / 50) {
    write_file(folder / "cut.h5", good.substr(0, cut));
    BOOST_TEST(has(message_of<catena::Error>([&] { load_hdf5(folder / "cut.h5", model); }), "cut.h5"));
  }
  const std::string message = message_of<catena::ValueError>([&] {
    write_file(folder / "text", std::string(5000, 'x'));
    load_hdf5(folder / "text", model);
  });
  BOOST_TEST(has(message, "is no readable HDF5 file"));
  BOOST_TEST(has(message, "signature"));  // the library's reason
  BOOST_CHECK_THROW(load_hdf5(folder.path.string(), model), catena::Error);
}

// h5py.h5 is written by tests/interop/make_h5py_fixture.py.
BOOST_AUTO_TEST_CASE(files_of_h5py) {
  if (!has_hdf5()) return;
  const HDF5File file(golden_file("h5py.h5"));
  HDF5Deserializer s(file);
  std::vector<float> ramp;
  for (int i = 0; i < 24; ++i) ramp.push_back(float(i) / 8);
  const auto array = [&](const std::string& key) {
    Array a;
    s(key, a);
    return a;
  };
  for (const char* key : {"layouts/contiguous", "layouts/gzip", "layouts/shuffle", "layouts/growing",
                          "layouts/big_endian", "links/hard", "links/soft", "/links//loop/loop/hard"})
    BOOST_TEST(same_bits(array(key), floats(ramp, {4, 6})), key);
  BOOST_TEST(array("layouts/empty").shape() == Shape({0, 3}));
  BOOST_TEST(values(array("layouts/unwritten")) == std::vector<double>(24, 2.5), boost::test_tools::per_element());
  const std::string lzf = message_of<catena::ValueError>([&] { array("layouts/lzf"); });
  BOOST_TEST(has(lzf, "lzf"), lzf);

  const std::map<std::string, Dtype> types = {{"i1", Dtype::int8},    {"u1", Dtype::uint8},  {"i2", Dtype::int16},
                                              {"u2", Dtype::uint16},  {"i4", Dtype::int32},  {"u4", Dtype::uint32},
                                              {"i8", Dtype::int64},   {"u8", Dtype::uint64}, {"f2", Dtype::float16},
                                              {"f4", Dtype::float32}, {"f8", Dtype::float64}};
  for (const auto& [name, dtype] : types) {
    const Array a = array("types/" + name);
    BOOST_TEST((a.dtype() == dtype), name);
    BOOST_TEST(values(a) == (std::vector<double>{1, 2, 100}), boost::test_tools::per_element());
  }
  BOOST_TEST((array("types/c8").dtype() == Dtype::complex64 && array("types/c16").dtype() == Dtype::complex128));
  BOOST_TEST((array("types/bool").dtype() == Dtype::bool_));
  BOOST_TEST(values(array("types/bool")) == (std::vector<double>{1, 0, 1}), boost::test_tools::per_element());
  BOOST_TEST((array("types/enum").dtype() == Dtype::int32));
  BOOST_TEST(values(array("types/enum")) == (std::vector<double>{2, 1}), boost::test_tools::per_element());
  BOOST_TEST((array("types/long_double").dtype() == Dtype::float64));
  BOOST_TEST(values(array("types/long_double")) == (std::vector<double>{0.5, 0.25}), boost::test_tools::per_element());
  BOOST_TEST(!array("types/none"));
  BOOST_TEST(has(message_of<catena::TypeError>([&] { array("types/compound"); }), "compound"));
  BOOST_TEST(has(message_of<catena::TypeError>([&] { array("types/opaque"); }), "opaque"));

  BOOST_TEST(read_text(s, "texts/variable") == "gr\xc3\xbc\xc3\x9f dich");
  BOOST_TEST(read_text(s, "texts/variable_ascii") == "plain");
  BOOST_TEST(read_text(s, "texts/fixed_ascii") == "plain");
  BOOST_TEST(read_text(s, "texts/fixed_utf8") == "gr\xc3\xbc\xc3\x9f dich");
  BOOST_TEST(read_text(s, "texts/nothing") == "");
  BOOST_CHECK_THROW(read_text(s, "texts/several"), catena::TypeError);
  BOOST_CHECK_THROW(read_text(s, "types/i4"), catena::TypeError);
  BOOST_CHECK_THROW(array("texts/variable"), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(hostile_files) {
  if (!has_hdf5()) return;
  const HDF5File file(golden_file("h5py.h5"));
  const auto error_of = [&](const std::string& key) {
    HDF5Deserializer s(file);
    Array a;
    return message_of<catena::ValueError>([&] { s(key, a); });
  };
  // Other files are not read, whatever a file says.
  BOOST_TEST(has(error_of("links/external"), "external"));
  BOOST_TEST(has(error_of("links/virtual"), "in other files"));
  BOOST_TEST(has(error_of("links/raw"), "in other files"));
  BOOST_TEST(has(error_of("links/dangling"), "dangling"));
  // Nothing is allocated for what is only claimed.
  BOOST_TEST(has(error_of("huge/contiguous"), "(1099511627776,)"));
  BOOST_TEST(has(error_of("huge/chunked"), "0 bytes are stored"));
  BOOST_TEST(has(error_of("huge/overflow"), "huge/overflow"));
  BOOST_TEST(has(error_of("huge/chunk"), "chunks of 268435456 elements"));
  BOOST_TEST(has(error_of("huge/text"), "huge/text"));
  // A group that contains itself is listed once, links out of the file not at all.
  const Strings keys = file.keys();
  BOOST_TEST(std::count(keys.begin(), keys.end(), "links/hard") <= 1);
  BOOST_TEST(std::count(keys.begin(), keys.end(), "links/external") == 0);
  BOOST_TEST(keys.size() < 60u);
}

// Keys, shapes and dtypes of the reference's files are those of files that are written here.
BOOST_AUTO_TEST_CASE(the_same_keys_as_npz) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("same");
  TinyMLP model;
  load_hdf5(golden_file("mlp.h5"), model);
  save_hdf5(folder / "m.h5", model);
  const HDF5File ours(folder / "m.h5"), theirs(golden_file("mlp.h5"));
  BOOST_TEST(ours.keys() == theirs.keys(), boost::test_tools::per_element());
  const HDF5Deserializer a(ours), b(theirs);
  for (const std::string& key : theirs.keys()) {
    const auto x = a.stored(key), y = b.stored(key);
    BOOST_TEST((x->shape == y->shape && x->dtype == y->dtype && x->data == y->data), key);
  }
}

BOOST_AUTO_TEST_CASE(threads_at_once) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("threads");
  TinyMLP model;
  save_hdf5(folder / "m.h5", model);
  std::vector<std::string> errors(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < errors.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        for (int round = 0; round < 10; ++round) {
          TinyMLP own;
          load_hdf5(folder / "m.h5", own);
          save_hdf5(folder / "all.h5", own);  // one of them is there in the end
          if (!same_bits(own.l1.W.data(), model.l1.W.data())) errors[i] = "other values";
        }
      } catch (const std::exception& e) {
        errors[i] = e.what();
      }
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& e : errors) BOOST_TEST(e == "");
  TinyMLP last;
  load_hdf5(folder / "all.h5", last);
  BOOST_TEST(same_bits(last.l2.W.data(), model.l2.W.data()));
}

BOOST_AUTO_TEST_SUITE_END()
