// Conversion between element types: what engines use around the loops of a kernel and for assignments between dtypes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <catena/kernels/base/dtype.h>

namespace catena {

// n elements from `in` to `out`, strides in bytes, each by catena::convert. `in_stride` 0 repeats one element. The two
// may be the same memory when the itemsizes and strides are equal, otherwise they must not overlap.
using CastFn = void (*)(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride,
                        std::int64_t n);

// Every pair of dtypes (equal ones copy bits). A look-up in a table.
CATENA_EXPORT CastFn cast_function(Dtype from, Dtype to);
// The same for elements of that many bytes, which are moved as they are.
CATENA_EXPORT CastFn copy_function(std::size_t itemsize);

}  // namespace catena
