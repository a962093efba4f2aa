#include <catena/tests/support/cuda_device/jit.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <unordered_map>

#include <catena/kernels/registry/embedded.h>
#include <catena/tests/support/cuda_device/report.h>

namespace cuda_device {
namespace {

namespace fs = std::filesystem;
using catena::fnv1a;

std::string hex(std::uint64_t v) {
  char digits[20];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(v));
  return digits;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void write(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) report("cannot write " + path.string(), false);
}

const fs::path& cache_folder() {
  static const fs::path folder = [] {
    const char* chosen = std::getenv("CATENA_SOFTWARE_CUDA_CACHE");
    return fs::path(chosen != nullptr && *chosen != '\0' ? chosen : CATENA_JIT_CACHE);
  }();
  return folder;
}

// A folder of the cache, locked for one thread of one process.
class LockedFolder {
 public:
  explicit LockedFolder(const fs::path& path) {
    fs::create_directories(path);
    file_ = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file_ < 0 || flock(file_, LOCK_EX) != 0)
      report("cannot lock " + path.string() + ": " + std::strerror(errno), false);
  }
  ~LockedFolder() { close(file_); }
  LockedFolder(const LockedFolder&) = delete;
  LockedFolder& operator=(const LockedFolder&) = delete;

 private:
  int file_ = -1;
};

// Runs a program; true if it exits with 0. `output`: its stdout and stderr.
bool run_program(const std::vector<std::string>& words, std::string* output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int started = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (n > 0) output->append(buffer, static_cast<std::size_t>(n));
    else if (errno != EINTR) break;
  }
  close(ends[0]);
  if (started != 0) {
    *output += words[0] + ": " + std::strerror(started) + "\n";
    return false;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Returns the path of the shared library that contains this code: compiled objects link to it, and the built kernels
// are in the same folder.
const fs::path& own_library() {
  static const fs::path path = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&own_library), &info);
    return fs::canonical(info.dli_fname);
  }();
  return path;
}

// ---- the compiler's command ---------------------------------------------------------------------
const std::vector<std::string>& compiler() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all;
    std::istringstream list(CATENA_JIT_COMMAND);
    // In check mode kernels have the instrumentation of the thread sanitizer, which excludes other sanitizers. The
    // functions it calls are in racecheck.cpp.
    for (std::string word; std::getline(list, word, '|');)
      if (!instruments_kernels() || word.find("sanitize") == std::string::npos) all.push_back(word);
    if (instruments_kernels()) all.insert(all.end(), {"-g", "-fsanitize=thread"});
    return all;
  }();
  return words;
}

// The headers included before every kernel text.
constexpr const char* kOwnHeaders[] = {"tests/support/cuda_device/shim.h", "tests/support/cuda_device/kernel_table.h"};

// Returns a hash of everything except the text and its headers that determines the result of the compilation.
std::uint64_t compiler_hash() {
  static const std::uint64_t hash = [] {
    std::uint64_t h = fnv1a(own_library().string());
    for (const std::string& word : compiler()) h = fnv1a(word + "\n", h);
    for (const char* name : kOwnHeaders) h = fnv1a(text_of(fs::path(CATENA_JIT_ROOT) / name), h);
    return h;
  }();
  return hash;
}

fs::path headers_folder(std::uint64_t headers) { return cache_folder() / ("headers-" + hex(headers)); }

