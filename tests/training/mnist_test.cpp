// MNIST: IDX files good and hostile, the folders that are searched, generated images.
#include <catena/kernels/formats/byte_stream.h>
#include <catena/training/datasets/mnist.h>

#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <set>

#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/datasets/idx.h>
#include <catena/training/datasets/torch_vision.h>

using namespace test;
using namespace training;
using datasets::read_idx;

namespace {

std::string number(std::uint32_t n) { return {char(n >> 24), char(n >> 16), char(n >> 8), char(n)}; }
std::string idx(std::initializer_list<std::uint32_t> shape, const std::string& data, char type = 8) {
  std::string text{'\0', '\0', type, char(shape.size())};
  for (const std::uint32_t n : shape) text += number(n);
  return text + data;
}
void write_gzip(const std::string& path, const std::string& content) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), unsigned(content.size()));
  gzclose(file);
}
std::string images(int n) {
  std::string data;
  for (int i = 0; i < n * 784; ++i) data += char(i % 251);
  return data;
}
// The four files, with three and two images.
void write_mnist(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_gzip((folder / "train-images-idx3-ubyte.gz").string(), idx({3, 28, 28}, images(3)));
  write_file((folder / "train-labels-idx1-ubyte").string(), idx({3}, std::string("\1\2\3", 3)));
  write_file((folder / "t10k-images-idx3-ubyte").string(), idx({2, 28, 28}, images(2)));
  write_gzip((folder / "t10k-labels-idx1-ubyte.gz").string(), idx({2}, std::string("\0\11", 2)));
}
struct Root {
  explicit Root(const std::string& path) {
    ::setenv("CATENA_OFFLINE", "1", 1);
    set_dataset_root(path);
  }
  ~Root() { set_dataset_root(""); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(mnist_suite)

BOOST_AUTO_TEST_CASE(idx_files) {
  const TemporaryFolder folder("idx");
  const std::string content = idx({2, 3}, "abcdef");
  write_file(folder / "plain", content);
  write_gzip(folder / "packed.gz", content);
  for (const char* name : {"plain", "packed.gz"}) {
    const datasets::IdxArray a = read_idx(folder / name);
    BOOST_TEST(a.shape == Shape({2, 3}));
    BOOST_TEST(std::string(a.data.begin(), a.data.end()) == "abcdef");
  }
  write_file(folder / "empty", idx({0, 28}, ""));
  BOOST_TEST(read_idx(folder / "empty").data.empty());
}

BOOST_AUTO_TEST_CASE(hostile_idx_files) {
  const TemporaryFolder folder("hostile");
  const std::string path = folder / "bad.idx", good = idx({2, 3}, "abcdef");
  auto refused = [&](const std::string& content, const std::string& why) {
    write_file(path, content);
    const std::string plain = message_of<catena::ValueError>([&] { read_idx(path); });
    BOOST_TEST((has(plain, "bad.idx") && has(plain, why)), plain);
    write_gzip(path, content);
    const std::string packed = message_of<catena::ValueError>([&] { read_idx(path); });
    BOOST_TEST((has(packed, "bad.idx") && has(packed, why)), packed);
  };
  for (std::size_t n = 0; n < good.size(); ++n) refused(good.substr(0, n), "ends");
  refused(good + "x", "goes on");
  refused("PK\3\4 what is this", "no IDX file");
  refused(idx({2}, "abcdefgh", 0x0D), "type is 13");
  refused(idx({0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, "a"), "claims");  // overflows 64 bits
  refused(idx({0xFFFFFFFF, 1}, "a"), "claims");                       // 4 GiB from a few bytes
  refused(idx({0x10000, 0x10000, 0}, "a"), "claims");
  refused(std::string("\0\0\x08\xFF", 4) + std::string(2000, '\0'), "dimensions");

  // Damaged compressed data: every byte in turn.
  write_gzip(path, idx({1, 1000}, std::string(1000, 'a')));
  const std::string packed = file_content(path);
  for (std::size_t i = 10; i < packed.size(); ++i) {
    std::string damaged = packed;
    damaged[i] = char(damaged[i] ^ 0x55);
    write_file(path, damaged);
    BOOST_TEST(has(message_of<catena::ValueError>([&] { read_idx(path); }), "bad.idx"), i);
  }
  for (std::size_t n = 12; n < packed.size(); ++n) {
    write_file(path, packed.substr(0, n));
    BOOST_TEST(has(message_of<catena::ValueError>([&] { read_idx(path); }), "bad.idx"), n);
  }
  // A bomb: a small file that would unpack to much more than its size allows.
  write_gzip(path, idx({30, 1 << 20}, std::string(std::size_t(30) << 20, '\0')));
  BOOST_TEST(std::filesystem::file_size(path) < 100000u);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { read_idx(path); }), "claims"));

