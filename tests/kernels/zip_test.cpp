#include <boost/test/unit_test.hpp>

#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/zip.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/npz.h>
#include <catena/tests/support/allocations.h>
#include <catena/tests/support/golden.h>

using namespace catena;

namespace {

using Bytes = std::vector<std::byte>;

template <class E, class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "(nothing was thrown)";
}

Bytes bytes_of(std::string_view s) {
  const auto* p = reinterpret_cast<const std::byte*>(s.data());
  return {p, p + s.size()};
}
std::string text_of(const Bytes& b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

Bytes file_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return bytes_of(std::string((std::istreambuf_iterator<char>(in)), {}));
}

ZipReader reader_of(const Bytes& archive) {
  return ZipReader("load: \"a.npz\"", std::make_unique<MemoryAccess>(archive));
}

using Content = std::vector<std::pair<std::string, std::string>>;

Bytes archive_of(const Content& content, ZipMethod method) {
  MemorySink sink;
  ZipWriter zip(sink);
  for (const auto& [name, text] : content) {
    zip.begin(name, method).write(text.data(), text.size());
    zip.end();
  }
  zip.finish();
  return sink.take();
}

// Reads everything an archive offers.
void read_all(const ZipReader& zip) {
  for (const ZipMember& m : zip.members()) zip.read(m);
}

void put(Bytes& b, std::size_t at, std::uint64_t value, int n) {
  for (int i = 0; i < n; ++i) b.at(at + static_cast<std::size_t>(i)) = std::byte(value >> (8 * i) & 0xff);
}

// Where the nth central record begins.
std::size_t central(const Bytes& b, int n = 0) {
  const std::string s = text_of(b);
  std::size_t at = s.find("PK\1\2");
  while (n-- > 0) at = s.find("PK\1\2", at + 4);
  return at;
}

const Content kContent = {{"x.npy", "some content, some content, some content, some content"},
                          {"a/b:c.d.npy", ""},
                          {"z", std::string(100000, 'q')}};

}  // namespace

BOOST_AUTO_TEST_SUITE(zip)

BOOST_AUTO_TEST_CASE(archives_of_numpy_are_read) {
  const auto golden = test::Golden::open("nd_io/index");
  int archives = 0;
  for (const auto& entry : golden.cases()) {
    if (!entry.contains("members")) continue;
    ++archives;
    const NpzReader npz("load", (golden.folder() / entry["file"].get<std::string>()).string());
    BOOST_TEST(npz.keys().size() == entry["members"].size());
    for (const auto& [key, expected] : entry["members"].items()) {
      BOOST_TEST_REQUIRE(npz.contains(key), key);
      const NpyArray a = npz.read(key);
      BOOST_TEST((a.shape == Shape(expected["shape"].get<std::vector<std::int64_t>>())));
      if (expected["dtype"] == "str") {
        BOOST_TEST(npy_text(a) == expected["values"][0].get<std::string>());
        continue;
      }
      BOOST_TEST(name_of(a.dtype.value()) == expected["dtype"].get<std::string>());
      if (a.dtype != Dtype::int32) continue;
      for (std::size_t i = 0; i < expected["values"].size(); ++i)
        BOOST_TEST(a.as<std::int32_t>()[i] == expected["values"][i].get<int>());
    }
    const std::string missing = message_of<KeyError>([&] { npz.read("nope"); });
    BOOST_TEST(missing.find("there is no key \"nope\"; the keys are \"") != std::string::npos, missing);
    for (const std::string& key : npz.keys()) BOOST_TEST(missing.find('"' + key + '"') != std::string::npos, missing);
  }
  BOOST_TEST(archives == 3);
}

