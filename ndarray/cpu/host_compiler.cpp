#include <catena/ndarray/cpu/host_compiler.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/rows/embedded.h>
#include <catena/ndarray/compile/disk_cache.h>
#include <catena/ndarray/cuda/compiler/compiler.h>

extern char** environ;

namespace nd::cpu {
namespace {

namespace fs = std::filesystem;
using catena::concat;

std::atomic<std::uint64_t> compilations{0}, disk_hits{0};

// ---- the cache folder ---------------------------------------------------------------------------
// Beside that of the CUDA kernels, or in it if that is the reference's one; empty if the cache is disabled.
fs::path cache_folder() {
  const fs::path kernels = cuda::disk_cache_settings().directory;
  if (kernels.empty()) return {};
  return (kernels.filename() == "kernels" ? kernels.parent_path() : kernels) / "host";
}
cuda::DiskCache& disk() {
  static auto& cache = *new cuda::DiskCache(cache_folder().string(), cuda::disk_cache_settings().limit_bytes);
  return cache;
}

// Removes the folders of processes that ended during a compilation. Those of other users cannot be removed.
void remove_leftovers(const fs::path& folder, std::string_view prefix) {
  std::error_code error;
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->path().filename().string().starts_with(prefix) && fs::is_directory(at->symlink_status(ignored)) &&
        fs::last_write_time(at->path(), ignored) < long_ago)
      fs::remove_all(at->path(), ignored);
  }
}

// TMPDIR, or /tmp if that names no folder: never the working folder, where nobody looks for leftovers.
fs::path temporary_folder() {
  std::error_code error;
  const fs::path named = fs::temp_directory_path(error);
  return error ? fs::path("/tmp") : fs::absolute(named, error);
}

