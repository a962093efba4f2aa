// npy and npz files: NumPy's own, round trips, layouts, hostile content, atomic writes.
#include <catena/ndarray/routines/io.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <catena/ndarray/routines/manipulation.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::difference;
using test::message_of;
using test::same_bits;

namespace fs = std::filesystem;

// A folder of its own that disappears afterwards.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("catena_io_test_" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::size_t files() const {
    return std::size_t(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::string& path, std::string_view content) { std::ofstream(path, std::ios::binary) << content; }

Array values_of(const test::Json& c) {
  const nd::Dtype dtype = nd::dtype_from_name(c["dtype"].get<std::string>());
  const nd::Shape shape(c["shape"].get<std::vector<std::int64_t>>());
  if (dtype == nd::uint64) return nd::array(c["values"].get<std::vector<std::uint64_t>>(), shape);
  if (!catena::is_floating(dtype)) {
    std::vector<std::int64_t> v;
    for (const auto& x : c["values"]) v.push_back(x.is_boolean() ? std::int64_t(x.get<bool>()) : x.get<std::int64_t>());
    return nd::array(v, shape, {.dtype = dtype});
  }
  std::vector<double> v;
  for (const auto& x : c["values"]) v.push_back(x.is_string() ? std::stod(x.get<std::string>()) : x.get<double>());
  return nd::array(v, shape, {.dtype = dtype});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(io)

BOOST_AUTO_TEST_CASE(golden_files) {
  const auto golden = test::Golden::open("nd_io/index");
  golden.for_each([&](const test::Json& c) -> std::string {
    const std::string name = c["file"], path = (golden.folder() / name).string();
    if (!c.contains("members")) {
      CHECK_SAME(difference(nd::load(path), values_of(c), 0, 0, true), name);
      std::ifstream in(path, std::ios::binary);
      CHECK_SAME(difference(nd::load(in), values_of(c), 0, 0, true), name << " as a stream");
      return {};
    }
    const nd::NpzFile file = nd::loadz(path);
    BOOST_TEST(file.size() == c["members"].size());
    for (const auto& [key, member] : c["members"].items()) {
      if (member["dtype"] == "str") BOOST_CHECK_THROW(file[key], nd::ValueError);  // a text is no array of numbers
      else CHECK_SAME(difference(file[key], values_of(member), 0, 0, true), name << " " << key);
    }
    return {};
  });
}

BOOST_AUTO_TEST_CASE(round_trips) {
  const Folder folder;
  std::mt19937 random(1);
  for (nd::Dtype t : test::kAllDtypes)
    for (const nd::Shape& shape :
         {nd::Shape{}, nd::Shape{1}, nd::Shape{2, 3, 4}, nd::Shape{3, 4, 5}, nd::Shape{0}, nd::Shape{2, 0}}) {
      const Array a = test::random_array(shape, t, random), gaps = test::scattered(a, random);
      nd::save(folder / "a.npy", gaps);
      const Array b = nd::load(folder / "a.npy");
      BOOST_TEST(same_bits(b, a), t << " " << shape);
      BOOST_TEST(b.is_c_contiguous());
      std::stringstream stream;
      nd::save(stream, gaps);
      nd::save(stream, a);
      BOOST_TEST(same_bits(nd::load(stream), a), t << " " << shape);
      BOOST_TEST(same_bits(nd::load(stream), a), "the second array of a stream");
      nd::savez(folder / "z.npz", {{"gaps", gaps}, {"a", a}});
      nd::savez_compressed(folder / "c.npz", {{"gaps", gaps}, {"a", a}});
      for (const char* name : {"z.npz", "c.npz"}) {
        const nd::NpzFile file = nd::loadz(folder / name);
        BOOST_TEST((file.keys() == std::vector<std::string>{"gaps", "a"}));
        BOOST_TEST(same_bits(file.at("gaps"), a), t << " " << shape);
        BOOST_TEST(same_bits(file["a"], a), t << " " << shape);
      }
    }
}

// The bytes that NumPy 1.24 writes for np.arange(3, dtype='<i2').
BOOST_AUTO_TEST_CASE(bytes_are_those_of_numpy) {
  std::stringstream stream;
  nd::save(stream, nd::arange(3, {.dtype = nd::int16}));
  std::string expected("\x93NUMPY\x01\x00v\x00", 10);
  std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }";
  header.append(128 - 10 - header.size() - 1, ' ');
  expected += header + "\n" + std::string("\0\0\1\0\2\0", 6);
  BOOST_TEST(stream.str() == expected);
}

