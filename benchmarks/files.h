// The files of cases that read or write: a temporary folder, and images. compare/peers/files.py makes the same images.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// A folder that is removed with the object. IOError if it cannot be made.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

// Returns image i of size x size pixels of red, green and blue: a slope and noise, as smooth and as compressible as a
// photograph.
std::vector<std::uint8_t> image(std::int64_t i, std::int64_t size);
// Returns a PNG file of it (ISO/IEC 15948), whose rows are the differences of neighbouring pixels.
std::string png(const std::vector<std::uint8_t>& pixels, std::int64_t size);
// Writes the images 0 to n - 1. Returns their names and labels, which are labels(n, seed, 10) of cases.h.
std::vector<std::pair<std::string, std::int64_t>> write_images(const TemporaryFolder& folder, std::int64_t n,
                                                               std::int64_t size, std::int64_t seed);

}  // namespace bench
