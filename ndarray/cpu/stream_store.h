// Non-temporal stores, which bypass the caches, for outputs that are too large to be found in a cache later. An
// ordinary store first reads its cache line: a quarter of the memory traffic of `c = a + b`.
#pragma once

#include <cstddef>
#include <cstdint>

#include <catena/kernels/base/export.h>

namespace nd::cpu {

// Least size of an output for non-temporal stores. Smaller outputs are often still in a shared cache when the next
// operation reads them (with these stores, a chain of six operations on 16 MB took twice as long).
inline constexpr std::int64_t kStreamedBytes = 32 * 1024 * 1024;
inline constexpr std::int64_t kLine = 64;

// Copies rows of `bytes` bytes: row r from `from + r * from_step` to `to + r * to_step`. `to`, to_step and bytes are
// multiples of kLine. Other threads see the data after stream_fence() of this thread.
void stream_rows(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step, std::int64_t rows,
                 std::int64_t bytes);
// Any number of bytes, to any address; partial cache lines are written by ordinary stores.
CATENA_EXPORT void stream_copy(std::byte* to, const std::byte* from, std::int64_t bytes);
CATENA_EXPORT void stream_fence() noexcept;

inline bool is_line_aligned(const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p) % kLine == 0; }

}  // namespace nd::cpu
