#include <catena/ndarray/cuda/runtime/graph.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_set>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/runtime/staging.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/memory/memory_pool.h>

namespace nd::cuda {
namespace {

// Live values are packed into few blocks, so that a replay updates them with few copies. They are written before the
// graph runs, so their memory must not be memory of arrays that the graph had dropped before the value was requested.
// It therefore comes from the driver, not from the graph's part of the pool.
constexpr std::size_t kLiveBlock = 16 * 1024, kLiveAlignment = 16;

struct LiveBlock {
  std::byte* memory;
  std::vector<std::byte> host;  // the content to copy to the device
  std::size_t used = 0;
};
struct LiveValue {
  std::size_t block, offset;
  std::function<void(std::byte*)> refresh;
};

}  // namespace

struct Graph::State final : StorageKeeper {
  explicit State(Device d) : device(d) {}
  ~State() override;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void record(const std::function<void()>& f);
  void keep(catena::Storage& storage) override {
    if (kept.insert(&storage).second) catena::retain(&storage);
  }
  std::byte* live(const void* initial, std::size_t bytes, std::function<void(std::byte*)> refresh);
  void keep_alive(std::shared_ptr<const void> object) {
    if (kept_objects.insert(object.get()).second) objects.push_back(std::move(object));
  }
  void launch(StreamRef on);
  void wait() noexcept;  // until all launches have run

