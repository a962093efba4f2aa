#include <catena/ndarray/cuda/compiler/compiler.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

#include <catena/kernels/base/cuda_error.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/device/parameters.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/registry/embedded.h>
#include <catena/ndarray/compile/compile_message.h>
#include <catena/ndarray/cuda/runtime/library.h>

namespace nd::cuda {
namespace {

using catena::CompileError;
using catena::concat;

// The embedded headers as NVRTC expects them. Built once; texts are joined from their pieces.
struct Headers {
  std::vector<std::string> texts;
  std::vector<const char*> text, name;
};
const Headers& headers() {
  static const Headers* all = [] {
    auto* h = new Headers;
    for (const catena::EmbeddedHeader& header : catena::embedded_headers()) {
      h->texts.push_back(header.text());
      h->name.push_back(header.path);
    }
    for (const std::string& text : h->texts) h->text.push_back(text.c_str());
    return h;
  }();
  return *all;
}

void check_memory(const Nvrtc& api, api::nvrtc_result status, const char* what) {
  if (status == api::nvrtc_error_out_of_memory)
    catena::fail<catena::OutOfMemoryError>("NVRTC", what, ": out of memory (", api.get_error_string(status), ")");
}
void check_status(const Nvrtc& api, api::nvrtc_result status, const char* what) {
  if (status == api::nvrtc_success) [[likely]]
    return;
  check_memory(api, status, what);
  catena::throw_cuda_error("NVRTC", status, api.get_error_string(status), what);
}

class NvrtcProgram {
 public:
  NvrtcProgram(const Nvrtc& api, const CompileRequest& request) : api_(api) {
    const Headers& h = headers();
    check_status(api,
                 api.create_program(&program_, request.source.c_str(), request.name.c_str(),
                                    static_cast<int>(h.name.size()), h.text.data(), h.name.data()),
                 "nvrtcCreateProgram");
  }
  ~NvrtcProgram() { api_.destroy_program(&program_); }
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;
  operator api::nvrtc_program() const { return program_; }

  template <class SizeFn, class GetFn> std::string text(SizeFn get_size, GetFn get, const char* what) const {
    std::size_t size = 0;
    check_status(api_, get_size(program_, &size), what);
    std::string s(size, '\0');
    if (size > 0) check_status(api_, get(program_, s.data()), what);
    return s;
  }
  std::string log() const {
    std::string s = text(api_.get_program_log_size, api_.get_program_log, "nvrtcGetProgramLog");
    while (!s.empty() && (s.back() == '\0' || s.back() == '\n')) s.pop_back();
    return s;
  }