// Returns the folder of the precompiled header, created if missing: the shim's headers and the launch skeletons.
// (Headers for user kernels depend on the definitions before them, so they are not precompiled, except CUDA's
// intrinsics.)
fs::path precompiled_folder(std::uint64_t headers, std::string* log) {
  const fs::path folder = cache_folder() / ("precompiled-" + hex(fnv1a(hex(headers), compiler_hash())));
  const fs::path header = folder / "precompiled.h", result = folder / "precompiled.h.gch";
  if (fs::exists(result)) return folder;
  const LockedFolder lock(folder);
  if (fs::exists(result)) return folder;
  std::string text;
  for (const char* name : kOwnHeaders) {
    write(folder / "catena" / name, text_of(fs::path(CATENA_JIT_ROOT) / name));
    text += std::string("#include <catena/") + name + ">\n";
  }
  // libstdc++ also uses this identifier, so the macro must be defined after its headers.
  text += "#define __noinline__ __attribute__((noinline))\n";
  std::vector<std::string> skeletons;
  if (std::error_code none; fs::is_directory(headers_folder(headers) / "catena/kernels/device", none))
    for (const auto& file : fs::directory_iterator(headers_folder(headers) / "catena/kernels/device"))
      if (const std::string name = file.path().filename(); !name.starts_with("user_") || name == "user_intrinsics.h")
        skeletons.push_back(name);
  std::sort(skeletons.begin(), skeletons.end());
  for (const std::string& name : skeletons) text += "#include <catena/kernels/device/" + name + ">\n";
  write(header, text);
  std::vector<std::string> words = compiler();
  words.insert(words.end(), {"-I" + headers_folder(headers).string(), "-I" + folder.string(), "-x", "c++-header",
                             header.string(), "-o", result.string() + ".new"});
  if (run_program(words, log)) fs::rename(result.string() + ".new", result);
  return folder;
}

// ---- objects ------------------------------------------------------------------------------------
// Returns a name as text for a string literal and a file name.
std::string literal(std::string_view text) {
  std::string s = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') s += '\\';
    s += c;
  }
  return s + "\"";
}
std::string file_name(std::string_view text) {
  std::string s;
  for (char c : text.substr(0, 200))
    s += std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("._-", c) != nullptr ? c : '_';
  return s.ends_with(".cu") ? s : s + ".cu";
}

// Returns the code after the text: the table of its kernels and the memory of its extern __shared__ arrays.
std::string registration(const KernelText& text, const TextScan& found, bool barriers) {
  const char* waits = barriers ? "true" : "false";
  std::string kernels, variables, code = "\n#line 1 \"name expressions\"\n";
  for (const TextScan::Kernel& k : found.kernels)
    kernels += "cuda_device::entry<(&" + k.qualified + ")>(" + literal(k.name) + ", " + waits + "),\n";
  for (const std::string& expression : text.expressions) {
    if (expression.starts_with("&"))
      variables += "cuda_device::variable<(" + expression + ")>(" + literal(expression) + "),\n";
    else kernels += "cuda_device::entry<(&" + expression + ")>(" + literal(expression) + ", " + waits + "),\n";
  }
  code += "static constexpr cuda_device::KernelEntry catena_kernels[] = {\n" + kernels + "{}};\n";
  code += "static constexpr cuda_device::VariableEntry catena_variables[] = {\n" + variables + "{}};\n";
  code +=
      "static constexpr cuda_device::KernelTable catena_kernel_table = {catena_kernels, catena_variables};\n"
      "constexpr const cuda_device::KernelTable* catena_kernel_tables[] = {&catena_kernel_table, nullptr};\n";
  code += "constexpr uint64_t catena_kernel_headers = 0x" + hex(text.headers) + ";\n";
  if (!found.dynamic_shared.empty()) {
    code += "asm(\".pushsection .tbss.dynamic_shared,\\\"awT\\\",%nobits\\n.p2align 7\\n\"\n";
    for (const std::string& s : found.dynamic_shared)
      code += "\".globl " + s + "\\n.type " + s + ",%tls_object\\n" + s + ":\\n\"\n";
    code += "\".globl catena_dynamic_shared\\n.type catena_dynamic_shared,%tls_object\\n.size catena_dynamic_shared," +
            std::to_string(kMaxDynamicShared) + "\\ncatena_dynamic_shared:\\n.zero " +
            std::to_string(kMaxDynamicShared) + "\\n.popsection\\n\");\n";
  }
  return code;
}

// The input of the compiler. A generated kernel has its own file name, so that reports distinguish kernels.
struct File {
  std::string name, content;
};
File file_of(const KernelText& text) {
  const TextScan found = scan(text.source);
  const bool generated = !split(text.source).segments.empty() && !found.kernels.empty();
  File file{file_name(generated ? found.kernels[0].name : text.name), {}};
  const bool barriers = can_synchronise(
      text.source, [&](const std::string& name) { return text_of(headers_folder(text.headers) / name); });
  file.content = text.head + "#line 1 \"" + file.name + "\"\n" + text.source + registration(text, found, barriers);
  return file;
}

