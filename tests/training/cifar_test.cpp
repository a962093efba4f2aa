// CIFAR: archives as Python wrote them, the caches, hostile archives and pickles, generated images.
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include <catena/kernels/formats/npz.h>
#include <catena/tests/support/golden.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/datasets.h>

using namespace test;
using namespace training;

namespace {

constexpr const char *kName10 = "f2751d3a22ccb78db0e07874912b5c43", *kName100 = "6f484b433b6182c2cfd60f9bc85e9321";

struct Root {
  TemporaryFolder folder{"cifar"};
  Root() {
    ::setenv("CATENA_OFFLINE", "1", 1);
    set_dataset_root(folder.path.string());
    std::filesystem::create_directories(folder.path / "_dl_cache");
  }
  ~Root() { set_dataset_root(""); }
  std::string download(const char* name) const { return folder / (std::string("_dl_cache/") + name); }
  void clear_cache() const { std::filesystem::remove_all(folder.path / "pfnet"); }
};

// The archives of tests/golden/cifar (README.md there).
void put_archive(const Root& root, const char* file, const char* name) {
  std::filesystem::copy_file(source_folder() / "tests/golden/cifar" / file, root.download(name));
}
int pixel(int image, int k) { return (image * 31 + k / 7) % 256; }

void check_images(const DatasetMixin& d, int first, double scale) {
  for (std::int64_t i = 0; i < d.size(); ++i) {
    const std::vector<double> v = values(d[i].values[0]);
    BOOST_REQUIRE(v.size() == 3072u);
    for (int k = 0; k < 3072; ++k)
      BOOST_REQUIRE_MESSAGE(std::fabs(v[std::size_t(k)] - pixel(first + int(i), k) * scale / 255) < 1e-5 * scale,
                            "image " << i << " pixel " << k << ": " << v[std::size_t(k)]);
  }
}
std::vector<double> labels(const DatasetMixin& d) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < d.size(); ++i) all.push_back(values(d[i].values[1])[0]);
  return all;
}

// ---- archives of the test's own ----
std::string tar_member(const std::string& name, const std::string& content, std::uint64_t claimed) {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  put(0, name);
  char digits[13];
  std::snprintf(digits, sizeof digits, "%011llo", static_cast<unsigned long long>(claimed));
  put(124, digits);
  put(148, "        ");
  put(156, "0");
  put(257, std::string("ustar\0"
                       "00",
                       8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(digits, sizeof digits, "%06o", sum);
  put(148, digits);
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}
void write_gzip(const std::string& path, const std::string& content) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), unsigned(content.size()));
  gzclose(file);
}
const std::string kArrayHead = "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK" + std::string(1, '\0') +
                               "\x85U\x01"
                               "b\x87R";
std::string array_state(const std::string& shape, const std::string& type, const std::string& bytes) {
  return "(K\x01" + shape + "cnumpy\ndtype\nU\x02" + type + std::string("K\0K\x01", 4) + "\x87R(K\x03U\x01|NNN" +
         std::string("J\xff\xff\xff\xffJ\xff\xff\xff\xffK\0", 12) + "tb\x89T" +
         std::string{char(bytes.size()), char(bytes.size() >> 8), 0, 0} + bytes + "tb";
}
const std::string kShape("K\x01M\0\x0c\x86", 6);  // (1, 3072)
std::string pickle(const std::string& labels, const std::string& data, const std::string& key = "fine_labels") {
  return "\x80\x02}(U" + std::string(1, char(key.size())) + key + labels +
         "U\x04"
         "data" +
         data + "u.";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cifar)

