#include <catena/ndarray/cuda/runtime/context.h>

#include <atomic>
#include <memory>
#include <mutex>

#include <catena/kernels/base/cuda_error.h>
#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/launch.h>

namespace nd::cuda {
namespace {

using catena::concat;

struct DeviceState {
  std::once_flag opened;
  std::atomic<api::cu_context> context = nullptr;
  DeviceProperties properties;
  std::atomic<api::cu_result> lost = api::cu_success;  // the error that destroyed the context
  std::string cause;                                   // its text; written before `lost`
};

DeviceState* states() {
  static DeviceState* const all = new DeviceState[static_cast<std::size_t>(driver().device_count)];
  return all;
}

void open_device(int device, DeviceState& state) {
  const Driver& cu = driver();
  api::cu_device handle = 0;
  CATENA_CU(device_get, &handle, device);
  const auto attribute = [device](int which) { return device_attribute(device, which); };
  DeviceProperties& p = state.properties;
  char name[256] = "";
  CATENA_CU(device_get_name, name, static_cast<int>(sizeof name), handle);
  p.name = name;
  p.arch = attribute(api::cu_compute_capability_major) * 10 + attribute(api::cu_compute_capability_minor);
  p.processors = attribute(api::cu_multiprocessor_count);
  p.max_threads_per_processor = attribute(api::cu_max_threads_per_multiprocessor);
  CATENA_CU(device_total_memory, &p.total_bytes, handle);
  p.shared_bytes_per_block = static_cast<std::size_t>(attribute(api::cu_max_shared_memory_per_block));
  p.shared_bytes_per_block_optin = static_cast<std::size_t>(attribute(api::cu_max_shared_memory_per_block_optin));
  p.l2_bytes = static_cast<std::size_t>(attribute(api::cu_l2_cache_size));
  p.clock_khz = attribute(api::cu_clock_rate);
  p.memory_clock_khz = attribute(api::cu_memory_clock_rate);
  p.memory_bus_bits = attribute(api::cu_memory_bus_width);
  api::cu_context context = nullptr;
  check(cu.primary_context_retain(&context, handle), api::DriverNames::primary_context_retain);
  state.context.store(context, std::memory_order_release);
}

DeviceState& state_of(int device) {
  catena::check<catena::ValueError>(device >= 0 && device < driver().device_count, "cuda", "device ", device,
                                    " does not exist, there ", driver().device_count == 1 ? "is " : "are ",
                                    driver().device_count);
  DeviceState& state = states()[device];
  // An exception leaves the flag unset, so a failure for lack of memory can be retried.
  std::call_once(state.opened, [&] { open_device(device, state); });
  return state;
}

[[noreturn]] void fail_after_fork() {
  throw catena::RuntimeError(
      "CUDA cannot be used in a child of fork() whose parent has used it: contexts, streams and memory of the GPU are "
      "not inherited. Call fork() before anything asks for a GPU, start a program of its own (posix_spawn, or fork() "
      "and exec()), or work on the CPU in the child (nd::DeviceScope on(nd::cpu_device))");
}

std::mutex lost_mutex;
std::atomic<bool> any_lost{false};  // true if is_healthy() must examine the device

std::string symbol_of(api::cu_result status) {
  const char* name = nullptr;
  driver().get_error_name(status, &name);
  return name != nullptr ? name : "unknown error";
}

[[noreturn]] void fail_for_good(int device) {
  const DeviceState& state = states()[device];
  const api::cu_result status = state.lost.load(std::memory_order_acquire);
  catena::throw_cuda_error("CUDA", status, symbol_of(status),
                           concat("cuda:", device, ": the device cannot be used any more, restart the program; ",
                                  "the first cause was: ", state.cause));
}

// True if the driver returns an error after which the context is unusable. The query is allowed during a capture.
bool is_lost(api::cu_context context) {
  int capturing = 0;
  const Driver& cu = driver();
  return is_sticky(cu.context_set_current(context)) || is_sticky(cu.stream_is_capturing(nullptr, &capturing));
}

// Marks the devices whose contexts an error has destroyed. The call that returned the error may have concerned another
// device than the current one (events have no device), so all contexts are queried. If none reports an error, the
// context of this thread is marked, or all contexts if it has none.
void mark_lost(api::cu_result status, const std::string& text) {
  const std::lock_guard lock(lost_mutex);
  const auto mark = [&](DeviceState& state) {
    if (state.lost.load(std::memory_order_relaxed) != api::cu_success) return;
    state.cause = text;
    state.lost.store(status, std::memory_order_release);
    any_lost.store(true, std::memory_order_relaxed);
  };
  const Driver& cu = driver();
  api::cu_context before = nullptr;
  cu.context_get_current(&before);
  bool found = false, known = false;
  for (int d = 0; d < cu.device_count; ++d) {
    DeviceState& state = states()[d];
    const api::cu_context context = state.context.load(std::memory_order_acquire);
    if (context == nullptr) continue;
    known |= context == before;
    if (!is_lost(context)) continue;
    mark(state);
    found = true;
  }
  cu.context_set_current(before);
  if (found) return;
  for (int d = 0; d < cu.device_count; ++d)
    if (!known || states()[d].context.load(std::memory_order_acquire) == before) mark(states()[d]);
}

}  // namespace

int device_attribute(int device, int attribute) {
  api::cu_device handle = 0;
  int value = 0;
  CATENA_CU(device_get, &handle, device);
  CATENA_CU(device_get_attribute, &value, attribute, handle);
  return value;
}

const DeviceProperties& properties(int device) { return state_of(device).properties; }

api::cu_context primary_context(int device) { return state_of(device).context.load(std::memory_order_relaxed); }

void use_device(int device) {
  if (is_forked_child()) [[unlikely]]
    fail_after_fork();
  const api::cu_context wanted = state_of(device).context.load(std::memory_order_relaxed);
  if (!is_healthy(device)) [[unlikely]]
    fail_for_good(device);
  // Other code may have made its own context current on this thread; querying is cheaper than setting.
  api::cu_context current = nullptr;
  if (driver().context_get_current(&current) == api::cu_success && current == wanted) return;
  CATENA_CU(context_set_current, wanted);
}

// Unlike cuPointerGetAttribute, the call for several attributes succeeds for an address that the driver did not
// allocate, and returns 0 as the type of its memory.
PointerInfo pointer_info(const void* p) {
  PointerInfo info;
  int attributes[] = {api::cu_pointer_memory_type, api::cu_pointer_device_ordinal};
  void* values[] = {&info.type, &info.device};
  CATENA_CU(pointer_get_attributes, 2, attributes, values, address_of(p));
  if (info.type == 0) info.device = -1;
  return info;
}

// Sticky errors are the errors after which, by the driver's documentation, the process must be relaunched or the
// context is destroyed, and the error of unknown cause.
bool is_sticky(api::cu_result status) noexcept {
  switch (status) {
    case api::cu_error_ecc_uncorrectable:
    case api::cu_error_nvlink_uncorrectable:
    case api::cu_error_contained:
    case api::cu_error_illegal_address:
    case api::cu_error_launch_timeout:
    case api::cu_error_context_is_destroyed:
    case api::cu_error_assert:
    case api::cu_error_hardware_stack_error:
    case api::cu_error_illegal_instruction:
    case api::cu_error_misaligned_address:
    case api::cu_error_invalid_address_space:
    case api::cu_error_invalid_pc:
    case api::cu_error_launch_failed:
    case api::cu_error_tensor_memory_leak:
    case api::cu_error_mps_client_terminated:
    case api::cu_error_external_device:
    case api::cu_error_unknown: return true;
    default: return false;
  }
}

bool is_healthy(int device) noexcept {
  if (is_forked_child()) return false;
  return !any_lost.load(std::memory_order_relaxed) ||
         states()[device].lost.load(std::memory_order_acquire) == api::cu_success;
}

void fail(api::cu_result status, std::string_view call) {
  if (is_forked_child()) fail_after_fork();
  const char* text = nullptr;
  driver().get_error_string(status, &text);
  const std::string symbol = symbol_of(status);
  std::string message = concat(call, ": ", text != nullptr ? text : "no description");
  if (is_sticky(status)) {
    message += recent_launches();
    mark_lost(status, concat(symbol, " (", status, "): ", message));
  }
  if (status == api::cu_error_out_of_memory) throw catena::OutOfMemoryError(concat("CUDA: ", message));
  catena::throw_cuda_error("CUDA", status, symbol, message);
}

}  // namespace nd::cuda
