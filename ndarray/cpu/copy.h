// Copying elements as bits between two layouts of one shape.
#pragma once

#include <cstddef>

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/shape.h>

namespace nd::cpu {

// The two must not overlap unless they are the same view. Parallel when it is large.
CATENA_EXPORT void copy_elements(std::byte* to, const catena::Strides& to_strides, const std::byte* from,
                                 const catena::Strides& from_strides, const catena::Shape& shape, std::size_t itemsize);

// to[i * to_row + j * itemsize] = from[j * from_row + i * itemsize]: a matrix of rows x columns (of `to`) from its
// transpose.
void transpose_block(std::byte* to, std::int64_t to_row, const std::byte* from, std::int64_t from_row,
                     std::int64_t rows, std::int64_t columns, std::size_t itemsize);

// Row r of `bytes` bytes from `from + r * from_row` to `to + r * to_row`, in this order: for rows that are short, in a
// cache.
void copy_rows(std::byte* to, std::int64_t to_row, const std::byte* from, std::int64_t from_row, std::int64_t rows,
               std::int64_t bytes);

}  // namespace nd::cpu
