#include <catena/kernels/formats/png.h>
#include <zlib.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include <catena/kernels/base/error.h>

namespace {

std::uint32_t number(const std::string& s, std::size_t at) {
  std::uint32_t v = 0;
  for (std::size_t i = 0; i < 4; ++i) v = v << 8 | static_cast<unsigned char>(s[at + i]);
  return v;
}

// The content of the chunk at `at`, which moves behind it.
std::string chunk(const std::string& file, std::size_t& at, const std::string& type) {
  const std::size_t size = number(file, at);
  BOOST_REQUIRE(at + size + 12 <= file.size());
  BOOST_TEST(file.substr(at + 4, 4) == type);
  const std::string content = file.substr(at + 8, size), checked = type + content;
  const uLong crc = ::crc32(0, reinterpret_cast<const Bytef*>(checked.data()), uInt(checked.size()));
  BOOST_TEST(number(file, at + 8 + size) == crc);
  at += size + 12;
  return content;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(png)

BOOST_AUTO_TEST_CASE(files_have_the_chunks_of_the_standard) {
  for (const int level : {0, 6, 9})
    for (const auto& [width, height] : {std::pair(1, 1), std::pair(300, 7), std::pair(5, 1000)}) {
      std::string rows;
      for (int k = 0; k < height * (3 * width + 1); ++k) rows += char(k % (3 * width + 1) == 0 ? k % 5 : 7 * k);
      const std::string file = catena::png_file(width, height, rows, level);
      BOOST_TEST(file.substr(0, 8) == "\x89PNG\r\n\x1a\n");
      std::size_t at = 8;
      const std::string header = chunk(file, at, "IHDR");
      BOOST_REQUIRE(header.size() == 13u);
      BOOST_TEST(number(header, 0) == std::uint32_t(width));
      BOOST_TEST(number(header, 4) == std::uint32_t(height));
      BOOST_TEST(header.substr(8) == std::string("\x08\x02\0\0\0", 5));
      const std::string packed = chunk(file, at, "IDAT");
      std::string got(rows.size() + 1, '\0');
      uLongf size = uLongf(got.size());
      BOOST_TEST(::uncompress(reinterpret_cast<Bytef*>(got.data()), &size,
                              reinterpret_cast<const Bytef*>(packed.data()), uLong(packed.size())) == Z_OK);
      got.resize(size);
      BOOST_TEST((got == rows));
      BOOST_TEST(chunk(file, at, "IEND").empty());
      BOOST_TEST(at == file.size());
    }
}

// Bytes 8 and 9 of the header are the bits of a channel and the type: 0 grey, 2 colours, 4 and 6 with opacity.
BOOST_AUTO_TEST_CASE(kinds_of_pixels) {
  const int types[] = {0, 4, 2, 6};
  for (const int channels : {1, 2, 3, 4})
    for (const int bits : {8, 16}) {
      const std::string rows(std::size_t(2 * (3 * channels * bits / 8 + 1)), '\0');
      const std::string file = catena::png_file(3, 2, rows, 6, {.channels = channels, .bits = bits});
      std::size_t at = 8;
      const std::string header = chunk(file, at, "IHDR");
      BOOST_TEST(int(header[8]) == bits);
      BOOST_TEST(int(header[9]) == types[channels - 1]);
      BOOST_CHECK_THROW(catena::png_file(3, 2, rows + ' ', 6, {.channels = channels, .bits = bits}),
                        catena::ValueError);
    }
}

BOOST_AUTO_TEST_CASE(rows_of_another_size_and_no_pixels_are_errors) {
  const std::string rows(14, '\0');
  BOOST_CHECK_EXCEPTION(catena::png_file(2, 3, rows, 6), catena::ValueError, [](const catena::ValueError& e) {
    return std::string(e.what()).find("14 bytes of rows were given for 2 x 3 pixels, which need 21") !=
           std::string::npos;
  });
  BOOST_CHECK_THROW(catena::png_file(0, 2, "", 6), catena::ValueError);
  BOOST_CHECK_THROW(catena::png_file(2, -2, "", 6), catena::ValueError);
  BOOST_CHECK_THROW(catena::png_file(2, 2, rows, 10), catena::RuntimeError);
}

BOOST_AUTO_TEST_SUITE_END()
