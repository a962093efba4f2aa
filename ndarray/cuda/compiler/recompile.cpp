#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/compiler/kernel_cache.h>
#include <catena/ndarray/cuda/compiler/kernel_store.h>

namespace nd::cuda {
namespace {

class Recompilation {
 public:
  Recompilation(int arch, const std::string& output, const std::function<void(const WarmUpProgress&)>& progress)
      : cache_({.directory = output, .limit_bytes = std::numeric_limits<std::uint64_t>::max(), .for_all_users = true}),
        arch_(arch),
        progress_(progress) {}

  std::size_t run(const std::string& from) {
    std::map<std::string, Job> jobs;  // by key, because the folder may have one text for several architectures
    for_each_record(from, [&](std::string_view key, std::string_view record) {
      std::optional<StoredText> text = stored_text(key, record);
      if (!text) return;
      const bool same = std::exchange(text->request.arch, arch_) == arch_;
      Job& job = jobs[record_key(*text)];
      if (same) job.record = record;
      job.text = *std::move(text);
    });
    total_ = jobs.size();
    catena::check<catena::RuntimeError>(total_ > 0, "recompile", "there are no kernels in \"", from,
                                        "\" that programs with this version of Catena and of NVRTC have compiled");
    for (auto& [key, job] : jobs) {
      job.key = key;
      const bool is_there = cache_.find(key).has_value();
      if (!is_there && job.record.empty()) {
        jobs_.push_back(&job);
        continue;
      }
      if (!is_there) write(job);
      report({{job.text.request.name}}, true);
    }
    compile_all();
    remember_compiler(cache_);
    if (error_) std::rethrow_exception(error_);
    return compiled_;
  }

 private:
  struct Job {
    std::string key, record;
    StoredText text;
  };

  void compile_all() {
    std::vector<std::jthread> threads;
    const std::size_t count = std::min<std::size_t>(std::max(1u, std::thread::hardware_concurrency()), jobs_.size());
    for (std::size_t k = 1; k < count; ++k) threads.emplace_back([this] { work(); });
    work();
  }
  void work() {
    for (std::size_t k; (k = next_.fetch_add(1)) < jobs_.size();) {
      try {
        compile_one(*jobs_[k]);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
    }
  }
  void compile_one(Job& job) {
    const Module module = compile(job.text.request);
    count_compilations(1);
    job.record = encode(job.text, module);
    write(job);
    ++compiled_;
    report({resources_of(module, job.text.request.name)}, false);
  }
  void write(const Job& job) {
    catena::check<catena::RuntimeError>(cache_.store(job.key, job.record), "recompile", "a record of ",
                                        job.record.size(), " bytes could not be written to \"", cache_.directory(),
                                        "\"");
  }
  void report(const std::vector<KernelResources>& kernels, bool found) {
    const std::lock_guard lock(mutex_);
    done_ += kernels.size();
    if (progress_) progress_({done_, total_, found, kernels});
  }

  DiskCache cache_;
  const int arch_;
  const std::function<void(const WarmUpProgress&)>& progress_;
  std::vector<Job*> jobs_;
  std::size_t total_ = 0;
  std::atomic<std::size_t> next_{0}, compiled_{0};
  std::mutex mutex_;  // guards all members below
  std::size_t done_ = 0;
  std::exception_ptr error_;
};

}  // namespace

std::size_t recompile(const std::string& from, int arch, const std::string& output,
                      const std::function<void(const WarmUpProgress&)>& progress) {
  catena::check<catena::ValueError>(!output.empty(), "recompile", "it needs a folder for the kernels");
  return Recompilation(arch, output, progress).run(from);
}

}  // namespace nd::cuda
