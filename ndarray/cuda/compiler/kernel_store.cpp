#include <catena/ndarray/cuda/compiler/kernel_store.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/registry/embedded.h>
#include <catena/ndarray/cuda/runtime/library.h>

namespace nd::cuda {
namespace {

class Writer {
 public:
  Writer& operator<<(std::uint64_t v) {
    bytes_.append(reinterpret_cast<const char*>(&v), sizeof v);
    return *this;
  }
  Writer& operator<<(std::string_view text) {
    *this << std::uint64_t(text.size());
    bytes_ += text;
    return *this;
  }
  Writer& operator<<(const PackedKey& key) {
    for (std::uint64_t word : key.words) *this << word;
    return *this;
  }
  Writer& operator<<(const KernelResources& r) {
    *this << std::string_view(r.name);
    for (int v : {r.registers, r.stack, r.spill_stores, r.spill_loads, r.shared})
      *this << static_cast<std::uint64_t>(v);
    return *this;
  }
  Writer& operator<<(const Module& m) {
    *this << std::string_view(m.code) << std::uint64_t(m.ptx) << static_cast<std::uint64_t>(m.arch)
          << std::uint64_t(m.names.size());
    for (const std::string& name : m.names) *this << std::string_view(name);
    *this << std::uint64_t(m.resources.size());
    for (const KernelResources& r : m.resources) *this << r;
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what Writer wrote. Reading beyond the end gives zeros and makes complete() false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool complete() const { return good_ && rest_.empty(); }

  Reader& operator>>(std::uint64_t& v) {
    v = 0;
    if (const std::string_view bytes = take(sizeof v); !bytes.empty()) std::memcpy(&v, bytes.data(), sizeof v);
    return *this;
  }
  Reader& operator>>(int& v) {
    std::uint64_t wide = 0;
    *this >> wide;
    v = static_cast<int>(wide);
    return *this;
  }
  Reader& operator>>(std::string& text) {
    std::uint64_t size = 0;
    *this >> size;
    text = take(size);
    return *this;
  }
  Reader& operator>>(PackedKey& key) {
    for (std::uint64_t& word : key.words) *this >> word;
    return *this;
  }
  Reader& operator>>(KernelResources& r) {
    return *this >> r.name >> r.registers >> r.stack >> r.spill_stores >> r.spill_loads >> r.shared;
  }
  template <class T> Reader& operator>>(std::vector<T>& items) {
    std::uint64_t count = 0;
    *this >> count;
    for (std::uint64_t k = 0; k < count && good_; ++k) *this >> items.emplace_back();
    return *this;
  }
  Reader& operator>>(Module& m) {
    int ptx = 0;
    *this >> m.code >> ptx >> m.arch >> m.names >> m.resources;
    m.ptx = ptx != 0;
    return *this;
  }

 private:
  std::string_view take(std::uint64_t n) {
    good_ = good_ && n <= rest_.size();
    const std::string_view taken = good_ ? rest_.substr(0, n) : std::string_view();
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
  bool good_ = true;
};

// True if the code can run on the architecture. PTX is compiled for the best architecture that the compiler supports; a
// cubin runs only on its own architecture.
bool fits(const Module& module, int arch) {
  return !module.code.empty() && (module.ptx ? module.arch < arch : module.arch == arch);
}

// Returns the key of the record that names the compiler of the kernels for this version of the headers.
std::string compiler_key() { return (Writer() << std::string_view("compiler") << embedded_headers_hash()).take(); }

std::string kernel_key(const PackedKey& key, std::uint64_t arch, std::uint64_t text) {
  return (Writer() << std::string_view("kernel") << key << arch << text).take();
}

std::atomic<std::uint64_t> compilations{0};

}  // namespace

// Returns the cache of the folder in the environment, which is read at every call. Never destroyed: other threads may
// still be running at exit.
DiskCache& disk_cache() {
  static auto& mutex = *new std::mutex;
  static auto& caches = *new std::map<std::pair<std::vector<std::string>, std::uint64_t>, std::unique_ptr<DiskCache>>;
  const DiskCacheSettings settings = disk_cache_settings();
  const std::lock_guard lock(mutex);
  std::vector<std::string> folders = settings.shared;
  folders.push_back(settings.directory);
  auto& cache = caches[{std::move(folders), settings.limit_bytes}];
  if (cache == nullptr) cache = std::make_unique<DiskCache>(settings);
  return *cache;
}

std::uint64_t recorded_toolchain() {
  static std::atomic<std::uint64_t> known{0};
  std::uint64_t hash = known.load(std::memory_order_relaxed);
  if (hash != 0) return hash;
  try {
    hash = toolchain_hash();
  } catch (const catena::RuntimeError&) {
    const std::optional<std::string> remembered = disk_cache().find(compiler_key());
    if (!remembered || remembered->size() != sizeof hash) throw;
    std::memcpy(&hash, remembered->data(), sizeof hash);
  }
  known.store(hash, std::memory_order_relaxed);
  return hash;
}
void remember_compiler(DiskCache& cache) { cache.store(compiler_key(), (Writer() << toolchain_hash()).take()); }

PackedKey pack(const KernelKey& key) {
  // Names every member, so that a new one does not compile here before it is packed, too.
  const auto& [program, dtypes, form, rank, reduced_rank, per_thread, index_arrays, word_bytes, many_pieces, index32,
               scalars, arch, toolchain] = key;
  static_assert(sizeof dtypes == 2 * sizeof(std::uint64_t));
  PackedKey p;
  p.words[0] = program;
  std::memcpy(&p.words[1], dtypes.data(), sizeof dtypes);
  p.words[3] = std::uint64_t(form) | std::uint64_t(rank) << 6 | std::uint64_t(reduced_rank) << 12 |
               std::uint64_t(index_arrays) << 18 | std::uint64_t(word_bytes) << 24 | std::uint64_t(many_pieces) << 30 |
               std::uint64_t(index32) << 31 | std::uint64_t(per_thread) << 32 | std::uint64_t(scalars) << 48;
  (void)arch, (void)toolchain;  // parts of the record's key
  return p;
}

std::string record_key(const KernelKey& key) { return kernel_key(pack(key), key.arch, key.toolchain); }
std::string record_key(const PackedKey& batch) { return (Writer() << std::string_view("batch") << batch).take(); }
std::string record_key(const CompileRequest& request) {
  Writer w;
  w << std::string_view("text") << static_cast<std::uint64_t>(request.arch) << recorded_toolchain()
    << std::uint64_t(request.options.size());
  for (const std::string& option : request.options) w << std::string_view(option);
  w << std::uint64_t(request.expressions.size());
  for (const std::string& expression : request.expressions) w << std::string_view(expression);
  return (w << std::uint64_t(request.avoid_spills) << std::string_view(request.source)).take();
}
PackedKey batch_key(int arch, std::uint64_t text, std::string_view source) {
  return {
      {static_cast<std::uint64_t>(arch), text, catena::fnv1a(source), catena::fnv1a(source, catena::fnv1a("second"))}};
}

std::string encode(const Module& module) { return (Writer() << module).take(); }
std::string encode(const StoredKernel& k) {
  return (Writer() << k.resources << std::uint64_t(k.parameter_bytes) << k.batch << k.module
                   << std::string_view(k.source))
      .take();
}

std::optional<Module> decode_module(std::string_view record, int arch) {
  Module module;
  Reader reader(record);
  reader >> module;
  if (!reader.complete() || !fits(module, arch)) return std::nullopt;
  return module;
}
std::optional<StoredKernel> decode_kernel(std::string_view record, int arch) {
  StoredKernel k;
  Reader reader(record);
  std::uint64_t bytes = 0;
  reader >> k.resources >> bytes >> k.batch >> k.module >> k.source;
  k.parameter_bytes = bytes;
  if (!reader.complete() || (k.alone() ? !fits(k.module, arch) : k.batch.words[0] != static_cast<std::uint64_t>(arch)))
    return std::nullopt;
  return k;
}

std::optional<StoredText> stored_text(std::string_view key, std::string_view record) {
  Reader reader(key);
  std::string kind;
  PackedKey kernel;
  std::uint64_t arch = 0, text = 0;
  reader >> kind;
  if (kind == "kernel") {
    reader >> kernel >> arch >> text;
    std::optional<StoredKernel> stored = decode_kernel(record, static_cast<int>(arch));
    if (!reader.complete() || text != recorded_toolchain() || !stored || stored->source.empty()) return std::nullopt;
    CompileRequest request{.source = std::move(stored->source),
                           .name = stored->resources.name,
                           .arch = static_cast<int>(arch),
                           .avoid_spills = true};
    return StoredText{std::move(request), kernel, stored->parameter_bytes};
  }
  StoredText user;
  std::uint64_t avoid_spills = 0;
  reader >> arch >> text >> user.request.options >> user.request.expressions >> avoid_spills >> user.request.source;
  if (kind != "text" || !reader.complete() || text != recorded_toolchain()) return std::nullopt;
  user.request.arch = static_cast<int>(arch);
  user.request.avoid_spills = avoid_spills != 0;
  return user;
}
std::string record_key(const StoredText& text) {
  if (!text.kernel) return record_key(text.request);
  return kernel_key(*text.kernel, static_cast<std::uint64_t>(text.request.arch), recorded_toolchain());
}
std::string encode(const StoredText& text, const Module& module) {
  if (!text.kernel) return encode(module);
  return encode(StoredKernel{.resources = resources_of(module, text.request.name),
                             .parameter_bytes = text.parameter_bytes,
                             .batch = {},
                             .module = module,
                             .source = text.request.source});
}

KernelResources resources_of(const Module& module, const std::string& name) {
  for (const KernelResources& r : module.resources)
    if (r.name == name) return r;
  return {name};
}

// Every occurrence of "include" must be the inclusion of an embedded header. A comment with that word only causes an
// additional compilation.
bool is_complete(const CompileRequest& request) {
  for (const std::string& option : request.options)
    if (option.starts_with("-I") || option.find("include") != std::string::npos ||
        option.find("pch") != std::string::npos)
      return false;
  constexpr std::string_view word = "include";
  const std::string_view text = request.source;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t before = at == 0 ? std::string_view::npos : text.find_last_not_of(" \t", at - 1);
    const std::size_t open = text.find_first_not_of(" \t", at + word.size());
    if (before == std::string_view::npos || text[before] != '#' || open == std::string_view::npos) return false;
    const std::size_t close = text.find_first_of(text[open] == '<' ? ">\n" : "\"\n", open + 1);
    if ((text[open] != '<' && text[open] != '"') || close == std::string_view::npos) return false;
    if (catena::find_embedded_header(text.substr(open + 1, close - open - 1)) == nullptr) return false;
  }
  return true;
}

Module compile_and_keep(const CompileRequest& request, const std::function<bool(const Module&)>& keep) {
  const auto start = std::chrono::steady_clock::now();
  Module module = compile(request);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  count_compilations(1);
  const bool kept = keep(module);
  if (seconds > 1) {
    const std::string text = catena::concat("catena: compiling ", request.name, " for sm_", request.arch, " took ",
                                            catena::fixed_text(seconds, 1), " s; the result is ",
                                            kept ? "kept in " + disk_cache().last_folder() : "not kept", "\n");
    const catena::BrokenPipeScope unread;
    std::fputs(text.c_str(), stderr);
  }
  return module;
}

std::uint64_t compilation_count() noexcept { return compilations.load(std::memory_order_relaxed); }
void count_compilations(std::size_t kernels) noexcept { compilations.fetch_add(kernels, std::memory_order_relaxed); }

}  // namespace nd::cuda
