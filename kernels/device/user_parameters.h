// Plain data that the launches of user kernels and the kernels share.
#pragma once

#include <catena/kernels/prelude.h>

namespace catena::user {

enum : int { kElementwiseBlock = 128, kReductionBlock = 256 };  // threads

// The first parameter of a reduction. With several splits, split s of an output stores its accumulator at
// partial[output * splits + s], and a second pass combines them.
struct ReduceWork {
  int64_t outputs, count, splits;
  int64_t width;  // neighbouring outputs per block, a power of two; 1 on the CPU
  void* partial;
};

}  // namespace catena::user
