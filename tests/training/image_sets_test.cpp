// Fashion-MNIST, Kuzushiji-MNIST and SVHN: files that the test writes, the caches, damaged files.
#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include <catena/kernels/formats/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/datasets.h>

using namespace test;
using namespace training;
namespace fs = std::filesystem;
using Doubles = std::vector<double>;

namespace {

struct Root {
  TemporaryFolder folder{"image_sets"};
  Root() {
    ::setenv("CATENA_OFFLINE", "1", 1);
    set_dataset_root(folder.path.string());
    fs::create_directories(folder.path / "_dl_cache");
  }
  ~Root() { set_dataset_root(""); }
  void put(const std::string& name, const std::string& content) const {
    write_file((folder.path / "_dl_cache" / name).string(), content);
  }
};

// ---- IDX ----
std::string number(std::uint32_t n) { return {char(n >> 24), char(n >> 16), char(n >> 8), char(n)}; }
std::string images(int n) {
  std::string data = std::string("\0\0\x08\3", 4) + number(std::uint32_t(n)) + number(28) + number(28);
  for (int i = 0; i < n * 784; ++i) data += char(i % 253);
  return data;
}
std::string labels(const std::string& values) {
  return std::string("\0\0\x08\1", 4) + number(std::uint32_t(values.size())) + values;
}
std::string packed(const std::string& content) {
  uLongf size = ::compressBound(uLong(content.size()));
  std::string out(size, '\0');
  BOOST_REQUIRE(::compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(content.data()),
                           uLong(content.size())) == Z_OK);
  out.resize(size);
  return out;
}

// ---- MATLAB, level 5 ----
template <class T> std::string bytes_of(T v) { return {reinterpret_cast<const char*>(&v), sizeof v}; }
std::string element(std::uint32_t type, const std::string& data) {
  std::string text = bytes_of(type) + bytes_of(std::uint32_t(data.size())) + data;
  return text + std::string((8 - data.size() % 8) % 8, '\0');
}
std::string small(std::uint32_t type, const std::string& data) {
  std::string text = bytes_of(type | std::uint32_t(data.size()) << 16) + data;
  return text + std::string(8 - text.size(), '\0');
}
// An array whose values have the given type; `array_class` 9 is uint8, 6 double, 4 text.
std::string matrix(const std::string& name, const std::vector<std::int32_t>& shape, std::uint32_t type,
                   const std::string& values, char array_class = 9) {
  std::string lengths;
  for (const std::int32_t length : shape) lengths += bytes_of(length);
  return element(14, element(6, std::string(1, array_class) + std::string(7, '\0')) + element(5, lengths) +
                         (name.size() <= 4 ? small(1, name) : element(1, name)) +
                         (values.size() <= 4 ? small(type, values) : element(type, values)));
}
std::string compressed(const std::string& content) {
  const std::string data = packed(content);
  return bytes_of(std::uint32_t(15)) + bytes_of(std::uint32_t(data.size())) + data;
}
std::string mat(const std::string& elements) {
  std::string head = "MATLAB 5.0 MAT-file, written by a test";
  head.resize(124, ' ');
  return head + std::string("\0\1IM", 4) + elements;
}
int svhn_pixel(int image, int channel, int row, int column) {
  return (image * 7 + channel * 50 + row * 3 + column) % 256;
}
std::string svhn_values(int n) {
  std::string values;  // the first index varies fastest: row, column, channel, image
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c)
      for (int column = 0; column < 32; ++column)
        for (int row = 0; row < 32; ++row) values += char(svhn_pixel(i, c, row, column));
  return values;
}
constexpr const char* kExtra = "http://ufldl.stanford.edu/housenumbers/extra_32x32.mat";
std::string svhn(int n, const std::string& label_values, bool pack) {
  const std::string x = matrix("X", {32, 32, 3, n}, 2, svhn_values(n)), y = matrix("y", {n, 1}, 2, label_values, 6);
  return mat(pack ? compressed(x) + compressed(y) : x + y);
}
// Names of files of the download cache, the MD5 of the addresses.
constexpr const char *kTrainName = "ba33c567813d40d8191480b49c8d17dc", *kTestName = "442ed6c94f5626430418a18fa7b21795",
                     *kExtraName = "2704677935c3fd82b6ac1db12ced551d";

