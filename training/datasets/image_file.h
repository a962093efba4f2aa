// Image files: PNG by libpng, JPEG by libjpeg, where Catena was built with these libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catena/training/dataset.h>

namespace training::datasets {

// The image as an array (C, H, W) on the CPU. The values are those of the file, unscaled and without a conversion of
// colours, as the Python library Pillow gives them to Chainer:
//   C = 1  grey levels 0..255 (0..65535 of 16 bits, 0 and 1 of 1 bit), or numbers of colours of a palette
//   C = 2  grey level and opacity
//   C = 3  red, green, blue;  C = 4 with opacity, or cyan, magenta, yellow, black of a JPEG file
// Colours of 16 bits are reduced to their upper 8. The format is that of the content, whatever the name says.
// IOError when the file cannot be read; ValueError when it is neither PNG nor JPEG, is damaged or cut off, or claims
// more than 1100 bytes of samples per byte of the file; RuntimeError when this build lacks the format's library. All
// name the file. Thread safety: may be called from several threads.
CATENA_EXPORT Array read_image(const std::string& path, autograd::Dtype dtype = autograd::Dtype::float32);

struct ImageCodecs {
  bool png, jpeg;
};
// The image formats that this build can read.
CATENA_EXPORT ImageCodecs image_codecs() noexcept;

namespace internal {

// Samples in the order of rows, columns and channels.
struct DecodedImage {
  std::int64_t height = 0, width = 0, channels = 0;
  int sample_bytes = 1;  // 2: native byte order
  std::vector<std::uint8_t> samples;
};
// ValueError for content that is not valid; RuntimeError where the library is not there. `context` begins the message.
DecodedImage decode_png(const std::string& context, std::string_view file);
DecodedImage decode_jpeg(const std::string& context, std::string_view file);

// Sets the size, which the file claims, and makes room for the samples. ValueError unless there are samples, and no
// more than a file of `file_bytes` may hold, in which a sample has `depth` bits.
void allocate_samples(const std::string& context, DecodedImage& image, std::size_t file_bytes, int depth = 8);

// RuntimeError naming the first path (by its extension .png, .jpg or .jpeg) for which there is no codec, and what to
// install; for other names any codec will do.
CATENA_EXPORT void check_codecs(std::string_view op, const std::vector<std::string>& paths, ImageCodecs codecs);

}  // namespace internal
}  // namespace training::datasets
