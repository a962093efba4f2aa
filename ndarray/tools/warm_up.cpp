// Folder ndarray/tools/: the command line programs that are installed with the array library.
//
// catena-warm-up --arch 80,90 [--output <folder>] [--from <cache>] [--list]: compiles every registered kernel with its
// usual launch skeletons into the disk cache, for programs that will run on GPUs of these architectures, or into a
// folder for all users. With --from it compiles instead what programs have compiled into a cache. Needs NVRTC, but
// neither a GPU nor a driver.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/compile/disk_cache.h>
#include <catena/ndarray/cuda/compiler/kernel_cache.h>

namespace {

constexpr const char* kUsage =
    "usage: catena-warm-up --arch <n>[,<n>...] [--output <folder> [--from <cache>]] [--list]\n"
    "  --arch <n>         the GPU's compute capability without its point: 90 for 9.0; several with commas\n"
    "  --output <folder>  write the kernels there, readable for all users\n"
    "  --from <cache>     of all kernels, only those that programs have compiled with CATENA_CACHE_DIR=<cache>\n"
    "  --list             print each kernel with its registers and what it spills, in bytes\n"
    "The kernels go where programs look for them: $CATENA_CACHE_DIR, $XDG_CACHE_HOME/catena or ~/.cache/catena.\n"
    "A folder of kernels for all users is found as <prefix>/share/catena/kernels, or in $CATENA_SHARED_KERNELS.\n";

struct Arguments {
  std::vector<int> architectures;
  std::string output, from;
  bool list = false, help = false;
};
// Returns the numbers of a list with commas; nothing if one of them is no architecture.
std::vector<int> parse_architectures(std::string_view text) {
  std::vector<int> all;
  for (const char *at = text.data(), *end = at + text.size();; ++at) {
    const auto [stop, error] = std::from_chars(at, end, all.emplace_back());
    if (error != std::errc() || all.back() <= 0 || (stop != end && *stop != ',')) return {};
    if (stop == end) return all;
    at = stop;
  }
}
// Sets no architecture if the arguments are invalid.
Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int k = 1; k < argc; ++k) {
    const std::string_view argument = argv[k];
    if (argument == "--list") a.list = true;
    else if (argument == "--help" || argument == "-h") a.help = true;
    else if (argument == "--arch" && k + 1 < argc) a.architectures = parse_architectures(argv[++k]);
    else if (argument == "--output" && k + 1 < argc && *argv[k + 1] != '\0') a.output = argv[++k];
    else if (argument == "--from" && k + 1 < argc && *argv[k + 1] != '\0') a.from = argv[++k];
    else return {};
  }
  if (!a.from.empty() && a.output.empty()) return {};
  return a;
}

template <class... Parts> void say(std::FILE* to, const Parts&... parts) {
  std::fputs(catena::concat(parts...).c_str(), to);
}
std::string spaces(std::size_t width, const std::string& after) {
  return std::string(width - std::min(width, after.size()), ' ');
}
std::string right(int number, std::size_t width) {
  const std::string digits = catena::concat(number);
  return spaces(width, digits) + digits;
}

class Summary {
 public:
  explicit Summary(bool list) : list_(list), terminal_(::isatty(STDERR_FILENO) == 1) {}

  void add(const nd::cuda::WarmUpProgress& p) {
    found_ += p.found ? p.kernels.size() : 0;
    for (const nd::cuda::KernelResources& r : p.kernels) {
      ++kernels_;
      if (r.registers > most_registers_.registers) most_registers_ = r;
      if (r.spill_stores + r.spill_loads > 0) ++spilling_;
      if (list_)
        say(stdout, r.name, spaces(70, r.name), right(r.registers, 4), " registers",
            right(r.spill_stores + r.spill_loads, 6), " spilled\n");
    }
    if (!terminal_) return;
    say(stderr, "\r", p.done, " of ", p.total, " kernels", p.done == p.total ? "\n" : "");
  }
  void print(int arch, const std::string& folder, std::size_t compiled) const {
    say(stdout, "sm_", arch, ": ", kernels_, " kernels in ", folder, "; ", compiled, " compiled now, ", found_,
        " were there; at most ", most_registers_.registers, " registers (", most_registers_.name, "), ", spilling_,
        " spill\n");
  }

 private:
  bool list_, terminal_;
  std::size_t kernels_ = 0, found_ = 0, spilling_ = 0;
  nd::cuda::KernelResources most_registers_;
};

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  if (arguments.architectures.empty() || arguments.help) {
    std::fputs(kUsage, arguments.help ? stdout : stderr);
    return arguments.help ? 0 : 2;
  }
  try {
    const std::string folder = arguments.output.empty() ? nd::cuda::disk_cache_settings().directory : arguments.output;
    std::vector<nd::cuda::WarmUpRequest> requests;
    if (arguments.from.empty()) requests = nd::cuda::registered_kernels();
    for (const int arch : arguments.architectures) {
      Summary summary(arguments.list);
      const auto progress = [&](const nd::cuda::WarmUpProgress& p) { summary.add(p); };
      const std::size_t compiled = arguments.from.empty()
                                       ? nd::cuda::warm_up(arch, requests, progress, arguments.output)
                                       : nd::cuda::recompile(arguments.from + "/kernels", arch, folder, progress);
      summary.print(arch, folder, compiled);
    }
  } catch (const std::exception& e) {
    say(stderr, "catena-warm-up: ", e.what(), "\n");
    return 1;
  }
}
