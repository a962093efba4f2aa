// Image files as arrays: PNG and JPEG, if Catena was built with libpng and libjpeg, and PGM and PPM.
//
// An image is an array (H, W) of grey levels, or (H, W, C) with the channels red, green, blue and, if C is 4, opacity;
// (H, W, 2) has grey levels and opacity. Colours are in this order also where OpenCV has blue first. Arrays of the
// framework have the axes (C, H, W): image.transpose({2, 0, 1}).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <catena/ndarray/core/array.h>

namespace nd {

struct ImreadOptions {
  std::optional<Device> device = {};  // default: the current device
};
// Reads an image as uint8, or as uint16 where a PNG file has grey levels of 16 bits or the largest value of a PGM or
// PPM file is above 255; the content determines the format, not the name. Values are those of the file without
// conversions of colours: indices of a palette stay indices, a JPEG file may have cyan, magenta, yellow and black, 1
// bit is 0 or 1. Colours of 16 bits are reduced to their upper 8 in PNG files; samples of PGM and PPM files are scaled
// to the whole range of the dtype.
// On CUDA, JPEG files of one or three channels are decoded on the device where nvJPEG is installed; its values can
// differ from those of libjpeg by rounding. Others are decoded on the CPU and copied.
// IOError if the file cannot be read; ValueError for another format, damaged or truncated content, and for a size that
// a file of so many bytes cannot have; RuntimeError if this build does not have the library for the format.
CATENA_EXPORT Array imread(const std::string& path, const ImreadOptions& options = {});
// As imread, from the bytes of a file.
CATENA_EXPORT Array imdecode(std::string_view file, const ImreadOptions& options = {});
CATENA_EXPORT Array imdecode(std::span<const std::byte> file, const ImreadOptions& options = {});

struct ImwriteOptions {
  int quality = 95;  // of JPEG, 1 to 100
  int level = 6;     // of compression of PNG, 0 to 9
};
// Writes an image in the format that the extension names: .png, .jpg or .jpeg, .pgm, .ppm or .pnm. PNG has 1 to 4
// channels of 8 or, for uint16, 16 bits; PGM and PPM have 1 or 3 channels, JPEG 1 or 3 of 8 bits. bool is written as 0
// and 255; numbers of other dtypes are rounded to the nearest integer of 0..255, NaN to 0: write 255 * a for levels of
// 0..1. The file appears complete or not at all; waits for the device. PNG, PGM and PPM need no library.
// ValueError for another shape, an array without pixels, channels that the format does not have, an unknown extension
// and options out of their ranges; TypeError for complex numbers; IOError if the file cannot be written; RuntimeError
// if this build does not have libjpeg.
CATENA_EXPORT void imwrite(const std::string& path, const Array& image, const ImwriteOptions& options = {});
// Returns the bytes of the file that imwrite writes: imencode(".png", image).
CATENA_EXPORT std::string imencode(std::string_view extension, const Array& image, const ImwriteOptions& options = {});

}  // namespace nd
