// Stores past the caches ("non-temporal"), for outputs so large that nobody would find them in a cache later. An
// ordinary store reads its line first: of `c = a + b` that is a quarter of the traffic.
#pragma once

#include <cstddef>
#include <cstdint>

#include <catena/kernels/base/export.h>

namespace nd::cpu {

// Outputs from here on are worth it: smaller ones often are in a shared cache when the next operation reads them (a
// chain of six operations on 16 MB took twice as long with them).
inline constexpr std::int64_t kStreamedBytes = 32 * 1024 * 1024;
inline constexpr std::int64_t kLine = 64;

// Row r of `bytes` bytes goes from `from + r * from_step` to `to + r * to_step`. `to`, to_step and bytes are multiples
// of kLine. Other threads see it after stream_fence() of this one.
void stream_rows(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step, std::int64_t rows,
                 std::int64_t bytes);
// Any number of bytes, to any address; lines that are written in part are written as ever.
CATENA_EXPORT void stream_copy(std::byte* to, const std::byte* from, std::int64_t bytes);
CATENA_EXPORT void stream_fence() noexcept;

inline bool is_line_aligned(const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p) % kLine == 0; }

}  // namespace nd::cpu
