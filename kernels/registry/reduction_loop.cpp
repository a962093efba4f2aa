// Reductions of elements that are strided or narrower than the type that the loop reads: they pass through tiles.
#include <algorithm>

#include <catena/kernels/registry/cast.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/kernels/registry/tuning.h>

namespace catena {
namespace {

// The functions with tiles are not inlined, so that contiguous elements do not pay for their stack space.
[[gnu::noinline]] void reduce_by_tiles(const ReductionLoop& loop, std::byte* acc, const std::byte* ptr,
                                       std::int64_t stride, std::int64_t index, std::int64_t n) {
  const auto item = static_cast<std::int64_t>(itemsize(loop.element));
  alignas(64) std::byte tile[kMostFolded * kMaxItemsize];
  const CastFn load = cast_function(loop.in, loop.element);
  const std::int64_t most = loop.any_order ? kTileElements : kMostFolded;
  for (std::int64_t i = 0; i < n; i += most) {
    const std::int64_t m = std::min(most, n - i);
    load(ptr + i * stride, stride, tile, item, m);
    loop.fold(acc, {tile, 0, 1, index + i, m});
  }
}

// Reduces short rows, several of which share a tile.
[[gnu::noinline]] void reduce_rows_by_tiles(const ReductionLoop& loop, std::byte* acc, const ReductionBlock& block,
                                            std::int64_t stride) {
  const auto item = static_cast<std::int64_t>(itemsize(loop.element)), n = block.n;
  alignas(64) std::byte tile[kTileElements * kMaxItemsize];
  const CastFn load = cast_function(loop.in, loop.element);
  const std::int64_t most = kTileElements / n;
  for (std::int64_t r = 0; r < block.rows; r += most) {
    const std::int64_t rows = std::min(most, block.rows - r);
    const std::byte* in = block.in + r * block.row_step;
    if (block.row_step == n * stride) load(in, stride, tile, item, rows * n);
    else
      for (std::int64_t k = 0; k < rows; ++k) load(in + k * block.row_step, stride, tile + k * n * item, item, n);
    loop.fold(acc + r * static_cast<std::int64_t>(loop.acc_bytes), {tile, n * item, rows, block.index, n});
  }
}

[[gnu::noinline]] void accumulate_positions_by_tiles(const ReductionLoop& loop, std::byte* acc,
                                                     const ReductionBlock& block, std::int64_t stride) {
  const auto item = static_cast<std::int64_t>(itemsize(loop.element));
  alignas(64) std::byte tile[kTileElements * kMaxItemsize];
  const CastFn load = cast_function(loop.in, loop.element);
  for (std::int64_t j = 0; j < block.n; j += kTileElements) {
    const std::int64_t width = std::min(kTileElements, block.n - j), most = kTileElements / width;
    for (std::int64_t r = 0; r < block.rows; r += most) {
      const std::int64_t rows = std::min(most, block.rows - r);
      for (std::int64_t k = 0; k < rows; ++k)
        load(block.in + (r + k) * block.row_step + j * stride, stride, tile + k * width * item, item, width);
      loop.fold_positions(acc + j * static_cast<std::int64_t>(loop.acc_bytes),
                          {tile, width * item, rows, block.index + r, width});
    }
  }
}

[[gnu::noinline]] void accumulate_by_tiles(const ReductionLoop& loop, std::byte* acc, const std::byte* ptr,
                                           std::int64_t stride, std::int64_t index, std::int64_t n) {
  const auto item = static_cast<std::int64_t>(itemsize(loop.element));
  alignas(64) std::byte tile[kTileElements * kMaxItemsize];
  const CastFn load = cast_function(loop.in, loop.element);
  for (std::int64_t j = 0; j < n; j += kTileElements) {
    const std::int64_t m = std::min(kTileElements, n - j);
    load(ptr + j * stride, stride, tile, item, m);
    loop.add_row(acc + j * static_cast<std::int64_t>(loop.acc_bytes), tile, index, m);
  }
}

[[gnu::noinline]] void finish_by_tiles(const ReductionLoop& loop, const std::byte* acc, std::int64_t count,
                                       std::byte* out, std::int64_t stride, std::int64_t n) {
  alignas(64) std::byte tile[kTileElements * kMaxItemsize];
  const auto item = static_cast<std::int64_t>(itemsize(loop.result));
  const CastFn cast = cast_function(loop.result, loop.out);
  for (std::int64_t j = 0; j < n; j += kTileElements) {
    const std::int64_t m = std::min(kTileElements, n - j);
    loop.store(acc + j * static_cast<std::int64_t>(loop.acc_bytes), count, tile, item, m);
    cast(tile, item, out + j * stride, stride, m);
  }
}

}  // namespace

void ReductionLoop::reduce(std::byte* acc, const std::byte* ptr, std::int64_t stride, std::int64_t index,
                           std::int64_t n) const {
  const auto item = static_cast<std::int64_t>(itemsize(element));
  if (in == element && stride == item) fold(acc, {ptr, 0, 1, index, n});
  else reduce_by_tiles(*this, acc, ptr, stride, index, n);
}

void ReductionLoop::reduce_rows(std::byte* acc, const ReductionBlock& block, std::int64_t stride) const {
  const auto item = static_cast<std::int64_t>(itemsize(element));
  if (in == element && stride == item) return fold(acc, block);
  if (block.n > 0 && block.n <= kTileElements) return reduce_rows_by_tiles(*this, acc, block, stride);
  for (std::int64_t r = 0; r < block.rows; ++r)
    reduce_by_tiles(*this, acc + r * static_cast<std::int64_t>(acc_bytes), block.in + r * block.row_step, stride,
                    block.index, block.n);
}

void ReductionLoop::accumulate(std::byte* acc, const std::byte* ptr, std::int64_t stride, std::int64_t index,
                               std::int64_t n) const {
  const auto item = static_cast<std::int64_t>(itemsize(element));
  if (in == element && stride == item) add_row(acc, ptr, index, n);
  else accumulate_by_tiles(*this, acc, ptr, stride, index, n);
}

void ReductionLoop::accumulate_positions(std::byte* acc, const ReductionBlock& block, std::int64_t stride) const {
  const auto item = static_cast<std::int64_t>(itemsize(element));
  if (in == element && stride == item) fold_positions(acc, block);
  else accumulate_positions_by_tiles(*this, acc, block, stride);
}

void ReductionLoop::finish(const std::byte* acc, std::int64_t count, std::byte* out_ptr, std::int64_t stride,
                           std::int64_t n) const {
  if (result == out) store(acc, count, out_ptr, stride, n);
  else finish_by_tiles(*this, acc, count, out_ptr, stride, n);
}

}  // namespace catena
