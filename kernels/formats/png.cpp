#include <catena/kernels/formats/png.h>

#include <zlib.h>

#include <catena/kernels/base/error.h>

namespace catena {
namespace {

void append_big_endian(std::string& to, std::uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(v >> shift & 0xff);
}

const Bytef* bytes_of(std::string_view s) { return reinterpret_cast<const Bytef*>(s.data()); }

void append_chunk(std::string& to, std::string_view type, std::string_view content) {
  append_big_endian(to, static_cast<std::uint32_t>(content.size()));
  const std::string checked = std::string(type) + std::string(content);
  to += checked;
  append_big_endian(to, static_cast<std::uint32_t>(::crc32(0, bytes_of(checked), static_cast<uInt>(checked.size()))));
}

}  // namespace

std::string png_file(std::int64_t width, std::int64_t height, std::string_view rows, int level) {
  constexpr std::int64_t kMost = 0x7fffffff;
  check<ValueError>(width > 0 && height > 0 && width <= kMost / 4 && height <= kMost, "png_file", "a picture of ",
                    width, " x ", height, " pixels cannot be stored");
  check<ValueError>(std::int64_t(rows.size()) == height * (3 * width + 1), "png_file", rows.size(),
                    " bytes of rows were given for ", width, " x ", height, " pixels, which need ",
                    height * (3 * width + 1), ": a filter and 3 bytes for each pixel");
  uLongf size = ::compressBound(static_cast<uLong>(rows.size()));
  std::string packed(size, '\0');
  const int code = ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size, bytes_of(rows),
                               static_cast<uLong>(rows.size()), level);
  check<RuntimeError>(code == Z_OK, "png_file", "zlib cannot compress the picture: error ", code);
  packed.resize(size);
  std::string header;
  append_big_endian(header, static_cast<std::uint32_t>(width));
  append_big_endian(header, static_cast<std::uint32_t>(height));
  header += {8, 2, 0, 0, 0};  // 8 bits, RGB, deflate, the five filters, not interlaced
  std::string file = "\x89PNG\r\n\x1a\n";
  append_chunk(file, "IHDR", header);
  append_chunk(file, "IDAT", packed);
  append_chunk(file, "IEND", "");
  return file;
}

}  // namespace catena
