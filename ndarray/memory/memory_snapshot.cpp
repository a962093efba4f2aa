#include <catena/ndarray/memory/memory_snapshot.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <catena/kernels/base/text.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/memory/memory_pool.h>

namespace nd {
namespace {

using catena::concat;

using State = MemoryBlock::State;

void add(MemoryTotals& t, const MemoryArena& arena) {
  for (const MemorySegment& segment : arena.segments) {
    ++t.n_segments;
    t.total_bytes += segment.bytes;
    for (const MemoryBlock& b : segment.blocks) {
      if (b.state == State::used) {
        t.used_bytes += b.bytes;
        continue;
      }
      ++t.n_free_blocks;
      t.free_bytes += b.bytes;
      if (b.state == State::cached) t.cached_bytes += b.bytes;
      if (b.state == State::held) t.held_bytes += b.bytes;
    }
  }
}

const char* name_of(State state) {
  switch (state) {
    case State::used: return "used";
    case State::cached: return "cached";
    case State::held: return "held";
    case State::free: return "free";
  }
  return "";
}

// "0x7f0000000000"
std::string address_text(const void* p) {
  return "\"0x" + catena::hexadecimal_text(reinterpret_cast<std::uintptr_t>(p)) + "\"";
}

// [item,item,...]
template <class Items, class Text> std::string list_text(const Items& items, Text&& text_of) {
  std::string text = "[";
  const char* separator = "";
  for (const auto& item : items) text += std::exchange(separator, ",") + text_of(item);
  return text + "]";
}

std::string block_text(const MemoryBlock& b) {
  return concat("{\"address\":", address_text(b.address), ",\"bytes\":", b.bytes, ",\"state\":\"", name_of(b.state),
                "\",\"streams\":", list_text(b.streams, address_text), "}");
}

std::string segment_text(const MemorySegment& s) {
  return concat("{\"address\":", address_text(s.address), ",\"bytes\":", s.bytes,
                ",\"blocks\":", list_text(s.blocks, block_text), "}");
}

std::string arena_text(const MemoryArena& arena) {
  return concat("{\"device\":\"", arena.stream.device, "\",\"stream\":", address_text(arena.stream.handle),
                ",\"recorded\":", arena.recorded ? "true" : "false",
                ",\"segments\":", list_text(arena.segments, segment_text), "}");
}

std::string totals_text(Device device, const MemoryTotals& t) {
  return concat("{\"device\":\"", device, "\",\"used_bytes\":", t.used_bytes, ",\"total_bytes\":", t.total_bytes,
                ",\"free_bytes\":", t.free_bytes, ",\"n_free_blocks\":", t.n_free_blocks,
                ",\"cached_bytes\":", t.cached_bytes, ",\"held_bytes\":", t.held_bytes,
                ",\"n_segments\":", t.n_segments, "}");
}

}  // namespace

MemoryTotals MemorySnapshot::totals() const {
  MemoryTotals t;
  for (const MemoryArena& arena : arenas) add(t, arena);
  return t;
}

MemoryTotals MemorySnapshot::totals(Device device) const {
  MemoryTotals t;
  for (const MemoryArena& arena : arenas)
    if (arena.stream.device == device) add(t, arena);
  return t;
}

std::string MemorySnapshot::to_json() const {
  std::vector<Device> devices;
  for (const MemoryArena& arena : arenas)
    if (std::find(devices.begin(), devices.end(), arena.stream.device) == devices.end())
      devices.push_back(arena.stream.device);
  const std::string all = list_text(devices, [&](Device d) { return totals_text(d, totals(d)); });
  return concat("{\"totals\":", all, ",\"arenas\":", list_text(arenas, arena_text), "}");
}

MemorySnapshot memory_snapshot() {
  MemorySnapshot all = memory_pool(Device::Kind::cpu).snapshot();
  if (!is_available(Device::Kind::cuda)) return all;
  MemorySnapshot cuda = memory_pool(Device::Kind::cuda).snapshot();
  std::move(cuda.arenas.begin(), cuda.arenas.end(), std::back_inserter(all.arenas));
  return all;
}

}  // namespace nd