BOOST_AUTO_TEST_CASE(ten_classes) {
  const Root root;
  put_archive(root, "cifar-10-python.tar.gz", kName10);
  const auto check_all = [&] {
    const datasets::TrainTest parts = datasets::get_cifar10();
    BOOST_TEST(parts.origin == "real (" + (root.folder / "pfnet/chainer/cifar") + ")");
    const auto [train, test] = parts;
    BOOST_REQUIRE(train->size() == 10);  // the batches in their order, which is not that of the archive
    BOOST_REQUIRE(test->size() == 3);
    BOOST_TEST((*train)[0].values[0].shape() == Shape({3, 32, 32}));
    BOOST_TEST(((*train)[0].values[0].dtype() == Dtype::float32));
    BOOST_TEST(((*train)[0].values[1].dtype() == Dtype::int32));
    check_images(*train, 0, 1);
    check_images(*test, 100, 1);
    BOOST_TEST(labels(*train) == (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), boost::test_tools::per_element());
    BOOST_TEST(labels(*test) == (std::vector<double>{0, 1, 2}), boost::test_tools::per_element());
  };
  check_all();
  const std::string cache = root.folder / "pfnet/chainer/cifar/cifar-10.npz";
  const catena::NpzReader npz("test", cache);
  BOOST_TEST((npz.keys() == std::vector<std::string>{"train_x", "train_y", "test_x", "test_y"}));
  BOOST_TEST(npz.read("train_x").shape == Shape({10, 3072}));
  BOOST_TEST(npz.read("train_x").descr == "|u1");
  BOOST_TEST(npz.read("train_y").shape == Shape({10}));
  BOOST_TEST(npz.read("test_y").descr == "|u1");
  const catena::ZipReader zip("test", cache);
  for (const catena::ZipMember& member : zip.members()) BOOST_TEST(member.method == 8);
  std::filesystem::remove_all(root.folder.path / "_dl_cache");
  check_all();  // from the cache

  const auto [train, test] = datasets::get_cifar10(false, 1, 255.0);
  BOOST_TEST((*train)[3].values.size() == 1u);
  BOOST_TEST((*train)[3].values[0].shape() == Shape({3072}));
  check_images(*train, 0, 255);
  BOOST_TEST((*datasets::get_cifar10({.withlabel = false}).test)[0].values.size() == 1u);
  for (const int ndim : {0, 2, 4})
    BOOST_TEST(has(message_of<catena::ValueError>([&] { datasets::get_cifar10({.ndim = ndim}); }), "1 or 3"));
}

BOOST_AUTO_TEST_CASE(hundred_classes) {
  const Root root;
  put_archive(root, "cifar-100-python.tar.gz", kName100);
  const auto [train, test] = datasets::get_cifar100();
  BOOST_REQUIRE(train->size() == 4);
  BOOST_REQUIRE(test->size() == 2);
  check_images(*train, 0, 1);
  check_images(*test, 50, 1);
  BOOST_TEST(labels(*train) == (std::vector<double>{0, 33, 66, 99}), boost::test_tools::per_element());
  BOOST_TEST(labels(*test) == (std::vector<double>{50, 83}), boost::test_tools::per_element());
  BOOST_TEST(std::filesystem::exists(root.folder / "pfnet/chainer/cifar/cifar-100.npz"));
  const auto flat = datasets::get_cifar100({.withlabel = false, .ndim = 1, .scale = 255.0});
  BOOST_REQUIRE((*flat.train)[0].values.size() == 1u);
  BOOST_TEST(((*flat.train)[0].values[0].shape() == Shape{3072}));
  const std::vector<double> whole = values((*flat.train)[1].values[0]), part = values((*train)[1].values[0]);
  for (std::size_t i = 0; i < whole.size(); ++i) BOOST_REQUIRE(std::fabs(whole[i] - 255 * part[i]) < 1e-4);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_had) {
  const Root root;
  const std::string message = message_of<catena::IOError>([] { datasets::get_cifar10(); });
  for (const std::string& part : {std::string("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"),
                                  std::string("CATENA_OFFLINE is set"), root.download(kName10)})
    BOOST_TEST(has(message, part), message);
  // A cache of another form.
  std::filesystem::create_directories(root.folder / "pfnet/chainer/cifar");
  std::filesystem::copy_file(source_folder() / "tests/golden/optimizers.npz",
                             root.folder / "pfnet/chainer/cifar/cifar-10.npz");
  BOOST_TEST(has(message_of<catena::KeyError>([] { datasets::get_cifar10(); }), "cifar-10.npz"));
}