// A folder for this process only, in the cache folder or the system's folder for temporary files; removed at the end of
// the scope.
class Workplace {
 public:
  explicit Workplace(const std::string& what) {
    std::error_code ignored;
    if (disk().enabled()) {
      fs::create_directories(disk().directory(), ignored);
      if (make(disk().directory(), "compiling-")) return;
    }
    const fs::path temporary = temporary_folder();
    remove_leftovers(temporary, "catena-compiling-");
    if (make(temporary, "catena-compiling-")) return;
    throw catena::IOError(concat(what, ": no folder for the compiler's files can be made in \"", temporary.string(),
                                 "\" (", std::strerror(errno), ")"));
  }
  ~Workplace() {
    std::error_code ignored;  // a folder that cannot be removed does no harm
    fs::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  const fs::path& path() const noexcept { return path_; }

 private:
  bool make(const fs::path& parent, const std::string& prefix) {
    std::string name = (parent / (prefix + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) return false;
    path_ = name;
    return true;
  }
  fs::path path_;
};

void write_file(const std::string& what, const fs::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out)
    throw catena::IOError(concat(what, ": \"", path.string(), "\" cannot be written (", std::strerror(errno), ")"));
}
std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// ---- the embedded headers -----------------------------------------------------------------------
bool headers_are_in(const fs::path& folder) {
  for (const catena::EmbeddedHeader& header : catena::embedded_headers()) {
    std::error_code error;
    if (fs::file_size(folder / header.path, error) != header.size || error) return false;
  }
  return true;
}

void write_headers(const std::string& what, const fs::path& folder) {
  for (const catena::EmbeddedHeader& header : catena::embedded_headers()) {
    std::error_code shows_when_writing;
    fs::create_directories((folder / header.path).parent_path(), shows_when_writing);
    write_file(what, folder / header.path, header.text());
  }
}

std::string hash_text(std::uint64_t hash) { return catena::hexadecimal_text(hash, 16); }
std::string headers_hash() { return hash_text(cuda::embedded_text_hash()); }

// The include folder with the embedded headers. It is kept in the cache under the hash of its contents; another process
// may be writing the same one.
fs::path header_folder(const std::string& what, const Workplace& workplace) {
  const fs::path kept = fs::path(disk().directory()) / ("include-" + headers_hash()),
                 made = workplace.path() / "include";
  if (disk().enabled() && headers_are_in(kept)) return kept;
  write_headers(what, made);
  if (!disk().enabled() || workplace.path().parent_path() != fs::path(disk().directory())) return made;
  std::error_code error;
  fs::remove_all(kept, error);  // remove a damaged one
  fs::rename(made, kept, error);
  return error ? (headers_are_in(kept) ? kept : made) : kept;
}

// ---- the compiler -------------------------------------------------------------------------------
struct Compiler {
  std::vector<std::string> command;  // path of the program, and the options given with it
  std::string identity;              // changes with the program
};

// Searches the PATH as a shell does; empty if there is no such program.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : std::string();
  const char* path = std::getenv("PATH");
  for (const std::string& folder : catena::parts_of(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", ':')) {
    const std::string candidate = (folder.empty() ? std::string(".") : folder) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate;
  }
  return {};
}

Compiler find_compiler(const std::string& what) {
  std::vector<std::string> candidates = {"c++", "g++", "clang++"};
  if (const char* cxx = std::getenv("CXX"); cxx != nullptr && *cxx != '\0') candidates.insert(candidates.begin(), cxx);
  if (const char* own = std::getenv("CATENA_HOST_COMPILER"); own != nullptr && *own != '\0') candidates = {own};
  std::string tried;
  for (const std::string& candidate : candidates) {
    std::vector<std::string> command = catena::words_of(candidate);
    tried += (tried.empty() ? "" : ", ") + candidate;
    if (command.empty()) continue;
    command[0] = find_program(command[0]);
    struct stat status {};
    if (command[0].empty() || ::stat(command[0].c_str(), &status) != 0) continue;
    std::string identity = concat(fs::canonical(command[0]).string(), ' ', status.st_size, ' ', status.st_mtim.tv_sec,
                                  '.', status.st_mtim.tv_nsec);
    return {std::move(command), std::move(identity)};
  }
  throw catena::RuntimeError(
      concat(what, ": kernels given as text need a C++ compiler on the CPU, and there is none (tried: ", tried,
             "); CATENA_HOST_COMPILER names one"));
}

// The processor that -march=native means; objects must not be used on another one.
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

// Runs a program with its output in a file. Returns an empty string, or how it failed: "exit status 1".
std::string run(const std::vector<std::string>& command, const fs::path& log, CompilerProcess* in_background) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (in_background != nullptr) {  // its thread takes no signals, which the compiler should
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  }
  pid_t child = 0;
  const int error = ::posix_spawn(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return std::strerror(error);
  if (in_background != nullptr) {
    constexpr int kLowestPriority = 19;
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(child), kLowestPriority);
    in_background->started(child);
    siginfo_t unused;
    while (::waitid(P_PID, static_cast<id_t>(child), &unused, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
    in_background->ended();
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return {};  // if SIGCHLD is ignored, the status is unavailable; then a missing object shows the failure
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? std::string() : concat("exit status ", WEXITSTATUS(status));
  return concat("signal ", WTERMSIG(status));
}

std::string compile(const HostCompileRequest& request, const Compiler& compiler, const Workplace& workplace,
                    const fs::path& object) {
  const fs::path source = workplace.path() / (request.name + ".cpp"), log = workplace.path() / "log";
  write_file(request.what, source, request.source);
  if (const char* folder = std::getenv("CATENA_DUMP_KERNELS"); folder != nullptr && *folder != '\0')
    catena::write_file_atomically(
        "CATENA_DUMP_KERNELS", concat(folder, "/", request.name, "-", hash_text(catena::fnv1a(request.source)), ".cpp"),
        request.source);
  std::vector<std::string> command = compiler.command;
  command.push_back("-I" + header_folder(request.what, workplace).string());
  for (std::string& option : options_of(request)) command.push_back(std::move(option));
  for (const std::string& word : {std::string("-o"), object.string(), source.string()}) command.push_back(word);

  ++compilations;
  const std::string failure = run(command, log, request.in_background);
  std::error_code error;
  if (!failure.empty() || fs::file_size(object, error) == 0 || error)
    throw catena::CompileError(concat(request.what, ": ", joined(command), " failed (",
                                      failure.empty() ? "no object" : failure, ")\n", read_file(log),
                                      cuda::numbered(request.shown.empty() ? request.source : request.shown)));
  return read_file(object);
}

// Null, with the reason, if the object cannot be loaded.
std::shared_ptr<const HostModule> load(const fs::path& object, std::string* reason) {
  void* handle = ::dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return std::make_shared<const HostModule>(handle);
  const char* text = ::dlerror();
  *reason = text != nullptr ? text : "unknown";
  return nullptr;
}

// Objects run in this process, so objects that another user may have written are not loaded.
bool is_ours(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) != 0 || status.st_uid == ::geteuid();
}

}  // namespace

HostModule::~HostModule() { ::dlclose(handle_); }
void* HostModule::symbol(const std::string& name) const noexcept { return ::dlsym(handle_, name.c_str()); }
std::size_t HostModule::size_of(const void* symbol) const noexcept {
  Dl_info info;
  void* entry = nullptr;
  return ::dladdr1(symbol, &info, &entry, RTLD_DL_SYMENT) != 0 && entry != nullptr
             ? static_cast<const ElfW(Sym)*>(entry)->st_size
             : 0;
}

std::shared_ptr<const HostModule> compile_for_host(const HostCompileRequest& request) {
  const Compiler compiler = find_compiler(request.what);
  std::string key = concat(headers_hash(), '\n', compiler.identity, '\n', joined(compiler.command), '\n', processor());
  for (const std::string& option : options_of(request)) key += option + '\n';
  key += request.source;

  const Workplace workplace(request.what);
  const fs::path object = workplace.path() / (request.name + ".so");
  std::string reason;
  if (is_ours(disk().path(key))) {
    if (const std::optional<std::string> kept = disk().find(key)) {
      write_file(request.what, object, *kept);
      if (auto module = load(object, &reason)) {
        ++disk_hits;
        return module;
      }
      disk().discard(key);
    }
  }
  const std::string made = compile(request, compiler, workplace, object);
  if (disk().enabled()) remove_leftovers(disk().directory(), "compiling-");
  disk().store(key, made);
  auto module = load(object, &reason);
  catena::check<catena::RuntimeError>(module != nullptr, request.what,
                                      "the compiled kernel cannot be loaded: ", reason);
  return module;
}

HostCompilerStatistics host_compiler_statistics() { return {compilations, disk_hits, disk().statistics().bad_records}; }

}  // namespace nd::cpu
