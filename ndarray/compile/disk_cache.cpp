#include <catena/ndarray/compile/disk_cache.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/registry/embedded.h>
#include <catena/ndarray/compile/private_files.h>

namespace nd::cuda {
namespace {

namespace fs = std::filesystem;
using catena::concat;

constexpr std::uint64_t kDefaultLimit = 1'000'000'000;
constexpr std::string_view kSuffix = ".kernel";

// A record is header, key, value, and an fnv1a of all that precedes it. A change of a single byte always changes the
// hash, because every step of fnv1a is a bijection.
struct Header {
  char magic[8] = {'c', 'a', 't', 'e', 'n', 'a', ' ', 'k'};
  std::uint32_t version = 1;
  std::uint32_t header_bytes = sizeof(Header);  // also detects the other byte order
  std::uint64_t key_bytes = 0, value_bytes = 0;
};
constexpr std::size_t kHashBytes = sizeof(std::uint64_t);

std::string encode(std::string_view key, std::string_view value) {
  Header header;
  header.key_bytes = key.size();
  header.value_bytes = value.size();
  std::string record;
  record.reserve(sizeof header + key.size() + value.size() + kHashBytes);
  record.append(reinterpret_cast<const char*>(&header), sizeof header).append(key).append(value);
  const std::uint64_t hash = catena::fnv1a(record);
  return record.append(reinterpret_cast<const char*>(&hash), kHashBytes);
}

struct Decoded {
  std::string_view key, value;
};
// Returns nothing if the record was not written by encode() or is damaged.
std::optional<Decoded> decode(std::string_view record) {
  const Header expected;
  Header header;
  if (record.size() < sizeof header + kHashBytes) return std::nullopt;
  std::memcpy(&header, record.data(), sizeof header);
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 || header.version != expected.version ||
      header.header_bytes != expected.header_bytes)
    return std::nullopt;
  const std::uint64_t content = record.size() - sizeof header - kHashBytes;
  if (header.key_bytes > content || header.value_bytes != content - header.key_bytes) return std::nullopt;
  std::uint64_t hash = 0;
  std::memcpy(&hash, record.data() + record.size() - kHashBytes, kHashBytes);
  if (catena::fnv1a(record.substr(0, record.size() - kHashBytes)) != hash) return std::nullopt;
  return Decoded{record.substr(sizeof header, header.key_bytes),
                 record.substr(sizeof header + header.key_bytes, header.value_bytes)};
}

class File {
 public:
  // The flags keep open() from blocking on a pipe or a terminal under the name of a record.
  explicit File(const std::string& path)
      : fd_(catena::open_descriptor(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  operator int() const { return fd_; }

 private:
  int fd_;
};

// Returns the complete file, or a part if it cannot be read to its end.
std::string read_all(int fd, std::size_t size) {
  std::string text(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const ssize_t n = ::read(fd, text.data() + have, size - have);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    have += static_cast<std::size_t>(n);
  }
  text.resize(have);
  return text;
}

std::string path_in(const std::string& folder, std::string_view key) {
  return concat(folder, "/", catena::hexadecimal_text(catena::fnv1a(key), 16), kSuffix);
}

// A problem with the folders is reported once per process.
void tell(const std::string& line) {
  static std::atomic_flag told;
  if (told.test_and_set()) return;
  const catena::BrokenPipeScope unread;
  std::fputs(line.c_str(), stderr);
}

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

DiskCacheSettings disk_cache_settings() {
  DiskCacheSettings settings{.directory = "", .limit_bytes = kDefaultLimit, .shared = shared_folders()};
  if (const char* text = environment("CATENA_CACHE_LIMIT")) {
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, settings.limit_bytes);
    catena::check<catena::ValueError>(error == std::errc() && stop == end, "CATENA_CACHE_LIMIT", "\"", text,
                                      "\" is not a number of bytes");
  }
  const char *directory = std::getenv("CATENA_CACHE_DIR"), *reference = environment("CUPY_CACHE_DIR");
  const char *xdg = environment("XDG_CACHE_HOME"), *home = environment("HOME");
  if (directory != nullptr) {
    if (*directory != '\0' && std::string_view(directory) != "off") settings.directory = concat(directory, "/kernels");
    if (settings.directory.empty()) return settings;
  } else if (reference != nullptr) {
    settings.directory = reference;
  } else if (xdg != nullptr && *xdg == '/') {  // the XDG specification says that relative paths are ignored
    settings.directory = concat(xdg, "/catena/kernels");
  } else if (home != nullptr) {
    settings.directory = concat(home, "/.cache/catena/kernels");
  }
  settings.fallback = compile::private_temporary_folder() + "/kernels";
  settings.directory = settings.directory.empty() ? settings.fallback : compile::absolute(settings.directory);
  return settings;
}

DiskCache::DiskCache(DiskCacheSettings settings) : settings_(std::move(settings)) {
  const std::string &first = settings_.directory, &second = settings_.fallback;
  if (first.empty()) return;
  folders_.push_back({first});
  if (!second.empty() && second != first) folders_.push_back({second});
}

std::vector<std::string> DiskCache::directories() const {
  std::vector<std::string> paths;
  for (const Folder& folder : folders_) paths.push_back(folder.path);
  return paths;
}

std::string DiskCache::path(std::string_view key) const { return path_in(settings_.directory, key); }

std::optional<std::string> DiskCache::find(std::string_view key) {
  std::optional<std::string> found;
  for (const Folder& folder : folders_)
    if (!found) found = find_in(folder.path, key, false);
  for (const std::string& folder : settings_.shared)
    if (!found) found = find_in(folder, key, true);
  ++(found ? hits_ : misses_);
  return found;
}

std::optional<std::string> DiskCache::find_in(const std::string& folder, std::string_view key, bool shared) {
  if (!compile::check_private_folder(folder).empty()) return std::nullopt;
  const std::string path = path_in(folder, key);
  const File file(path);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0) return std::nullopt;
  if (S_ISREG(status.st_mode) && !compile::is_private(status)) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::string record = shared || size <= settings_.limit_bytes ? read_all(file, size) : std::string();
  if (const std::optional<Decoded> found = decode(record)) {
    if (found->key != key) return std::nullopt;
    // Marks the record as used; without permission it only looks older than it is.
    if (!shared) ::futimens(file, nullptr);
    return std::string(found->value);
  }
  ++bad_records_;
  if (shared) return std::nullopt;
  // Another process may have replaced the record by a valid one.
  struct stat now {};
  if (::stat(path.c_str(), &now) == 0 && now.st_ino == status.st_ino && now.st_dev == status.st_dev)
    ::unlink(path.c_str());
  return std::nullopt;
}

bool DiskCache::store(std::string_view key, std::string_view value, std::span<Folder> folders) {
  if (!enabled()) return false;
  const std::string record = encode(key, value);
  if (record.size() > settings_.limit_bytes) {
    failed(concat("a record of ", record.size(), " bytes exceeds the limit of ", settings_.limit_bytes));
    return false;
  }
  std::string why;
  for (Folder& folder : folders) {
    const compile::Readers readers = settings_.for_all_users ? compile::Readers::all : compile::Readers::owner;
    std::string problem = compile::make_private_folder(folder.path, readers);
    if (problem.empty()) problem = compile::write_private_file(path_in(folder.path, key), record, readers);
    if (problem.empty()) {
      keep_limit(folder, record.size());
      if (!why.empty()) tell(concat("catena: compiled kernels are kept in ", folder.path, ": ", why, "\n"));
      return true;
    }
    why += (why.empty() ? "" : "; ") + problem;
  }
  failed(why);
  return false;
}

std::string DiskCache::last_folder() const {
  const std::lock_guard lock(mutex_);
  return last_folder_;
}

void DiskCache::discard(std::string_view key) {
  if (!enabled() && settings_.shared.empty()) return;
  ++bad_records_;
  for (const Folder& folder : folders_) ::unlink(path_in(folder.path, key).c_str());
}

void DiskCache::failed(const std::string& why) {
  ++write_failures_;
  tell(concat("catena: compiled kernels cannot be kept, the next program compiles them again: ", why, "\n"));
}

// Sums the sizes of the files at the first write, and again whenever this process has written a sixteenth of the limit,
// because other processes write to the folder too.
void DiskCache::keep_limit(Folder& folder, std::uint64_t written) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t limit = settings_.limit_bytes;
  last_folder_ = folder.path;
  folder.written_since += written;
  if (folder.bytes_at_scan && *folder.bytes_at_scan + folder.written_since <= limit &&
      folder.written_since <= limit / 16)
    return;