BOOST_AUTO_TEST_CASE(classes_of_torchvision) {
  const Root root;
  const std::string folder = root.folder.path.string();
  const auto check = [](const DatasetMixin& d, std::int64_t size, int first) {
    BOOST_REQUIRE(d.size() == size);
    BOOST_TEST((d[0].values[0].dtype() == Dtype::uint8));
    BOOST_TEST((d[0].values[1].dtype() == Dtype::int64));
    BOOST_TEST(d[0].values[0].shape() == Shape({3, 32, 32}));
    BOOST_TEST(d[0].values[1].shape() == Shape{});
    check_images(d, first, 255);
  };
  BOOST_CHECK_THROW(datasets::CIFAR10{folder}, catena::IOError);
  put_archive(root, "cifar-10-python.tar.gz", "../cifar-10-python.tar.gz");
  put_archive(root, "cifar-100-python.tar.gz", "../cifar-100-python.tar.gz");
  const datasets::CIFAR10 train(folder);
  check(train, 10, 0);
  BOOST_TEST(labels(train) == (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), boost::test_tools::per_element());
  BOOST_TEST(train.get_batch(std::vector<std::int64_t>{1, 2})->values[0].shape() == Shape({2, 3, 32, 32}));
  check(datasets::CIFAR10(folder, {.train = false}), 3, 100);
  const auto only_label = [](Example e) { return Example(e[1]); };
  const datasets::CIFAR10 changed(folder, {.train = false, .transform = only_label}), same(folder, false, only_label);
  BOOST_TEST(!changed.get_batch(std::vector<std::int64_t>{1}));
  BOOST_TEST(values(changed[2].values[0]) == (std::vector<double>{2}), boost::test_tools::per_element());
  BOOST_TEST(values(same[2].values[0]) == (std::vector<double>{2}), boost::test_tools::per_element());
  BOOST_TEST(datasets::CIFAR100(folder).size() == datasets::CIFAR100(folder, {.train = true}).size());
  BOOST_CHECK_THROW(datasets::CIFAR10(folder, {.download = true}), catena::ValueError);

  // The unpacked folder goes before the archive.
  const std::string one = pickle(
      "]K\x05"
      "a",
      kArrayHead + array_state(kShape, "u1", std::string(3072, '\7')));
  std::filesystem::create_directories(root.folder.path / "cifar-100-python");
  write_file(root.folder / "cifar-100-python/train", one);
  const datasets::CIFAR100 unpacked(folder, true);
  BOOST_TEST(unpacked.size() == 1);
  BOOST_TEST(values(unpacked[0].values[1])[0] == 5);
  BOOST_TEST(values(unpacked[0].values[0])[3071] == 7);
  BOOST_CHECK_THROW(datasets::CIFAR100(folder, false), catena::IOError);
  write_file(root.folder / "cifar-100-python/test", "what is this?");
  BOOST_TEST(has(message_of<catena::ValueError>([&] { datasets::CIFAR100(folder, {.train = false}); }),
                 "cifar-100-python/test"));
}

