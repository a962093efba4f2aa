// Copies elements bit by bit between two layouts of one shape.
#pragma once

#include <cstddef>

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/shape.h>

namespace nd::cpu {

// The arrays must not overlap unless they are the same view. Large copies use several threads.
CATENA_EXPORT void copy_elements(std::byte* to, const catena::Strides& to_strides, const std::byte* from,
                                 const catena::Strides& from_strides, const catena::Shape& shape, std::size_t itemsize);

// Copies n bytes that do not overlap. For medium sizes, memcpy() of the GNU C library may use "rep movsb", which is
// very slow on some processors if `to` is a few bytes behind `from` modulo 4096, as is common for views into large
// arrays. This function avoids that case.
CATENA_EXPORT void copy_bytes(std::byte* to, const std::byte* from, std::int64_t n);

// to[i * to_row + j * itemsize] = from[j * from_row + i * itemsize]: writes a matrix of rows x columns from its
// transpose. Also prefetches, for the next call, the data `from_ahead` bytes behind the source and `to_ahead` bytes
// behind the destination; 0: none.
void transpose_block(std::byte* to, std::int64_t to_row, const std::byte* from, std::int64_t from_row,
                     std::int64_t rows, std::int64_t columns, std::size_t itemsize, std::int64_t from_ahead = 0,
                     std::int64_t to_ahead = 0);

// Copies rows of `bytes` bytes: row r from `from + r * from_row` to `to + r * to_row`, in this order. For short rows
// that are in a cache.
void copy_rows(std::byte* to, std::int64_t to_row, const std::byte* from, std::int64_t from_row, std::int64_t rows,
               std::int64_t bytes);

// For each r < count: stores the element at from + r * step `times` times, from to + r * times * itemsize on. For short
// rows.
void repeat_each(std::byte* to, const std::byte* from, std::int64_t step, std::int64_t count, std::int64_t times,
                 std::size_t itemsize);

}  // namespace nd::cpu
