// IDX files, the format of the MNIST data set: bytes in an array of any rank, plain or compressed by gzip.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/shape.h>

namespace training::datasets {

struct IdxArray {
  catena::Shape shape;
  std::vector<std::uint8_t> data;  // C order
};

// Reads a file of unsigned bytes. The file is not trusted: sizes are computed in 64 bits, memory grows with what was
// really read, and no file may unpack to more than 16 MiB or 100 times its own size, whichever is more. IOError when it
// cannot be read, ValueError when it is no such file, is cut off or has bytes left over; both name it.
CATENA_EXPORT IdxArray read_idx(const std::string& path);

}  // namespace training::datasets
