// Folder ndarray/tools/: the command line programs that are installed with the array library.
//
// catena-warm-up --arch 90 [--list]: compiles every registered kernel with its usual launch skeletons into the disk
// cache, for programs that will run on GPUs of that architecture. Needs NVRTC, but neither a GPU nor a driver.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/compile/disk_cache.h>
#include <catena/ndarray/cuda/compiler/kernel_cache.h>

namespace {

constexpr const char* kUsage =
    "usage: catena-warm-up --arch <n> [--list]\n"
    "  --arch <n>  the GPU's compute capability without its point: 90 for 9.0\n"
    "  --list      print each kernel with its registers and what it spills, in bytes\n"
    "The kernels go where programs look for them: $CATENA_CACHE_DIR, $XDG_CACHE_HOME/catena or ~/.cache/catena.\n";

struct Arguments {
  int arch = 0;
  bool list = false, help = false;
};
// Sets arch to 0 if the arguments are invalid.
Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int k = 1; k < argc; ++k) {
    const std::string_view argument = argv[k];
    if (argument == "--list") a.list = true;
    else if (argument == "--help" || argument == "-h") a.help = true;
    else if (argument == "--arch" && k + 1 < argc) {
      const char* text = argv[++k];
      const auto [stop, error] = std::from_chars(text, text + std::strlen(text), a.arch);
      if (error != std::errc() || *stop != '\0' || a.arch <= 0) return {};
    } else {
      return {};
    }
  }
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
  void print(int arch, std::size_t compiled) const {
    say(stdout, "sm_", arch, ": ", kernels_, " kernels in ", nd::cuda::disk_cache_settings().directory, "; ", compiled,
        " compiled now, ", found_, " were there; at most ", most_registers_.registers, " registers (",
        most_registers_.name, "), ", spilling_, " spill\n");
  }

 private:
  bool list_, terminal_;
  std::size_t kernels_ = 0, found_ = 0, spilling_ = 0;
  nd::cuda::KernelResources most_registers_;
};

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  if (arguments.arch == 0 || arguments.help) {
    std::fputs(kUsage, arguments.help ? stdout : stderr);
    return arguments.help ? 0 : 2;
  }
  try {
    Summary summary(arguments.list);
    const std::size_t compiled = nd::cuda::warm_up(arguments.arch, nd::cuda::registered_kernels(),
                                                   [&](const nd::cuda::WarmUpProgress& p) { summary.add(p); });
    summary.print(arguments.arch, compiled);
  } catch (const std::exception& e) {
    say(stderr, "catena-warm-up: ", e.what(), "\n");
    return 1;
  }
}
