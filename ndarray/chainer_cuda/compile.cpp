#include <catena/ndarray/chainer_cuda/compile.h>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/compile/disk_cache.h>
#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/device/device.h>

namespace nd::cuda {
namespace {

// Returns a key with the length of every part, so that different parts never give the same key.
std::string key_of(const std::string& source, const std::vector<std::string>& options, int arch) {
  std::string key = "compile_with_cache";
  const auto add = [&key](const std::string& part) { key += catena::concat("\n", part.size(), ":", part); };
  add(std::to_string(arch));
  add(std::to_string(toolchain_hash()));
  for (const std::string& option : options) add(option);
  add(source);
  return key;
}

}  // namespace

std::string get_cache_dir() { return disk_cache_settings().directory; }

RawModule compile_with_cache(const std::string& source, const std::vector<std::string>& options,
                             const CompileOptions& more) {
  const nd::Device device = current_device();
  if (device.kind == nd::Device::Kind::cpu) {
    catena::check<NotImplementedError>(!more.arch && !more.cache_dir, "compile_with_cache",
                                       "an architecture or a folder is for CUDA, the current device is ", device);
    RawModule module(source, {.options = options});
    module.compile();
    return module;
  }
  const int arch = more.arch.value_or(properties(device.id).arch);
  const DiskCacheSettings settings = disk_cache_settings();
  DiskCache cache(more.cache_dir.value_or(settings.directory), settings.limit_bytes,
                  more.cache_dir ? std::string() : settings.fallback);
  const std::string key = key_of(source, options, arch);
  if (std::optional<std::string> code = cache.find(key)) {
    try {
      RawModule module = RawModule::load(std::move(*code), source);
      module.compile();
      return module;
    } catch (const CudaDriverError&) {
      if (!is_healthy(device.id)) throw;
      cache.discard(key);  // the driver rejects it
    }
  }
  std::string code = compile({source, "compile_with_cache.cu", {}, arch, options}).code;
  cache.store(key, code);
  RawModule module = RawModule::load(std::move(code), source);
  module.compile();
  return module;
}

}  // namespace nd::cuda
