// Reductions of elements that are strided or narrower than what their loop reads: they pass through tiles.
#include <algorithm>

#include <catena/kernels/rows/cast.h>
#include <catena/kernels/rows/kernel.h>

namespace catena {
namespace {

constexpr std::int64_t kTile = 512;  // elements; a multiple of kLanes
constexpr std::int64_t kWidest = 16;
constexpr std::int64_t kWidestAccumulator = 48;

// The tiles are in functions of their own, so that elements which need none do not pay for the stack.
[[gnu::noinline]] void reduce_by_tiles(const ReductionLoop& loop, std::byte* acc, const std::byte* ptr,
                                       std::int64_t stride, std::int64_t index, std::int64_t n) {
  const auto item = static_cast<std::int64_t>(itemsize(loop.element));
  alignas(64) std::byte tile[kTile * kWidest], lanes[kLanes * kWidestAccumulator];
  const CastFn load = cast_function(loop.in, loop.element);
  std::int64_t i = 0;
  do {
    const std::int64_t m = std::min(kTile, n - i);
    load(ptr + i * stride, stride, tile, item, m);
    loop.fold(acc, lanes, tile, index + i, m, i == 0, i + m == n);
    i += m;
  } while (i < n);
}

[[gnu::noinline]] void accumulate_by_tiles(const ReductionLoop& loop, std::byte* acc, const std::byte* ptr,
                                           std::int64_t stride, std::int64_t index, std::int64_t n) {
  const auto item = static_cast<std::int64_t>(itemsize(loop.element));
  alignas(64) std::byte tile[kTile * kWidest];
  const CastFn load = cast_function(loop.in, loop.element);
  for (std::int64_t j = 0; j < n; j += kTile) {
    const std::int64_t m = std::min(kTile, n - j);
    load(ptr + j * stride, stride, tile, item, m);
    loop.fold_rows(acc + j * static_cast<std::int64_t>(loop.acc_bytes), tile, index, m);
  }
}

[[gnu::noinline]] void finish_by_tiles(const ReductionLoop& loop, const std::byte* acc, std::int64_t count,
                                       std::byte* out, std::int64_t stride, std::int64_t n) {
  alignas(64) std::byte tile[kTile * kWidest];
  const auto item = static_cast<std::int64_t>(itemsize(loop.result));
  const CastFn cast = cast_function(loop.result, loop.out);
  for (std::int64_t j = 0; j < n; j += kTile) {
    const std::int64_t m = std::min(kTile, n - j);
    loop.store(acc + j * static_cast<std::int64_t>(loop.acc_bytes), count, tile, item, m);
    cast(tile, item, out + j * stride, stride, m);
  }
}

}  // namespace

void ReductionLoop::reduce(std::byte* acc, const std::byte* ptr, std::int64_t stride, std::int64_t index,
                           std::int64_t n) const {
  const auto item = static_cast<std::int64_t>(itemsize(element));
  if (in == element && stride == item) fold(acc, nullptr, ptr, index, n, true, true);
  else reduce_by_tiles(*this, acc, ptr, stride, index, n);
}

void ReductionLoop::accumulate(std::byte* acc, const std::byte* ptr, std::int64_t stride, std::int64_t index,
                               std::int64_t n) const {
  const auto item = static_cast<std::int64_t>(itemsize(element));
  if (in == element && stride == item) fold_rows(acc, ptr, index, n);
  else accumulate_by_tiles(*this, acc, ptr, stride, index, n);
}

void ReductionLoop::finish(const std::byte* acc, std::int64_t count, std::byte* out_ptr, std::int64_t stride,
                           std::int64_t n) const {
  if (result == out) store(acc, count, out_ptr, stride, n);
  else finish_by_tiles(*this, acc, count, out_ptr, stride, n);
}

}  // namespace catena