// The members of NumPy's archives, written again one by one, give the archive back.
BOOST_AUTO_TEST_CASE(archives_are_written_as_numpy_writes_them) {
  const auto golden = test::Golden::open("nd_io/index");
  for (const std::string name : {"stored.npz", "positional.npz", "compressed.npz"}) {
    const auto path = golden.folder() / name;
    const ZipReader zip("load", path.string());
    MemorySink sink;
    ZipWriter writer(sink);
    for (const ZipMember& m : zip.members()) {
      const Bytes content = zip.read(m);
      writer.begin(m.name, static_cast<ZipMethod>(m.method)).write(content.data(), content.size());
      writer.end();
    }
    writer.finish();
    if (name != "compressed.npz") {
      BOOST_TEST((sink.bytes() == file_bytes(path)), name);
      continue;
    }
    // Another zlib may compress otherwise, so that only what comes out must be equal.
    const ZipReader again = reader_of(sink.bytes());
    BOOST_TEST_REQUIRE(again.members().size() == zip.members().size());
    for (std::size_t k = 0; k < again.members().size(); ++k) {
      const ZipMember &theirs = zip.members()[k], &ours = again.members()[k];
      BOOST_TEST(ours.name == theirs.name);
      BOOST_TEST(ours.method == theirs.method);
      BOOST_TEST((again.read(ours) == zip.read(theirs)), ours.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  for (const ZipMethod method : {ZipMethod::stored, ZipMethod::deflated}) {
    const Bytes archive = archive_of(kContent, method);
    BOOST_TEST((archive == archive_of(kContent, method)));  // deterministic
    // A sink that cannot patch gives the same bytes.
    std::ostringstream out;
    StreamSink sink("savez: \"stream\"", out);
    ZipWriter writer(sink);
    for (const auto& [name, text] : kContent) {
      ByteSink& content = writer.begin(name, method);
      for (const char& c : text) content.write(&c, 1);
      writer.end();
    }
    writer.finish();
    if (method == ZipMethod::stored) BOOST_TEST((bytes_of(out.str()) == archive));
    for (const Bytes& bytes : {archive, bytes_of(out.str())}) {
      const ZipReader zip = reader_of(bytes);
      BOOST_TEST_REQUIRE(zip.members().size() == kContent.size());
      for (std::size_t i = 0; i < kContent.size(); ++i) {
        BOOST_TEST(zip.members()[i].name == kContent[i].first);
        BOOST_TEST(text_of(zip.read(*zip.find(kContent[i].first))) == kContent[i].second);
      }
      BOOST_TEST(zip.find("nope") == nullptr);
      // In small pieces.
      const auto source = zip.open(zip.members()[2]);
      std::string text(100000, '\0');
      for (std::size_t at = 0; at < text.size(); at += 777)
        BOOST_TEST_REQUIRE(source->read(&text[at], std::min<std::size_t>(777, text.size() - at)) > 0u);
      BOOST_TEST(text == kContent[2].second);
      BOOST_TEST(source->remaining().value() == 0u);
      char more;
      BOOST_TEST(source->read(&more, 1) == 0u);
    }
    if (method == ZipMethod::deflated) BOOST_TEST(archive.size() < 1000u);
  }
}

BOOST_AUTO_TEST_CASE(npz_writer_and_reader_agree) {
  MemorySink sink;
  NpzWriter npz(sink, true);
  const float values[] = {1, 2, 3};
  npz.add("predictor/l1/W", Dtype::float32, {3}, std::as_bytes(std::span(values)));
  npz.add_text("extensions/LogReport/_log", "[{\"loss\": 0.5}]");
  BOOST_TEST(message_of<ValueError>([&] {
               npz.add("predictor/l1/W", Dtype::float32, {3}, std::as_bytes(std::span(values)));
             }) == "ZipWriter::begin: there is a member \"predictor/l1/W.npy\" already");
  npz.finish();
  const NpzReader back(reader_of(sink.bytes()));
  BOOST_TEST((back.keys() == std::vector<std::string>{"predictor/l1/W", "extensions/LogReport/_log"}));
  BOOST_TEST(back.read("predictor/l1/W").as<float>()[2] == 3.f);
  BOOST_TEST(back.read("predictor/l1/W.npy").as<float>()[0] == 1.f);
  BOOST_TEST(npy_text(back.read("extensions/LogReport/_log")) == "[{\"loss\": 0.5}]");
}

BOOST_AUTO_TEST_CASE(the_writer_refuses_misuse) {
  MemorySink sink;
  ZipWriter zip(sink);
  for (const std::string& name : {std::string(), std::string(65536, 'x'), std::string("a\0b", 3)})
    BOOST_CHECK_THROW(zip.begin(name, ZipMethod::stored), ValueError);
  BOOST_CHECK_THROW(zip.end(), RuntimeError);
  BOOST_TEST(sink.bytes().empty());
  zip.begin("a", ZipMethod::deflated);
  BOOST_CHECK_THROW(zip.begin("b", ZipMethod::stored), RuntimeError);
  BOOST_CHECK_THROW(zip.finish(), RuntimeError);
  zip.end();
  zip.finish();
  BOOST_CHECK_THROW(zip.begin("c", ZipMethod::stored), RuntimeError);
  BOOST_TEST(reader_of(sink.bytes()).members().size() == 1u);
}

BOOST_AUTO_TEST_CASE(of_equal_names_the_last_one_counts) {
  Bytes archive = archive_of({{"a", "first"}, {"b", "middle"}, {"c", "last"}}, ZipMethod::stored);
  std::string s = text_of(archive);  // rename c to a, in both headers
  for (std::size_t at = 0; (at = s.find("PK", at)) != std::string::npos; ++at) {
    const std::size_t name = s.substr(at, 4) == "PK\3\4" ? at + 30 : s.substr(at, 4) == "PK\1\2" ? at + 46 : 0;
    if (name && s[name] == 'c') s[name] = 'a';
  }
  archive = bytes_of(s);
  const ZipReader zip = reader_of(archive);
  BOOST_TEST(zip.members().size() == 2u);
  BOOST_TEST(text_of(zip.read(*zip.find("a"))) == "last");
}

BOOST_AUTO_TEST_CASE(lies_of_an_archive_are_found) {
  const std::string at = "load: \"a.npz\" member \"x\": ";
  const Bytes stored = archive_of({{"x", "0123456789"}, {"y", "0123456789"}}, ZipMethod::stored);
  const Bytes deflated = archive_of({{"x", std::string(5000, 'a')}, {"y", "1"}}, ZipMethod::deflated);
  const auto message = [](Bytes b, auto change) {
    change(b);
    return message_of<ValueError>([&] { read_all(reader_of(b)); });
  };
  BOOST_TEST(message(stored, [](Bytes& b) { b[30 + 1 + 20] ^= std::byte(1); }) ==
             at + "the CRC of its content does not match: the archive is damaged");
  BOOST_TEST(message(stored, [](Bytes& b) { put(b, central(b) + 24, 11, 4); }) ==
             at + "is stored, but states 11 bytes in 10");
  BOOST_TEST(message(stored, [](Bytes& b) { put(b, central(b) + 24, 99, 4), put(b, central(b) + 20, 99, 4); }) ==
             at + "overlaps what follows it: 99 compressed bytes do not fit into 61");
  BOOST_TEST(message(stored, [](Bytes& b) { put(b, central(b) + 24, 25, 4), put(b, central(b) + 20, 25, 4); }) ==
             at + "its 25 compressed bytes overlap what follows them");
  BOOST_TEST(message(stored, [](Bytes& b) { put(b, central(b, 1) + 42, 0, 4); }).ends_with("do not fit into 0"));
  BOOST_TEST(message(stored, [](Bytes& b) { put(b, central(b) + 42, 5000, 4); }) ==
             at + "begins at 5000, where the directory is");
  BOOST_TEST(message(stored, [](Bytes& b) { put(b, central(b) + 8, 1, 2); }) == at + "is encrypted");
  BOOST_TEST(message(stored, [](Bytes& b) { put(b, central(b) + 10, 12, 2); }) ==
             at + "compression method 12 is not supported (only 0, stored, and 8, deflated)");
  BOOST_TEST(message(stored, [](Bytes& b) { b[30] = std::byte('w'); }) ==
             at + "its header does not agree with the directory");
  BOOST_TEST(message(stored, [](Bytes& b) { b[0] = std::byte('w'); }) == at + "there is no member header at 0");
  BOOST_TEST(message(deflated, [](Bytes& b) { put(b, central(b) + 24, 4999, 4); }) ==
             at + "expands beyond the 4999 bytes its header states");
  BOOST_TEST(message(deflated, [](Bytes& b) { put(b, central(b) + 24, 5001, 4); }) ==
             at + "expands to 5000 bytes, its header states 5001");
  BOOST_TEST(message(deflated, [](Bytes& b) {
               put(b, central(b) + 24, 0xfffffff0, 4);
             }).ends_with("deflate reaches at most 1032 times"));
  BOOST_TEST(message(deflated, [](Bytes& b) {
               put(b, 30 + 1 + 20, 0xffffffff, 4);
             }).starts_with(at + "the compressed data is damaged"));
  BOOST_TEST(message(stored, [](Bytes& b) { put(b, b.size() - 22 + 10, 3, 2), put(b, b.size() - 22 + 8, 3, 2); }) ==
             "load: \"a.npz\": zip directory of 94 bytes cannot have 3 entries");
  BOOST_TEST(message(stored, [](Bytes& b) { put(b, b.size() - 22 + 10, 1, 2), put(b, b.size() - 22 + 8, 1, 2); }) ==
             "load: \"a.npz\": zip directory has 47 bytes after its 1 entries");
  BOOST_TEST(message(stored, [](Bytes& b) { put(b, b.size() - 22 + 4, 1, 2); }) ==
             "load: \"a.npz\": zip archives of several volumes are not supported");
  BOOST_TEST(message(stored, [](Bytes& b) {
               b.insert(b.begin(), std::byte(0));
             }).find("does not end at its end record") != std::string::npos);
  BOOST_TEST(message(bytes_of("PK"), [](Bytes&) {}) == "load: \"a.npz\": is no zip archive: it has only 2 bytes");
  BOOST_TEST(message(Bytes(1000), [](Bytes&) {}) ==
             "load: \"a.npz\": is no zip archive or is cut short: there is no end record in its last 1000 bytes");
  BOOST_TEST(message(stored, [](Bytes& b) {
               const auto comment = bytes_of("a comment");
               put(b, b.size() - 2, comment.size(), 2);
               b.insert(b.end(), comment.begin(), comment.end());
             }) == "(nothing was thrown)");
}

// Sizes and offsets moved by hand into zip64 fields.
BOOST_AUTO_TEST_CASE(zip64_fields_are_read) {
  Bytes b = archive_of({{"x", "0123456789"}}, ZipMethod::stored);
  const std::size_t record = central(b), directory = record;
  put(b, record + 20, 0xffffffff, 4);
  put(b, record + 24, 0xffffffff, 4);
  put(b, record + 42, 0xffffffff, 4);
  put(b, record + 30, 28, 2);
  Bytes extra(28);
  put(extra, 0, 1, 2), put(extra, 2, 24, 2), put(extra, 4, 10, 8), put(extra, 12, 10, 8), put(extra, 20, 0, 8);
  b.erase(b.end() - 22, b.end());
  b.insert(b.end(), extra.begin(), extra.end());
  const std::size_t size = b.size() - directory;
  Bytes end(56 + 20 + 22);
  put(end, 0, 0x06064b50, 4), put(end, 4, 44, 8), put(end, 24, 1, 8), put(end, 32, 1, 8), put(end, 40, size, 8),
      put(end, 48, directory, 8);
  put(end, 56, 0x07064b50, 4), put(end, 64, b.size(), 8), put(end, 72, 1, 4);
  put(end, 76, 0x06054b50, 4), put(end, 84, 0xffff, 2), put(end, 86, 0xffff, 2), put(end, 88, 0xffffffff, 4),
      put(end, 92, 0xffffffff, 4);
  b.insert(b.end(), end.begin(), end.end());
  const ZipReader zip = reader_of(b);
  BOOST_TEST(text_of(zip.read(*zip.find("x"))) == "0123456789");
  Bytes far = b;
  put(far, far.size() - 22 - 20 + 8, UINT64_MAX, 8);
  BOOST_TEST(message_of<ValueError>([&] { reader_of(far); }).find("lies beyond its locator") != std::string::npos);
  Bytes huge = b;
  put(huge, record + 46 + 1 + 4, UINT64_MAX, 8);
  put(huge, record + 46 + 1 + 12, UINT64_MAX, 8);
  BOOST_CHECK_THROW(reader_of(huge), ValueError);
}

namespace {

// Remembers only what is not zero, so that archives of many GiB fit.
class SparseArchive final : public ByteSink {
 public:
  void write(const void* from, std::size_t n) override {
    const auto* p = static_cast<const std::byte*>(from);
    if (n < 65536 || std::any_of(p, p + 64, [](std::byte b) { return b != std::byte(0); }))
      parts[size] = Bytes(p, p + n);
    size += n;
  }
  bool can_patch() const override { return true; }
  void patch(std::uint64_t position, const void* from, std::size_t n) override {
    const auto part = std::prev(parts.upper_bound(position));
    std::memcpy(part->second.data() + (position - part->first), from, n);
  }
  std::map<std::uint64_t, Bytes> parts;
  std::uint64_t size = 0;
};

class SparseAccess final : public RandomAccess {
 public:
  explicit SparseAccess(const SparseArchive& archive) : archive_(archive) {}
  std::uint64_t size() const override { return archive_.size; }
  void read_at(std::uint64_t position, void* to, std::size_t n) const override {
    std::memset(to, 0, n);
    for (const auto& [begin, bytes] : archive_.parts) {
      const std::uint64_t first = std::max(begin, position), last = std::min(begin + bytes.size(), position + n);
      if (first < last)
        std::memcpy(static_cast<char*>(to) + (first - position), bytes.data() + (first - begin), last - first);
    }
  }

 private:
  const SparseArchive& archive_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(members_beyond_4_gib_are_written_and_read) {
  SparseArchive archive;
  ZipWriter zip(archive);
  const Bytes zeros(std::size_t(1) << 26);
  ByteSink& content = zip.begin("big", ZipMethod::stored);
  for (int i = 0; i < 65; ++i) content.write(zeros.data(), zeros.size());
  zip.end();
  zip.begin("behind", ZipMethod::stored).write("hello", 5);
  zip.end();
  zip.finish();
  const ZipReader reader("load: \"sparse\"", std::make_unique<SparseAccess>(archive));
  BOOST_TEST(reader.find("big")->size == 65 * (std::uint64_t(1) << 26));
  BOOST_TEST(reader.find("behind")->header_offset > (std::uint64_t(1) << 32));
  BOOST_TEST(text_of(reader.read(*reader.find("behind"))) == "hello");
  const auto source = reader.open(*reader.find("big"));  // reaches the CRC without holding it all
  Bytes piece(std::size_t(1) << 26);
  std::uint64_t total = 0;
  while (const std::size_t n = source->read(piece.data(), piece.size())) total += n;
  BOOST_TEST(total == reader.find("big")->size);
}

BOOST_AUTO_TEST_CASE(more_than_65535_members) {
  MemorySink sink;
  ZipWriter zip(sink);
  for (int i = 0; i < 70000; ++i) {
    zip.begin(std::to_string(i), ZipMethod::stored);
    zip.end();
  }
  zip.finish();
  const ZipReader reader = reader_of(sink.bytes());
  BOOST_TEST(reader.members().size() == 70000u);
  BOOST_TEST(reader.find("69999")->size == 0u);
}

BOOST_AUTO_TEST_CASE(an_archive_cut_anywhere_is_refused) {
  for (const ZipMethod method : {ZipMethod::stored, ZipMethod::deflated}) {
    const Bytes whole = archive_of({{"x.npy", "some content, some content, some content"}, {"y", ""}}, method);
    for (std::size_t n = 0; n < whole.size(); ++n) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
      BOOST_TEST(message_of<ValueError>([&] { read_all(reader_of(cut)); }).starts_with("load: \"a.npz\""), n);
    }
  }
}

// Two thousand damaged npz files: only errors of ours, and memory that deflate's best ratio justifies.
BOOST_AUTO_TEST_CASE(damaged_archives_are_harmless) {
  std::mt19937 random(99);
  for (const bool compressed : {false, true}) {
    MemorySink sink;
    NpzWriter npz(sink, compressed);
    const std::vector<std::int32_t> values(60, 7);
    npz.add("a", Dtype::int32, {3, 20}, std::as_bytes(std::span(values)));
    npz.add_text("b", "text");
    npz.finish();
    int refused = 0, accepted = 0;
    test::largest_allocation = 0;
    for (int round = 0; round < 1000; ++round) {
      Bytes damaged = sink.bytes();
      for (unsigned k = 0; k <= random() % 3; ++k) damaged[random() % damaged.size()] ^= std::byte(1 << random() % 8);
      try {
        const NpzReader reader(reader_of(damaged));
        for (const auto& key : reader.keys()) reader.read(key);
        ++accepted;
      } catch (const Error&) {
        ++refused;
      }
    }
    BOOST_TEST(refused > 500);
    BOOST_TEST(accepted > 10);
    BOOST_TEST(test::largest_allocation <= (compressed ? 1032 * sink.bytes().size() : std::size_t(1) << 17));
  }
}

BOOST_AUTO_TEST_SUITE_END()