BOOST_AUTO_TEST_CASE(hostile_archives) {
  const Root root;
  const std::string one = pickle(
      "]K\x05"
      "a",
      kArrayHead + array_state(kShape, "u1", std::string(3072, '\7')));
  const std::string folder = "cifar-100-python/";
  const auto archive = [&](const std::string& train, const std::string& test) {
    return tar_member(folder + "train", train, train.size()) + tar_member(folder + "test", test, test.size()) +
           std::string(1024, '\0');
  };
  const auto refused = [&](const std::string& tar, const std::string& why) {
    write_gzip(root.download(kName100), tar);
    const std::string message = message_of<catena::ValueError>([] { datasets::get_cifar100(); });
    BOOST_TEST((has(message, kName100) && has(message, why)), why << ": " << message);
    BOOST_TEST(!std::filesystem::exists(root.folder / "pfnet/chainer/cifar/cifar-100.npz"));
  };
  write_gzip(root.download(kName100), archive(one, one));  // it is good before it is damaged
  BOOST_TEST(values((*datasets::get_cifar100().train)[0].values[1])[0] == 5);
  root.clear_cache();
  const std::string good = archive(one, one);
  for (std::size_t n = 1; n < good.size() - 1024 - 512; n += 97) refused(good.substr(0, n), "ends");
  refused("what is this? " + good, "no tar archive");
  refused(tar_member(folder + "train", one, one.size()) + std::string(1024, '\0'), "no member cifar-100-python/test");
  refused(tar_member(folder + "train", one, 077777777777), "claims");

  const auto refused_pickle = [&](const std::string& text, const std::string& why) {
    refused(archive(text, one), why);
  };
  for (std::size_t n = 0; n < one.size(); n += 53) refused_pickle(one.substr(0, n), "pickle");
  refused_pickle(
      "\x80\x02"
      "cos\nsystem\nU\x04true\x85R.",
      "os.system, which no data set needs");
  refused_pickle(
      "\x80\x02"
      "c__builtin__\neval\nU\x01"
      "1\x85R.",
      "__builtin__.eval");
  refused_pickle("\x80\x05.", "protocol 5");
  refused_pickle(
      "\x80\x02"
      "Z.",
      "opcode 90");
  refused_pickle(
      "\x80\x02"
      "a.",
      "takes more values");
  refused_pickle("\x80\x02]a.", "fills a value of another kind");
  refused_pickle("\x80\x02h\x07.", "refers to its value 7");
  refused_pickle(
      "\x80\x02"
      "e.",
      "not begun");
  refused_pickle("\x80\x02N.", "no dict");
  refused_pickle(pickle("]K\x05"
                        "a",
                        kArrayHead + array_state(kShape, "f8", std::string(3072, '\7'))),
                 "u1 is needed");
  refused_pickle(pickle("]K\x05"
                        "a",
                        kArrayHead + array_state(kShape, "u1", std::string(3071, '\7'))),
                 "does not fit");
  refused_pickle(pickle("]K\x05"
                        "a",
                        kArrayHead + array_state(std::string("K\x01K\0\x86", 5), "u1", "")),
                 "does not fit");
  // A dtype of a long text, which a pickle could repeat.
  refused_pickle(
      "\x80\x02"
      "cnumpy\ndtype\nU\x02"
      "f8\x85R.",
      "u1 is needed");
  std::string ranks = "(";
  for (int i = 0; i < 40; ++i) ranks += "K\x01";
  refused_pickle(pickle("]K\x05"
                        "a",
                        kArrayHead + array_state(ranks + std::string("M\0\x0ct", 4), "u1", std::string(3072, '\7'))),
                 "an array of 41 axes");
  refused_pickle(pickle("](K\x05K\x06"
                        "e",
                        kArrayHead + array_state(kShape, "u1", std::string(3072, '\7'))),
                 "3072 bytes of pixels and 2 labels");
  refused_pickle(pickle("]K\x64"
                        "a",
                        kArrayHead + array_state(kShape, "u1", std::string(3072, '\7'))),
                 "0 to 99");
  refused_pickle(pickle("]K\x05"
                        "a",
                        kArrayHead + array_state(kShape, "u1", std::string(3072, '\7')), "labels"),
                 "no key \"fine_labels\"");
  refused_pickle(pickle("N", kArrayHead + array_state(kShape, "u1", std::string(3072, '\7'))), "another kind");
  // One text, of which a million arrays are made.
  std::string bomb = "\x80\x02](T" + std::string("\0\x0c\0\0", 4) + std::string(3072, 'x') + "q\x01";
  for (int i = 0; i < 1000; ++i) {
    std::string state = array_state(kShape, "u1", "");
    state.replace(state.find("\x89T") + 1, 5, "h\x01");
    bomb += kArrayHead + state;
  }
  refused_pickle(bomb + "e.", "more bytes of its values than it has");
  // A list that contains itself: read, refused, and freed.
  refused_pickle(
      "\x80\x02]q\x01h\x01"
      "a.",
      "no dict");
  refused_pickle(std::string("\x80\x02") + std::string(1'100'000, ']') + ".", "more than 1000000 values");
  // Random bytes in the place of some.
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = one;
    for (int k = 0; k < 3; ++k) damaged[random() % 260] = char(random());
    write_gzip(root.download(kName100), archive(damaged, one));
    root.clear_cache();
    try {
      datasets::get_cifar100();
    } catch (const catena::ValueError& e) {
      BOOST_TEST(has(e.what(), kName100));
    }
  }
}

