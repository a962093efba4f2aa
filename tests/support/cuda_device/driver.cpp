// Entry points for the driver, devices, contexts and modules.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <catena/tests/support/cuda_device/exports.h>
#include <catena/tests/support/cuda_device/graph.h>
#include <catena/tests/support/cuda_device/jit.h>
#include <catena/tests/support/cuda_device/record.h>
#include <catena/tests/support/cuda_device/runtime.h>

using namespace cuda_device;
using namespace nd::cuda::api;

namespace {

constexpr int kVersion = 13000;
constexpr int kMaxThreads = 1024;
constexpr int kMaxSharedBytes = 48 * 1024;  // limit without cuFuncSetAttribute

// References every declared entry point, so that a missing definition does not link.
[[gnu::used]] const void* const kAll[] = {
#define CATENA_ADDRESS(symbol, ...) reinterpret_cast<const void*>(&symbol),
    CATENA_DRIVER_FUNCTIONS(CATENA_ADDRESS) CATENA_DRIVER_OPTIONAL_FUNCTIONS(CATENA_ADDRESS)
#undef CATENA_ADDRESS
};

void require_pointer(const void* p) { require(p != nullptr, cu_error_invalid_value); }

// The number of processors is small, so that every block processes several parts of the work, unless
// $CATENA_SOFTWARE_CUDA_MULTIPROCESSORS is the number of a device whose launches are to be made.
int multiprocessors() {
  static const int count = [] {
    const char* text = std::getenv("CATENA_SOFTWARE_CUDA_MULTIPROCESSORS");
    return text != nullptr && std::atoi(text) > 0 ? std::atoi(text) : 2;
  }();
  return count;
}

int device_attribute(int attribute) {
  switch (attribute) {
    case cu_max_threads_per_block: return kMaxThreads;
    case cu_max_shared_memory_per_block: return kMaxSharedBytes;
    case cu_warp_size: return 32;
    case cu_clock_rate: return 1000000;
    case cu_multiprocessor_count: return multiprocessors();
    case cu_memory_clock_rate: return 1000000;
    case cu_memory_bus_width: return 128;
    case cu_l2_cache_size: return 1 << 20;
    case cu_max_threads_per_multiprocessor: return 2048;
    case cu_compute_capability_major: return compute_capability() / 10;
    case cu_compute_capability_minor: return compute_capability() % 10;
    case cu_max_shared_memory_per_block_optin: return kMaxDynamicShared;
    case cu_managed_memory:
    case cu_concurrent_managed_access:
    case cu_memory_pools_supported: return 1;
    default: throw Failure{cu_error_invalid_value};
  }
}

int function_attribute(const CUfunc_st& f, int attribute) {
  switch (attribute) {
    case cu_function_max_threads_per_block: return kMaxThreads;
    case cu_function_shared_bytes: return f.function->static_shared_bytes;
    case cu_function_local_bytes: return 0;
    case cu_function_registers: return 32;
    case cu_function_max_dynamic_shared_bytes: return static_cast<int>(f.max_dynamic_shared_bytes);
    default: throw Failure{cu_error_invalid_value};
  }
}

void require_launchable(const CUfunc_st& f, const CUctx_st& context, const CUstream_st& stream, dim3 grid, dim3 block,
                        std::size_t shared_bytes) {
  require(f.context == &context && stream.context == &context, cu_error_invalid_handle);
  const std::uint64_t threads = std::uint64_t(block.x) * block.y * block.z;
  require(grid.x >= 1 && grid.x <= 0x7fffffff && grid.y >= 1 && grid.y <= 65535 && grid.z >= 1 && grid.z <= 65535,
          cu_error_invalid_value);
  require(block.x <= 1024 && block.y <= 1024 && block.z <= 64 && threads >= 1 && threads <= kMaxThreads,
          cu_error_invalid_value);
  require(shared_bytes <= f.max_dynamic_shared_bytes, cu_error_invalid_value);
}

void copy_arguments(Operation& op, void** parameters) {
  const std::vector<std::size_t>& bytes = op.function->function->parameter_bytes;
  require(parameters != nullptr || bytes.empty(), cu_error_invalid_value);
  std::size_t lines = 0;
  for (std::size_t n : bytes) lines += (n + sizeof(Operation::Line) - 1) / sizeof(Operation::Line);
  op.arguments.resize(lines);
  Operation::Line* at = op.arguments.data();
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    require_pointer(parameters[k]);
    std::memcpy(at, parameters[k], bytes[k]);
    op.parameters.push_back(at);
    at += (bytes[k] + sizeof(Operation::Line) - 1) / sizeof(Operation::Line);
  }
}

}  // namespace

