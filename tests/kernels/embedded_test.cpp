// The embedded texts are the kernel headers, all of them and byte for byte.
#include <catena/kernels/registry/embedded.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
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
    BOOST_TEST((header.text() == read(source_folder() / std::string_view(header.path).substr(7))),
               header.path << " is not the embedded text");
  }
}

BOOST_AUTO_TEST_CASE(sizes_hashes_and_pieces) {
  for (const catena::EmbeddedHeader& header : catena::embedded_headers()) {
    BOOST_TEST_CONTEXT(header.path) {
      const std::string text = header.text();
      BOOST_TEST(text.size() == header.size);
      BOOST_TEST(catena::fnv1a(text) == header.hash);
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