  BOOST_TEST(has(message_of<catena::IOError>([&] { read_idx(folder / "nowhere"); }), "nowhere"));
  BOOST_CHECK_THROW(read_idx(folder.path.string()), catena::IOError);
  BOOST_CHECK_THROW(read_idx("/dev/zero"), catena::IOError);
}

BOOST_AUTO_TEST_CASE(folders_and_options) {
  for (const char* where : {"mnist", "pfnet/chainer/mnist"}) {
    const TemporaryFolder folder("folders");
    const Root root(folder.path.string());
    write_mnist(folder.path / where);
    const datasets::Mnist mnist = datasets::mnist();
    BOOST_TEST(mnist.origin == "real (" + (folder.path / where).string() + ")");
    const auto [train, test] = mnist;
    BOOST_TEST(train->size() == 3);
    BOOST_TEST(test->size() == 2);
    const Example e = (*train)[1];
    BOOST_TEST(e.values[0].shape() == Shape({784}));
    BOOST_TEST((e.values[0].dtype() == Dtype::float32));
    BOOST_TEST((e.values[1].dtype() == Dtype::int32));
    BOOST_TEST(values(e.values[1])[0] == 2);
    const std::vector<double> pixels = values(e.values[0]);
    for (int i = 0; i < 784; ++i) BOOST_REQUIRE(std::fabs(pixels[std::size_t(i)] - ((784 + i) % 251) / 255.0) < 1e-7);
    const auto [a, b] = datasets::mnist({.withlabel = false, .ndim = 3, .scale = 255.0, .dtype = Dtype::float64});
    BOOST_TEST((*a)[0].values.size() == 1u);
    BOOST_TEST((*a)[0].values[0].shape() == Shape({1, 28, 28}));
    BOOST_TEST(values((*b)[0].values[0])[5] == 5);
    BOOST_TEST((*datasets::mnist({.ndim = 2, .label_dtype = Dtype::uint8}).train)[0].values[0].shape() ==
               Shape({28, 28}));
  }
  BOOST_TEST(has(message_of<catena::ValueError>([] { datasets::mnist({.ndim = 4}); }), "4"));
}

