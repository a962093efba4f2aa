#include <catena/ndarray/device/memory_snapshot.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/memory_pool.h>

namespace nd {
namespace {

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

// "0x7f0000000000"; operator<< would write a null pointer as 0.
struct Hex {
  const void* p;
  friend std::ostream& operator<<(std::ostream& out, Hex h) {
    return out << "\"0x" << std::hex << reinterpret_cast<std::uintptr_t>(h.p) << std::dec << "\"";
  }
};

// [item,item,...]
template <class Items, class Write> void write_list(std::ostream& out, const Items& items, Write&& write) {
  const char* separator = "[";
  for (const auto& item : items) {
    out << std::exchange(separator, ",");
    write(item);
  }
  out << (items.empty() ? "[]" : "]");
}

void write_block(std::ostream& out, const MemoryBlock& b) {
  out << "{\"address\":" << Hex{b.address} << ",\"bytes\":" << b.bytes << ",\"state\":\"" << name_of(b.state)
      << "\",\"streams\":";
  write_list(out, b.streams, [&](void* stream) { out << Hex{stream}; });
  out << "}";
}

void write_arena(std::ostream& out, const MemoryArena& arena) {
  out << "{\"device\":\"" << arena.stream.device << "\",\"stream\":" << Hex{arena.stream.handle}
      << ",\"recorded\":" << (arena.recorded ? "true" : "false") << ",\"segments\":";
  write_list(out, arena.segments, [&](const MemorySegment& s) {
    out << "{\"address\":" << Hex{s.address} << ",\"bytes\":" << s.bytes << ",\"blocks\":";
    write_list(out, s.blocks, [&](const MemoryBlock& b) { write_block(out, b); });
    out << "}";
  });
  out << "}";
}

void write_totals(std::ostream& out, Device device, const MemoryTotals& t) {
  out << "{\"device\":\"" << device << "\",\"used_bytes\":" << t.used_bytes << ",\"total_bytes\":" << t.total_bytes
      << ",\"free_bytes\":" << t.free_bytes << ",\"n_free_blocks\":" << t.n_free_blocks
      << ",\"cached_bytes\":" << t.cached_bytes << ",\"held_bytes\":" << t.held_bytes
      << ",\"n_segments\":" << t.n_segments << "}";
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
  std::ostringstream out;
  out << "{\"totals\":";
  write_list(out, devices, [&](Device d) { write_totals(out, d, totals(d)); });
  out << ",\"arenas\":";
  write_list(out, arenas, [&](const MemoryArena& arena) { write_arena(out, arena); });
  out << "}";
  return out.str();
}

MemorySnapshot memory_snapshot() {
  MemorySnapshot all = memory_pool(Device::Kind::cpu).snapshot();
  if (!is_available(Device::Kind::cuda)) return all;
  MemorySnapshot cuda = memory_pool(Device::Kind::cuda).snapshot();
  std::move(cuda.arenas.begin(), cuda.arenas.end(), std::back_inserter(all.arenas));
  return all;
}

}  // namespace nd
