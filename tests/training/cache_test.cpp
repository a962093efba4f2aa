// The caches of data sets: names, what is there already, downloads of local files, creators that fail.
#include <catena/training/datasets/cache.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include <catena/tests/support/training_fixtures.h>

using namespace test;
using namespace training;

namespace {

struct Root {
  TemporaryFolder folder{"cache"};
  Root() { set_dataset_root(folder.path.string()); }
  ~Root() { set_dataset_root(""); }
};
int entries(const std::filesystem::path& folder) {
  return int(std::distance(std::filesystem::directory_iterator(folder), {}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(caches)

// The names under which Chainer has these files.
BOOST_AUTO_TEST_CASE(files_that_were_put_there) {
  const Root root;
  const std::string mnist = "http://yann.lecun.com/exdb/mnist/";
  const std::vector<std::pair<std::string, std::string>> names = {
      {mnist + "train-images-idx3-ubyte.gz", "23278f029ff68f1e993776e500ce06b9"},
      {mnist + "train-labels-idx1-ubyte.gz", "d8b415e67abd11881e156b8f111d3300"},
      {mnist + "t10k-images-idx3-ubyte.gz", "b0cdab8e37ae7c1c5560ee858afaac1d"},
      {mnist + "t10k-labels-idx1-ubyte.gz", "d4fdde61aca9f72d5fe2315410bb46a5"},
      // The models of Caffe whose addresses Chainer has.
      {"http://www.robots.ox.ac.uk/%7Evgg/software/very_deep/caffe/VGG_ILSVRC_16_layers.caffemodel",
       "89aa20ce0cd10b609a52f01fbc91799f"},
      {"http://dl.caffe.berkeleyvision.org/bvlc_googlenet.caffemodel", "867593f2d1894f2e46ff5c93bffb559b"},
      // RFC 1321, A.5
      {"", "d41d8cd98f00b204e9800998ecf8427e"},
      {"abc", "900150983cd24fb0d6963f7d28e17f72"},
      {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
       "57edf4a22be3c955ac49da2e2107b67a"}};
  const std::filesystem::path folder = root.folder.path / "_dl_cache";
  std::filesystem::create_directories(folder);
  for (const auto& [url, name] : names) {
    write_file((folder / name).string(), url);
    BOOST_TEST(cached_download(url) == (folder / name).string());
    BOOST_TEST(file_content((folder / name).string()) == url);
  }
  BOOST_TEST(std::filesystem::exists(folder / "_dl_lock"));
}

BOOST_AUTO_TEST_CASE(downloads) {
  const Root root;
  write_file(root.folder / "source", "content");
  const std::string url = "file://" + (root.folder / "source");
  ::unsetenv("CATENA_OFFLINE");
  std::string path;
  try {
    path = cached_download(url);
  } catch (const catena::IOError& e) {
    BOOST_TEST(has(e.what(), "this build has no curl"), e.what());
    std::cout << "downloads are not tested: " << e.what() << "\n";
    return;
  }
  BOOST_TEST(file_content(path) == "content");
  BOOST_TEST(entries(root.folder.path / "_dl_cache") == 2);  // the file and the lock
  write_file(root.folder / "source", "changed");
  BOOST_TEST(cached_download(url) == path);
  BOOST_TEST(file_content(path) == "content");  // not loaded again
  const std::string message = message_of<catena::IOError>([&] { cached_download(url + "_missing"); });
  BOOST_TEST(has(message, url + "_missing"));
  BOOST_TEST(has(message, (root.folder.path / "_dl_cache").string()));
  BOOST_TEST(entries(root.folder.path / "_dl_cache") == 2);
}

BOOST_AUTO_TEST_CASE(without_a_network) {
  const Root root;
  ::setenv("CATENA_OFFLINE", "1", 1);
  const std::string message = message_of<catena::IOError>([] { cached_download("http://example.com/x"); });
  ::unsetenv("CATENA_OFFLINE");
  BOOST_TEST(has(message,
                 "cannot download http://example.com/x: CATENA_OFFLINE is set (get the file elsewhere and put "
                 "it at \"" +
                     (root.folder.path / "_dl_cache").string() + "/"),
             message);
  // A root that is a file.
  write_file(root.folder / "file", "");
  set_dataset_root(root.folder / "file");
  BOOST_CHECK_THROW(cached_download("abc"), catena::RuntimeError);
}

BOOST_AUTO_TEST_CASE(contents_are_created_once) {
  const Root root;
  const std::string path = root.folder / "deep/er/numbers.txt";
  int created = 0, loaded = 0;
  const auto creator = [&](const std::string& to) {
    ++created;
    BOOST_TEST((std::filesystem::path(to).filename() == "numbers.txt"));
    BOOST_TEST(to != path);
    write_file(to, "42");
    return 42;
  };
  const auto loader = [&](const std::string& from) {
    ++loaded;
    return std::stoi(file_content(from));
  };
  BOOST_TEST(cache_or_load_file(path, creator, loader) == 42);
  BOOST_TEST(cache_or_load_file(path, creator, loader) == 42);
  BOOST_TEST(created == 1);
  BOOST_TEST(loaded == 1);
  BOOST_TEST(entries(root.folder.path) == 2);  // "deep" and the lock
  // The creator fails, or writes nothing.
  const std::string other = root.folder / "other";
  const auto fails = [](const std::string& to) -> int {
    write_file(to, "half");
    catena::fail<catena::ValueError>("create", "no memory");
  };
  BOOST_CHECK_THROW(cache_or_load_file(other, fails, loader), catena::ValueError);
  BOOST_CHECK_THROW(cache_or_load_file(
                        other, [](const std::string&) { return 1; }, loader),
                    catena::IOError);
  BOOST_TEST(!std::filesystem::exists(other));
  BOOST_TEST(entries(root.folder.path) == 2);
}

// Each thread makes its own content; the file of the first one stays.
BOOST_AUTO_TEST_CASE(several_at_once) {
  const Root root;
  const std::string path = root.folder / "shared";
  std::atomic<int> waiting{0}, good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      const auto creator = [&](const std::string& to) {
        write_file(to, std::to_string(i));
        ++waiting;
        while (waiting < 4) std::this_thread::yield();
        return i;
      };
      good += cache_or_load_file(path, creator, [](const std::string&) { return -1; }) == i;
    });
  for (std::thread& t : threads) t.join();
  BOOST_TEST(good == 4);
  BOOST_TEST(file_content(path).size() == 1u);
  BOOST_TEST(cache_or_load_file(
                 path, [](const std::string&) { return -2; }, [](const std::string&) { return -1; }) == -1);
}

BOOST_AUTO_TEST_SUITE_END()
