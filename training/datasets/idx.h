// IDX files, the format of MNIST: bytes in an array of any rank, plain or compressed by gzip.
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

// Reads a file of unsigned bytes. The file is not trusted: sizes are computed in 64 bits, memory grows with the bytes
// read, and the decompressed size is limited to 16 MiB or 100 times the size of the file, whichever is greater. IOError
// if it cannot be read; ValueError if it is not an IDX file, is truncated or has trailing bytes. Both name the file.
CATENA_EXPORT IdxArray read_idx(const std::string& path);

}  // namespace training::datasets
