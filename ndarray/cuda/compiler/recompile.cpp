#include <map>
#include <optional>
#include <utility>

#include <catena/ndarray/cuda/compiler/precompilation.h>

namespace nd::cuda {
namespace {

class Recompilation : Precompilation {
 public:
  Recompilation(DiskCache& cache, int arch, const std::function<void(const WarmUpProgress&)>& progress)
      : Precompilation("recompile", cache, arch, progress) {}

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
    std::vector<const std::pair<const std::string, Job>*> missing;
    for (const auto& job : jobs) {
      const bool is_there = cache_.find(job.first).has_value();
      if (!is_there && job.second.record.empty()) {
        missing.push_back(&job);
        continue;
      }
      if (!is_there) write(job.first, job.second.record);
      report({{job.second.text.request.name}}, true);
    }
    compile_in_batches(missing.size(), 1, [&](std::size_t k, std::size_t) {
      const auto& [key, job] = *missing[k];
      const Module module = compile(job.text.request);
      count_compilations(1);
      write(key, encode(job.text, module));
      report({resources_of(module, job.text.request.name)}, false);
    });
    return finish();
  }

 private:
  struct Job {
    std::string record;
    StoredText text;
  };
};

}  // namespace

std::size_t recompile(const std::string& from, int arch, const std::string& output,
                      const std::function<void(const WarmUpProgress&)>& progress) {
  catena::check<catena::ValueError>(!output.empty(), "recompile", "it needs a folder for the kernels");
  DiskCache cache = cache_for_all_users(output);
  return Recompilation(cache, arch, progress).run(from);
}

}  // namespace nd::cuda
