// Copies elements bit by bit between two layouts of one shape.
#pragma once

#include <cstddef>

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/shape.h>

namespace nd::cpu {

// The two must not overlap unless they are the same view. Multithreaded if they are large.
CATENA_EXPORT void copy_elements(std::byte* to, const catena::Strides& to_strides, const std::byte* from,
                                 const catena::Strides& from_strides, const catena::Shape& shape, std::size_t itemsize);

// Copies n bytes that do not overlap. From 2 KB to the size of a core's cache, memcpy() of the GNU C library may use
// "rep movsb". On Zen 3 this takes 15 times as long (27 KB: 9.1 instead of 0.6 us) where `to` lies up to 16 bytes
// behind `from` modulo 4096, as views into large arrays often do; elsewhere it is the fastest way.
CATENA_EXPORT void copy_bytes(std::byte* to, const std::byte* from, std::int64_t n);

// to[i * to_row + j * itemsize] = from[j * from_row + i * itemsize]: writes a matrix of rows x columns from its
// transpose. What lies `from_ahead` bytes behind what is read and `to_ahead` bytes behind what is written is fetched
// meanwhile, for the next call; 0: nothing.
void transpose_block(std::byte* to, std::int64_t to_row, const std::byte* from, std::int64_t from_row,
                     std::int64_t rows, std::int64_t columns, std::size_t itemsize, std::int64_t from_ahead = 0,
                     std::int64_t to_ahead = 0);

// Copies rows of `bytes` bytes: row r from `from + r * from_row` to `to + r * to_row`, in this order. For short rows
// that are in a cache.
void copy_rows(std::byte* to, std::int64_t to_row, const std::byte* from, std::int64_t from_row, std::int64_t rows,
               std::int64_t bytes);

// Element r of `count`, at from + r * step, `times` times from to + r * times * itemsize on. For short rows.
void repeat_each(std::byte* to, const std::byte* from, std::int64_t step, std::int64_t count, std::int64_t times,
                 std::size_t itemsize);

}  // namespace nd::cpu
