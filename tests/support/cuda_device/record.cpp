#include <catena/tests/support/cuda_device/record.h>

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

namespace cuda_device {
namespace {

struct Records {
  std::mutex mutex;
  std::array<std::atomic<std::uint64_t>, kEntries> calls{};
  std::atomic<std::uint64_t> atomics{0};
  std::vector<LaunchRecord> launches;
  std::vector<Entry> synchronisations;
};
Records& records() {
  static Records& r = *new Records;
  return r;
}

}  // namespace

void count_call(Entry entry) { ++records().calls[static_cast<std::size_t>(entry)]; }
std::uint64_t calls_of(Entry entry) { return records().calls[static_cast<std::size_t>(entry)]; }

void count_atomic() { records().atomics.fetch_add(1, std::memory_order_relaxed); }
std::uint64_t atomics() { return records().atomics; }

void record_launch(LaunchRecord launch) {
  const std::lock_guard lock(records().mutex);
  records().launches.push_back(std::move(launch));
}
std::vector<LaunchRecord> launches() {
  const std::lock_guard lock(records().mutex);
  return records().launches;
}

void record_synchronisation(Entry entry) {
  const std::lock_guard lock(records().mutex);
  records().synchronisations.push_back(entry);
}
std::vector<Entry> synchronisations() {
  const std::lock_guard lock(records().mutex);
  return records().synchronisations;
}

void reset_records() {
  const std::lock_guard lock(records().mutex);
  for (auto& count : records().calls) count = 0;
  records().atomics = 0;
  records().launches.clear();
  records().synchronisations.clear();
}

}  // namespace cuda_device