BOOST_AUTO_TEST_CASE(names) {
  const Folder folder;
  const Array a = nd::arange(3);
  nd::save(folder / "plain", a);
  BOOST_TEST(fs::exists(folder / "plain.npy"));
  nd::savez(folder / "archive", std::vector<Array>{a, a + 1}, {{"named", a + 2}});
  const nd::NpzFile file = nd::loadz(folder / "archive.npz");
  BOOST_TEST((file.keys() == std::vector<std::string>{"arr_0", "arr_1", "named"}));
  CHECK_SAME(difference(file["arr_1"], a + 1), "arr_1");
  BOOST_TEST(file.contains("named"));
  BOOST_TEST(!file.contains("other"));
  nd::savez(folder / "positional", {a, a});
  BOOST_TEST(nd::loadz(folder / "positional.npz").size() == 2u);
  BOOST_CHECK_THROW(nd::savez(folder / "clash", std::vector<Array>{a}, {{"arr_0", a}}), nd::ValueError);
  BOOST_TEST(!fs::exists(folder / "clash.npz"));
  std::stringstream stream;
  nd::savez(stream, {{"a", a}});
  write(folder / "stream.npz", stream.str());
  CHECK_SAME(difference(nd::loadz(folder / "stream.npz").at("a"), a), "through a stream");
}

BOOST_AUTO_TEST_CASE(archives_close) {
  const Folder folder;
  nd::savez(folder / "a.npz", {{"a", nd::arange(3)}});
  nd::NpzFile file = nd::loadz(folder / "a.npz");
  const nd::NpzFile other = file;
  BOOST_TEST(message_of<nd::KeyError>([&] { file.at("b"); }) ==
             "loadz: \"" + (folder / "a.npz") + "\": there is no key \"b\"; the keys are \"a\"");
  nd::NamedArrays many;
  for (int k = 0; k < 23; ++k) many.emplace_back("k" + std::to_string(k), nd::arange(1));
  nd::savez(folder / "many.npz", many);
  BOOST_TEST(message_of<nd::KeyError>([&] {
               nd::loadz(folder / "many.npz").at("b");
             }).ends_with("\"k18\", \"k19\" and 3 more"));
  file.close();
  BOOST_TEST(message_of<nd::ValueError>([&] { file.at("a"); }) ==
             "loadz: \"" + (folder / "a.npz") + "\": has been closed");
  BOOST_TEST(other.at("a").size() == 3);
}

BOOST_AUTO_TEST_CASE(hostile_files) {
  const Folder folder;
  nd::save(folder / "good.npy", nd::arange(100));
  nd::savez(folder / "good.npz", {{"a", nd::arange(100)}});
  const std::string npy = content_of(folder / "good.npy"), npz = content_of(folder / "good.npz");
  const std::string bad = folder / "bad.npy", context = "load: \"" + bad + "\": ";
  for (std::size_t n = 0; n < npy.size(); n += 13) {  // every length that is too short
    write(bad, std::string_view(npy).substr(0, n));
    const std::string text = message_of<nd::ValueError>([&] { nd::load(bad); });
    BOOST_TEST(text.starts_with(context), text);
    std::istringstream in(npy.substr(0, n));
    BOOST_TEST(message_of<nd::ValueError>([&] { nd::load(in); }).starts_with("load: \"stream\": "));
  }
  const auto with_shape = [&](std::string_view shape) {
    std::string text = npy;
    const std::string old = "(100,), }";
    std::string fresh = std::string(shape) + ", }";
    const std::size_t at = text.find(old);
    return text.replace(at, fresh.size(), fresh);
  };
  for (const char* shape : {"(1000000000000,)", "(9223372036854775807, 3)", "(-5,)", "(100", "(1.5,)"}) {
    write(bad, with_shape(shape));
    const std::string text = message_of<nd::ValueError>([&] { nd::load(bad); });
    BOOST_TEST(text.starts_with(context), text);
  }
  std::string object = npy;
  object.replace(object.find("<i8"), 3, "|O'");
  write(bad, object);
  BOOST_CHECK_THROW(nd::load(bad), nd::ValueError);
  std::string text = npy;
  text.replace(text.find("<i8"), 3, "<U2");
  write(bad, text);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::load(bad); }) == context + "element type '<U2' is not supported");
  for (std::size_t n = 0; n < npz.size(); n += 17) {
    write(folder / "bad.npz", std::string_view(npz).substr(0, n));
    const std::string m = message_of<nd::ValueError>([&] { nd::loadz(folder / "bad.npz").at("a"); });
    BOOST_TEST(m.starts_with("loadz: \"" + (folder / "bad.npz") + "\": "), m);
  }
  std::string damaged = npz;
  damaged[npz.find("NUMPY") + 200] ^= 1;
  write(folder / "bad.npz", damaged);
  BOOST_CHECK_THROW(nd::loadz(folder / "bad.npz").at("a"), nd::ValueError);  // its checksum
  BOOST_TEST(message_of<nd::ValueError>([&] { const Array a = nd::load(folder / "good.npz"); }) ==
             "load: \"" + (folder / "good.npz") +
                 "\": is an npz archive of several arrays, not one array: take it as an nd::NpzFile");
  BOOST_TEST(message_of<nd::ValueError>([&] { const nd::NpzFile a = nd::load(folder / "good.npy"); }) ==
             "load: \"" + (folder / "good.npy") + "\": is an array, not an npz archive");
  BOOST_CHECK_THROW(nd::load(folder / "absent.npy"), nd::IOError);
  BOOST_CHECK_THROW(nd::loadz(folder / "absent.npz"), nd::IOError);
  BOOST_CHECK_THROW(nd::loadz(folder / "good.npy"), nd::ValueError);
}