  Device device;
  std::optional<Stream> stream;  // the capturing stream; its memory belongs to the graph
  api::cu_graph_exec exec = nullptr;
  std::size_t nodes = 0;
  std::unordered_set<catena::Storage*> kept;
  std::vector<std::shared_ptr<const void>> objects;  // objects that nodes refer to, without repetition
  std::unordered_set<const void*> kept_objects;
  std::vector<LiveBlock> blocks;
  std::vector<LiveValue> values;
  std::vector<std::pair<void*, void*>>
      launched;  // streams, which may not exist any more, and an event after the last launch on each
};

namespace {

// The graph that is being captured on this thread.
constinit thread_local Graph::State* recording = nullptr;
std::atomic<std::uint64_t> launches{0};

// If ending a capture fails, the stream may stay in capture, where it would break every call that waits for the device;
// a second call ends it.
api::cu_result end_capture(api::cu_stream stream, api::cu_graph* graph) {
  const api::cu_result status = driver().stream_end_capture(stream, graph);
  if (status == api::cu_success) return status;
  if (driver().stream_end_capture(stream, graph) == api::cu_success && *graph != nullptr)
    driver().graph_destroy(*graph);
  *graph = nullptr;
  return status;
}

// The captures of all threads. A capture begins under the lock; calls that would break a capture hold the lock, too.
struct Captures {
  std::shared_mutex mutex;
  std::atomic<int> active{0};
};
Captures& captures() {
  static auto& all = *new Captures;
  return all;
}
class Capture {
 public:
  explicit Capture(api::cu_stream stream) {
    const std::unique_lock lock(captures().mutex);
    // Memory may be allocated during the capture, which only the relaxed mode allows.
    CATENA_CU(stream_begin_capture, stream, api::cu_capture_relaxed);
    ++captures().active;
  }
  ~Capture() { --captures().active; }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
};

struct RecordingScope {
  explicit RecordingScope(Graph::State& state) : keeper_before(MemoryPool::set_keeper(&state)) { recording = &state; }
  ~RecordingScope() {
    recording = nullptr;
    MemoryPool::set_keeper(keeper_before);
  }
  StorageKeeper* keeper_before;
};

}  // namespace

Graph::State::~State() {
  wait();
  if (exec != nullptr && is_healthy(device.id)) driver().graph_exec_destroy(exec);
  objects.clear();
  for (catena::Storage* s : kept) catena::release(s);
  for (LiveBlock& b : blocks) runtime(Device::Kind::cuda).deallocate(device.id, b.memory, b.host.size());
  if (stream && is_healthy(device.id)) memory_pool(Device::Kind::cuda).release_stream(device.id, stream->ptr());
}

void Graph::State::record(const std::function<void()>& f) {
  const DeviceScope on_device(device);
  stream.emplace(StreamOptions{.non_blocking = true});
  memory_pool(Device::Kind::cuda).hold_stream(device.id, stream->ptr());
  const api::cu_stream s = stream_of(stream->ref());
  std::optional<Capture> capture(s);
  api::cu_graph graph = nullptr;
  try {
    const RecordingScope scope(*this);
    const StreamScope on_stream(*stream);
    f();
  } catch (...) {
    // The exception of f is the first cause; a capture that it broke gives no graph.
    if (end_capture(s, &graph) == api::cu_success && graph != nullptr) driver().graph_destroy(graph);
    throw;
  }
  check(end_capture(s, &graph), api::DriverNames::stream_end_capture);
  capture.reset();
  api::cu_result status = driver().graph_get_nodes(graph, nullptr, &nodes);
  if (status == api::cu_success) status = driver().graph_instantiate(&exec, graph, 0);
  driver().graph_destroy(graph);
  check(status, api::DriverNames::graph_instantiate);
}

std::byte* Graph::State::live(const void* initial, std::size_t bytes, std::function<void(std::byte*)> refresh) {
  const std::size_t rounded = (bytes + kLiveAlignment - 1) / kLiveAlignment * kLiveAlignment;
  if (blocks.empty() || blocks.back().used + rounded > blocks.back().host.size()) {
    const std::size_t size = std::max(rounded, kLiveBlock);
    LiveBlock block{nullptr, std::vector<std::byte>(size)};
    blocks.reserve(blocks.size() + 1);
    block.memory = runtime(Device::Kind::cuda).allocate(device.id, size);
    catena::check<catena::OutOfMemoryError>(block.memory != nullptr, "cuda graph", "there is no memory for ", size,
                                            " bytes of values that replays read");
    blocks.push_back(std::move(block));
  }
  LiveBlock& block = blocks.back();
  const std::size_t at = block.used;
  values.push_back({blocks.size() - 1, at, std::move(refresh)});
  std::memcpy(block.host.data() + at, initial, bytes);
  block.used += rounded;
  return block.memory + at;
}

void Graph::State::launch(StreamRef on) {
  for (const LiveBlock& b : blocks) copy_staged(address_of(b.memory), b.host.data(), b.used, on);
  auto last = std::find_if(launched.begin(), launched.end(), [&](const auto& l) { return l.first == on.handle; });
  if (last == launched.end()) {
    void* const event = runtime(Device::Kind::cuda).create_event(device.id, {.disable_timing = true});
    last = launched.insert(last, {on.handle, event});
  }
  enqueue(api::DriverNames::graph_launch, on, {}, [&] { CATENA_CU(graph_launch, exec, stream_of(on)); });
  // Incremented after the launch, so that a thread that reads the new number enqueues its work after the graph's
  // writes.
  launches.fetch_add(1, std::memory_order_release);
  runtime(Device::Kind::cuda).record_event(last->second, on);
}

void Graph::State::wait() noexcept {
  Runtime& cuda = runtime(Device::Kind::cuda);
  for (const auto& [stream, event] : launched) {
    try {
      if (is_healthy(device.id)) cuda.synchronize_event(event);
    } catch (...) {
      // The device is lost, so nothing runs on it.
    }
    cuda.destroy_event(device.id, event);
  }
  launched.clear();
}

Graph::Graph(const std::function<void()>& f, Device device) {
  catena::check<catena::ValueError>(device.kind == Device::Kind::cuda, "cuda graph", device, " is not a CUDA device");
  catena::check<catena::RuntimeError>(!is_recording(), "cuda graph", "another one is being recorded on this thread");
  state_ = std::make_unique<State>(device);
  state_->record(f);
  use_device(device.id);
  state_->launch(current_stream(device));
}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

void Graph::replay() {
  forbid_recording("replay", "replay the graphs one after the other");
  use_device(state_->device.id);
  for (const LiveValue& v : state_->values) v.refresh(state_->blocks[v.block].host.data() + v.offset);
  state_->launch(current_stream(state_->device));
}

std::size_t Graph::n_nodes() const noexcept { return state_->nodes; }

std::uint64_t graph_launches() noexcept { return launches.load(std::memory_order_acquire); }

bool is_recording() noexcept { return recording != nullptr; }

void without_new_captures(const std::function<void(bool capturing)>& f) {
  const std::shared_lock lock(captures().mutex);
  f(captures().active.load() > 0);
}

void keep_in_graph(std::shared_ptr<const void> object) {
  if (recording != nullptr && object != nullptr) recording->keep_alive(std::move(object));
}

std::byte* live_bytes(const void* initial, std::size_t bytes, std::function<void(std::byte*)> refresh) {
  catena::check<catena::RuntimeError>(is_recording(), "live_bytes", "no graph is being recorded on this thread");
  return recording->live(initial, bytes, std::move(refresh));
}

void forbid_recording(std::string_view operation, std::string_view why) {
  catena::check<catena::RuntimeError>(!is_recording(), operation, "cannot be recorded in a CUDA graph, ", why);
}

}  // namespace nd::cuda
