// Drivers for elementwise loops, which are compiled for contiguous operands of a few types. Strided, repeated or
// narrower operands pass through tiles.
#pragma once

#include <catena/kernels/registry/kernel.h>

namespace catena {

inline constexpr int kVectorBlock = 64;  // elements; a multiple of every vector length, so a block has no scalar tail

struct TiledLoop {
  ElementwiseFn run;  // called with contiguous operands of types `computed`, all compute types
  std::array<Dtype, kMaxOperands> stored, computed;
  int nin, ninout, nout;
  bool whole_blocks;  // `run` gets multiples of kVectorBlock elements, so that a value does not depend on its position
};

// Runs a loop over operands of the types `stored` with any strides. Outputs may be identical to inputs but must not
// overlap them otherwise.
void run_tiled(const TiledLoop& loop, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n);
// As run_tiled, for loops with whole_blocks whose operands are mostly contiguous and need no conversion.
void run_padded(const TiledLoop& loop, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n);

}  // namespace catena
