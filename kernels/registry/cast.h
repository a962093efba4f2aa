// Conversion between element types. Engines use it around the loops of a kernel and for assignments between dtypes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <catena/kernels/base/dtype.h>

namespace catena {

// Converts n elements from `in` to `out` by catena::convert; strides are in bytes. `in_stride` 0 repeats one element.
// The two arrays may be the same memory if their itemsizes and strides are equal; otherwise they must not overlap.
using CastFn = void (*)(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride,
                        std::int64_t n);

// Returns the conversion for a pair of dtypes, from a table. Equal dtypes copy bits.
CATENA_EXPORT CastFn cast_function(Dtype from, Dtype to);
// Returns the function that copies elements of that many bytes unchanged.
CATENA_EXPORT CastFn copy_function(std::size_t itemsize);

}  // namespace catena
