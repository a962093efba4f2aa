#include <catena/ndarray/cuda/runtime/staging.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/launch.h>

namespace nd::cuda {
namespace {

constexpr std::size_t kUnit = 512;
constexpr std::size_t kSmallestStage = 4096, kLargestStage = std::size_t(64) << 20;

std::size_t rounded(std::size_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

}  // namespace

// ---- pinned memory ------------------------------------------------------------------------------
// All contexts can use pinned memory, but the driver requires a current one to free it. An error is ignored, because it
// would be of earlier work.
PinnedPool::~PinnedPool() {
  if (free_.empty() || !is_healthy(0) || driver().context_set_current(primary_context(0)) != api::cu_success) return;
  for (const auto& [size, list] : free_)
    for (std::byte* b : list) driver().host_free(b);
}

std::byte* PinnedPool::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const std::size_t size = rounded(bytes);
  {
    const std::lock_guard lock(mutex_);
    auto& list = free_[size];
    if (!list.empty()) {
      std::byte* b = list.back();
      list.pop_back();
      return b;
    }
  }
  void* p = nullptr;
  api::cu_result status = driver().host_allocate(&p, size, api::cu_host_alloc_portable);
  if (status == api::cu_error_out_of_memory) {
    free_all_blocks();
    status = driver().host_allocate(&p, size, api::cu_host_alloc_portable);
  }
  if (status == api::cu_error_out_of_memory)
    catena::fail<catena::OutOfMemoryError>("pinned memory", "there is none left for ", bytes, " bytes");
  check(status, api::DriverNames::host_allocate);
  return static_cast<std::byte*>(p);
}

void PinnedPool::deallocate(std::byte* data, std::size_t bytes) noexcept {
  if (data == nullptr) return;
  const std::lock_guard lock(mutex_);
  free_[rounded(bytes)].push_back(data);
}

void PinnedPool::free_all_blocks() {
  std::map<std::size_t, std::vector<std::byte*>> blocks;
  {
    const std::lock_guard lock(mutex_);
    blocks.swap(free_);
  }
  for (const auto& [size, list] : blocks)
    for (std::byte* b : list) CATENA_CU(host_free, b);
}

std::size_t PinnedPool::n_free_blocks() const {
  const std::lock_guard lock(mutex_);
  std::size_t n = 0;
  for (const auto& [size, list] : free_) n += list.size();
  return n;
}

PinnedPool& pinned_pool() {
  static auto& pool = *new PinnedPool;
  return pool;
}

// ---- events -------------------------------------------------------------------------------------
PooledEvent pooled_event(int device) {
  static auto& pool = *new HandlePool<api::cu_event>(driver().device_count);
  return pool.lease(device, [device] {
    use_device(device);
    api::cu_event event = nullptr;
    CATENA_CU(event_create, &event, api::cu_event_disable_timing);
    return event;
  });
}

// ---- staging ------------------------------------------------------------------------------------
namespace {

// Buffers whose copies may still be running, oldest first.
struct InFlight {
  std::byte* data;
  std::size_t bytes;
  PooledEvent event;
};
struct Stages {
  std::mutex mutex;
  std::deque<InFlight> in_flight;
};
Stages& stages() {
  static auto& all = *new Stages;
  return all;
}

void collect() {
  Stages& s = stages();
  const std::lock_guard lock(s.mutex);
  std::erase_if(s.in_flight, [](const InFlight& f) {
    if (driver().event_query(f.event.get()) != api::cu_success)
      return false;  // still running, or the context is lost; no buffer is reused in that case
    pinned_pool().deallocate(f.data, f.bytes);
    return true;
  });
}

void copy_one_stage(api::cu_deviceptr to, const std::byte* from, std::size_t bytes, StreamRef stream) {
  const std::size_t size = std::max(std::bit_ceil(bytes), kSmallestStage);
  PooledEvent done = pooled_event(stream.device.id);
  std::byte* stage = pinned_pool().allocate(size);
  std::memcpy(stage, from, bytes);
  record_call(api::DriverNames::copy_to_device_async, stream, {static_cast<std::int64_t>(bytes)});
  api::cu_result status = driver().copy_to_device_async(to, stage, bytes, stream_of(stream));
  if (status != api::cu_success) {
    pinned_pool().deallocate(stage, size);
    fail(status, api::DriverNames::copy_to_device_async);
  }
  status = driver().event_record(done.get(), stream_of(stream));
  if (status != api::cu_success) {
    // Without an event, the end of the copy is not reported, so this function waits for the stream and then frees the
    // buffer.
    if (driver().stream_synchronize(stream_of(stream)) == api::cu_success) pinned_pool().deallocate(stage, size);
    fail(status, api::DriverNames::event_record);
  }
  {
    Stages& s = stages();
    const std::lock_guard lock(s.mutex);
    s.in_flight.push_back({stage, size, std::move(done)});
  }
  after_call(api::DriverNames::copy_to_device_async, stream);
}

}  // namespace

void copy_staged(api::cu_deviceptr to, const std::byte* from, std::size_t bytes, StreamRef stream) {
  use_device(stream.device.id);
  collect();
  for (std::size_t at = 0; at < bytes; at += kLargestStage)
    copy_one_stage(to + at, from + at, std::min(kLargestStage, bytes - at), stream);
}

}  // namespace nd::cuda