BOOST_AUTO_TEST_CASE(generated_images) {
  const auto a = datasets::generated_cifar10(300, 100), b = datasets::generated_cifar10(300, 100),
             c = datasets::generated_cifar10(300, 100, {}, 1);
  BOOST_TEST(a.origin == "generated");
  BOOST_REQUIRE(a.train->size() == 300);
  BOOST_TEST((*a.train)[0].values[0].shape() == Shape({3, 32, 32}));
  BOOST_TEST(((*a.train)[0].values[0].dtype() == Dtype::float32));
  BOOST_TEST(((*a.train)[0].values[1].dtype() == Dtype::int32));
  BOOST_TEST(same_bits((*a.train)[7].values[0], (*b.train)[7].values[0]));
  BOOST_TEST(!same_bits((*a.train)[7].values[0], (*c.train)[7].values[0]));
  BOOST_TEST(!same_bits((*a.train)[0].values[0], (*a.test)[0].values[0]));
  BOOST_TEST(same_bits((*datasets::generated_cifar10(8, 1).train)[7].values[0], (*a.train)[7].values[0]));
  // The images of a class resemble each other: the nearest mean image is of the right class more often than by chance.
  std::vector<std::vector<double>> mean(10, std::vector<double>(3072));
  std::vector<int> count(10);
  for (std::int64_t i = 0; i < 300; ++i) {
    const Example e = (*a.train)[i];
    const auto label = std::size_t(values(e.values[1])[0]);
    const std::vector<double> v = values(e.values[0]);
    ++count.at(label);
    for (std::size_t k = 0; k < v.size(); ++k) {
      BOOST_REQUIRE((v[k] >= 0 && v[k] <= 1));
      mean[label][k] += v[k];
    }
  }
  for (std::size_t label = 0; label < 10; ++label) {
    BOOST_TEST(count[label] > 10);
    for (double& v : mean[label]) v /= count[label];
  }
  int right = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    const Example e = (*a.test)[i];
    const std::vector<double> v = values(e.values[0]);
    std::vector<double> distance;
    for (const auto& m : mean) {
      double sum = 0;
      for (std::size_t k = 0; k < v.size(); ++k) sum += (v[k] - m[k]) * (v[k] - m[k]);
      distance.push_back(sum);
    }
    right += std::min_element(distance.begin(), distance.end()) - distance.begin() == values(e.values[1])[0];
  }
  BOOST_TEST(right > 50);
  BOOST_TEST_MESSAGE("nearest mean image: " << right << " of 100 right");

  const auto hundred = datasets::generated_cifar100(500, 10, {.ndim = 1});
  BOOST_TEST((*hundred.train)[0].values[0].shape() == Shape({3072}));
  const std::vector<double> of_hundred = labels(*hundred.train);
  BOOST_TEST(*std::max_element(of_hundred.begin(), of_hundred.end()) > 90);
  BOOST_TEST(*std::max_element(of_hundred.begin(), of_hundred.end()) < 100);
  BOOST_CHECK_THROW(datasets::generated_cifar10(0, 1), catena::ValueError);
  BOOST_CHECK_THROW(datasets::generated_cifar100(1, 1, {.ndim = 2}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
