// MATLAB's files of level 5, as far as data sets of images need them. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/shape.h>

namespace training::datasets::internal {

struct MatArray {
  std::string name;
  catena::Shape shape;
  std::vector<std::uint8_t> values;  // in Fortran's order: the first index varies fastest
};

// Returns the numeric arrays of a file whose values are integers of 0 to 255, compressed or not (MathWorks, "MAT-File
// Format", level 5); others are passed over, as are arrays of other classes. The file is not trusted: sizes are
// checked, and a compressed element may expand to 16 MiB or 100 times the size of the file, whichever is greater.
// IOError if the file cannot be read; ValueError, with its name, if it is no such file, is damaged or was written on a
// big-endian machine.
std::vector<MatArray> read_mat(std::string_view op, const std::string& path);

}  // namespace training::datasets::internal
