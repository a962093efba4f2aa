// Plain data that the launchers of user kernels and the kernels share.
#pragma once

#include <catena/kernels/prelude.h>

namespace catena::user {

enum : int { kElementwiseBlock = 128, kReductionBlock = 256 };  // threads

// The first parameter of a reduction; the backend sets it. With several splits, split s of an output stores its
// accumulator at partial[output * splits + s], and a second pass combines them.
struct ReduceWork {
  int64_t outputs, count, splits;
  int64_t width;  // on a device: neighbouring outputs per block, a power of two
  void* partial;
};

}  // namespace catena::user
