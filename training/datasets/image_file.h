// Image files: PNG read by libpng, JPEG by libjpeg, if Catena was built with these libraries, PGM and PPM; PNG written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/formats/image.h>
#include <catena/training/dataset.h>

namespace training::datasets {

// Returns the image as an array (C, H, W) on the CPU. The values are those of the file, unscaled and without colour
// conversion, as Chainer gets them from the Python library Pillow:
//   C = 1  grey levels 0..255 (0..65535 for 16 bits, 0 and 1 for 1 bit), or indices of a palette
//   C = 2  grey level and opacity
//   C = 3  red, green, blue;  C = 4 with opacity, or cyan, magenta, yellow, black of a JPEG file
// Colours of 16 bits are reduced to their upper 8. The content determines the format, not the name. IOError if the file
// cannot be read; ValueError if it has another format, is damaged or truncated, or declares more than 1100 bytes of
// samples per byte of the file; RuntimeError if this build does not have the library for the format. All name the file.
// Thread safety: may be called from several threads.
CATENA_EXPORT Array read_image(const std::string& path, autograd::Dtype dtype = autograd::Dtype::float32);

// Writes an array (H, W), (1, H, W) or (3, H, W) as a PNG file of red, green and blue, 8 bits each; one channel is
// grey. Values are rounded to the nearest integer of 0..255; NaN becomes 0. The file appears complete or not at all.
// ValueError for other shapes and an array without pixels, TypeError for a complex array; IOError if the file cannot be
// written. Needs no library for images.
CATENA_EXPORT void write_image(const std::string& path, const Array& image);

struct GridOptions {
  std::int64_t columns = 8;  // images of a row
  std::int64_t padding = 2;  // pixels around each image
  double fill = 0;           // their value
};
// Returns images (N, C, H, W) side by side as one image (C, rows * (H + padding) + padding, columns * (W + padding) +
// padding), with fewer columns if there are fewer images. ValueError for other shapes, an array without pixels, fewer
// than 1 columns and a negative padding.
//   write_image("digits.png", image_grid(images * 255, {.columns = 10}))
CATENA_EXPORT Array image_grid(const Array& images, const GridOptions& options = {});

// The formats of image files that can be read.
using ImageCodecs = catena::ImageCodecs;
// Returns the image formats that this build can read.
inline ImageCodecs image_codecs() noexcept { return catena::image_codecs(); }

namespace internal {

// Returns the content of an image file as read_image; messages begin with `op` and the name of the file.
Array decode_image(std::string_view op, const std::string& name, std::string_view file, autograd::Dtype dtype);

// Returns samples as an array (C, H, W) of uint8, or uint16 if they have two bytes.
Array planes(const catena::Image& image);

// Returns the bytes of the file that write_image writes.
CATENA_EXPORT std::string encode_png(std::string_view op, const Array& image);

// Throws a RuntimeError that names the first path (by its extension .png, .jpg or .jpeg) without a codec, and the
// package to install; for other names, one codec is sufficient.
CATENA_EXPORT void check_codecs(std::string_view op, const std::vector<std::string>& paths, ImageCodecs codecs);

}  // namespace internal
}  // namespace training::datasets
