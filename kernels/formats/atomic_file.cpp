#include <catena/kernels/formats/atomic_file.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>

namespace catena {
namespace {

constexpr std::size_t kBufferSize = 64 * 1024;

// Returns the folder with the slash; empty for a bare name.
std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash + 1);
}

// Returns the target of a symbolic link, whether it exists or not; any other path unchanged. Follows at most 40 links,
// like Linux.
std::string follow_links(std::string path) {
  for (int depth = 0; depth < 40; ++depth) {
    char target[4096];
    const ssize_t n = ::readlink(path.c_str(), target, sizeof(target));
    if (n < 0 || n == static_cast<ssize_t>(sizeof(target))) break;
    const std::string_view link(target, static_cast<std::size_t>(n));
    path = link.starts_with('/') ? std::string(link) : std::string(folder_of(path)).append(link);
  }
  return path;
}

// ---- names of temporary files --------------------------------------------------------------------
// ".<name>.tmp-<machine>-<namespace>-<process>-<number>"; for a file that is locked while it is written, with an 'l'
// before the number. Process ids are meaningful only within one PID namespace of one machine.
constexpr std::string_view kMark = ".tmp-";
constexpr std::size_t kMachineDigits = 16;  // hexadecimal

struct Writer {
  std::string_view machine;         // the first digits of the kernel's boot id
  std::uint64_t pid_namespace = 0;  // the number of its inode; 0: unknown
  pid_t process = 0;
  bool locks = false;
  std::uint64_t number = 0;
};

constexpr std::string_view kUnknownMachine = "0000000000000000";

// Linux creates a random id at every boot.
const std::string& this_machine() {
  static const std::string& machine = *new std::string([] {
    char id[64];
    const int fd = open_descriptor("/proc/sys/kernel/random/boot_id", O_RDONLY);
    const ssize_t n = fd < 0 ? 0 : ::read(fd, id, sizeof id);
    if (fd >= 0) ::close(fd);
    std::string digits;
    for (ssize_t i = 0; i < n; ++i)
      if (id[i] != '-' && digits.size() < kMachineDigits) digits += id[i];
    return digits.size() == kMachineDigits ? digits : std::string(kUnknownMachine);
  }());
  return machine;
}
std::uint64_t this_pid_namespace() {  // of this process; a child may have another one
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

// Names have at most 255 bytes, so a long one is cut to its beginning, in whole UTF-8 characters.
std::string_view shortened(std::string_view name) {
  constexpr std::size_t kMost = 160;
  if (name.size() <= kMost) return name;
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0u) == 0x80u) --end;
  return name.substr(0, end);
}

std::string name_of(std::string_view path, bool locks) {
  static std::atomic<std::uint64_t> made{0};
  const std::string_view folder = folder_of(path);
  return concat(folder, '.', shortened(path.substr(folder.size())), kMark, this_machine(), '-',
                std::to_string(this_pid_namespace()), '-', std::to_string(::getpid()), locks ? "-l" : "-",
                std::to_string(made++));
}

// Reads a number and the '-' after it, or the end of the name.
template <class T> bool take_number(std::string_view& rest, T& value) {
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc()) return false;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (rest.empty()) return true;
  if (!rest.starts_with('-') || rest.size() == 1) return false;
  rest.remove_prefix(1);
  return true;
}

// Returns nothing for a name that name_of() does not create.
std::optional<Writer> writer_of(std::string_view name) {
  const std::size_t mark = name.rfind(kMark);
  if (!name.starts_with('.') || mark == name.npos || mark == 0) return {};
  Writer w;
  std::string_view rest = name.substr(mark + kMark.size());
  if (rest.find('-') != kMachineDigits) return {};
  w.machine = rest.substr(0, kMachineDigits);
  rest.remove_prefix(kMachineDigits + 1);
  if (!take_number(rest, w.pid_namespace) || !take_number(rest, w.process)) return {};
  w.locks = rest.starts_with('l');
  if (w.locks) rest.remove_prefix(1);
  if (rest.empty() || rest.find('-') != rest.npos || !take_number(rest, w.number) || w.process <= 0) return {};
  return w;
}

// ---- abandoned files -----------------------------------------------------------------------------
// Removes a file if its lock is free, which is the case when the process that held it has ended. The writer checks
// after locking that the file still exists, so the moment between the two steps does no harm.
void remove_unlocked(int folder, const char* name) {
  const int fd = ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlinkat(folder, name, 0);
  ::close(fd);
}

void remove_if_abandoned(int folder, const char* name) {
  const std::optional<Writer> w = writer_of(name);
  if (!w || w->machine == kUnknownMachine || w->machine != this_machine()) return;
  const std::uint64_t here = this_pid_namespace();
  if (here != 0 && here == w->pid_namespace) {
    if (::kill(w->process, 0) != 0 && errno == ESRCH) ::unlinkat(folder, name, 0);
  } else if (w->locks) {
    remove_unlocked(folder, name);
  }
}

}  // namespace

std::string temporary_path(std::string_view path) { return name_of(path, false); }

