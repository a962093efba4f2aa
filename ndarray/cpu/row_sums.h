// Row-wise kernels whose loops compute KernelDef::sums in the pass that writes.
#pragma once

#include <catena/kernels/registry/bound_call.h>

namespace nd::cpu {

// Destination of the sums of neighbouring rows, in the kernel's compute type: element i of a row is added to one of the
// numbers i * lanes to (i + 1) * lanes - 1 of the array at at[k].
struct RowSums {
  std::byte* at[catena::kMaxRowSums];
  std::int64_t rows;  // number of all rows, of which the computed rows may be a block
};
// Returns the number of lanes of the sums for rows of `count` elements. Rows so short that neighbouring rows are always
// computed in one vector have one lane per row of the vector.
std::int64_t row_sum_lanes(const catena::RowWiseLoop& loop, std::int64_t count);
// Computes the rows in ascending order on this thread.
void rows_with_sums(const catena::bound::RowWise& call, const RowSums& sums);

}  // namespace nd::cpu
