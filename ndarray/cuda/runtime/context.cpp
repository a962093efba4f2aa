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
  api::cu_context context = nullptr;
  DeviceProperties properties;
};

void open_device(int device, DeviceState& state) {
  const Driver& cu = driver();
  api::cu_device handle = 0;
  CATENA_CU(device_get, &handle, device);
  const auto attribute = [&](int which) {
    int value = 0;
    CATENA_CU(device_get_attribute, &value, which, handle);
    return value;
  };
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
  check(cu.primary_context_retain(&state.context, handle), api::DriverNames::primary_context_retain);
}

DeviceState& state_of(int device) {
  static DeviceState* const states = new DeviceState[static_cast<std::size_t>(driver().device_count)];
  catena::check<catena::ValueError>(device >= 0 && device < driver().device_count, "cuda", "device ", device,
                                    " does not exist, there ", driver().device_count == 1 ? "is " : "are ",
                                    driver().device_count);
  DeviceState& state = states[device];
  // An exception leaves the flag unset, so a failure for lack of memory can be retried.
  std::call_once(state.opened, [&] { open_device(device, state); });
  return state;
}

std::atomic<bool> healthy{true};
std::mutex first_cause_mutex;
std::string& first_cause() {
  static auto& text = *new std::string;
  return text;
}
std::atomic<api::cu_result> first_status{api::cu_success};

std::string symbol_of(api::cu_result status) {
  const char* name = nullptr;
  driver().get_error_name(status, &name);
  return name != nullptr ? name : "unknown error";
}

[[noreturn]] void fail_for_good() {
  const std::lock_guard lock(first_cause_mutex);
  const api::cu_result status = first_status.load();
  catena::throw_cuda_error(
      "CUDA", status, symbol_of(status),
      concat("the device cannot be used any more, restart the program; the first cause was: ", first_cause()));
}

}  // namespace

const DeviceProperties& properties(int device) { return state_of(device).properties; }

api::cu_context primary_context(int device) { return state_of(device).context; }

void use_device(int device) {
  if (!is_healthy()) [[unlikely]]
    fail_for_good();
  // Other code may have made its own context current on this thread; querying is cheaper than setting.
  api::cu_context current = nullptr;
  const api::cu_context wanted = state_of(device).context;
  if (driver().context_get_current(&current) == api::cu_success && current == wanted) return;
  CATENA_CU(context_set_current, wanted);
}

// Unlike cuPointerGetAttribute, the call for several attributes succeeds for an address that the driver does not know,
// and answers 0 for the type of its memory.
PointerInfo pointer_info(const void* p) {
  PointerInfo info;
  int attributes[] = {api::cu_pointer_memory_type, api::cu_pointer_device_ordinal};
  void* values[] = {&info.type, &info.device};
  CATENA_CU(pointer_get_attributes, 2, attributes, values, address_of(p));
  if (info.type == 0) info.device = -1;
  return info;
}

bool is_sticky(api::cu_result status) noexcept {
  switch (status) {
    case api::cu_error_ecc_uncorrectable:
    case api::cu_error_illegal_address:
    case api::cu_error_launch_timeout:
    case api::cu_error_assert:
    case api::cu_error_hardware_stack_error:
    case api::cu_error_illegal_instruction:
    case api::cu_error_misaligned_address:
    case api::cu_error_invalid_address_space:
    case api::cu_error_invalid_pc:
    case api::cu_error_launch_failed: return true;
    default: return false;
  }
}

bool is_healthy() noexcept { return healthy.load(std::memory_order_relaxed); }

void fail(api::cu_result status, std::string_view call) {
  const char* text = nullptr;
  driver().get_error_string(status, &text);
  const std::string symbol = symbol_of(status);
  std::string message = concat(call, ": ", text != nullptr ? text : "no description");
  if (is_sticky(status)) {
    const std::lock_guard lock(first_cause_mutex);
    if (is_healthy()) {
      message += recent_launches();
      first_cause() = concat(symbol, " (", status, "): ", message);
      first_status.store(status);
      healthy.store(false);
    }
  }
  if (status == api::cu_error_out_of_memory) throw catena::OutOfMemoryError(concat("CUDA: ", message));
  catena::throw_cuda_error("CUDA", status, symbol, message);
}

}  // namespace nd::cuda