void remove_abandoned_files(std::string_view path) noexcept try {
  const std::string folder(folder_of(path));
  reserve_standard_descriptors();
  DIR* const dir = ::opendir(folder.empty() ? "." : folder.c_str());
  if (dir == nullptr) return;
  const int fd = ::dirfd(dir);
  while (const dirent* const entry = ::readdir(dir))
    if (entry->d_name[0] == '.') remove_if_abandoned(fd, entry->d_name);
  ::closedir(dir);
} catch (const std::exception&) {  // no memory: the files remain until the next save
}

AtomicFile::AtomicFile(std::string_view op, std::string_view path)
    : context_(io_context(op, path)), path_(follow_links(std::string(path))) {
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) refuse("cannot open", EISDIR);
  direct_ = exists && !S_ISREG(status.st_mode);
  buffer_.reserve(kBufferSize);
  if (direct_) {
    fd_ = open_descriptor(path_.c_str(), O_WRONLY);
    if (fd_ < 0) refuse("cannot open", errno);
  } else {
    open_temporary(exists ? status.st_mode & 07777u : 0666u, exists);
  }
}

void AtomicFile::open_temporary(unsigned mode, bool keep_mode) {
  remove_abandoned_files(path_);
  constexpr int kAttempts = 1000;
  int error = EEXIST;
  for (int i = 0; i < kAttempts && error == EEXIST; ++i) {
    temporary_ = name_of(path_, true);
    fd_ = open_descriptor(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL, keep_mode ? 0600u : mode);
    error = fd_ >= 0 ? 0 : errno;
    if (fd_ < 0 || keeps_its_name()) continue;
    ::close(std::exchange(fd_, -1));
    error = EEXIST;
  }
  if (fd_ < 0) {
    temporary_.clear();
    refuse("cannot create a file beside it", error);
  }
  // Best effort: a file system without permissions must not make the save fail.
  if (keep_mode) static_cast<void>(::fchmod(fd_, mode) == 0);
}

// Locks the new file. Returns false if another process has meanwhile treated it as abandoned: it holds the lock, or has
// removed the file. On a file system without locks, no process can do so.
bool AtomicFile::keeps_its_name() const {
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat status {};
  return ::fstat(fd_, &status) != 0 || status.st_nlink > 0;
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::refuse(const char* what, int error) const {
  fail<IOError>(context_, what, ": ", std::strerror(error));
}

void AtomicFile::write(const void* from, std::size_t n) {
  check<RuntimeError>(fd_ >= 0, context_, "written after commit");
  const auto* bytes = static_cast<const char*>(from);
  if (buffer_.size() + n <= kBufferSize) {
    buffer_.insert(buffer_.end(), bytes, bytes + n);
    return;
  }
  flush();
  if (n < kBufferSize) {
    buffer_.assign(bytes, bytes + n);
  } else {
    write_at(flushed_, bytes, n);
    flushed_ += n;
  }
}

void AtomicFile::patch(std::uint64_t position, const void* from, std::size_t n) {
  check<RuntimeError>(fd_ >= 0 && !direct_, context_,
                      "bytes cannot be replaced after commit or in what is no regular file");
  check<IndexError>(position + n <= flushed_ + buffer_.size(), context_, "bytes ", position, " to ", position + n,
                    " are not within the ", flushed_ + buffer_.size(), " written");
  const auto* bytes = static_cast<const char*>(from);
  if (position >= flushed_) {
    std::copy_n(bytes, n, buffer_.data() + (position - flushed_));
    return;
  }
  flush();
  write_at(position, bytes, n);
}

void AtomicFile::flush() {
  write_at(flushed_, buffer_.data(), buffer_.size());
  flushed_ += buffer_.size();
  buffer_.clear();
}

void AtomicFile::write_at(std::uint64_t position, const char* from, std::size_t n) {
  const FileLimitScope limited;
  std::optional<BrokenPipeScope> unread;  // a pipe without reader is an error like others
  if (direct_) unread.emplace();
  while (n > 0) {
    const std::size_t part = std::min<std::size_t>(n, 1 << 30);
    const ssize_t k = direct_ ? ::write(fd_, from, part) : ::pwrite(fd_, from, part, static_cast<off_t>(position));
    if (k < 0) {
      if (errno == EINTR) continue;
      refuse("cannot write", errno);
    }
    from += k;
    n -= static_cast<std::size_t>(k);
    position += static_cast<std::uint64_t>(k);
  }
}

void AtomicFile::commit() {
  check<RuntimeError>(fd_ >= 0, context_, "committed twice");
  flush();
  if (!direct_ && ::fsync(fd_) != 0) refuse("cannot write", errno);
  // Some file systems report a failed write only here.
  const int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0) refuse("cannot write", errno);
  if (direct_) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) refuse("cannot rename the written file", errno);
  temporary_.clear();
  sync_folder();
}

// Makes the new name survive a crash. Errors are ignored: not every file system supports fsync of a folder, and the
// file itself has been written.
void AtomicFile::sync_folder() const {
  const std::string folder(folder_of(path_));
  const int fd = open_descriptor(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

void write_file_atomically(std::string_view op, std::string_view path, std::string_view content) {
  AtomicFile file(op, path);
  file.write(content.data(), content.size());
  file.commit();
}

}  // namespace catena
