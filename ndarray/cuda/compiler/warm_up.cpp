#include <optional>
#include <set>

#include <catena/ndarray/cuda/compiler/precompilation.h>

namespace nd::cuda {
namespace {

constexpr std::size_t kBatch =
    50;  // kernels per text: larger batches gain little, and are read completely for one kernel

class WarmUp : Precompilation {
 public:
  WarmUp(DiskCache& cache, int arch, const std::function<void(const WarmUpProgress&)>& progress)
      : Precompilation("warm_up", cache, arch, progress), toolchain_(toolchain_hash()) {}

  std::size_t run(std::span<const WarmUpRequest> requests) {
    std::set<std::string> seen;
    std::vector<KernelResources> found;
    for (const WarmUpRequest& r : requests) {
      Job job{r.key, &r.kernel};
      job.key.arch = static_cast<std::uint32_t>(arch_);
      job.key.toolchain = toolchain_;
      if (!seen.insert(record_key(job.key)).second) continue;
      ++total_;
      if (!is_stored(job, found)) jobs_.push_back(job);
    }
    report(found, true);

    compile_in_batches(jobs_.size(), kBatch, [this](std::size_t first, std::size_t number) {
      compile_jobs(std::span(jobs_).subspan(first, number));
    });
    return finish();
  }

 private:
  struct Job {
    KernelKey key;
    const GeneratedKernel* kernel;
  };

  bool is_stored(const Job& job, std::vector<KernelResources>& found) {
    const std::string key = record_key(job.key);
    const std::optional<std::string> record = cache_.find(key);
    if (!record) return false;
    const std::optional<StoredKernel> stored = decode_kernel(*record, arch_);
    if (!stored || !(stored->alone() || has_batch(stored->batch))) {
      cache_.discard(key);
      return false;
    }
    found.push_back(stored->resources);
    return true;
  }
  bool has_batch(const PackedKey& batch) {
    if (batches_on_disk_.contains(batch)) return true;
    const std::optional<std::string> record = cache_.find(record_key(batch));
    if (!record || !decode_module(*record, arch_)) return false;
    batches_on_disk_.insert(batch);
    return true;
  }

  // Compiles one batch; if that fails, compiles each of its kernels alone, so that only the faulty ones are missing.
  // Kernels that spill registers in the code of the batch are compiled alone, too.
  void compile_jobs(std::span<const Job> jobs) {
    std::vector<GeneratedKernel> kernels;
    for (const Job& job : jobs) kernels.push_back(*job.kernel);
    const std::string source = batch_source(kernels), name = jobs.front().kernel->name;
    const bool alone = jobs.size() == 1;
    Module module;
    try {
      module = compile({.source = source,
                        .name = alone ? name : catena::concat(name, "_and_", jobs.size() - 1, "_more"),
                        .arch = arch_,
                        .avoid_spills = alone});
    } catch (const catena::CompileError&) {
      if (alone) throw;
      return compile_each(jobs);
    }
    if (alone) {
      count_compilations(1);
      return store(jobs, module, {});
    }
    std::vector<Job> fitting, spilling;
    for (const Job& job : jobs) {
      const KernelResources r = resources_of(module, job.kernel->name);
      (spills({&r, 1}) ? spilling : fitting).push_back(job);
    }
    count_compilations(fitting.size());
    store(fitting, module, batch_key(arch_, toolchain_, source));
    compile_each(spilling);
  }
  void compile_each(std::span<const Job> jobs) {
    std::exception_ptr error;
    for (const Job& job : jobs) {
      try {
        compile_jobs({&job, 1});
      } catch (const catena::CompileError&) {
        if (!error) error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
  }

  // Stores the code first, because a kernel with a record must be loadable.
  void store(std::span<const Job> jobs, const Module& module, const PackedKey& batch) {
    StoredKernel stored;
    stored.batch = batch;
    if (stored.alone()) {
      stored.module = module;
      stored.source = jobs.front().kernel->source();
    } else {
      write(record_key(batch), encode(module));
    }
    std::vector<KernelResources> resources;
    for (const Job& job : jobs) {
      stored.resources = resources_of(module, job.kernel->name);
      stored.parameter_bytes = job.kernel->parameter_bytes;
      write(record_key(job.key), encode(stored));
      resources.push_back(stored.resources);
    }
    report(resources, false);
  }

  const std::uint64_t toolchain_;
  std::vector<Job> jobs_;
  std::set<PackedKey> batches_on_disk_;
};

}  // namespace

std::size_t warm_up(int arch, std::span<const WarmUpRequest> requests,
                    const std::function<void(const WarmUpProgress&)>& progress, const std::string& output) {
  if (!output.empty()) {
    DiskCache cache = cache_for_all_users(output);
    return WarmUp(cache, arch, progress).run(requests);
  }
  catena::check<catena::RuntimeError>(disk_cache().enabled(), "warm_up",
                                      "the disk cache is off; CATENA_CACHE_DIR or HOME must name a folder for it");
  return WarmUp(disk_cache(), arch, progress).run(requests);
}

}  // namespace nd::cuda
