#include <catena/ndarray/routines/array_reader.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/memory/memory.h>

namespace nd::internal {
namespace {

constexpr std::size_t kSmallestBuffer = 4096;  // bytes; sizes are powers of two, so that the pool has few

// Pinned memory, and the last copy that was enqueued from it.
class Buffer {
 public:
  explicit Buffer(Device device) : runtime_(runtime(device.kind)), stream_(stream_for(device)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    try {
      wait();
    } catch (const catena::Error&) {  // wait() has thrown it before, or another exception is being thrown
    }
  }

  // Returns the memory after the last copy from it has ended.
  std::byte* get(std::size_t bytes) {
    wait();
    if (!memory_) {
      memory_ = alloc_pinned_memory(bytes);
      const DeviceScope scope(stream_.device);
      copied_.emplace(EventOptions{.disable_timing = true});
    }
    return memory_.ptr();
  }
  // Enqueues a copy of the first `bytes` bytes to the array, starting at its byte `at`.
  void copy_to(const Array& a, std::size_t at, std::size_t bytes) {
    const Shape shape{static_cast<std::int64_t>(bytes)};
    const Array part(
        catena::make_view_header(*a.get(), static_cast<std::int64_t>(at), Dtype::uint8, shape, Strides{1}));
    copy_from_host(*part.get(), memory_.ptr());
    runtime_.record_event(copied_->ptr(), stream_);
    is_in_use_ = true;
  }
  void wait() {
    if (!is_in_use_) return;
    is_in_use_ = false;
    runtime_.synchronize_event(copied_->ptr());
  }

 private:
  Runtime& runtime_;
  const StreamRef stream_;
  MemoryPointer memory_;
  std::optional<Event> copied_;
  bool is_in_use_ = false;
};

}  // namespace

Array array_from_reader(const Shape& shape, Dtype dtype, Device device, const ByteReader& read) {
  Array a(new_array(shape, dtype, device));
  const std::size_t total = a.nbytes();
  if (total == 0) return a;
  if (device.kind == Device::Kind::cpu) {
    read(a->data, total);
    return a;
  }
  const std::size_t size = std::max(std::min(std::bit_ceil(total), kReadPart), kSmallestBuffer);
  std::array<Buffer, 2> buffers{Buffer(device), Buffer(device)};
  for (std::size_t at = 0, turn = 0; at < total; at += kReadPart, turn = 1 - turn) {
    const std::size_t bytes = std::min(total - at, kReadPart);
    read(buffers[turn].get(size), bytes);
    buffers[turn].copy_to(a, at, bytes);
  }
  for (Buffer& b : buffers) b.wait();
  return a;
}

}  // namespace nd::internal
