// Loops of binary functions on the host, for the methods at and reduceat.
#pragma once

#include <cstdint>
#include <span>

#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/core/array.h>

namespace nd::internal {

// flat[positions[i]] = f(flat[positions[i]], values[i]) for one i after the other. All are C-contiguous, of rank 1 and
// on the CPU, the positions int64 and inside of the array, the values of its dtype and in other memory. False, with
// nothing done, for other functions than add, multiply, maximum and minimum, and for 16-bit floats, bools and complex
// numbers.
bool apply_at_positions(const catena::KernelDef& def, const Array& flat, const Array& positions, const Array& values);

// As apply_at_positions for indices of any shape, int32 or int64, which count from the end where they are negative, and
// for values in the shape of the indices or one value. Also false, with nothing done, if an index is out of range.
bool apply_at_indices(const catena::KernelDef& def, const Array& flat, const Array& indices, const Array& values);

// The number of elements from starts[k] to the next start, or to the end of n elements: at least 1.
inline std::int64_t length_of_range(std::span<const std::int64_t> starts, std::size_t k, std::int64_t n) {
  const std::int64_t length = (k + 1 < starts.size() ? starts[k + 1] : n) - starts[k];
  return length > 1 ? length : 1;
}

// out[k] = the combination of the elements of `x` in range k. Arrays, functions and result as above. Long sums are
// formed by halves, so their rounding errors hardly grow with the length.
bool combine_ranges(const catena::KernelDef& def, const Array& x, std::span<const std::int64_t> starts,
                    const Array& out);

}  // namespace nd::internal