Compiled make_object(const KernelText& text) {
  Compiled result;
  const File file = file_of(text);
  std::uint64_t hash = fnv1a(file.content, fnv1a(hex(text.headers), compiler_hash()));
  for (const std::string& searched : text.folders) hash = fnv1a(searched + "\n", hash);
  const fs::path folder = cache_folder() / hex(hash);
  const fs::path object = folder / "kernel.so";
  result.object = object;
  if (fs::exists(object)) return result;
  if (!fs::exists(headers_folder(text.headers) / "complete")) {
    result.failed = true;
    result.log = text.name + ": the headers of the image are not in " + cache_folder().string() + " any more\n";
    return result;
  }
  const fs::path precompiled = precompiled_folder(text.headers, &result.log);
  const LockedFolder lock(folder);
  if (fs::exists(object)) return result;
  write(folder / file.name, file.content);
  std::vector<std::string> words = compiler();
  // Without default libraries, because the instrumentation of check mode would link its own runtime.
  words.insert(words.end(), {"-shared", "-Wl,-Bsymbolic", "-nodefaultlibs",
                             "-I" + headers_folder(text.headers).string(), "-I" + precompiled.string(), "-include",
                             (precompiled / "precompiled.h").string(), "-x", "c++", (folder / file.name).string(), "-x",
                             "none", own_library().string(), "-lm", "-lc", "-o", object.string() + ".new"});
  for (const std::string& searched : text.folders) words.push_back("-I" + searched);
  if (run_program(words, &result.log)) fs::rename(object.string() + ".new", object);
  else result.failed = true;
  return result;
}

// ---- kernels compiled by the build --------------------------------------------------------------
struct BuiltIn {
  std::uint64_t headers = 0;
  std::unordered_map<std::uint64_t, const KernelEntry*> kernels;
};
const BuiltIn& built_in() {
  static const BuiltIn all = [] {
    BuiltIn b;
    const fs::path path = own_library().parent_path() / "libsoftware_cuda_kernels.so";
    if (!fs::exists(path)) return b;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) report(dlerror(), false);
    b.headers = *static_cast<const std::uint64_t*>(dlsym(library, "catena_kernel_headers"));
    for (auto* table = static_cast<const KernelTable* const*>(dlsym(library, "catena_kernel_tables"));
         *table != nullptr; ++table)
      for (const KernelEntry* k = (*table)->kernels; k->name != nullptr; ++k) b.kernels.emplace(k->text_hash, k);
    return b;
  }();
  return all;
}

void record_missing(std::string_view description) {
  const char* path = std::getenv("CATENA_SOFTWARE_CUDA_MISSING");
  if (path == nullptr || *path == '\0') return;
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  const std::string line = std::string(description) + "\n";
  if (file < 0 || ::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    report(std::string("cannot write ") + path, false);
  close(file);
}

}  // namespace

bool instruments_kernels() {
  static const bool on = [] {
    const char* chosen = std::getenv("CATENA_SOFTWARE_CUDA_CHECK");
    return chosen != nullptr && std::string(chosen) == "1";
  }();
  return on;
}

std::uint64_t store_headers(const std::vector<Header>& headers) {
  const std::uint64_t hash = hash_of(headers);
  const fs::path folder = headers_folder(hash);
  if (fs::exists(folder / "complete")) return hash;
  const LockedFolder lock(folder);
  if (fs::exists(folder / "complete")) return hash;
  for (const Header& header : headers) write(folder / header.name, header.text);
  write(folder / "complete", "");
  return hash;
}

