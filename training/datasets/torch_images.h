// torchvision's modules io and utils: image files as arrays (C, H, W) of uint8, and images side by side.
//
// An argument that is an image is an array of any library, or a Variable. Errors of files as read_image and
// write_image.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catena/training/datasets/image_file.h>

namespace training::io {

// The channels that an image gets: grey levels, with opacity, or red, green and blue. UNCHANGED: those of the file.
enum class ImageReadMode { UNCHANGED, GRAY, GRAY_ALPHA, RGB, RGB_ALPHA };

// The bytes of a file as uint8 (n), and a file of such bytes. ValueError for another dtype or rank.
CATENA_EXPORT Array read_file(const std::string& path);
CATENA_EXPORT void write_file(const std::string& filename, const ExampleValue& data);

// The image of such bytes, on the CPU, and of a file. 16 bits are reduced to their upper 8. An image whose channels are
// neither grey levels nor red, green and blue, that is, indices of a palette of a PNG file or cyan, magenta, yellow and
// black of a JPEG file, is read as UNCHANGED; another mode is a ValueError that names the file.
CATENA_EXPORT Array decode_image(const ExampleValue& input, ImageReadMode mode = ImageReadMode::UNCHANGED);
CATENA_EXPORT Array read_image(const std::string& path, ImageReadMode mode = ImageReadMode::UNCHANGED);
inline Array decode_png(const ExampleValue& input, ImageReadMode mode = ImageReadMode::UNCHANGED) {
  return decode_image(input, mode);
}
inline Array decode_jpeg(const ExampleValue& input, ImageReadMode mode = ImageReadMode::UNCHANGED) {
  return decode_image(input, mode);
}

// The bytes of a file with the image (1, H, W) or (3, H, W), uint8 (else ValueError), and a file of them. A compression
// level is 0 to 9, a quality 1 to 100.
CATENA_EXPORT Array encode_png(const ExampleValue& input, int compression_level = 6);
CATENA_EXPORT Array encode_jpeg(const ExampleValue& input, int quality = 75);
CATENA_EXPORT void write_png(const ExampleValue& input, const std::string& filename, int compression_level = 6);
CATENA_EXPORT void write_jpeg(const ExampleValue& input, const std::string& filename, int quality = 75);

}  // namespace training::io

namespace training::utils {

struct MakeGridOptions {
  std::int64_t nrow = 8;     // images of a row
  std::int64_t padding = 2;  // pixels around each image
  bool normalize = false;    // the values are brought to 0..1, from value_range or the smallest and the largest one
  std::optional<std::pair<double, double>> value_range = {};
  bool scale_each = false;  // the range is that of each image
  double pad_value = 0;
};
// Returns images (N, C, H, W), or one of them, (C, H, W) or (H, W), side by side as one image. Grey levels become three
// channels, and a single image has no border. ValueError as image_grid, and for a range whose first value is larger.
CATENA_EXPORT Array make_grid(const ExampleValue& tensor, const MakeGridOptions& options = {});
CATENA_EXPORT Array make_grid(const std::vector<ExampleValue>& tensors, const MakeGridOptions& options = {});
// make_grid(images, 4)
template <std::integral I> Array make_grid(const ExampleValue& tensor, I nrow, std::int64_t padding = 2) {
  return make_grid(tensor, MakeGridOptions{.nrow = static_cast<std::int64_t>(nrow), .padding = padding});
}
// Writes make_grid of images with values 0..1 to a PNG or JPEG file, by its extension (else ValueError). JPEG has the
// quality 75.
CATENA_EXPORT void save_image(const ExampleValue& tensor, const std::string& fp, const MakeGridOptions& options = {});
CATENA_EXPORT void save_image(const std::vector<ExampleValue>& tensors, const std::string& fp,
                              const MakeGridOptions& options = {});

}  // namespace training::utils
