// Stores that bypass the caches, and prefetching. Non-temporal stores are for outputs that are too large to be found in
// a cache later. An ordinary store first reads its cache line: a quarter of the memory traffic of `c = a + b`.
#pragma once

#include <cstddef>
#include <cstdint>

#include <catena/kernels/base/export.h>

namespace nd::cpu {

// Outputs with fewer bytes are never written with non-temporal stores: they are often still in a shared cache when the
// next operation reads them.
inline constexpr std::int64_t kNeverStreamed = 8 * 1024 * 1024;
// True if an output of that many bytes is written with non-temporal stores. This depends on the last-level cache that
// the system reports. Results do not depend on it.
CATENA_EXPORT bool is_worth_streaming(std::int64_t bytes) noexcept;
// For tests: sets the least number of bytes, at least kNeverStreamed; 0 restores the value for the system's caches.
CATENA_EXPORT void set_streamed_bytes(std::int64_t bytes) noexcept;

// Operands of at least this many bytes are prefetched. Smaller operands are partly in a cache, where prefetching costs
// time.
inline constexpr std::int64_t kFetchedBytes = 20 * 1024 * 1024;
inline constexpr std::int64_t kLine = 64;
enum class Nearness { l2 = 2, l1 = 3 };
// Prefetches a cache line. GCC regards a function that only prefetches as free of effects and removes its calls; the
// empty assembly statement counts as an effect.
template <Nearness nearness = Nearness::l1> inline void fetch_line(const std::byte* p) {
  __builtin_prefetch(p, 0, static_cast<int>(nearness));
  __asm__ volatile("");
}

// Copies rows of `bytes` bytes: row r from `from + r * from_step` to `to + r * to_step`. `to`, to_step and bytes are
// multiples of kLine. Other threads see the data after stream_fence() of this thread.
void stream_rows(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step, std::int64_t rows,
                 std::int64_t bytes);
// Copies any number of bytes, to any address; partial cache lines are written by ordinary stores.
CATENA_EXPORT void stream_copy(std::byte* to, const std::byte* from, std::int64_t bytes);
CATENA_EXPORT void stream_fence() noexcept;

inline bool is_line_aligned(const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p) % kLine == 0; }

}  // namespace nd::cpu
