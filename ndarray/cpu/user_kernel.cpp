// Kernels given as text: compiled by the system's compiler and run over ranges of the loop on several threads.
#include <catena/ndarray/user_kernel/user_kernel.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/device/user_parameters.h>
#include <catena/ndarray/cpu/cpu_backend.h>
#include <catena/ndarray/cpu/host_compiler.h>
#include <catena/ndarray/user_kernel/memo_map.h>

namespace nd::cpu {
namespace {

// Positions, or elements to reduce, per thread.
constexpr std::int64_t kGrain = 16384;
// Reductions to fewer outputs are split. The parts, and thus the results, do not depend on the number of threads.
constexpr std::int64_t kManyOutputs = 64;

using Entry = void (*)(const void* parameters, std::int64_t begin, std::int64_t end);

struct Compiled {
  std::shared_ptr<const HostModule> module;
  Entry entry = nullptr, second = nullptr;
  std::int64_t accumulator_bytes = 0;
};

Compiled compile_kernel(const KernelText& text, const KernelVariant& variant) {
  GeneratedUserKernel generated = generate_user_kernel(text, variant, SourceFor::host);
  HostCompileRequest request{text.label, text.name, std::move(generated.source), text.options, {}};
  request.symbols = {generated.entry};
  if (!generated.second.empty())
    request.symbols.insert(request.symbols.end(), {generated.second, generated.accumulator});
  Compiled c;
  c.module = compile_for_host(request);
  c.entry = reinterpret_cast<Entry>(c.module->required(text.label, generated.entry));
  if (!generated.second.empty()) {
    c.second = reinterpret_cast<Entry>(c.module->required(text.label, generated.second));
    c.accumulator_bytes = *static_cast<const long*>(c.module->required(text.label, generated.accumulator));
  }
  return c;
}

std::shared_ptr<const Compiled> find(const UserKernelCall& call) {
  static auto& table = *new auto(internal::MemoMap<UserKernelKey, Compiled, UserKernelHash>::make());
  return table->find({call.text, 0, *call.variant}, [&] { return compile_kernel(*call.text, *call.variant); });
}

void run_reduction(const UserKernelCall& call, const Compiled& kernel) {
  catena::user::ReduceWork work{call.size, call.count, 1, 1, nullptr};
  if (call.size < kManyOutputs) work.splits = std::clamp<std::int64_t>(call.count / kGrain, 1, kManyOutputs);
  // Accumulators of the user's type: aligned as by malloc, and initialised by the kernel.
  std::unique_ptr<std::byte[]> partial;
  if (work.splits > 1) {
    partial.reset(new std::byte[static_cast<std::size_t>(call.size * work.splits * kernel.accumulator_bytes)]);
    work.partial = partial.get();
  }
  std::vector<std::int64_t> words(call.words.begin(), call.words.end());
  std::memcpy(words.data(), &work, sizeof work);

  const std::int64_t each = std::max<std::int64_t>(call.count / work.splits, 1);
  const void* parameters = words.data();
  catena::parallel_for(call.size * work.splits, std::max<std::int64_t>(kGrain / each, 1),
                       [&](std::int64_t b, std::int64_t e) { kernel.entry(parameters, b, e); });
  if (work.splits > 1)
    catena::parallel_for(call.size, kGrain / work.splits,
                         [&](std::int64_t b, std::int64_t e) { kernel.second(parameters, b, e); });
}

}  // namespace

void CpuBackend::run_kernel(const UserKernelCall& call, StreamRef) {
  const std::shared_ptr<const Compiled> kernel = find(call);
  if (call.text->kind == KernelText::Kind::reduction) return run_reduction(call, *kernel);
  const void* parameters = call.words.data();
  catena::parallel_for(call.size, kGrain, [&](std::int64_t b, std::int64_t e) { kernel->entry(parameters, b, e); });
}

}  // namespace nd::cpu
