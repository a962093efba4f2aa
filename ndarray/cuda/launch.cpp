#include "ndarray/cuda/launch.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

#include "ndarray/cuda/context.h"

namespace nd::cuda {
namespace {

// The last launches of one stream. Names are copied: a module of the user may be gone when they are asked for.
struct History {
  static constexpr std::size_t kLength = 32;
  struct Entry {
    char name[100];
    Dim3 grid, block;
  };
  std::mutex mutex;
  std::array<Entry, kLength> entries;
  std::size_t count = 0;

  void add(const std::string& name, Dim3 grid, Dim3 block) {
    const std::lock_guard lock(mutex);
    Entry& e = entries[count++ % kLength];
    const std::size_t n = std::min(name.size(), sizeof e.name - 1);
    std::memcpy(e.name, name.data(), n);
    e.name[n] = '\0';
    e.grid = grid;
    e.block = block;
  }
};

struct Histories {
  std::mutex mutex;
  std::map<std::pair<int, void*>, History> of_stream;  // entries stay: a driver gives the addresses of streams again
};
Histories& histories() {
  static auto& all = *new Histories;
  return all;
}

History& history_of(StreamRef stream) {
  thread_local std::pair<int, void*> last_key{-1, nullptr};
  thread_local History* last = nullptr;
  const std::pair<int, void*> key{stream.device.id, stream.handle};
  if (last == nullptr || key != last_key) {
    Histories& all = histories();
    const std::lock_guard lock(all.mutex);
    last = &all.of_stream[key];
    last_key = key;
  }
  return *last;
}

bool launch_blocking() {
  static const bool blocking = [] {
    const char* value = std::getenv("CATENA_LAUNCH_BLOCKING");
    return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
  }();
  return blocking;
}

void print(std::ostream& out, Dim3 d) {
  out << d.x;
  if (d.y != 1 || d.z != 1) out << "x" << d.y;
  if (d.z != 1) out << "x" << d.z;
}

}  // namespace

void launch(const Kernel& kernel, Dim3 grid, Dim3 block, unsigned shared_bytes, void** parameters, StreamRef stream) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  use_device(stream.device.id);
  history_of(stream).add(kernel.name, grid, block);
  const Driver& cu = driver();
  api::cu_result status = cu.launch_kernel(kernel.function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes,
                                           stream_of(stream), parameters, nullptr);
  if (status != api::cu_success) [[unlikely]] fail(status, catena::concat("cuLaunchKernel of ", kernel.name));
  if (!launch_blocking()) return;
  int capturing = api::cu_capture_none;
  status = cu.stream_is_capturing(stream_of(stream), &capturing);
  if (status == api::cu_success && capturing == api::cu_capture_none) status = cu.stream_synchronize(stream_of(stream));
  if (status != api::cu_success) [[unlikely]] fail(status, catena::concat("kernel ", kernel.name));
}

std::string recent_launches() {
  Histories& all = histories();
  const std::lock_guard lock(all.mutex);
  std::ostringstream out;
  for (auto& [key, history] : all.of_stream) {
    const std::lock_guard of_history(history.mutex);
    if (history.count == 0) continue;
    out << "; last launches on cuda:" << key.first << " stream " << key.second << ", newest first:";
    const std::size_t n = std::min(history.count, History::kLength);
    for (std::size_t k = 0; k < n; ++k) {
      const History::Entry& e = history.entries[(history.count - 1 - k) % History::kLength];
      out << (k == 0 ? " " : ", ") << e.name << "<<<";
      print(out, e.grid);
      out << ", ";
      print(out, e.block);
      out << ">>>";
    }
  }
  return out.str();
}

}  // namespace nd::cuda