// ---- the driver and its devices -----------------------------------------------------------------
cu_result cuInit(unsigned flags) {
  return plain_call(Entry::cuInit, [&] {
    require(flags == 0, cu_error_invalid_value);
    runtime().initialised = true;
  });
}

cu_result cuDriverGetVersion(int* version) {
  return plain_call(Entry::cuDriverGetVersion, [&] {
    require_pointer(version);
    *version = kVersion;
  });
}

cu_result cuGetErrorName(cu_result code, const char** name) {
  return plain_call(Entry::cuGetErrorName, [&] {
    require_pointer(name);
    const ErrorText* found = find_error(code);
    *name = found != nullptr ? found->name : nullptr;
    require_pointer(found);
  });
}

cu_result cuGetErrorString(cu_result code, const char** text) {
  return plain_call(Entry::cuGetErrorString, [&] {
    require_pointer(text);
    const ErrorText* found = find_error(code);
    *text = found != nullptr ? found->text : nullptr;
    require_pointer(found);
  });
}

cu_result cuDeviceGetCount(int* count) {
  return basic_call(Entry::cuDeviceGetCount, [&] {
    require_pointer(count);
    *count = kDevices;
  });
}

cu_result cuDeviceGet(cu_device* device, int ordinal) {
  return basic_call(Entry::cuDeviceGet, [&] {
    require_pointer(device);
    require_device(ordinal);
    *device = ordinal;
  });
}

cu_result cuDeviceGetName(char* name, int length, cu_device device) {
  return basic_call(Entry::cuDeviceGetName, [&] {
    require_device(device);
    require(name != nullptr && length > 0, cu_error_invalid_value);
    const std::string text = "Software CUDA device " + std::to_string(device);
    name[text.copy(name, static_cast<std::size_t>(length) - 1)] = '\0';
  });
}

cu_result cuDeviceGetAttribute(int* value, int attribute, cu_device device) {
  return basic_call(Entry::cuDeviceGetAttribute, [&] {
    require_pointer(value);
    require_device(device);
    *value = device_attribute(attribute);
  });
}

cu_result cuDeviceTotalMem_v2(std::size_t* bytes, cu_device device) {
  return basic_call(Entry::cuDeviceTotalMem_v2, [&] {
    require_pointer(bytes);
    require_device(device);
    *bytes = memory_use(device).total;
  });
}

cu_result cuDeviceCanAccessPeer(int* can, cu_device device, cu_device peer) {
  return basic_call(Entry::cuDeviceCanAccessPeer, [&] {
    require_pointer(can);
    require_device(device);
    require_device(peer);
    *can = device != peer;
  });
}

// ---- contexts -----------------------------------------------------------------------------------
cu_result cuDevicePrimaryCtxRetain(cu_context* handle, cu_device device) {
  return basic_call(Entry::cuDevicePrimaryCtxRetain, [&] {
    require_pointer(handle);
    require_device(device);
    CUctx_st& context = runtime().contexts[static_cast<std::size_t>(device)];
    if (context.streams.empty()) make_stream(context, true, true);
    context.retained = true;
    *handle = &context;
  });
}

cu_result cuCtxSetCurrent(cu_context handle) {
  return basic_call(Entry::cuCtxSetCurrent,
                    [&] { current_context() = handle == nullptr ? nullptr : &context_of_handle(handle); });
}

cu_result cuCtxGetCurrent(cu_context* handle) {
  return basic_call(Entry::cuCtxGetCurrent, [&] {
    require_pointer(handle);
    *handle = current_context();
  });
}

cu_result cuCtxSynchronize() {
  return context_call(Entry::cuCtxSynchronize, [](CUctx_st& context, Lock& lock) {
    require_no_capture(context);
    record_synchronisation(Entry::cuCtxSynchronize);
    wait_for_all(context, lock);
  });
}

cu_result cuCtxEnablePeerAccess(cu_context peer, unsigned flags) {
  return context_call(Entry::cuCtxEnablePeerAccess, [&](CUctx_st& context, Lock&) {
    require(flags == 0, cu_error_invalid_value);
    const CUctx_st& other = context_of_handle(peer);
    require(&other != &context, cu_error_invalid_context);
    const unsigned bit = 1u << other.device;
    require((context.peers & bit) == 0, cu_error_peer_access_already_enabled);
    context.peers |= bit;
  });
}

