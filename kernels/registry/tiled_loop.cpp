#include <catena/kernels/registry/tiled_loop.h>

#include <algorithm>
#include <cstring>

#include <catena/kernels/base/word.h>
#include <catena/kernels/registry/cast.h>
#include <catena/kernels/registry/tuning.h>

namespace catena {
namespace {

std::int64_t whole(std::int64_t n) { return (n + kVectorBlock - 1) / kVectorBlock * kVectorBlock; }

template <class Bits> void repeat_first(std::byte* tile, std::int64_t begin, std::int64_t end) {
  Bits* const v = reinterpret_cast<Bits*>(tile);
  for (std::int64_t i = begin; i < end; ++i) v[i] = v[0];
}
void pad(std::byte* tile, std::int64_t item, std::int64_t begin, std::int64_t end) {
  visit_word(static_cast<std::size_t>(item),
             [&](auto word) { repeat_first<typename decltype(word)::type>(tile, begin, end); });
}

// The memory of one operand, and the tile that holds a part of it.
struct Part {
  CastFn load = nullptr, store = nullptr;
  std::int64_t item;  // bytes of an element in the tile
  bool in_place;
};

}  // namespace

void run_tiled(const TiledLoop& loop, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n) {
  const int first_out = loop.nin + loop.ninout, operands = first_out + loop.nout;
  Part part[kMaxOperands];
  std::int64_t s[kMaxOperands], widest = 1;
  for (int k = 0; k < operands; ++k) {
    const Dtype stored = loop.stored[std::size_t(k)], computed = loop.computed[std::size_t(k)];
    s[k] = part[k].item = static_cast<std::int64_t>(itemsize(computed));
    part[k].in_place = stride[k] == part[k].item && stored == computed;
    if (k < first_out) part[k].load = cast_function(stored, computed);
    if (k >= loop.nin) part[k].store = cast_function(computed, stored);
    widest = std::max(widest, part[k].item);
  }
  alignas(64) std::byte tiles[kMaxOperands * kTileBytes];
  std::byte* p[kMaxOperands];
  const std::int64_t most = std::min(kMostTiled, kTileBytes / widest);
  for (std::int64_t i = 0, m; i < n; i += m) {
    m = std::min(n - i, most);
    const std::int64_t count = loop.whole_blocks ? whole(m) : m;
    for (int k = 0; k < operands; ++k) {
      std::byte* const memory = ptr[k] + i * stride[k];
      p[k] = memory;
      if (part[k].in_place && count == m) continue;
      p[k] = tiles + k * kTileBytes;
      if (k >= first_out) continue;
      if (k < loop.nin && stride[k] == 0) {  // a repeated element is written to the tile once
        if (i == 0) part[k].load(memory, 0, p[k], part[k].item, count);
        continue;
      }
      part[k].load(memory, stride[k], p[k], part[k].item, m);
      pad(p[k], part[k].item, m, count);
    }
    loop.run(p, s, count);
    for (int k = loop.nin; k < operands; ++k)
      if (p[k] != ptr[k] + i * stride[k]) part[k].store(p[k], part[k].item, ptr[k] + i * stride[k], stride[k], m);
  }
}

void run_padded(const TiledLoop& loop, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n) {
  const int first_out = loop.nin + loop.ninout, operands = first_out + loop.nout;
  for (int k = 0; k < operands; ++k)
    if (stride[k] != static_cast<std::int64_t>(itemsize(loop.computed[std::size_t(k)])))
      return run_tiled(loop, ptr, stride, n);
  const std::int64_t rest = n % kVectorBlock, begin = n - rest;
  if (begin > 0) loop.run(ptr, stride, begin);
  if (rest == 0) return;
  alignas(64) std::byte tiles[kMaxOperands][kVectorBlock * 16];
  std::byte* p[kMaxOperands];
  for (int k = 0; k < operands; ++k) {
    p[k] = tiles[k];
    if (k >= first_out) continue;
    std::memcpy(p[k], ptr[k] + begin * stride[k], std::size_t(rest * stride[k]));
    pad(p[k], stride[k], rest, kVectorBlock);
  }
  loop.run(p, stride, kVectorBlock);
  for (int k = loop.nin; k < operands; ++k)
    std::memcpy(ptr[k] + begin * stride[k], p[k], std::size_t(rest * stride[k]));
}

}  // namespace catena
