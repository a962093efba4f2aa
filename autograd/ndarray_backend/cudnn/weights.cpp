#include <catena/autograd/ndarray_backend/cudnn/weights.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <catena/autograd/backend/backend.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/memory/memory_pool.h>
#include <catena/ndarray/memory/release_watch.h>

namespace autograd::internal::cudnn {
namespace {

using catena::Storage;

// The event on a stream after which a weight space is complete.
class Ready {
 public:
  explicit Ready(nd::StreamRef stream)
      : stream_(stream), event_(runtime().create_event(stream.device.id, {.disable_timing = true})) {
    try {
      runtime().record_event(event_, stream);
    } catch (...) {
      runtime().destroy_event(stream.device.id, event_);
      throw;
    }
  }
  ~Ready() { runtime().destroy_event(stream_.device.id, event_); }
  Ready(const Ready&) = delete;
  Ready& operator=(const Ready&) = delete;

  // Ensures that work enqueued on `stream` from now on reads a complete space. Only the default stream can be
  // identified by its handle: the handle of another stream may be that of a destroyed one.
  void wait_on(nd::StreamRef stream) {
    if (passed_.load(std::memory_order_acquire) || (stream == stream_ && stream.handle == nullptr)) return;
    if (runtime().event_done(event_)) passed_.store(true, std::memory_order_release);
    else runtime().wait_event(stream, event_);
  }

 private:
  nd::Runtime& runtime() const { return nd::runtime(stream_.device.kind); }

  nd::StreamRef stream_;
  void* event_;
  std::atomic<bool> passed_{false};
};

// Identifies a set of weights: the layout, and the address, shape, strides and dtype of each array. Writing to the
// arrays does not change it.
using Key = std::vector<std::int64_t>;
Key key_of(std::span<const std::int64_t> layout, const std::vector<const Array*>& arrays) {
  Key key(layout.begin(), layout.end());
  for (const Array* a : arrays) {
    key.push_back(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>((*a)->data)));
    key.push_back(static_cast<std::int64_t>(a->dtype()));
    key.insert(key.end(), a->strides().begin(), a->strides().end());
  }
  return key;
}

// Changes with every write to one of the arrays: the number of graph launches, then the arrays' versions.
using State = std::vector<std::uint64_t>;
State state_of(const std::vector<const Array*>& arrays) {
  State state{nd::cuda::graph_launches()};
  for (const Array* a : arrays) state.push_back((*a)->storage->version.load(catena::MemoryOrder::acquire));
  return state;
}

struct Space {
  State state;
  std::vector<Storage*> sources;  // sorted
  Array weights;
  std::shared_ptr<Ready> ready;
  std::uint64_t used = 0;  // number of the last call that used it
};
using Spaces = std::map<Key, Space>;

std::size_t bytes_of(const Space& s) { return s.weights->storage->bytes; }

class Table {
 public:
  bool find(const Key& key, const State& state, Array& weights, std::shared_ptr<Ready>& ready) {
    const std::lock_guard lock(mutex_);
    const auto found = spaces_.find(key);
    if (found == spaces_.end() || found->second.state != state) return false;
    found->second.used = ++calls_;
    weights = found->second.weights;
    ready = found->second.ready;
    return true;
  }

  void keep(const Key& key, Space space) {
    Dropped dropped;
    const std::lock_guard lock(mutex_);
    drop(spaces_.find(key), dropped);
    const std::size_t bytes = bytes_of(space);
    if (bytes > kMostWeightBytes) return;
    while (!spaces_.empty() && (spaces_.size() >= kMostWeightSpaces || bytes_ + bytes > kMostWeightBytes))
      drop(std::min_element(spaces_.begin(), spaces_.end(),
                            [](const auto& a, const auto& b) { return a.second.used < b.second.used; }),
           dropped);
    space.used = ++calls_;
    spaces_.emplace(key, std::move(space));
    bytes_ += bytes;
  }

  void forget(const Key& key) {
    Dropped dropped;
    const std::lock_guard lock(mutex_);
    drop(spaces_.find(key), dropped);
  }

  // Removes all spaces for which `is_meant` is true.
  template <class F> void drop_where(F&& is_meant) {
    Dropped dropped;
    const std::lock_guard lock(mutex_);
    for (auto at = spaces_.begin(); at != spaces_.end();) at = is_meant(at->second) ? drop(at, dropped) : std::next(at);
  }

  std::pair<std::size_t, std::size_t> size() {
    const std::lock_guard lock(mutex_);
    return {spaces_.size(), bytes_};
  }

 private:
  // Released after the lock, because releasing memory may call the table again.
  using Dropped = Spaces;

  Spaces::iterator drop(Spaces::iterator at, Dropped& dropped) {
    if (at == spaces_.end()) return at;
    const auto next = std::next(at);
    bytes_ -= bytes_of(at->second);
    dropped.insert(spaces_.extract(at));
    return next;
  }

  std::mutex mutex_;
  Spaces spaces_;
  std::size_t bytes_ = 0;
  std::uint64_t calls_ = 0;
};

// Never destroyed, because arrays in static variables may be destroyed later.
Table& table() {
  static Table& t = []() -> Table& {
    nd::add_cache([](Device::Kind kind, int device) {
      table().drop_where([=](const Space& s) {
        const Device of = s.weights.device();
        return of.kind == kind && (device == nd::kAllDevices || of.id == device);
      });
    });
    return *new Table;
  }();
  return t;
}

void released(Storage& storage) {
  table().drop_where([&](const Space& s) { return std::binary_search(s.sources.begin(), s.sources.end(), &storage); });
}

// Returns the storages of the arrays, sorted; empty unless the release of every one is reported.
std::vector<Storage*> watched(const std::vector<const Array*>& arrays) {
  std::vector<Storage*> all;
  for (const Array* a : arrays) all.push_back((*a)->storage);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (Storage* s : all)
    if (!nd::watch_release(*s, &released)) return {};
  return all;
}

}  // namespace

Array packed_weights(std::span<const std::int64_t> layout, const std::vector<Array>& ws, const std::vector<Array>& bs,
                     const catena::Function<Array()>& pack) {
  std::vector<const Array*> arrays;
  for (const auto* list : {&ws, &bs})
    for (const Array& a : *list) arrays.push_back(&a);
  const auto counts_writes = [](const Array* a) { return a->backend().counts_writes(*a); };
  if (nd::cuda::is_recording()) return pack();
  const Key key = key_of(layout, arrays);
  if (!std::all_of(arrays.begin(), arrays.end(), counts_writes)) {
    table().forget(key);
    return pack();
  }
  const State state = state_of(arrays);  // before the copying: a write during it results in another state
  const nd::StreamRef stream = nd::internal::stream_for(ws[0].device());
  Array weights;
  std::shared_ptr<Ready> ready;
  if (table().find(key, state, weights, ready)) {
    ready->wait_on(stream);
    const catena::ArrayHeader* const used[] = {weights.get()};
    nd::internal::record_operands(stream, used);
    return weights;
  }
  weights = pack();
  std::vector<Storage*> sources = watched(arrays);
  if (!sources.empty()) table().keep(key, {state, std::move(sources), weights, std::make_shared<Ready>(stream)});
  return weights;
}

std::size_t kept_weight_spaces() { return table().size().first; }
std::size_t kept_weight_bytes() { return table().size().second; }

}  // namespace autograd::internal::cudnn
