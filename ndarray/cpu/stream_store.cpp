#include <catena/ndarray/cpu/stream_store.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include <catena/kernels/registry/multiarch.h>

#ifdef CATENA_HAS_MULTIARCH
#include <immintrin.h>
#endif

namespace nd::cpu {
namespace {

using Rows = void (*)(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                      std::int64_t rows, std::int64_t bytes);

#ifdef CATENA_HAS_MULTIARCH

// Uses one store per cache line, because the processor would have to combine partial stores.
__attribute__((target("avx512f"))) void whole_lines(std::byte* to, std::int64_t to_step, const std::byte* from,
                                                    std::int64_t from_step, std::int64_t rows, std::int64_t bytes) {
  for (; rows > 0; --rows, to += to_step, from += from_step)
    for (std::int64_t i = 0; i < bytes; i += 64)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
}

void quarter_lines(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                   std::int64_t rows, std::int64_t bytes) {
  for (; rows > 0; --rows, to += to_step, from += from_step)
    for (std::int64_t i = 0; i < bytes; i += 16)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
}

Rows choose() { return __builtin_cpu_supports("avx512f") ? whole_lines : quarter_lines; }
void fence() { _mm_sfence(); }

#else

void ordinary(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step, std::int64_t rows,
              std::int64_t bytes) {
  for (; rows > 0; --rows, to += to_step, from += from_step) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}
Rows choose() { return ordinary; }
void fence() {}

#endif

std::atomic<std::int64_t> streamed_bytes_set{0};

// Returns the least size of an output for non-temporal stores on this processor. An output of three quarters of the
// last-level cache, together with its inputs, exceeds that cache, so little of it would be found there later. The size
// is capped, because larger caches are shared by many cores and one loop gets only a part of them.
std::int64_t least_streamed() {
  constexpr std::int64_t kMost = 32 * 1024 * 1024;
  const long reported = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  const std::int64_t of_cache = reported > 0 ? reported / 4 * 3 : kMost;
  return std::clamp(of_cache, kNeverStreamed, kMost);
}

}  // namespace

void stream_rows(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step, std::int64_t rows,
                 std::int64_t bytes) {
  static const Rows f = choose();
  f(to, to_step, from, from_step, rows, bytes);
}

void stream_copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  const std::int64_t head = std::min(static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(to) % kLine), bytes);
  const std::int64_t body = (bytes - head) / kLine * kLine;
  std::memcpy(to, from, static_cast<std::size_t>(head));
  stream_rows(to + head, 0, from + head, 0, 1, body);
  std::memcpy(to + head + body, from + head + body, static_cast<std::size_t>(bytes - head - body));
}

void stream_fence() noexcept { fence(); }

bool is_worth_streaming(std::int64_t bytes) noexcept {
  if (bytes < kNeverStreamed) return false;
  const std::int64_t set = streamed_bytes_set.load(std::memory_order_relaxed);
  if (set != 0) return bytes >= set;
  static const std::int64_t least = least_streamed();
  return bytes >= least;
}

void set_streamed_bytes(std::int64_t bytes) noexcept { streamed_bytes_set.store(bytes, std::memory_order_relaxed); }

}  // namespace nd::cpu
