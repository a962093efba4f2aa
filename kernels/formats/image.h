// Image files as samples in memory: PNG and JPEG, read by libpng and libjpeg where the build has them, and the formats
// PGM and PPM of Netpbm.
//
// Files are not trusted: sizes are compared with the size of the file before memory is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/export.h>

namespace catena {

// Samples in the order of rows, columns and channels.
//   C = 1  grey levels 0..255 (0..65535 for 16 bits, 0 and 1 for 1 bit), or indices of a palette
//   C = 2  grey level and opacity
//   C = 3  red, green, blue;  C = 4 with opacity, or cyan, magenta, yellow, black of a JPEG file
struct Image {
  std::int64_t height = 0, width = 0, channels = 0;
  int sample_bytes = 1;  // 2: native byte order
  std::vector<std::uint8_t> samples;
  bool has_other_colours = false;  // indices of a palette, or cyan, magenta, yellow and black
};

// The formats of image files that this build can read. JPEG files are written by the library that reads them.
struct ImageCodecs {
  bool png, jpeg;
};
CATENA_EXPORT ImageCodecs image_codecs() noexcept;

enum class ImageFormat { unknown, png, jpeg, netpbm };
CATENA_EXPORT ImageFormat image_format(std::string_view file);  // by the content
// By the extension of a path or file name: .png, .jpg, .jpeg, .pgm, .ppm, .pnm, in small or capital letters.
CATENA_EXPORT ImageFormat image_format_of_name(std::string_view path);

// RuntimeError "read_image: this build cannot read "a.jpg": it has no JPEG, because libjpeg was not found ...". `verb`
// is "read" or "write".
CATENA_EXPORT void check_codec(std::string_view op, std::string_view name, ImageFormat format, ImageCodecs codecs,
                               const char* verb = "read");

// Reads a file. Colours of 16 bits of a PNG file are reduced to their upper 8; values of a PGM or PPM file are scaled
// to 0..255, or to 0..65535 where its maximum is above 255. ValueError for content that is in none of these formats, is
// damaged or truncated, or declares more samples than a file of its size can have (allocate_samples); RuntimeError of
// check_codec. Messages begin with `op` and `name`, the file.
CATENA_EXPORT Image decode_image(std::string_view op, std::string_view name, std::string_view file);

// Checks, as decode_image does, the size that another decoder has found in a file; the samples are not read.
CATENA_EXPORT void check_image_size(std::string_view op, std::string_view name, const Image& image,
                                    std::size_t file_bytes);

struct EncodeOptions {
  int quality = 95;  // of JPEG, 1 to 100
  int level = 6;     // of PNG, 0 to 9: zlib's
};
// Returns the bytes of a file. ValueError for options out of their ranges and for channels or samples that the format
// does not have: PNG has 1 to 4 channels of 1 or 2 bytes, PGM and PPM 1 or 3, JPEG 1 or 3 of 1 byte.
CATENA_EXPORT std::string encode_image(std::string_view op, const Image& image, ImageFormat format,
                                       const EncodeOptions& options = {});

namespace internal {

// The formats, one file each. ValueError for invalid content; `context` is the beginning of the message.
Image decode_png(const std::string& context, std::string_view file);
Image decode_jpeg(const std::string& context, std::string_view file);
Image decode_netpbm(const std::string& context, std::string_view file);
std::string encode_png(const Image& image, int level);
std::string encode_jpeg(std::string_view op, const Image& image, int quality);
std::string encode_netpbm(const Image& image);

// Checks the size, which the file declares, and allocates memory for the samples. ValueError unless there are samples,
// and not more than 1100 bytes of them per byte of the file, or 16 MiB; `depth` is the number of bits of a sample in
// the file.
void allocate_samples(const std::string& context, Image& image, std::size_t file_bytes, int depth = 8);

}  // namespace internal
}  // namespace catena
