#include <catena/ndarray/cuda/compiler/kernel_cache.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/compiler/kernel_store.h>
#include <catena/ndarray/cuda/runtime/context.h>

namespace nd::cuda {
namespace {

struct DeviceKernels {
  OnceTable<LoadedKernel> kernels;
  OnceTable<api::cu_module> batches;
};
DeviceKernels& kernels_of(int device) {
  static const int count = driver().device_count;
  // Kernels are kept until the process ends.
  static auto* const all = new DeviceKernels[static_cast<std::size_t>(count)];
  catena::check<catena::ValueError>(device >= 0 && device < count, "cuda", "device ", device, " does not exist, there ",
                                    count == 1 ? "is " : "are ", count);
  return all[device];
}

bool counts_hits() {
  static const bool counts = [] {
    const char* value = std::getenv("CATENA_KERNEL_STATISTICS");
    return value != nullptr && std::strcmp(value, "1") == 0;
  }();
  return counts;
}
std::atomic<std::uint64_t> memory_hits{0}, disk_hits{0};

// Returns the loaded code of a batch, or null if it does not exist on disk any more. Loading many kernels costs little
// more than loading one: the driver copies a function to the device when it is looked up.
const api::cu_module* find_batch(int device, int arch, const PackedKey& batch) {
  OnceTable<api::cu_module>& batches = kernels_of(device).batches;
  if (const api::cu_module* loaded = batches.find(batch)) return loaded;
  const std::string key = record_key(batch);
  const std::optional<std::string> record = disk_cache().find(key);
  if (!record) return nullptr;
  api::cu_module module = nullptr;
  const std::optional<Module> stored = decode_module(*record, arch);
  const api::cu_result status = stored ? load_image(device, stored->code, &module) : api::cu_error_invalid_image;
  if (is_bad_image(status)) {
    disk_cache().discard(key);
    return nullptr;
  }
  check(status, api::DriverNames::module_load_data);
  bool first = false;
  const api::cu_module* kept = &batches.find_or_make(batch, [&] {
    first = true;
    return api::cu_module(module);
  });
  if (!first) CATENA_CU(module_unload, module);
  return kept;
}

// Loads a stored kernel. Returns not_found if the code of its batch does not exist any more.
api::cu_result load(int device, int arch, const StoredKernel& stored, LoadedKernel* kernel) {
  api::cu_module module = nullptr;
  if (stored.alone()) {
    const api::cu_result status = load_image(device, stored.module.code, &module);
    if (status != api::cu_success) return status;
  } else {
    const api::cu_module* batch = find_batch(device, arch, stored.batch);
    if (batch == nullptr) return api::cu_error_not_found;
    use_device(device);
    module = *batch;
  }
  const api::cu_result status = resolve(module, stored.resources.name, kernel);
  kernel->parameter_bytes = stored.parameter_bytes;
  if (status != api::cu_success && stored.alone() && !is_sticky(status)) driver().module_unload(module);
  return status;
}

std::optional<LoadedKernel> load_from_disk(int device, const KernelKey& key) {
  const std::string at = record_key(key);
  const std::optional<std::string> record = disk_cache().find(at);
  if (!record) return std::nullopt;
  const int arch = static_cast<int>(key.arch);
  LoadedKernel kernel;
  const std::optional<StoredKernel> stored = decode_kernel(*record, arch);
  const api::cu_result status = stored ? load(device, arch, *stored, &kernel) : api::cu_error_invalid_image;
  if (is_bad_image(status)) {
    disk_cache().discard(at);
    return std::nullopt;
  }
  if (status != api::cu_success) fail(status, catena::concat("loading ", stored->resources.name));
  ++disk_hits;
  return kernel;
}

LoadedKernel make_kernel(int device, const KernelKey& wanted, const std::function<GeneratedKernel()>& generate) {
  KernelKey key = wanted;
  key.arch = static_cast<std::uint32_t>(properties(device).arch);
  key.toolchain = recorded_toolchain();
  if (std::optional<LoadedKernel> found = load_from_disk(device, key)) {
    if (dumps_sources()) {
      const GeneratedKernel generated = generate();
      dump_source(generated.name, generated.source());
    }
    return *std::move(found);
  }

  const GeneratedKernel generated = generate();
  StoredKernel stored;
  stored.parameter_bytes = generated.parameter_bytes;
  stored.source = generated.source();
  const CompileRequest request{
      .source = stored.source, .name = generated.name, .arch = static_cast<int>(key.arch), .avoid_spills = true};
  compile_and_keep(request, [&](const Module& m) {
    stored.resources = resources_of(m, generated.name);
    stored.module = m;
    return disk_cache().store(record_key(key), encode(stored));
  });
  LoadedKernel kernel;
  const api::cu_result status = load(device, static_cast<int>(key.arch), stored, &kernel);
  if (status != api::cu_success)
    fail(status, catena::concat("loading ", generated.name, ", compiled for sm_", stored.module.arch));
  return kernel;
}

}  // namespace

const LoadedKernel& loaded_kernel(int device, const KernelKey& key, const std::function<GeneratedKernel()>& generate) {
  OnceTable<LoadedKernel>& kernels = kernels_of(device).kernels;
  const PackedKey packed = pack(key);
  if (const LoadedKernel* found = kernels.find(packed)) [[likely]] {
    if (counts_hits()) memory_hits.fetch_add(1, std::memory_order_relaxed);
    return *found;
  }
  return kernels.find_or_make(packed, [&] { return make_kernel(device, key, generate); });
}

KernelCacheStatistics kernel_cache_statistics() {
  const DiskCacheStatistics disk = disk_cache().statistics();
  return {memory_hits, disk_hits, compilation_count(), disk.bad_records, disk.write_failures};
}

}  // namespace nd::cuda