BOOST_AUTO_TEST_CASE(classes_of_torchvision) {
  const TemporaryFolder folder("torchvision");
  const std::string root = folder.path.string();
  BOOST_CHECK_THROW(datasets::MNIST{root}, catena::IOError);
  for (const char* name : {"MNIST", "FashionMNIST", "KMNIST"}) write_mnist(folder.path / name / "raw");
  const datasets::MNIST train(root), test(root, {.train = false}), in_the_folder(folder / "KMNIST/raw");
  BOOST_TEST(train.size() == 3);
  BOOST_TEST(test.size() == 2);
  BOOST_TEST(in_the_folder.size() == 3);
  BOOST_TEST((train[0].values[0].dtype() == Dtype::uint8));
  BOOST_TEST((train[0].values[1].dtype() == Dtype::int64));
  BOOST_TEST(train[0].values[0].shape() == (Shape{1, 28, 28}));
  for (const int i : {0, 1, 2}) {
    BOOST_TEST(values(train[i].values[1])[0] == i + 1);
    BOOST_TEST(values(train[i].values[0])[5] == (i * 784 + 5) % 251);
  }
  BOOST_TEST(values(test[1].values[1])[0] == 9);
  BOOST_TEST(train.get_batch(std::vector<std::int64_t>{0, 2})->values[0].shape() == (Shape{2, 1, 28, 28}));
  const auto only_label = [](Example e) { return Example(e[1]); };
  const datasets::MNIST changed(root, {.train = false, .transform = only_label}), same(root, false, only_label);
  BOOST_TEST(!changed.get_batch(std::vector<std::int64_t>{0}));
  BOOST_TEST(values(changed[1].values[0])[0] == 9);
  BOOST_TEST(values(same[1].values[0])[0] == 9);
  BOOST_TEST(datasets::FashionMNIST(root).size() == 3);
  BOOST_TEST(datasets::KMNIST(root, {.train = false}).size() == 2);
  BOOST_CHECK_THROW(datasets::KMNIST(root, {.download = true}), catena::ValueError);
  write_file(folder / "MNIST/raw/t10k-images-idx3-ubyte", idx({3, 28, 28}, images(3)));
  BOOST_CHECK_THROW(datasets::MNIST(root, {.train = false}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(random_images) {
  const datasets::FakeData few({.size = 40, .image_size = {3, 4, 5}, .num_classes = 3}),
      other({.size = 40, .image_size = {3, 4, 5}, .num_classes = 3, .random_offset = 7});
  BOOST_TEST(few.size() == 40);
  BOOST_TEST((few[0].values[0].dtype() == Dtype::uint8));
  BOOST_TEST(few[0].values[0].shape() == (Shape{3, 4, 5}));
  std::set<double> labels;
  for (std::int64_t i = 0; i < 40; ++i) labels.insert(values(few[i].values[1])[0]);
  BOOST_TEST((labels == std::set<double>{0, 1, 2}));
  const auto pixels = [](const Example& e) { return values(e.values[0]); };
  BOOST_TEST((pixels(few[3]) == pixels(few[3])));
  BOOST_TEST((pixels(few[3]) != pixels(few[4])));
  BOOST_TEST((pixels(few[7]) == pixels(other[0])));  // the seed is the offset and the index
  BOOST_TEST((pixels(few[3]) != pixels(other[3])));
  const datasets::FakeData changed({.image_size = {1, 2, 2}, .transform = [](Example e) { return Example(e[1]); }});
  BOOST_TEST(changed.size() == 1000);
  BOOST_TEST(changed[0].values.size() == 1u);
  BOOST_CHECK_THROW(datasets::FakeData({.size = 0}), catena::ValueError);
  BOOST_CHECK_THROW(datasets::FakeData({.image_size = {3, 0, 5}}), catena::ValueError);
  BOOST_CHECK_THROW(datasets::FakeData({.num_classes = 0}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(files_that_do_not_fit) {
  const TemporaryFolder folder("unfit");
  const Root root(folder.path.string());
  write_mnist(folder.path / "mnist");
  const std::filesystem::path labels = folder.path / "mnist/train-labels-idx1-ubyte";
  write_file(labels.string(), idx({4}, "abcd"));
  const std::string message = message_of<catena::RuntimeError>([] { datasets::mnist(); });
  BOOST_TEST(has(message, "3 images"));
  BOOST_TEST(has(message, "4 labels"));
  write_file(labels.string(), "broken");  // an error, not a silent replacement
  BOOST_TEST(has(message_of<catena::ValueError>([] { datasets::mnist(); }), "train-labels-idx1-ubyte"));
  write_file(labels.string(), idx({3, 1}, "abc"));
  BOOST_CHECK_THROW(datasets::mnist(), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(the_cache_of_the_reference) {
  const TemporaryFolder folder("cache");
  const Root root(folder.path.string());
  const std::filesystem::path cache = folder.path / "pfnet/chainer/mnist";
  std::filesystem::create_directories(cache);
  for (const auto& [name, n] : {std::pair{"train.npz", 3}, {"test.npz", 2}}) {
    catena::AtomicFile file("test", (cache / name).string());
    catena::NpzWriter npz(file, true);
    const std::string x = images(n), y(std::size_t(n), '\7');
    npz.add("x", Dtype::uint8, {n, 784}, std::as_bytes(std::span(x)));
    npz.add("y", Dtype::uint8, {n}, std::as_bytes(std::span(y)));
    npz.finish();
    file.commit();
  }
  const auto [train, test] = datasets::mnist();
  BOOST_TEST(train->size() == 3);
  BOOST_TEST(values((*test)[1].values[1])[0] == 7);
}

// From files of the download cache, as they may be put there by hand, the two files that Chainer makes of them.
BOOST_AUTO_TEST_CASE(the_cache_is_written) {
  const TemporaryFolder folder("written");
  const Root root(folder.path.string());
  std::filesystem::create_directories(folder.path / "_dl_cache");
  const auto put = [&](const char* name, const std::string& content) {
    write_gzip(folder / (std::string("_dl_cache/") + name), content);
  };
  put("23278f029ff68f1e993776e500ce06b9", idx({3, 28, 28}, images(3)));
  put("d8b415e67abd11881e156b8f111d3300", idx({3}, std::string("\1\2\3", 3)));
  put("b0cdab8e37ae7c1c5560ee858afaac1d", idx({2, 28, 28}, images(2)));
  put("d4fdde61aca9f72d5fe2315410bb46a5", idx({4}, std::string("\0\11\1\1", 4)));
  const std::string message = message_of<catena::RuntimeError>([] { datasets::get_mnist(); });
  BOOST_TEST((has(message, "2 images") && has(message, "4 labels")), message);
  put("d4fdde61aca9f72d5fe2315410bb46a5", idx({2}, std::string("\0\11", 2)));
  const auto [train, test] = datasets::get_mnist(true, 3, 255.0);
  BOOST_TEST((*train)[0].values[0].shape() == Shape({1, 28, 28}));
  BOOST_TEST(values((*test)[1].values[1])[0] == 9);
  const std::string cache = folder / "pfnet/chainer/mnist/";
  for (const auto& [name, n] : {std::pair{"train.npz", 3}, {"test.npz", 2}}) {
    const catena::ZipReader zip("test", cache + name);
    for (const catena::ZipMember& member : zip.members()) BOOST_TEST(member.method == 8);  // compressed
    const catena::NpzReader npz("test", cache + name);
    BOOST_TEST((npz.keys() == std::vector<std::string>{"x", "y"}));
    const catena::NpyArray x = npz.read("x");
    BOOST_TEST(x.descr == "|u1");
    BOOST_TEST(x.shape == Shape({n, 784}));
    BOOST_TEST((std::string(reinterpret_cast<const char*>(x.data.data()), x.data.size()) == images(n)));
    BOOST_TEST(npz.read("y").shape == Shape({n}));
  }
  std::filesystem::remove_all(folder.path / "_dl_cache");
  const auto [again, same] = datasets::get_mnist(false);
  BOOST_TEST((*again)[0].values.size() == 1u);
  BOOST_TEST((*same)[0].values[0].shape() == Shape({784}));
  BOOST_TEST(!std::filesystem::exists(folder.path / "_dl_cache"));  // not looked at again
}

BOOST_AUTO_TEST_CASE(generated_images) {
  const auto a = datasets::generated_mnist(300, 50), b = datasets::generated_mnist(300, 50),
             c = datasets::generated_mnist(300, 50, {}, 1);
  BOOST_TEST(a.origin == "generated");
  BOOST_TEST(a.train->size() == 300);
  const std::vector<std::int64_t> all = [] {
    std::vector<std::int64_t> i(300);
    for (std::size_t k = 0; k < i.size(); ++k) i[k] = std::int64_t(k);
    return i;
  }();
  const Example first = *a.train->get_batch(all), same = *b.train->get_batch(all), other = *c.train->get_batch(all);
  BOOST_TEST(same_bits(first.values[0], same.values[0]));
  BOOST_TEST(same_bits(first.values[1], same.values[1]));
  BOOST_TEST(!same_bits(first.values[0], other.values[0]));
  BOOST_TEST(!same_bits((*a.train)[0].values[0], (*a.test)[0].values[0]));
  // More images extend the set.
  BOOST_TEST(same_bits((*datasets::generated_mnist(10, 5).train)[9].values[0], (*a.train)[9].values[0]));
  std::vector<int> count(10);
  for (const double label : values(first.values[1])) ++count.at(std::size_t(label));
  for (const int n : count) BOOST_TEST(n > 10);  // every digit is there
  const std::vector<double> pixels = values(first.values[0]);
  double sum = 0;
  for (const double p : pixels) {
    BOOST_REQUIRE((p >= 0 && p <= 1));
    sum += p;
  }
  const double mean = sum / double(pixels.size());
  BOOST_TEST((mean > 0.08 && mean < 0.3));  // strokes on a dark ground, as in the real set (0.13)
  BOOST_CHECK_THROW(datasets::generated_mnist(0, 1), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(offline_without_files) {
  const TemporaryFolder folder("offline");
  const Root root(folder.path.string());
  const std::string message = message_of<catena::IOError>([] { datasets::mnist(); });
  for (const std::string& part :
       {folder / "mnist", std::string("https://"), std::string("/train-images-idx3-ubyte.gz"),
        std::string("CATENA_OFFLINE is set"), folder / "_dl_cache/23278f029ff68f1e993776e500ce06b9",
        std::string("generated_mnist()")})
    BOOST_TEST(has(message, part), message);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path))  // no file but the lock
    BOOST_TEST((entry.is_directory() || entry.path().filename() == "_dl_lock"), entry.path().string());
  write_file(folder / "file", "");
  set_dataset_root(folder / "file");  // no folder
  BOOST_TEST(has(message_of<catena::IOError>([] { datasets::mnist(); }), "cannot create the folder"));
}

BOOST_AUTO_TEST_CASE(real_images) {
  const char* data = std::getenv("CATENA_TEST_DATA");
  if (data == nullptr || !std::filesystem::exists(std::filesystem::path(data) / "mnist")) {
    std::printf("skipped: no real images in CATENA_TEST_DATA/mnist\n");
    return;
  }
  const Root root(data);
  const datasets::Mnist mnist = datasets::mnist();
  BOOST_TEST(mnist.origin.starts_with("real"));
  BOOST_TEST(mnist.train->size() >= 1000);
  BOOST_TEST(mnist.test->size() >= 500);
  double sum = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    const Example e = (*mnist.train)[i];
    const double label = values(e.values[1])[0];
    BOOST_REQUIRE((label >= 0 && label <= 9));
    for (const double p : values(e.values[0])) sum += p / 78400;
  }
  BOOST_TEST((sum > 0.1 && sum < 0.16));  // the mean of MNIST is 0.1307
}

BOOST_AUTO_TEST_SUITE_END()