  struct Record {
    struct timespec used;
    std::uint64_t bytes;
    fs::path path;
  };
  std::vector<Record> records;
  std::uint64_t total = 0;
  const std::time_t long_ago = std::time(nullptr) - 3600;
  std::error_code error;
  for (fs::directory_iterator at(folder.path, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    struct stat status {};
    if (name.find(kSuffix) == std::string::npos || ::lstat(at->path().c_str(), &status) != 0 ||
        !S_ISREG(status.st_mode))
      continue;
    if (name.ends_with(kSuffix)) {
      records.push_back({status.st_mtim, static_cast<std::uint64_t>(status.st_size), at->path()});
      total += records.back().bytes;
    } else if (status.st_mtim.tv_sec < long_ago) {
      ::unlink(at->path().c_str());  // left over from a process that ended while writing
    }
  }
  if (total > limit) {
    std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
      return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
    });
    // Deletes more than necessary, so that not every write has to scan the folder.
    for (const Record& r : records) {
      if (total <= limit - limit / 8) break;
      if (::unlink(r.path.c_str()) == 0 || errno == ENOENT) total -= r.bytes;
    }
  }
  folder.bytes_at_scan = total;
  folder.written_since = 0;
}

void for_each_record(const std::string& folder, const std::function<void(std::string_view, std::string_view)>& use) {
  std::string problem = compile::check_private_folder(folder);
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; problem.empty() && !error && at != end; at.increment(error)) {
    if (at->path().extension() != kSuffix) continue;
    const File file(at->path());
    struct stat status {};
    if (file < 0 || ::fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || !compile::is_private(status)) continue;
    const std::string record = read_all(file, static_cast<std::uint64_t>(status.st_size));
    if (const std::optional<Decoded> found = decode(record)) use(found->key, found->value);
  }
  if (error && problem.empty()) problem = concat("cannot read \"", folder, "\" (", error.message(), ")");
  catena::check<catena::RuntimeError>(problem.empty(), "records", problem);
}

DiskCacheStatistics DiskCache::statistics() const noexcept { return {hits_, misses_, bad_records_, write_failures_}; }

}  // namespace nd::cuda
