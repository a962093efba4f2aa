// Kernels given as text on CUDA: compiled by NVRTC, and cached in memory here and on disk by the kernel store.
#include <catena/ndarray/user_kernel/user_kernel.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <type_traits>

#include <catena/kernels/device/user_parameters.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/cuda_backend.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/runtime/module.h>
#include <catena/ndarray/user_kernel/memo_map.h>

namespace nd::cuda {
namespace {

using catena::check;
using catena::user::kElementwiseBlock;
using catena::user::kReductionBlock;

constexpr std::size_t kParameterBytes = 4096;  // limit that every driver accepts

struct Compiled {
  std::unique_ptr<LoadedModule> module;
  const LoadedKernel* entry = nullptr;
  const LoadedKernel* second = nullptr;
  std::size_t accumulator_bytes = 0;
};

Compiled compile_kernel(const KernelText& text, const KernelVariant& variant, int device) {
  const GeneratedUserKernel generated = generate_user_kernel(text, variant, SourceFor::device);
  Compiled c;
  c.module = std::make_unique<LoadedModule>(device, CompileRequest{generated.source, text.label, {}, 0, text.options});
  c.entry = &c.module->function(generated.entry);
  if (!generated.second.empty()) {
    c.second = &c.module->function(generated.second);
    c.module->global(generated.accumulator, &c.accumulator_bytes);
  }
  return c;
}

std::shared_ptr<const Compiled> find(const UserKernelCall& call, int device) {
  static auto& table = *new auto(internal::MemoMap<UserKernelKey, Compiled, UserKernelHash>::make());
  return table->find({call.text, device, *call.variant},
                     [&] { return compile_kernel(*call.text, *call.variant, device); });
}

// The number of blocks is limited to several times the number that fills the device; kernels loop over the remaining
// items.
unsigned blocks_for(std::int64_t items, int per_block, int device) {
  const std::int64_t most =
      std::int64_t(properties(device).processors) * properties(device).max_threads_per_processor / 128 * 4;
  return static_cast<unsigned>(std::clamp<std::int64_t>((items + per_block - 1) / per_block, 1, most));
}

// Returns the number of neighbouring outputs per block: 32 if their elements are neighbours; more if an output has few
// elements.
std::int64_t width_of(const UserKernelCall& call) {
  const auto strands = static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(call.count, 1, 256))));
  const std::int64_t few = kReductionBlock / strands;
  return call.columns && call.size >= 32 ? std::max<std::int64_t>(few, 32) : few;
}

// Returns the number of parts per output, used if there are too few outputs to fill a device. Depends only on the call,
// so that results do not depend on the device.
std::int64_t splits_of(const UserKernelCall& call, std::int64_t width) {
  constexpr std::int64_t kBlocks = 512,
                         kRounds =
                             16;  // blocks that fill a device; elements per thread below which a split does not pay
  const std::int64_t blocks = (call.size + width - 1) / width, per_block = kReductionBlock / width * kRounds;
  return std::clamp<std::int64_t>(std::min(call.count / per_block, kBlocks / blocks), 1, 256);
}

void run_reduction(const UserKernelCall& call, const Compiled& kernel, StreamRef stream) {
  const int device = stream.device.id;
  catena::user::ReduceWork work{call.size, call.count, 1, width_of(call), nullptr};
  work.splits = splits_of(call, work.width);
  Storage* partial = nullptr;
  if (work.splits > 1) {
    partial = new_storage(static_cast<std::size_t>(call.size * work.splits) * kernel.accumulator_bytes, stream.device);
    work.partial = partial->data;
  }
  // Freed after the launches are enqueued: the pool reuses the memory in the order of the stream.
  const std::unique_ptr<Storage, void (*)(Storage*)> hold(partial, [](Storage* s) { catena::release(s); });
  std::vector<std::int64_t> words(call.words.begin(), call.words.end());
  std::memcpy(words.data(), &work, sizeof work);
  void* parameters[] = {words.data()};
  const unsigned blocks = blocks_for(call.size, static_cast<int>(work.width), device);
  launch(*kernel.entry, {blocks, static_cast<unsigned>(work.splits), 1}, {kReductionBlock, 1, 1}, 0, parameters,
         stream);
  if (work.splits > 1)
    launch(*kernel.second, {blocks_for(call.size, 1, device), 1, 1}, {kReductionBlock, 1, 1}, 0, parameters, stream);
}

class CudaModule final : public DeviceModule {
 public:
  CudaModule(const ModuleText& text, int device) : name_(text.name) {
    if (text.image.empty())
      module_ = std::make_shared<LoadedModule>(
          device, CompileRequest{text.code, text.name, text.name_expressions, 0, text.options});
    else module_ = std::make_shared<LoadedModule>(device, text.image);
  }

  const void* function(const std::string& name) override {
    return named([&] { return &module_->function(name); });
  }
  KernelAttributes attributes(const void* function) override {
    const auto& k = *static_cast<const LoadedKernel*>(function);
    return {k.registers, k.local_bytes, k.shared_bytes, k.max_threads};
  }
  void launch(const void* function, const LaunchShape& shape, std::span<const ArgumentBytes> arguments,
              StreamRef stream) override {
    const auto& kernel = *static_cast<const LoadedKernel*>(function);
    std::vector<void*> values;
    for (const ArgumentBytes& a : arguments) values.push_back(const_cast<std::byte*>(a.data()));
    constexpr unsigned kGranted = 48 * 1024;  // more shared memory must be requested explicitly
    if (shape.shared_bytes > kGranted) {
      use_device(stream.device.id);
      CATENA_CU(function_set_attribute, kernel.function, api::cu_function_max_dynamic_shared_bytes,
                static_cast<int>(shape.shared_bytes));
    }
    keep_in_graph(module_);
    cuda::launch(kernel, {shape.grid[0], shape.grid[1], shape.grid[2]},
                 {shape.block[0], shape.block[1], shape.block[2]}, shape.shared_bytes, values.data(), stream);
  }
  std::pair<std::byte*, std::size_t> global(const std::string& name) override {
    std::size_t bytes = 0;
    const api::cu_deviceptr address = named([&] { return module_->global(name, &bytes); });
    return {reinterpret_cast<std::byte*>(address), bytes};
  }

 private:
  // Adds the name of the text to the messages for missing names.
  template <class F> std::invoke_result_t<F> named(F look_up) const {
    try {
      return look_up();
    } catch (const KeyError& e) {
      const std::string_view message = e.what();
      catena::fail<KeyError>(name_, message.substr(message.find(": ") + 2));
    }
  }

  std::string name_;
  std::shared_ptr<LoadedModule> module_;
};

}  // namespace

void CudaBackend::run_kernel(const UserKernelCall& call, StreamRef stream) {
  const int device = stream.device.id;
  check<ValueError>(call.words.size_bytes() <= kParameterBytes, call.text->label, "its parameters take ",
                    call.words.size_bytes(), " bytes for arrays of these ranks; a kernel can have ", kParameterBytes);
  const std::shared_ptr<const Compiled> kernel = find(call, device);
  keep_in_graph(kernel);
  if (call.text->kind == KernelText::Kind::reduction) return run_reduction(call, *kernel, stream);
  void* parameters[] = {const_cast<std::int64_t*>(call.words.data())};
  launch(*kernel->entry, {blocks_for(call.size, kElementwiseBlock, device), 1, 1}, {kElementwiseBlock, 1, 1}, 0,
         parameters, stream);
}

std::unique_ptr<DeviceModule> CudaBackend::load_module(const ModuleText& text, int device) {
  return std::make_unique<CudaModule>(text, device);
}

}  // namespace nd::cuda
