// The device's side of control.h.
#include <algorithm>
#include <cstring>

#include <catena/kernels/base/export.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/cuda_device/engine.h>
#include <catena/tests/support/cuda_device/ptx/profile.h>
#include <catena/tests/support/cuda_device/record.h>
#include <catena/tests/support/cuda_device/report.h>
#include <catena/tests/support/cuda_device/runtime.h>

namespace cuda_device::exports {
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_CONTROL_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports

extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_CONTROL_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}

using namespace cuda_device;

int software_cuda_fail(const char* entry, int nth, int code, int sticky) {
  return arm_fault(entry, nth, code, sticky != 0);
}

void software_cuda_clear_faults() {
  clear_faults();
  heal();
}

int software_cuda_calls(const char* name, std::uint64_t* count) {
  const auto entry = find_entry(name);
  if (entry) *count = calls_of(*entry);
  return entry.has_value();
}

std::size_t software_cuda_launches(ControlLaunch* first, std::size_t count) {
  const std::vector<LaunchRecord> all = launches();
  for (std::size_t k = 0; k < std::min(count, all.size()); ++k) {
    const LaunchRecord& l = all[k];
    first[k] = {{}, {l.grid.x, l.grid.y, l.grid.z}, {l.block.x, l.block.y, l.block.z}, l.stream, l.device};
    l.kernel.copy(first[k].kernel, sizeof(first[k].kernel) - 1);
  }
  return all.size();
}

std::uint64_t software_cuda_atomics() { return atomics(); }

std::size_t software_cuda_synchronisations(const char** first, std::size_t count) {
  const std::vector<Entry> all = synchronisations();
  for (std::size_t k = 0; k < std::min(count, all.size()); ++k) first[k] = name_of(all[k]);
  return all.size();
}

void software_cuda_reset_records() { reset_records(); }

int software_cuda_set_memory(int device, std::size_t bytes) {
  if (device < 0 || device >= kDevices) return 0;
  const Lock lock(runtime().mutex);
  set_total_memory(device, bytes);
  return 1;
}

void software_cuda_set_order(int order) { shim::set_order(static_cast<shim::Order>(order)); }

std::size_t software_cuda_last_report(char* text, std::size_t bytes) {
  const std::string report = last_report();
  report.copy(text, bytes);
  return report.size();
}

void software_cuda_set_report_mode(int mode) { set_report_mode(static_cast<ReportMode>(mode)); }

void software_cuda_set_check(int on) { set_check_mode(on != 0); }

void software_cuda_profile(const ProfiledDevice* device) {
  const Lock lock(runtime().mutex);
  if (device != nullptr) ptx::start_profile(*device);
  else ptx::stop_profile();
}

std::size_t software_cuda_profiles(KernelProfile* first, std::size_t count) {
  const Lock lock(runtime().mutex);
  const std::vector<KernelProfile> all = ptx::profiled_launches();
  std::copy_n(all.begin(), std::min(count, all.size()), first);
  return all.size();
}