 private:
  const Nvrtc& api_;
  api::nvrtc_program program_ = nullptr;
};

}  // namespace

bool dumps_sources() noexcept {
  const char* folder = std::getenv("CATENA_DUMP_KERNELS");
  return folder != nullptr && *folder != '\0';
}

// The hash of the text is added to the name, because user texts may all be named kernel.cu. Names of generated kernels
// already contain a hash.
void dump_source(const std::string& name, const std::string& source) {
  const std::string folder = std::getenv("CATENA_DUMP_KERNELS");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  catena::check<catena::IOError>(!error, "CATENA_DUMP_KERNELS", "cannot make the folder \"", folder,
                                 "\": ", error.message());
  std::string file = name.substr(0, 200);
  for (char& c : file)
    if (!catena::is_ascii_alphanumeric(c) && c != '-' && c != '.') c = '_';
  if (file.ends_with(".cu"))
    file.replace(file.size() - 3, 3, "-" + catena::hexadecimal_text(catena::fnv1a(source), 16));
  catena::write_file_atomically("CATENA_DUMP_KERNELS", concat(folder, "/", file, ".cu"), source);
}

// --fmad=false: the host loops are compiled with -ffp-contract=off, so that a value depends neither on the loop nor on
// the processor; without contraction here too, +, -, *, / and sqrt give the same bits on both backends. Elementwise
// kernels are limited by memory, so this costs nothing there; matrix products come from libraries.
// --device-as-default-execution-space: constexpr functions of the headers are not marked __device__.
std::span<const char* const> compile_options() {
  static constexpr const char* kOptions[] = {
      "--std=c++20",     "--fmad=false",     "--ftz=false",
      "--prec-div=true", "--prec-sqrt=true", "--device-as-default-execution-space",
  };
  return kOptions;
}

std::uint64_t embedded_headers_hash() {
  static const std::uint64_t hash = [] {
    std::uint64_t h = catena::fnv1a("catena kernels");
    const auto add = [&h](std::string_view s) { h = catena::fnv1a(std::string_view("\0", 1), catena::fnv1a(s, h)); };
    for (const char* option : compile_options()) add(option);
    for (const catena::EmbeddedHeader& header : catena::embedded_headers()) {
      add(header.path);
      add(std::to_string(header.hash));
    }
    return h;
  }();
  return hash;
}

std::uint64_t toolchain_hash() {
  const Nvrtc& api = nvrtc();
  return catena::fnv1a(concat(api.major_version, ".", api.minor_version), embedded_headers_hash());
}

Target choose_target(int arch, std::span<const int> known) {
  const auto newer = std::upper_bound(known.begin(), known.end(), arch);
  if (newer == known.begin())
    throw catena::RuntimeError(concat("NVRTC: a device of architecture sm_", arch,
                                      " is too old, the compiler needs sm_", known.empty() ? 0 : known.front(),
                                      " or newer"));
  const int best = *(newer - 1);
  return {best, best != arch};
}

std::string numbered(const std::string& source) {
  std::string text;
  int k = 0;
  for (const std::string& line : catena::parts_of(source, '\n')) {
    const std::string number = std::to_string(++k);
    text += std::string(4 - std::min<std::size_t>(number.size(), 4), ' ') + number + " | " + line + "\n";
  }
  return text;
}

// Returns the number directly before `what`; 0 if the line does not contain `what`.
static int number_before(std::string_view line, std::string_view what) {
  const std::size_t end = line.find(what);
  if (end == std::string_view::npos || end == 0) return 0;
  const std::size_t begin = line.find_last_not_of("0123456789", end - 1) + 1;  // npos + 1 is 0
  return static_cast<int>(catena::leading_integer(line.substr(begin, end - begin)));
}

std::vector<KernelResources> parse_resources(const std::string& log, std::string* rest) {
  std::vector<KernelResources> all;
  bool properties = false;  // the line after "Function properties for" belongs to the report
  for (const std::string& line : catena::parts_of(log, '\n')) {
    constexpr std::string_view kEntry = "Compiling entry function '";
    if (const std::size_t entry = line.find(kEntry); line.starts_with("ptxas info") && entry != std::string::npos) {
      const std::size_t begin = entry + kEntry.size();
      all.push_back({line.substr(begin, line.find('\'', begin) - begin)});
    } else if (line.find("bytes stack frame") != std::string::npos && properties) {
      if (!all.empty()) {
        all.back().stack = number_before(line, " bytes stack frame");
        all.back().spill_stores = number_before(line, " bytes spill stores");
        all.back().spill_loads = number_before(line, " bytes spill loads");
      }
    } else if (line.find(": Used ") != std::string::npos && line.find("registers") != std::string::npos) {
      if (!all.empty()) {
        all.back().registers = number_before(line, " registers");
        all.back().shared = number_before(line, " bytes smem");
      }
    } else if (line.rfind("ptxas info", 0) != 0 && rest != nullptr && !line.empty()) {
      *rest += line + "\n";
    }
    properties = line.find("Function properties for") != std::string::npos;
  }
  return all;
}

bool spills(std::span<const KernelResources> kernels) noexcept {
  return std::any_of(kernels.begin(), kernels.end(),
                     [](const KernelResources& r) { return r.spill_stores > 0 || r.spill_loads > 0; });
}

namespace {

// The text with another number of blocks per multiprocessor in each __launch_bounds__(threads, blocks).
std::string with_blocks(std::string text, int blocks) {
  constexpr std::string_view kBounds = "__launch_bounds__(";
  for (std::size_t at = text.find(kBounds); at != std::string::npos; at = text.find(kBounds, at + 1)) {
    const std::size_t threads = at + kBounds.size(), close = text.find(')', threads);
    const std::size_t end = std::min(text.find(',', threads), close);
    if (close == std::string::npos) break;
    text.replace(end, close - end, concat(", ", blocks));
  }
  return text;
}

// The number of blocks that a multiprocessor holds at once. It allocates the registers of a thread in groups of eight.
int resident_blocks(std::span<const KernelResources> kernels) {
  constexpr int kRegisters = 65536, kGroup = 8;
  int registers = kGroup;
  for (const KernelResources& r : kernels)
    registers = std::max(registers, (r.registers + kGroup - 1) / kGroup * kGroup);
  return kRegisters / (registers * int(catena::device::kBlock));
}

Module compile_once(const CompileRequest& request) {
  const Nvrtc& api = nvrtc();
  const Target target = choose_target(request.arch, api.architectures);
  const NvrtcProgram program(api, request);
  for (const std::string& expression : request.expressions)
    check_status(api, api.add_name_expression(program, expression.c_str()), "nvrtcAddNameExpression");

  const std::string arch = concat("--gpu-architecture=", target.ptx ? "compute_" : "sm_", target.arch);
  std::vector<const char*> options(compile_options().begin(), compile_options().end());
  options.push_back(arch.c_str());
  if (!target.ptx) options.push_back("--ptxas-options=-v");
  for (const std::string& option : request.options) options.push_back(option.c_str());

  const api::nvrtc_result status = api.compile_program(program, static_cast<int>(options.size()), options.data());
  check_memory(api, status, "nvrtcCompileProgram");
  const std::string log = program.log();
  if (status != api::nvrtc_success)
    throw CompileError(concat(request.name, ": NVRTC cannot compile it for sm_", request.arch, " (",
                              api.get_error_string(status), ")\n", compile::beginning_of(log), "\n",
                              compile::beginning_of(numbered(request.source))));

  Module module;
  module.ptx = target.ptx;
  module.arch = target.arch;
  module.resources = parse_resources(log, &module.log);
  for (const std::string& expression : request.expressions) {
    const char* name = nullptr;
    check_status(api, api.get_lowered_name(program, expression.c_str(), &name), "nvrtcGetLoweredName");
    module.names.push_back(name);
  }
  module.code = target.ptx ? program.text(api.get_ptx_size, api.get_ptx, "nvrtcGetPTX")
                           : program.text(api.get_cubin_size, api.get_cubin, "nvrtcGetCUBIN");
  return module;
}

}  // namespace

Module compile(const CompileRequest& request) {
  if (dumps_sources()) dump_source(request.name, request.source);
  Module module = compile_once(request);
  const bool limited = std::any_of(request.options.begin(), request.options.end(), [](const std::string& option) {
    return option.find("maxrregcount") != std::string::npos;
  });
  if (!request.avoid_spills || limited) return module;
  CompileRequest again = request;
  for (int blocks = resident_blocks(module.resources); blocks > 0 && spills(module.resources); --blocks) {
    again.source = with_blocks(request.source, blocks);
    module = compile_once(again);
  }
  return module;
}

}  // namespace nd::cuda