// Whichever of the two a file is, from a path or a stream.
BOOST_AUTO_TEST_CASE(load_opens_archives) {
  const Folder folder;
  const Array w = nd::arange(6.0).reshape(2, 3), b = nd::array({1, 2}, nd::int8);
  nd::savez(folder / "model.npz", {{"w", w}, {"b", b}});
  nd::save(folder / "w.npy", w);
  const nd::NpzFile archive = nd::load(folder / "model.npz");
  BOOST_TEST(archive.keys() == (std::vector<std::string>{"w", "b"}));
  BOOST_TEST(same_bits(archive["w"], w));
  BOOST_TEST(same_bits(nd::load(folder / "model.npz")["b"], b));
  BOOST_CHECK_THROW(nd::load(folder / "model.npz")["c"], nd::KeyError);
  BOOST_TEST(nd::load(folder / "model.npz").contains("w"));
  BOOST_TEST(nd::load(folder / "model.npz").is_archive());
  const auto loaded = nd::load(folder / "w.npy");
  BOOST_TEST(!loaded.is_archive());
  BOOST_TEST(loaded.shape() == (nd::Shape{2, 3}));
  BOOST_TEST(same_bits(loaded + 0, w));
  BOOST_TEST(same_bits(loaded[1], w[1]));
  Array rebound;
  rebound = nd::load(folder / "w.npy");
  BOOST_TEST(same_bits(rebound, w));
  std::istringstream stream(content_of(folder / "model.npz"), std::ios::binary);
  const nd::NpzFile from_stream = nd::load(stream);
  BOOST_TEST(same_bits(from_stream["b"], b));
  BOOST_TEST(same_bits(from_stream["w"], w));
}

BOOST_AUTO_TEST_CASE(mmap_modes) {
  const Folder folder;
  const Array a = nd::arange(7);
  nd::save(folder / "a.npy", a);
  const std::string before = content_of(folder / "a.npy");
  for (const char* mode : {"r", "r+", "w+", "c"}) {
    const Array b = nd::load(folder / "a.npy", mode);
    BOOST_TEST(same_bits(b, a), mode);
    b.fill(0);  // the file stays
  }
  BOOST_TEST((content_of(folder / "a.npy") == before));
  for (const char* mode : {"", "w", "rw"})
    BOOST_TEST(message_of<nd::ValueError>([&] { nd::load(folder / "a.npy", mode); }) ==
               "load: mmap_mode '" + std::string(mode) + "' is none of r, r+, w+ and c");
  std::istringstream stream(before, std::ios::binary);
  BOOST_CHECK_THROW(nd::load(stream, "x"), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(writes_are_all_or_nothing) {
  const Folder folder;
  const Array a = nd::arange(5);
  nd::savez(folder / "a.npz", {{"a", a}});
  const std::string before = content_of(folder / "a.npz");
  BOOST_CHECK_THROW(nd::savez(folder / "a.npz", {{"a", a + 1}, {"a", a}}), nd::ValueError);
  BOOST_TEST(content_of(folder / "a.npz") == before);
  BOOST_TEST(message_of<nd::TypeError>([&] {
               nd::savez(folder / "a.npz", {{"null", Array()}});
             }) == "savez: the array \"null\" is null");
  BOOST_CHECK_THROW(nd::save(folder / "b.npy", Array()), nd::TypeError);
  BOOST_TEST(folder.files() == 1u);  // no temporaries are left
  BOOST_CHECK_THROW(nd::save(folder / "no/such/folder.npy", a), nd::IOError);
  nd::savez(folder / "a.npz", {{"b", a}});
  BOOST_TEST(nd::loadz(folder / "a.npz").contains("b"));
}

BOOST_AUTO_TEST_SUITE_END()
