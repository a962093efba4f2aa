#include <catena/tests/support/cuda_device/ptx/load.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <catena/tests/support/cuda_device/check.h>
#include <catena/tests/support/cuda_device/ptx/decode.h>
#include <catena/tests/support/cuda_device/ptx/grid.h>
#include <catena/tests/support/cuda_device/report.h>

namespace cuda_device::ptx {
namespace {

// Counts executed kernels. At the end of the process, appends a line for each kernel and one with the number of
// launches to $CATENA_SOFTWARE_CUDA_PTX_COUNTS; tests/ptx_counts.sh adds them up.
class Counts {
 public:
  void launch(const std::string& kernel) {
    ++launches_;
    if (last_ != kernel) kernels_.insert(last_ = kernel);
  }
  ~Counts() {
    const char* path = std::getenv("CATENA_SOFTWARE_CUDA_PTX_COUNTS");
    if (path == nullptr || launches_ == 0) return;
    std::ofstream file(path, std::ios::app);
    for (const std::string& kernel : kernels_) file << "kernel " << kernel << "\n";
    file << "launches " << launches_ << "\n";
  }

 private:
  std::set<std::string> kernels_;
  std::string last_;
  std::size_t launches_ = 0;
};
Counts counts;

class PtxModule : public Module {
 public:
  explicit PtxModule(std::unique_ptr<Program> program) : program_(std::move(program)) {
    for (const auto& routine : program_->routines) {
      if (!routine->entry) continue;
      Function f;
      f.name = routine->name;
      for (const Variable& v : routine->parameters) f.parameter_bytes.push_back(v.bytes);
      f.barriers = routine->barriers;
      f.static_shared_bytes = static_cast<int>(routine->shared_bytes);
      f.program = program_.get();
      f.routine = routine.get();
      functions_[f.name] = std::move(f);
    }
  }

  Function* function(const std::string& name) override {
    const auto found = functions_.find(name);
    return found != functions_.end() ? &found->second : nullptr;
  }
  void* global(const std::string& name, std::size_t* bytes) override {
    const auto found = program_->globals.find(name);
    if (found == program_->globals.end()) return nullptr;
    *bytes = found->second.bytes;
    return found->second.address;
  }

 private:
  std::unique_ptr<Program> program_;
  std::map<std::string, Function> functions_;
};

}  // namespace

bool is_ptx(const char* image) {
  const std::string_view begin(image, strnlen(image, 4096));
  return begin.find(".version") != begin.npos && begin.find(".target") != begin.npos;
}

std::unique_ptr<Module> load(const char* image) {
  auto program = std::make_unique<Program>();
  try {
    decode(image, *program);
  } catch (const Fault& fault) {
    report("a PTX image cannot be loaded: " + fault.text);
    return nullptr;
  }
  return std::make_unique<PtxModule>(std::move(program));
}

void run_grid(const Function& function, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes,
              void* const* parameters) {
  counts.launch(function.name);
  try {
    run(*function.program, *function.routine, grid, block, dynamic_shared_bytes, parameters);
  } catch (const Fault& fault) {
    Actor* actor = current_actor();
    if (actor == nullptr || !actor->failed) report(fault.text);
    if (actor != nullptr) actor->failed = true;
  }
}

}  // namespace cuda_device::ptx
