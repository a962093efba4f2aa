#include <catena/benchmarks/files.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <catena/benchmarks/contender.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/png.h>

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

std::string png(const std::vector<std::uint8_t>& pixels, std::int64_t size) {
  std::string rows;
  const auto stride = std::size_t(3 * size);
  for (std::size_t k = 0; k < pixels.size(); ++k) {
    if (k % stride == 0) rows += '\1';  // the filter Sub
    rows += char(pixels[k] - (k % stride < 3 ? 0 : pixels[k - 3]));
  }
  return catena::png_file(size, size, rows, 6);
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
