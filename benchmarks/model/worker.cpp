// The counters of a case, for gpu_model.sh: gpu_model_worker <case> [<name>=<n>...] sets the case up on the software
// device, runs it once so that all kernels are there, and prints the records of its second call as JSON: kernels with
// their counters (kernel_profile.h), the assembler's report of each for sm_90, works of libraries, copies and waits.
// Without arguments it prints the cases with their parameters.
//
// Needs the environment that gpu_model.py makes: the software device with the interpreter of PTX, and
// CATENA_DUMP_KERNELS, a folder for the kernels' texts.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <catena/benchmarks/cases.h>
#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/tests/support/cuda_device/control.h>

namespace {

using cuda_device::Control;
using cuda_device::KernelProfile;

// The caches of H100 and H200. Of the 50 MB of level 2 a multiprocessor is near one half, and lines are replaced before
// all of it is in use.
constexpr cuda_device::ProfiledDevice kDevice{132, 256 << 10, 32 << 20};
// The parameter that sets the bytes of level 2: a part of a case has that part of the cache, so that its kernels find
// as little of their results there as those of the whole case.
constexpr char kLevel2[] = "level2_bytes";

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

template <class T> std::string list(const std::vector<T>& items) {
  std::string text;
  for (const T& item : items) text += (text.empty() ? "" : ", ") + item;
  return "[" + text + "]";
}

std::string sizes(const unsigned (&n)[3]) { return catena::concat("[", n[0], ", ", n[1], ", ", n[2], "]"); }

std::string json(const KernelProfile& p) {
  std::string text = catena::concat("{\"kernel\": ", quoted(p.kernel), ", \"grid\": ", sizes(p.grid),
                                    ", \"block\": ", sizes(p.block), ", \"shared_bytes\": ", p.shared_bytes);
#define CATENA_WRITE(name) text += catena::concat(", \"" #name "\": ", p.name);
  CATENA_PROFILE_COUNTERS(CATENA_WRITE)
#undef CATENA_WRITE
  text += ", \"instructions\": {";
  for (int k = 0; k < cuda_device::kClasses; ++k)
    text += catena::concat(k == 0 ? "" : ", ", quoted(cuda_device::kInstructionClasses[k]), ": ", p.instructions[k]);
  return text + "}}";
}

// The assembler's report of a kernel; null where its text was not written.
std::string resources_of(const std::string& kernel) {
  const std::filesystem::path folder = std::getenv("CATENA_DUMP_KERNELS");
  std::ifstream file(folder / (kernel + ".cu"));
  if (!file) return "null";
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const nd::cuda::Module module = nd::cuda::compile({.source = text, .name = kernel, .arch = 90, .avoid_spills = true});
  std::ofstream(folder / (kernel + ".cubin"), std::ios::binary) << module.code;
  for (const nd::cuda::KernelResources& r : module.resources) {
    if (r.name != kernel) continue;
    return catena::concat("{\"registers\": ", r.registers, ", \"stack\": ", r.stack,
                          ", \"spill_stores\": ", r.spill_stores, ", \"spill_loads\": ", r.spill_loads,
                          ", \"shared\": ", r.shared, "}");
  }
  return "null";
}

// Works of libraries, in the order of submission: launches that the interpreter has not executed.
std::vector<std::string> library_work(const Control& control, const std::vector<KernelProfile>& kernels) {
  std::set<std::string> own;
  for (const KernelProfile& p : kernels) own.insert(p.kernel);
  std::vector<std::string> names;
  for (const Control::Launch& l : control.launches())
    if (!own.contains(l.kernel.substr(0, sizeof(KernelProfile::kernel) - 1))) names.push_back(quoted(l.kernel));
  return names;
}

std::string copies(const Control& control) {
  std::vector<std::string> items;
  for (const char* entry : {"cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
                            "cuMemcpyDtoDAsync_v2", "cuMemcpyPeerAsync", "cuMemsetD8Async", "cuMemAlloc_v2"})
    items.push_back(catena::concat(quoted(entry), ": ", control.calls(entry)));
  std::string text = list(items);
  text.front() = '{';
  text.back() = '}';
  return text;
}

void print_profile(const bench::Ready& ready, std::int64_t level2_bytes) {
  const std::int64_t result_bytes = ready.result().nbytes();
  ready.run(1);
  nd::synchronize(nd::current_device());
  Control control;
  control.reset_records();
  cuda_device::ProfiledDevice device = kDevice;
  device.level2_bytes = std::uint64_t(level2_bytes);
  control.start_profile(device);
  ready.run(1);
  const std::vector<std::string> waits = control.synchronisations();
  nd::synchronize(nd::current_device());
  control.stop_profile();
  const std::vector<KernelProfile> kernels = control.profiles();
  const std::string copied = copies(control);
  const std::vector<std::string> library = library_work(control, kernels);

  std::vector<std::string> launches, waited, resources;
  std::set<std::string> known;
  for (const KernelProfile& p : kernels) {
    launches.push_back("\n  " + json(p));
    if (known.insert(p.kernel).second) resources.push_back(quoted(p.kernel) + ": " + resources_of(p.kernel));
  }
  for (const std::string& entry : waits) waited.push_back(quoted(entry));
  std::string reports = list(resources);
  reports.front() = '{';
  reports.back() = '}';
  std::cout << "{\"result_bytes\": " << result_bytes << ", \"launches\": " << list(launches)
            << ",\n\"resources\": " << reports << ", \"library\": " << list(library) << ", \"waits\": " << list(waited)
            << ", \"copies\": " << copied << "}" << std::endl;
}

void print_cases() {
  std::vector<std::string> cases;
  for (const bench::Case& c : bench::Cases::all()) {
    std::vector<std::string> parameters;
    for (const auto& [name, value] : c.full) parameters.push_back(catena::concat(quoted(name), ": ", value));
    std::string text = list(parameters);
    text.front() = '{';
    text.back() = '}';
    cases.push_back("\n  [" + quoted(c.name) + ", " + text + "]");
  }
  std::cout << list(cases) << std::endl;
}

int run(const std::string& name, const bench::Parameters& changes) {
  for (const bench::Case& c : bench::Cases::all()) {
    if (c.name != name) continue;
    bench::Parameters parameters = c.full;
    for (const auto& [key, value] : changes) parameters[key] = value;
    const std::int64_t level2_bytes = bench::get(parameters, kLevel2, std::int64_t(kDevice.level2_bytes));
    parameters.erase(kLevel2);
    print_profile(c.setup(parameters), level2_bytes);
    return 0;
  }
  std::cerr << "gpu_model_worker: there is no case '" << name << "'\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {
    print_cases();
    return 0;
  }
  bench::Parameters changes;
  for (int k = 2; k < argc; ++k) {
    const std::string word = argv[k];
    const std::size_t equals = word.find('=');
    if (equals == word.npos) {
      std::cerr << "gpu_model_worker: '" << word << "' is no <name>=<n>\n";
      return 2;
    }
    changes[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
  }
  try {
    return run(argv[1], changes);
  } catch (const std::exception& e) {
    std::cerr << "gpu_model_worker: " << argv[1] << ": " << e.what() << "\n";
    return 1;
  }
}
