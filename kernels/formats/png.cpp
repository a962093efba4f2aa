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

std::string png_file(std::int64_t width, std::int64_t height, std::string_view rows, int level,
                     const PngPixels& pixels) {
  constexpr std::int64_t kMost = 0x7fffffff;
  check<ValueError>(width > 0 && height > 0 && width <= kMost / 8 && height <= kMost, "png_file", "a picture of ",
                    width, " x ", height, " pixels cannot be stored");
  const std::int64_t pixel_bytes = pixels.channels * pixels.bits / 8, row_bytes = width * pixel_bytes + 1;
  check<ValueError>(std::int64_t(rows.size()) == height * row_bytes, "png_file", rows.size(),
                    " bytes of rows were given for ", width, " x ", height, " pixels, which need ", height * row_bytes,
                    ": a filter for each row and ", pixel_bytes, " bytes for each pixel");
  uLongf size = ::compressBound(static_cast<uLong>(rows.size()));
  std::string packed(size, '\0');
  const int code = ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size, bytes_of(rows),
                               static_cast<uLong>(rows.size()), level);
  check<RuntimeError>(code == Z_OK, "png_file", "zlib cannot compress the picture: error ", code);
  packed.resize(size);
  std::string header;
  append_big_endian(header, static_cast<std::uint32_t>(width));
  append_big_endian(header, static_cast<std::uint32_t>(height));
  constexpr char kColourTypes[] = {0, 4, 2, 6};
  header += {static_cast<char>(pixels.bits), kColourTypes[pixels.channels - 1]};
  header += {0, 0, 0};  // deflate, the five filters, not interlaced
  std::string file = "\x89PNG\r\n\x1a\n";
  append_chunk(file, "IHDR", header);
  append_chunk(file, "IDAT", packed);
  append_chunk(file, "IEND", "");
  return file;
}

}  // namespace catena