Compiled compile(const KernelText& text) {
  const Segments parts = split(text.source);
  Compiled result;
  if (parts.segments.empty() || instruments_kernels() || !text.head.empty() || !text.folders.empty() ||
      !text.expressions.empty())
    return make_object(text);
  KernelText missing = text;
  missing.source = parts.head;
  for (const Segment& segment : parts.segments) {
    const auto found = built_in().kernels.find(segment.hash());
    if (found != built_in().kernels.end() && built_in().headers == text.headers) {
      result.built_in.push_back(found->second);
      continue;
    }
    missing.source += segment.body;
    if (segment.complete()) record_missing(segment.description);
  }
  if (result.built_in.size() == parts.segments.size()) return result;
  Compiled rest = make_object(missing);
  rest.built_in = std::move(result.built_in);
  return rest;
}

const KernelEntry* entry_of(const std::string& source) {
  static std::mutex mutex;
  static auto& known = *new std::unordered_map<std::string, const KernelEntry*>;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.emplace(source, nullptr);
  if (!is_new) return found->second;
  std::vector<Header> headers;
  for (const catena::EmbeddedHeader& header : catena::embedded_headers())
    headers.push_back({header.path, header.text()});
  KernelText text;
  text.source = source;
  text.name = "kernel.cu";
  text.headers = store_headers(headers);
  const Compiled compiled = compile(text);
  if (!compiled.built_in.empty()) return found->second = compiled.built_in[0];
  void* object = compiled.failed ? nullptr : dlopen(compiled.object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    std::fprintf(stderr, "software cuda: %s\n", compiled.failed ? compiled.log.c_str() : dlerror());
    return nullptr;
  }
  auto* tables = static_cast<const KernelTable* const*>(dlsym(object, "catena_kernel_tables"));
  return found->second = &tables[0]->kernels[0];
}

// ---- images -------------------------------------------------------------------------------------
namespace {
constexpr std::string_view kMagic = "catena software cuda image\n";
}

std::string to_image(const KernelText& text) {
  std::string image(kMagic);
  const auto put = [&image](std::string_view part) {
    image += std::to_string(part.size()) + "\n" + std::string(part) + "\n";
  };
  put(text.name);
  put(hex(text.headers));
  put(text.head);
  put(text.source);
  put(std::to_string(text.folders.size()));
  for (const std::string& folder : text.folders) put(folder);
  for (const std::string& expression : text.expressions) put(expression);
  return image + "end\n" + '\0';
}

std::optional<KernelText> from_image(const void* image) {
  const char* at = static_cast<const char*>(image);
  if (std::strncmp(at, kMagic.data(), kMagic.size()) != 0) return std::nullopt;
  at += kMagic.size();
  std::vector<std::string> parts;
  while (std::strncmp(at, "end\n", 4) != 0) {
    char* begin = nullptr;
    const unsigned long long size = std::strtoull(at, &begin, 10);
    if (begin == at || *begin != '\n' || strnlen(begin + 1, size) < size || begin[1 + size] != '\n')
      return std::nullopt;
    parts.emplace_back(begin + 1, size);
    at = begin + 1 + size + 1;
  }
  const std::size_t folders = parts.size() < 5 ? 0 : std::strtoull(parts[4].c_str(), nullptr, 10);
  if (parts.size() < 5 + folders) return std::nullopt;
  const auto first = parts.begin() + 5, expressions = first + static_cast<std::ptrdiff_t>(folders);
  return KernelText{parts[3],
                    parts[0],
                    {expressions, parts.end()},
                    parts[2],
                    {first, expressions},
                    std::strtoull(parts[1].c_str(), nullptr, 16)};
}

std::string source_line(const void* instruction) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(instruction, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return {};
  // The copy of an object is removed after loading, so the original file is used.
  const fs::path object = fs::path(map->l_name).parent_path() / "kernel.so";
  std::ostringstream offset;
  offset << "0x" << std::hex << reinterpret_cast<std::uintptr_t>(instruction) - map->l_addr;
  std::string lines;
  if (!run_program({"addr2line", "-i", "-e", object.string(), offset.str()}, &lines)) return {};
  // Finds the first function outside the shim, from the innermost inlined function outwards.
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, line.find(" (discriminator"));
    if (line.starts_with("?") || line.find("/cuda_device/") != std::string::npos) continue;
    const std::size_t header = line.rfind("/kernels/");
    return line.substr((header != std::string::npos ? header : line.rfind('/')) + 1);
  }
  return {};
}

}  // namespace cuda_device
