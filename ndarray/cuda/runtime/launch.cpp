#include <catena/ndarray/cuda/runtime/launch.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <catena/ndarray/cuda/runtime/context.h>

namespace nd::cuda {
namespace {

// The last launches of one stream. Names are copied, because a user's module may be unloaded before they are printed.
struct History {
  static constexpr std::size_t kLength = 32;
  struct Entry {
    char name[100];
    bool is_kernel;  // if true, the numbers are grid and block
    std::uint8_t count;
    std::array<std::int64_t, 6> numbers;
  };
  std::mutex mutex;
  std::array<Entry, kLength> entries;
  std::size_t count = 0;

  void add(std::string_view name, bool is_kernel, std::initializer_list<std::int64_t> numbers) {
    const std::lock_guard lock(mutex);
    Entry& e = entries[count++ % kLength];
    e.name[name.copy(e.name, sizeof e.name - 1)] = '\0';
    e.is_kernel = is_kernel;
    e.count = static_cast<std::uint8_t>(std::min(numbers.size(), e.numbers.size()));
    std::copy_n(numbers.begin(), e.count, e.numbers.begin());
  }
};

struct Histories {
  std::mutex mutex;
  std::map<std::pair<int, void*>, History> of_stream;  // entries stay, because drivers reuse the addresses of streams
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

std::string dimensions_text(const std::int64_t* d) {
  std::string text = catena::concat(d[0]);
  if (d[1] != 1 || d[2] != 1) text += catena::concat("x", d[1]);
  if (d[2] != 1) text += catena::concat("x", d[2]);
  return text;
}

std::string text_of(const History::Entry& e) {
  if (e.is_kernel)
    return catena::concat(e.name, "<<<", dimensions_text(e.numbers.data()), ", ", dimensions_text(e.numbers.data() + 3),
                          ">>>");
  std::string numbers;
  for (int i = 0; i < e.count; ++i)
    numbers += catena::concat(i == 0 ? "" : ", ", e.numbers[static_cast<std::size_t>(i)]);
  return catena::concat(e.name, "(", numbers, ")");
}

// Waits for the stream if CATENA_LAUNCH_BLOCKING is set, and returns its error. Does not wait for a stream under
// capture.
api::cu_result wait_if_blocking(StreamRef stream) {
  if (!launch_blocking()) return api::cu_success;
  const Driver& cu = driver();
  int capturing = api::cu_capture_none;
  const api::cu_result status = cu.stream_is_capturing(stream_of(stream), &capturing);
  if (status != api::cu_success || capturing != api::cu_capture_none) return status;
  return cu.stream_synchronize(stream_of(stream));
}

}  // namespace

void launch(const LoadedKernel& kernel, Dim3 grid, Dim3 block, unsigned shared_bytes, void** parameters,
            StreamRef stream) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  use_device(stream.device.id);
  history_of(stream).add(kernel.name, true, {grid.x, grid.y, grid.z, block.x, block.y, block.z});
  api::cu_result status = driver().launch_kernel(kernel.function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                 shared_bytes, stream_of(stream), parameters, nullptr);
  if (status != api::cu_success) [[unlikely]]
    fail(status, catena::concat("cuLaunchKernel of ", kernel.name));
  status = wait_if_blocking(stream);
  if (status != api::cu_success) [[unlikely]]
    fail(status, catena::concat("kernel ", kernel.name));
}

void record_call(const char* name, StreamRef stream, std::initializer_list<std::int64_t> sizes) {
  history_of(stream).add(name, false, sizes);
}

void after_call(const char* name, StreamRef stream) { check(wait_if_blocking(stream), name); }

std::string recent_launches() {
  Histories& all = histories();
  const std::lock_guard lock(all.mutex);
  std::string text;
  for (auto& [key, history] : all.of_stream) {
    const std::lock_guard of_history(history.mutex);
    if (history.count == 0) continue;
    text += catena::concat("; last launches on cuda:", key.first, " stream ", key.second, ", newest first:");
    const std::size_t n = std::min(history.count, History::kLength);
    for (std::size_t k = 0; k < n; ++k)
      text += (k == 0 ? " " : ", ") + text_of(history.entries[(history.count - 1 - k) % History::kLength]);
  }
  return text;
}

}  // namespace nd::cuda
