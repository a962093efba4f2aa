#include <catena/ndarray/cpu/cpu_backend.h>

#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <catena/kernels/base/clock.h>
#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cpu/available_memory.h>
#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/growing_memory.h>
#include <catena/ndarray/cpu/run.h>

namespace nd::cpu {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = 2 * 1024 * 1024;

struct CpuEvent {
  bool timing;
  std::atomic<std::int64_t> nanoseconds{-1};  // -1: not recorded
};

DeviceProperties describe_machine() {
  DeviceProperties p;
  catena::reserve_standard_descriptors();
  std::ifstream list("/proc/cpuinfo");
  for (std::string line; p.name.empty() && std::getline(list, line);)
    if (line.starts_with("model name")) p.name = line.substr(std::min(line.size(), line.find(':') + 2));
  if (p.name.empty()) p.name = "CPU";  // some architectures report no name
  p.processors = get_nprocs();
  p.max_threads_per_processor = 1;
  struct sysinfo memory {};
  if (sysinfo(&memory) == 0) p.total_bytes = memory.totalram * memory.mem_unit;
#ifdef _SC_LEVEL2_CACHE_SIZE
  p.l2_bytes = static_cast<std::size_t>(std::max(sysconf(_SC_LEVEL2_CACHE_SIZE), 0L));
#endif
  return p;
}

}  // namespace

const DeviceProperties& CpuBackend::properties(int) const {
  static const auto& machine = *new DeviceProperties(describe_machine());
  return machine;
}

namespace {

// Bytes of all existing blocks. The system counts the pages of a block only when they are used, so its number of
// available bytes does not show whether further blocks can be filled.
std::atomic<std::size_t> held_bytes{0};

// Returns false if the machine does not have so much memory. Queries the system only once per 64 MB, which takes little
// time compared with the first use of the memory.
bool claim(std::size_t bytes) {
  constexpr std::size_t kStep = std::size_t(64) << 20;
  const std::size_t before = held_bytes.fetch_add(bytes);
  if (before / kStep == (before + bytes) / kStep) return true;
  const MachineMemory machine = machine_memory();
  if (machine.total == 0 || (bytes <= machine.available && before + bytes <= machine.total)) return true;
  held_bytes -= bytes;
  return false;
}
void give_back(std::size_t bytes) noexcept { held_bytes -= bytes; }

}  // namespace

// Large blocks use huge pages if the system supports them, which makes the first access to new memory much cheaper.
std::byte* CpuBackend::allocate(int, std::size_t bytes) {
  const bool huge = bytes >= 2 * kHugePage;
  const std::size_t alignment = huge ? kHugePage : kAlignment;
  // The first number is more than a process can address.
  if (bytes > std::size_t(1) << 47 || !claim(bytes)) return nullptr;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* p = std::aligned_alloc(alignment, rounded);
  if (p == nullptr) give_back(bytes);
#ifdef MADV_HUGEPAGE
  if (p && huge) static_cast<void>(madvise(p, rounded, MADV_HUGEPAGE));  // a hint; failure does not matter
#endif
  return static_cast<std::byte*>(p);
}

void CpuBackend::deallocate(int, std::byte* data, std::size_t bytes) noexcept {
  std::free(data);
  give_back(bytes);
}

namespace {
// Never destroyed: arrays may be freed at exit.
GrowingMemory& growing_memory() {
  static auto& memory = *[] {
    struct sysinfo machine {};
    const bool known = sysinfo(&machine) == 0;
    return new GrowingMemory(known ? machine.totalram * machine.mem_unit : 0);
  }();
  return memory;
}
}  // namespace

std::size_t CpuBackend::growth_unit() const noexcept { return GrowingMemory::kUnit; }
std::byte* CpuBackend::grow(int, std::byte* end, std::size_t bytes) {
  if (!claim(bytes)) return nullptr;
  std::byte* const data = growing_memory().grow(end, bytes);
  if (data == nullptr) give_back(bytes);
  return data;
}
void CpuBackend::shrink(int, std::byte* data, std::size_t bytes) noexcept {
  growing_memory().shrink(data, bytes);
  give_back(bytes);
}

MemoryInfo CpuBackend::memory_info(int) const {
  const MachineMemory memory = machine_memory();
  return {memory.available, properties(0).total_bytes};
}

bool CpuBackend::copy(std::byte* to, Device to_device, const std::byte* from, Device from_device, std::size_t bytes,
                      StreamRef) {
  catena::check<catena::RuntimeError>(to_device.kind == Device::Kind::cpu && from_device.kind == Device::Kind::cpu,
                                      "copy", "the cpu backend cannot copy from ", from_device, " to ", to_device);
  if (bytes == 0) return true;
  if (to < from + bytes && from < to + bytes) {  // overlapping ranges cannot be split over threads
    std::memmove(to, from, bytes);
    return true;
  }
  constexpr std::int64_t kGrain = 1 << 20;
  catena::parallel_for(static_cast<std::int64_t>(bytes), kGrain,
                       [&](std::int64_t b, std::int64_t e) { copy_bytes(to + b, from + b, e - b); });
  return true;
}

void CpuBackend::synchronize(StreamRef) {}
void* CpuBackend::create_stream(int, bool, int) { return new char; }  // a unique address as handle
void CpuBackend::destroy_stream(StreamRef stream) noexcept { delete static_cast<char*>(stream.handle); }
bool CpuBackend::stream_done(StreamRef) { return true; }

void* CpuBackend::create_event(int, const EventOptions& options) { return new CpuEvent{!options.disable_timing}; }
void CpuBackend::destroy_event(int, void* event) noexcept { delete static_cast<CpuEvent*>(event); }
void CpuBackend::record_event(void* event, StreamRef) {
  static_cast<CpuEvent*>(event)->nanoseconds.store(catena::internal::steady_nanoseconds());
}
void CpuBackend::wait_event(StreamRef, void*) {}
bool CpuBackend::event_done(void*) { return true; }
void CpuBackend::synchronize_event(void*) {}

double CpuBackend::elapsed_ms(void* start, void* stop) {
  const auto& a = *static_cast<CpuEvent*>(start);
  const auto& b = *static_cast<CpuEvent*>(stop);
  catena::check<catena::RuntimeError>(a.timing && b.timing, "elapsed_ms", "an event was made without timing");
  const std::int64_t begin = a.nanoseconds.load(), end = b.nanoseconds.load();
  catena::check<catena::RuntimeError>(begin >= 0 && end >= 0, "elapsed_ms", "an event has not been recorded");
  return static_cast<double>(end - begin) * 1e-6;
}

void CpuBackend::execute(const catena::bound::Call& call, StreamRef) {
  call.visit([](const auto& one) { run(one); });
}

}  // namespace nd::cpu
