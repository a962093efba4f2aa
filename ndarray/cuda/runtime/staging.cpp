#include <catena/ndarray/cuda/runtime/staging.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <mutex>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/memory/memory.h>

namespace nd::cuda {
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

// Long copies go in pieces, so that the device reads one while the host writes the next, and buffers are soon free for
// further ones. A piece is long enough for two threads, because one thread is slower than the bus.
constexpr std::size_t kSmallestStage = 4096, kLargestStage = std::size_t(4) << 20;
constexpr std::int64_t kBytesPerThread = std::int64_t(1) << 20;

// Buffers whose copies may still be running, oldest first.
struct InFlight {
  MemoryPointer stage;
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
  // A buffer whose copy is still running stays, and so does every buffer if the context is lost.
  std::erase_if(s.in_flight, [](const InFlight& f) { return driver().event_query(f.event.get()) == api::cu_success; });
}

void copy_one_stage(api::cu_deviceptr to, const std::byte* from, std::size_t bytes, StreamRef stream) {
  PooledEvent done = pooled_event(stream.device.id);
  MemoryPointer stage = pinned_memory_pool().malloc(std::max(std::bit_ceil(bytes), kSmallestStage));
  use_device(stream.device.id);  // a new buffer may have been allocated for another device
  catena::parallel_for(static_cast<std::int64_t>(bytes), kBytesPerThread, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(stage.ptr() + begin, from + begin, static_cast<std::size_t>(end - begin));
  });
  record_call(api::DriverNames::copy_to_device_async, stream, {static_cast<std::int64_t>(bytes)});
  CATENA_CU(copy_to_device_async, to, stage.ptr(), bytes, stream_of(stream));
  if (const api::cu_result status = driver().event_record(done.get(), stream_of(stream)); status != api::cu_success) {
    // Without an event, the end of the copy is not reported, so the buffer is reused only after the stream's work.
    driver().stream_synchronize(stream_of(stream));
    fail(status, api::DriverNames::event_record);
  }
  {
    Stages& s = stages();
    const std::lock_guard lock(s.mutex);
    s.in_flight.push_back({std::move(stage), std::move(done)});
  }
  after_call(api::DriverNames::copy_to_device_async, stream);
}

}  // namespace

void copy_staged(api::cu_deviceptr to, const std::byte* from, std::size_t bytes, StreamRef stream) {
  use_device(stream.device.id);
  for (std::size_t at = 0; at < bytes; at += kLargestStage) {
    collect();
    copy_one_stage(to + at, from + at, std::min(kLargestStage, bytes - at), stream);
  }
}

}  // namespace nd::cuda
