#include <catena/ndarray/cpu/host_compiler.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/registry/embedded.h>
#include <catena/ndarray/compile/compile_message.h>
#include <catena/ndarray/compile/disk_cache.h>
#include <catena/ndarray/compile/private_files.h>
#include <catena/ndarray/cpu/find_compiler.h>
#include <catena/ndarray/cuda/compiler/compiler.h>

namespace nd::cpu {
namespace {

namespace fs = std::filesystem;
using catena::concat;

std::atomic<std::uint64_t> compilations{0}, disk_hits{0};

// ---- folders ------------------------------------------------------------------------------------
// Returns the folder of the host kernels: beside the folder of the CUDA kernels, or inside it if that is CuPy's folder
// ($CUPY_CACHE_DIR); empty if there is none.
std::string host_folder(const std::string& cuda_kernels) {
  const fs::path kernels = cuda_kernels;
  if (kernels.empty()) return {};
  return ((kernels.filename() == "kernels" ? kernels.parent_path() : kernels) / "host").string();
}
// Returns the cache for the present settings of the environment, which are read at every compilation. Caches are never
// destroyed: other threads may still be running at exit.
cuda::DiskCache& disk() {
  static auto& mutex = *new std::mutex;
  static auto& caches = *new std::map<std::string, std::unique_ptr<cuda::DiskCache>>;
  const cuda::DiskCacheSettings settings = cuda::disk_cache_settings();
  const std::string folder = host_folder(settings.directory), fallback = host_folder(settings.fallback);
  const std::lock_guard lock(mutex);
  auto& cache = caches[folder + '\n' + fallback + '\n' + std::to_string(settings.limit_bytes)];
  if (cache == nullptr) cache = std::make_unique<cuda::DiskCache>(folder, settings.limit_bytes, fallback);
  return *cache;
}

// Folders for the files of a compilation, in the order in which they are tried.
std::vector<std::string> work_folders() {
  std::vector<std::string> folders = disk().directories();
  const std::string shared_memory = "/dev/shm/catena-" + std::to_string(::geteuid());
  for (const std::string& folder : {compile::private_temporary_folder() + "/host", shared_memory})
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
  return folders;
}

// Thrown if a folder cannot hold the files of a compilation, or if that may be why the compiler failed.
struct NoSpace {
  std::string reason;
  std::string failure = {};  // the message of a CompileError
};

// A folder for one compilation, which is removed at the end of the scope.
class Workplace {
 public:
  explicit Workplace(const std::string& parent) {
    std::string problem = compile::make_private_folder(parent);
    std::string name = parent + "/compiling-XXXXXX";
    if (problem.empty() && ::mkdtemp(name.data()) == nullptr)
      problem = concat("no folder can be made in \"", parent, "\" (", std::strerror(errno), ")");
    if (!problem.empty()) throw NoSpace{problem};
    path_ = name;
  }
  ~Workplace() {
    std::error_code ignored;  // a folder that cannot be removed does no harm
    fs::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

void write_file(const fs::path& path, std::string_view text) {
  if (const std::string problem = compile::write_private_file_once(path.string(), text); !problem.empty())
    throw NoSpace{problem};
}
std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string output_in(const fs::path& log) {
  std::ifstream in(log, std::ios::binary);
  std::string text(compile::kMostShown, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  std::error_code error;
  const std::uintmax_t size = fs::file_size(log, error);
  return compile::beginning_of(std::move(text), error ? 0 : size);
}

// Removes the folders of processes that were killed during a compilation.
void remove_leftovers(const fs::path& parent) {
  std::error_code error;
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->path().filename().string().starts_with("compiling-") && fs::last_write_time(at->path(), ignored) < long_ago)
      fs::remove_all(at->path(), ignored);
  }
}

// ---- the embedded headers -----------------------------------------------------------------------
// Adds the headers that the text includes, directly or through other headers.
void add_included(std::string_view text, std::set<const catena::EmbeddedHeader*>& headers) {
  constexpr std::string_view kPrefix = "catena/kernels/";
  for (std::size_t at = text.find(kPrefix); at != std::string_view::npos; at = text.find(kPrefix, at + 1)) {
    const std::size_t end = text.find_first_of(">\"\n", at);
    const catena::EmbeddedHeader* const header = catena::find_embedded_header(text.substr(at, end - at));
    if (header != nullptr && headers.insert(header).second) add_included(header->text(), headers);
  }
}

// Writes the headers for every compilation: headers shared by processes would have to be checked and protected.
fs::path write_headers(std::string_view source, const Workplace& workplace) {
  const fs::path folder = workplace.path() / "include";
  std::set<const catena::EmbeddedHeader*> headers;
  add_included(source, headers);
  for (const catena::EmbeddedHeader* header : headers) {
    std::error_code shows_when_writing;
    fs::create_directories((folder / header->path).parent_path(), shows_when_writing);
    write_file(folder / header->path, header->text());
  }
  return folder;
}

std::string hash_text(std::uint64_t hash) { return catena::hexadecimal_text(hash, 16); }

// ---- the compiler -------------------------------------------------------------------------------
// Returns the processor that -march=native refers to; objects must not be used on another one.
const std::string& processor() {
  static const std::string& name = *new std::string([] {
    std::ifstream in("/proc/cpuinfo");
    std::string text;
    for (std::string line; std::getline(in, line) && !line.empty();)
      if (line.rfind("model name", 0) == 0 || line.rfind("flags", 0) == 0) text += line + '\n';
    return text;
  }());
  return name;
}

constexpr const char* kOptions[] = {
    "-std=c++20",         "-O3", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden", "-w", "-Wl,-Bsymbolic",
    "-Wl,--no-undefined",
};

std::vector<std::string> options_of(const HostCompileRequest& request) {
  std::vector<std::string> options(std::begin(kOptions), std::end(kOptions));
#if defined(__x86_64__)
  options.push_back("-march=" + request.processor);
#endif
  options.insert(options.end(), request.options.begin(), request.options.end());
  return options;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Runs a program and writes its output to a file. Returns an empty string, or how the program failed: "exit status 1".
std::string run(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                const fs::path& log) {
  const auto pointers = [](const std::vector<std::string>& words) {
    std::vector<char*> list;
    for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
    list.push_back(nullptr);
    return list;
  };
  const std::vector<char*> arguments = pointers(command), variables = pointers(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return std::strerror(error);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return {};  // if SIGCHLD is ignored, the status is unavailable; then a missing object shows the failure
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? std::string() : concat("exit status ", WEXITSTATUS(status));
  return concat("signal ", WTERMSIG(status));
}

// True if the compiler may have failed because of the file system. The compiler's message may be missing in that case,
// because it is written to the same folder.
bool may_be_full(const fs::path& folder, const std::string& output) {
  constexpr std::uintmax_t kFewBytes = 4 << 20;
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  return output.empty() || output.find("No space left on device") != std::string::npos ||
         output.find("Disk quota exceeded") != std::string::npos || (!error && space.available < kFewBytes);
}

// Compiles the text and returns the object. CompileError if the compiler fails, NoSpace if the folder cannot hold the
// files.
std::string compile(const HostCompileRequest& request, const Compiler& compiler, const std::string& parent) {
  const Workplace workplace(parent);
  const fs::path source = workplace.path() / (request.name + ".cpp"), log = workplace.path() / "log",
                 object = workplace.path() / (request.name + ".so");
  write_file(source, request.source);
  std::vector<std::string> command = compiler.command;
  command.push_back("-I" + write_headers(request.source, workplace).string());
  for (std::string& option : options_of(request)) command.push_back(std::move(option));
  for (const std::string& word : {std::string("-o"), object.string(), source.string()}) command.push_back(word);

  const std::string failure = run(command, compiler_environment(compiler, workplace.path().string()), log);
  std::error_code error;
  if (failure.empty() && fs::file_size(object, error) != 0 && !error) return read_file(object);
  const std::string output = output_in(log);
  std::string message =
      concat(request.what, ": ", joined(command), " failed (", failure.empty() ? "no object" : failure, ")\n", output,
             compile::beginning_of(cuda::numbered(request.shown.empty() ? request.source : request.shown)));
  if (may_be_full(parent, output)) throw NoSpace{concat("\"", parent, "\" may be full"), std::move(message)};
  throw catena::CompileError(message);
}

std::string compile(const HostCompileRequest& request, const Compiler& compiler) {
  if (const char* folder = std::getenv("CATENA_DUMP_KERNELS"); folder != nullptr && *folder != '\0')
    catena::write_file_atomically(
        "CATENA_DUMP_KERNELS", concat(folder, "/", request.name, "-", hash_text(catena::fnv1a(request.source)), ".cpp"),
        request.source);
  ++compilations;
  std::string reasons, failure;
  for (const std::string& folder : work_folders()) {
    try {
      std::string object = compile(request, compiler, folder);
      remove_leftovers(folder);
      return object;
    } catch (const NoSpace& problem) {
      reasons += (reasons.empty() ? "" : "; ") + problem.reason;
      if (!problem.failure.empty()) failure = problem.failure;
    }
  }
  if (!failure.empty()) throw catena::CompileError(failure);
  throw catena::IOError(concat(request.what, ": no folder can take the compiler's files: ", reasons));
}

// Loads the object from memory, or from a file if that is forbidden. Returns null and a reason if the object cannot be
// loaded or lacks one of the symbols.
std::shared_ptr<const HostModule> load(const HostCompileRequest& request, std::string_view object,
                                       std::string* reason) {
  std::shared_ptr<const HostModule> module = HostModule::load_bytes(object, reason);
  const std::vector<std::string> folders = module == nullptr ? work_folders() : std::vector<std::string>();
  for (std::size_t k = 0; k < folders.size() && module == nullptr; ++k) {
    try {
      const Workplace workplace(folders[k]);
      const fs::path file = workplace.path() / (request.name + ".so");
      write_file(file, object);
      module = HostModule::load_file(file.string(), reason);
    } catch (const NoSpace& problem) {
      *reason += "; " + problem.reason;
    }
  }
  for (const std::string& name : request.symbols) {
    if (module == nullptr || module->symbol(name) != nullptr) continue;
    *reason = concat("the compiled object has no symbol ", name);
    return nullptr;
  }
  return module;
}

}  // namespace

std::shared_ptr<const HostModule> compile_for_host(const HostCompileRequest& request) {
  catena::reserve_standard_descriptors();  // for the files below
  const Compiler compiler = find_compiler(request.what);
  std::string key = concat(hash_text(cuda::embedded_headers_hash()), '\n', compiler.identity, '\n',
                           joined(compiler.command), '\n', processor());
  for (const std::string& option : options_of(request)) key += option + '\n';
  key += request.source;

  std::string reason;
  if (const std::optional<std::string> kept = disk().find(key)) {
    if (auto module = load(request, *kept, &reason)) {
      ++disk_hits;
      return module;
    }
    disk().discard(key);
  }
  const std::string made = compile(request, compiler);
  auto module = load(request, made, &reason);
  catena::check<catena::RuntimeError>(module != nullptr, request.what,
                                      "the compiled kernel cannot be loaded: ", reason);
  disk().store(key, made);
  return module;
}

HostCompilerStatistics host_compiler_statistics() { return {compilations, disk_hits, disk().statistics().bad_records}; }

}  // namespace nd::cpu
