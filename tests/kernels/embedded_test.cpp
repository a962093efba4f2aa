// The embedded texts are the kernel headers, all of them and byte for byte.
#include <catena/kernels/registry/embedded.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <catena/tests/support/golden.h>

namespace {

namespace fs = std::filesystem;

using test::source_folder;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

fs::path source_of(const catena::EmbeddedHeader& header) {
  return source_folder() / std::string_view(header.path).substr(7);  // without "catena/"
}

// The first 64 bits of the SHA-256 of a file, computed by the program sha256sum.
std::uint64_t leading_sha256(const fs::path& file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(popen(("sha256sum '" + file.string() + "'").c_str(), "r"),
                                                            pclose);
  char digits[17] = {};
  BOOST_REQUIRE(out != nullptr && std::fread(digits, 1, 16, out.get()) == 16);
  return std::stoull(digits, nullptr, 16);
}

BOOST_AUTO_TEST_CASE(every_header_outside_host_is_embedded) {
  std::vector<std::string> expected;
  for (const auto& entry : fs::recursive_directory_iterator(source_folder() / "kernels")) {
    std::string path = fs::relative(entry.path(), source_folder()).generic_string();
    const bool embedded = !path.starts_with("kernels/base/") && !path.starts_with("kernels/formats/") &&
                          !path.starts_with("kernels/registry/");
    if (entry.path().extension() == ".h" && embedded) expected.push_back("catena/" + path);
  }
  std::sort(expected.begin(), expected.end());
  std::vector<std::string> embedded;
  for (const catena::EmbeddedHeader& header : catena::embedded_headers()) embedded.emplace_back(header.path);
  std::sort(embedded.begin(), embedded.end());
  BOOST_TEST(embedded == expected, boost::test_tools::per_element());
  for (const catena::EmbeddedHeader& header : catena::embedded_headers()) {
    BOOST_TEST((header.text() == read(source_of(header))), header.path << " is not the embedded text");
  }
}

BOOST_AUTO_TEST_CASE(sizes_hashes_and_pieces) {
  for (const catena::EmbeddedHeader& header : catena::embedded_headers()) {
    BOOST_TEST_CONTEXT(header.path) {
      const std::string text = header.text();
      BOOST_TEST(text.size() == header.size);
      BOOST_TEST(leading_sha256(source_of(header)) == header.hash);
      for (std::string_view piece : header.pieces) BOOST_TEST(piece.size() < 16 * 1024u);
      BOOST_TEST(catena::find_embedded_header(header.path) == &header);
    }
  }
  BOOST_TEST(catena::find_embedded_header("catena/kernels/nosuch.h") == nullptr);
}

BOOST_AUTO_TEST_CASE(fnv1a_is_the_published_function) {
  BOOST_TEST(catena::fnv1a("") == 0xcbf29ce484222325ULL);
  BOOST_TEST(catena::fnv1a("a") == 0xaf63dc4c8601ec8cULL);
  BOOST_TEST(catena::fnv1a("foobar") == 0x85944171f73967e8ULL);
  BOOST_TEST(catena::fnv1a("bar", catena::fnv1a("foo")) == catena::fnv1a("foobar"));
}

}  // namespace
