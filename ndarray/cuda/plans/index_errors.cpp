#include <catena/ndarray/cuda/plans/index_errors.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include <catena/kernels/base/scalar.h>
#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/memory/memory.h>

namespace nd::cuda {
namespace {

using catena::device::IndexRecord;

std::mutex mutex;
std::atomic<IndexRecord*> records{nullptr};  // one per device; null until the first check

}  // namespace

IndexRecord* index_record(int device) {
  const std::lock_guard lock(mutex);
  if (records.load(std::memory_order_relaxed) == nullptr) {
    use_device(device);
    const std::size_t bytes = sizeof(IndexRecord) * static_cast<std::size_t>(driver().device_count);
    static const auto& memory = *new MemoryPointer(pinned_memory_pool().malloc(bytes));
    std::memset(memory.ptr(), 0, bytes);
    records.store(reinterpret_cast<IndexRecord*>(memory.ptr()), std::memory_order_release);
  }
  return records.load(std::memory_order_relaxed) + device;
}

const char* lasting_name(std::string_view name) {
  static auto& names = *new std::set<std::string, std::less<>>;
  const std::lock_guard lock(mutex);
  const auto found = names.find(name);
  return (found != names.end() ? found : names.emplace(name).first)->c_str();
}

void throw_index_errors() {
  IndexRecord* const all = records.load(std::memory_order_acquire);
  if (all == nullptr) return;
  const std::lock_guard lock(mutex);
  for (int d = 0; d < driver().device_count; ++d) {
    const std::atomic_ref<std::uint32_t> state(all[d].state);
    if (state.load(std::memory_order_acquire) != IndexRecord::complete) continue;
    const IndexRecord error = all[d];
    state.store(IndexRecord::empty, std::memory_order_release);
    const catena::Scalar value =
        error.is_unsigned != 0 ? catena::Scalar(static_cast<std::uint64_t>(error.value)) : catena::Scalar(error.value);
    catena::fail_index(error.name, value, error.rule);
  }
}

}  // namespace nd::cuda