// ---- modules and kernels ------------------------------------------------------------------------
cu_result cuModuleLoadData(cu_module* handle, const void* image) {
  return context_call(Entry::cuModuleLoadData, [&](CUctx_st& context, Lock&) {
    require(handle != nullptr && image != nullptr, cu_error_invalid_value);
    require_safe_call();
    auto module = std::make_shared<CUmod_st>();
    module->module = load_module(image);
    require(module->module != nullptr, cu_error_invalid_image);
    module->context = &context;
    *handle = runtime().modules.add(std::move(module));
  });
}

cu_result cuModuleUnload(cu_module handle) {
  return context_call(Entry::cuModuleUnload, [&](CUctx_st&, Lock& lock) {
    const std::shared_ptr<CUmod_st> module = runtime().modules.find(handle);
    require_safe_call();
    record_synchronisation(Entry::cuModuleUnload);
    wait_for_all(*module->context, lock);
    for (const auto& [name, function] : module->functions) runtime().functions.remove(function);
    for (void* data : module->globals) free_memory(data, Allocation::Kind::global);
    unload_module(module->module);
    runtime().modules.remove(handle);
  });
}

cu_result cuModuleGetFunction(cu_function* handle, cu_module module_handle, const char* name) {
  return context_call(Entry::cuModuleGetFunction, [&](CUctx_st&, Lock&) {
    require(handle != nullptr && name != nullptr, cu_error_invalid_value);
    CUmod_st& module = *runtime().modules.find(module_handle);
    auto found = module.functions.find(name);
    if (found == module.functions.end()) {
      Function* function = module.module->function(name);
      require(function != nullptr, cu_error_not_found);
      const int unused = kMaxSharedBytes - function->static_shared_bytes;
      auto entry = std::make_shared<CUfunc_st>(
          CUfunc_st{function, module.context, static_cast<std::size_t>(std::max(unused, 0))});
      found = module.functions.emplace(name, runtime().functions.add(std::move(entry))).first;
    }
    *handle = found->second;
  });
}

cu_result cuModuleGetGlobal_v2(cu_deviceptr* address, std::size_t* bytes, cu_module handle, const char* name) {
  return context_call(Entry::cuModuleGetGlobal_v2, [&](CUctx_st&, Lock&) {
    require_pointer(name);
    CUmod_st& module = *runtime().modules.find(handle);
    std::size_t size = 0;
    void* data = module.module->global(name, &size);
    require(data != nullptr, cu_error_not_found);
    if (std::find(module.globals.begin(), module.globals.end(), data) == module.globals.end()) {
      module.globals.push_back(data);
      add_global(module.context->device, data, size);
    }
    if (address != nullptr) *address = reinterpret_cast<cu_deviceptr>(data);
    if (bytes != nullptr) *bytes = size;
  });
}

cu_result cuFuncGetAttribute(int* value, int attribute, cu_function handle) {
  return context_call(Entry::cuFuncGetAttribute, [&](CUctx_st&, Lock&) {
    require_pointer(value);
    *value = function_attribute(*runtime().functions.find(handle), attribute);
  });
}

cu_result cuFuncSetAttribute(cu_function handle, int attribute, int value) {
  return context_call(Entry::cuFuncSetAttribute, [&](CUctx_st&, Lock&) {
    CUfunc_st& f = *runtime().functions.find(handle);
    require(attribute == cu_function_max_dynamic_shared_bytes, cu_error_invalid_value);
    require(value >= 0 && value <= kMaxDynamicShared - f.function->static_shared_bytes, cu_error_invalid_value);
    f.max_dynamic_shared_bytes = static_cast<std::size_t>(value);
  });
}

cu_result cuLaunchKernel(cu_function handle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                         unsigned block_y, unsigned block_z, unsigned shared_bytes, cu_stream stream_handle,
                         void** parameters, void** extra) {
  return context_call(Entry::cuLaunchKernel, [&](CUctx_st& context, Lock& lock) {
    CUfunc_st& f = *runtime().functions.find(handle);
    const StreamPtr& stream = stream_of_handle(context, stream_handle);
    auto op = std::make_shared<Operation>();
    op->kind = Operation::Kind::kernel;
    op->function = &f;
    op->grid = dim3(grid_x, grid_y, grid_z);
    op->block = dim3(block_x, block_y, block_z);
    op->shared_bytes = shared_bytes;
    require_launchable(f, context, *stream, op->grid, op->block, shared_bytes);
    require(extra == nullptr, cu_error_invalid_value);
    copy_arguments(*op, parameters);
    enqueue(stream, std::move(op), lock);
  });
}

cu_result cuProfilerStart() {
  return context_call(Entry::cuProfilerStart, [](CUctx_st&, Lock&) {});
}
cu_result cuProfilerStop() {
  return context_call(Entry::cuProfilerStop, [](CUctx_st&, Lock&) {});
}