void check_svhn(const DatasetMixin& d, double scale) {
  for (int i = 0; i < d.size(); ++i) {
    const Array image = d[i].values[0];
    BOOST_TEST((image.shape() == Shape({3, 32, 32})));
    const Doubles v = values(image);
    for (int k = 0; k < 3072; ++k) {
      const double expected = svhn_pixel(i, k / 1024, k / 32 % 32, k % 32) * scale / 255;
      BOOST_REQUIRE_MESSAGE(std::fabs(v[std::size_t(k)] - expected) < 1e-6 * scale, i << " " << k);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(image_sets)

BOOST_AUTO_TEST_CASE(sets_of_the_form_of_mnist) {
  using datasets::MnistOptions;
  struct Set {
    datasets::TrainTest (*get)(const MnistOptions&);
    const char *op, *folder, *cache;
  };
  const Set sets[] = {
      {datasets::get_fashion_mnist, "get_fashion_mnist", "fashion-mnist", "pfnet/chainer/fashion-mnist"},
      {datasets::get_kuzushiji_mnist, "get_kuzushiji_mnist", "kuzushiji_mnist", "pfnet/chainer/kuzushiji_mnist"}};
  for (const Set& set : sets) {
    const Root root;
    const std::string missing = message_of<catena::IOError>([&] { set.get({}); });
    BOOST_TEST((has(missing, set.op) && has(missing, set.folder) && !has(missing, "generated_mnist")), missing);
    for (const char* where : {set.folder, set.cache}) {
      const fs::path folder = root.folder.path / where;
      fs::create_directories(folder);
      write_file((folder / "train-images-idx3-ubyte").string(), images(2));
      write_file((folder / "train-labels-idx1-ubyte").string(), labels("\3\4"));
      write_file((folder / "t10k-images-idx3-ubyte").string(), images(1));
      write_file((folder / "t10k-labels-idx1-ubyte").string(), labels("\5"));
      const auto [train, test] =
          set.get({.ndim = 3, .scale = 255, .dtype = Dtype::float64, .label_dtype = Dtype::int64});
      BOOST_TEST((train->size() == 2 && test->size() == 1));
      const auto [image, label] = (*train)[1];
      BOOST_TEST((image.shape() == Shape({1, 28, 28}) && image.dtype() == Dtype::float64));
      BOOST_TEST(std::fabs(values(image)[5] - (784 + 5) % 253) < 1e-9);
      BOOST_TEST((values(label)[0] == 4 && label.dtype() == Dtype::int64));
      BOOST_TEST(set.get({.withlabel = false}).test->get_example(0).values.size() == 1);
      fs::remove_all(folder);
    }
    BOOST_TEST(has(message_of<catena::ValueError>([&] { set.get({.ndim = 4}); }), set.op));
  }
  BOOST_TEST(datasets::get_fashion_mnist_labels().at(9) == "Ankle boot");
  BOOST_TEST(datasets::get_kuzushiji_mnist_labels().size() == 10);
}

// The download cache has Chainer's names; a part of npz files is written, from which later calls read.
BOOST_AUTO_TEST_CASE(cache_of_fashion_mnist) {
  const Root root;
  root.put("d816638d5d83debc5daa005ee533cfb0", images(2));
  root.put("ef6f3241a0fc8d21d97fb12e6ac896de", labels("\1\2"));
  root.put("dba54c68981b4360510c1948d7ade037", images(3));
  root.put("2b3f8f45aac5f1bb590421788878aa6e", labels("\3\4\5"));
  BOOST_TEST(datasets::get_fashion_mnist(true, 2, 1.0).train->size() == 2);
  fs::remove_all(root.folder.path / "_dl_cache");
  const auto [train, test] = datasets::get_fashion_mnist();
  BOOST_TEST((train->size() == 2 && test->size() == 3 && values((*test)[2].values[1])[0] == 5));
  BOOST_TEST(fs::exists(root.folder.path / "pfnet/chainer/fashion-mnist/train.npz"));
}

BOOST_AUTO_TEST_CASE(house_numbers) {
  for (const bool pack : {false, true}) {
    const Root root;
    root.put(kTrainName, svhn(3, "\1\12\3", pack));
    root.put(kTestName, svhn(2, "\12\12", pack));
    for (const bool from_cache : {false, true}) {
      const auto [train, test] = datasets::get_svhn();
      BOOST_TEST((train->size() == 3 && test->size() == 2));
      check_svhn(*train, 1);
      check_svhn(*test, 1);
      Doubles digits;
      for (const Example& e : train->slice({}, {})) digits.push_back(values(e.values[1])[0]);
      BOOST_TEST(digits == (Doubles{1, 0, 3}), boost::test_tools::per_element());  // 10 stands for 0
      BOOST_TEST(((*train)[0].values[1].dtype() == Dtype::int32));
      if (!from_cache) fs::remove_all(root.folder.path / "_dl_cache");
    }
    const catena::NpzReader npz("test", (root.folder.path / "pfnet/chainer/svhn/train.npz").string());
    const catena::NpyArray x = npz.read("x"), y = npz.read("y");
    BOOST_TEST((x.shape == Shape({32, 32, 3, 3}) && y.shape == Shape({3, 1}) && y.as<std::uint8_t>()[1] == 10));
    BOOST_TEST(x.as<std::uint8_t>()[((5 * 32 + 6) * 3 + 1) * 3 + 2] == svhn_pixel(2, 1, 5, 6));
    const datasets::TrainTest options =
        datasets::get_svhn({.withlabel = false, .scale = 255, .dtype = Dtype::float64, .label_dtype = Dtype::int64});
    BOOST_TEST(((*options.train)[0].values.size() == 1 && (*options.train)[0].values[0].dtype() == Dtype::float64));
    check_svhn(*options.test, 255);
    BOOST_TEST(
        ((*datasets::get_svhn(true, 1.0, Dtype::float32, Dtype::int64).test)[0].values[1].dtype() == Dtype::int64));
    BOOST_TEST(has(message_of<catena::IOError>([] { datasets::get_svhn_extra(); }), kExtra));
    fs::create_directories(root.folder.path / "_dl_cache");
    root.put(kExtraName, svhn(1, "\7", pack));
    BOOST_TEST(values((*datasets::get_svhn_extra())[0].values[1])[0] == 7);
    BOOST_CHECK_THROW(datasets::get_svhn({.dtype = Dtype::int32}), catena::TypeError);
  }
}

// Forms of the format that other writers use, and arrays that are passed over.
BOOST_AUTO_TEST_CASE(forms_of_mat_files) {
  const Root root;
  root.put(kTestName, svhn(1, "\1", true));
  const std::string x = matrix("X", {32, 32, 3, 1}, 2, svhn_values(1));
  const std::string text = matrix("about", {1, 5}, 4, "h e l l o ", 4),
                    fractions = matrix("f", {1, 1}, 9, bytes_of(0.5), 6);
  const std::string y = matrix("y", {1, 1}, 9, bytes_of(10.0), 6);
  root.put(kTrainName, mat(text + compressed(fractions) + x + compressed(y) + element(1, "abc")));
  BOOST_TEST(values((*datasets::get_svhn().train)[0].values[1])[0] == 0);
  for (const auto& [type, value] : {std::pair(1, bytes_of(std::int8_t(4))),
                                    {3, bytes_of(std::int16_t(4))},
                                    {4, bytes_of(std::uint16_t(4))},
                                    {5, bytes_of(4)},
                                    {6, bytes_of(4u)},
                                    {7, bytes_of(4.0F)}}) {
    fs::remove_all(root.folder.path / "pfnet");
    root.put(kTrainName, mat(x + matrix("y", {1, 1}, std::uint32_t(type), value, 6)));
    BOOST_TEST(values((*datasets::get_svhn().train)[0].values[1])[0] == 4, "type " << type);
  }
}

BOOST_AUTO_TEST_CASE(damaged_mat_files) {
  const Root root;
  const auto refused = [&](const std::string& content, const std::string& why) {
    root.put(kTrainName, content);
    const std::string message = message_of<catena::ValueError>([] { datasets::get_svhn(); });
    BOOST_TEST((has(message, why) && has(message, kTrainName)), message);
    BOOST_TEST(!fs::exists(root.folder.path / "pfnet/chainer/svhn/train.npz"));
  };
  const std::string x = matrix("X", {32, 32, 3, 1}, 2, svhn_values(1)), y = matrix("y", {1, 1}, 2, "\1");
  refused("nothing", "no MATLAB file of level 5");
  refused("MATLAB 5.0", "no MATLAB file of level 5");
  std::string big = mat(x + y);
  big[126] = 'M', big[127] = 'I';
  refused(big, "big-endian");
  refused(mat(x), "no array \"y\"");
  refused(mat(y), "no array \"X\"");
  refused(mat(x + matrix("y", {2, 1}, 2, "\1\2")), "(32, 32, 3, N) and (N, 1) are needed");
  refused(mat(matrix("X", {2, 2, 3, 1}, 2, std::string(12, 'a')) + y), "are needed");
  refused(mat(x + matrix("y", {1, 1}, 2, "\13")), "a label is 11");
  refused(mat(matrix("X", {32, 32, 3, 2}, 2, svhn_values(1)) + y), "claims more values");
  refused(mat(matrix("X", {1 << 30, 1 << 30, 1 << 30, 16}, 2, svhn_values(1)) + y), "claims more values");
  refused(mat(x + matrix("y", {2}, 2, "\1")), "has 1 values");
  refused(mat(x + matrix("y", {-1, 1}, 2, "\1")), "claims more values");
  const std::string whole = mat(x + y);
  for (std::size_t n = 128; n < whole.size(); n += 97)
    refused(whole.substr(0, n), n == 128 ? "no array" : "ends within");
  const std::string pack = compressed(x);
  refused(mat(pack.substr(0, pack.size() - 9)), "ends within");
  std::string cut = compressed(x.substr(0, 500));
  refused(mat(cut), "ends within");
  cut = pack;
  cut[cut.size() / 2] = char(cut[cut.size() / 2] ^ 0x55);
  refused(mat(cut), "");
  // A bomb: it would expand to much more than its size allows.
  refused(mat(compressed(element(14, std::string(std::size_t(40) << 20, '\0')))), "expands to more than");
}

BOOST_AUTO_TEST_SUITE_END()
