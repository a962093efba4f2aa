// Row-wise kernels whose loops add up what a kernel's sums (KernelDef::sums) need in the pass that writes.
#pragma once

#include <catena/kernels/registry/bound_call.h>

namespace nd::cpu {

// Sums of neighbouring rows, in the kernel's compute type: element i of a row is added to one of the numbers i * lanes
// to (i + 1) * lanes behind at[k].
struct RowSums {
  std::byte* at[catena::kMaxRowSums];
  std::int64_t rows;  // in all, of which those that are computed may be a block
};
// Lanes of the sums of rows of `count` elements. Rows so short that they are computed side by side, whatever their
// layout, have a lane for each of them.
std::int64_t row_sum_lanes(const catena::RowWiseLoop& loop, std::int64_t count);
// Runs the rows in their order, on this thread.
void rows_with_sums(const catena::bound::RowWise& call, const RowSums& sums);

}  // namespace nd::cpu
