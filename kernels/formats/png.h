// Writes Portable Network Graphics (ISO/IEC 15948).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>

namespace catena {

struct PngPixels {
  int channels = 3;  // 1: grey, 2: grey and opacity, 3: red, green and blue, 4: with opacity
  int bits = 8;      // of a channel: 8, or 16, the upper byte first
};

// Returns the bytes of a file with width x height pixels. `rows` has, for each row from the top, the number of its
// filter and its filtered bytes, together width * channels * bits / 8 + 1 bytes. `level` is zlib's, 0 to 9. ValueError
// if `rows` has another size or a side is not positive; RuntimeError if zlib fails.
CATENA_EXPORT std::string png_file(std::int64_t width, std::int64_t height, std::string_view rows, int level,
                                   const PngPixels& pixels = {});

}  // namespace catena
