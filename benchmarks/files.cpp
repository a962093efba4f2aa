#include <catena/benchmarks/files.h>

#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <catena/benchmarks/contender.h>
#include <catena/kernels/base/error.h>

namespace bench {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() : path_((fs::temp_directory_path() / "catena_benchmark_XXXXXX").string()) {
  catena::check<catena::IOError>(::mkdtemp(path_.data()) != nullptr, "TemporaryFolder", "cannot make the folder ",
                                 path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<std::uint8_t> image(std::int64_t i, std::int64_t size) {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t y = 0; y < size; ++y)
    for (std::int64_t x = 0; x < size; ++x)
      for (std::int64_t c = 0; c < 3; ++c) {
        const auto of_image = std::size_t(3 * i + c), of_pixel = std::size_t(((i * size + y) * size + x) * 3 + c);
        const double across = 80 * unit(of_image, 7001) * double(x), down = 80 * unit(of_image, 7002) * double(y);
        const double value = 64 * unit(of_image, 7000) + (across + down) / double(size) + 31 * unit(of_pixel, 7003);
        pixels.push_back(std::uint8_t(value));
      }
  return pixels;
}

namespace {

void append_big_endian(std::string& to, std::uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) to += char(v >> shift & 0xff);
}

void append_chunk(std::string& to, std::string_view type, std::string_view content) {
  append_big_endian(to, std::uint32_t(content.size()));
  const std::string checked = std::string(type) + std::string(content);
  to += checked;
  append_big_endian(to,
                    std::uint32_t(::crc32(0, reinterpret_cast<const Bytef*>(checked.data()), uInt(checked.size()))));
}

}  // namespace

std::string png(const std::vector<std::uint8_t>& pixels, std::int64_t size) {
  std::string rows;
  const auto stride = std::size_t(3 * size);
  for (std::size_t k = 0; k < pixels.size(); ++k) {
    if (k % stride == 0) rows += '\1';  // the filter Sub
    rows += char(pixels[k] - (k % stride < 3 ? 0 : pixels[k - 3]));
  }
  uLongf bytes = ::compressBound(uLong(rows.size()));
  std::string packed(bytes, '\0');
  const int code = ::compress2(reinterpret_cast<Bytef*>(packed.data()), &bytes,
                               reinterpret_cast<const Bytef*>(rows.data()), uLong(rows.size()), 6);
  catena::check<catena::RuntimeError>(code == Z_OK, "png", "zlib cannot compress the image: error ", code);
  packed.resize(bytes);
  std::string header;
  append_big_endian(header, std::uint32_t(size));
  append_big_endian(header, std::uint32_t(size));
  header += {8, 2, 0, 0, 0};  // 8 bits, RGB, deflate, the five filters, not interlaced
  std::string file = "\x89PNG\r\n\x1a\n";
  append_chunk(file, "IHDR", header);
  append_chunk(file, "IDAT", packed);
  append_chunk(file, "IEND", "");
  return file;
}

std::vector<std::pair<std::string, std::int64_t>> write_images(const TemporaryFolder& folder, std::int64_t n,
                                                               std::int64_t size, std::int64_t seed) {
  std::vector<std::pair<std::string, std::int64_t>> written;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::string name = std::to_string(i) + ".png";
    std::ofstream file(fs::path(folder.path()) / name, std::ios::binary);
    file << png(image(i, size), size) << std::flush;
    catena::check<catena::IOError>(bool(file), "write_images", "cannot write ", name, " in ", folder.path());
    written.emplace_back(name, std::int64_t(unit(std::size_t(i), seed) * 10));
  }
  return written;
}

}  // namespace bench
