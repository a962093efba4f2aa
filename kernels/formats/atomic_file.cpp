#include <catena/kernels/formats/atomic_file.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <catena/kernels/base/error.h>

namespace catena {
namespace {

constexpr std::size_t kBufferSize = 64 * 1024;

// With the slash; empty for a bare name.
std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash + 1);
}

// The target of a symbolic link, whether it exists or not; any other path unchanged. Follows at most 40 links, like
// Linux.
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

constexpr std::string_view kMark = ".tmp-";

// The process of a name that temporary_path() made, with or without a number after it; 0 for other names.
pid_t writer_of(std::string_view name) {
  const std::size_t mark = name.rfind(kMark);
  if (!name.starts_with('.') || mark == name.npos) return 0;
  const std::string_view digits = name.substr(mark + kMark.size());
  pid_t id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  const bool complete = end == digits.data() + digits.size() || *end == '-';
  return error == std::errc() && complete && id > 0 ? id : 0;
}

// The lock ends with the process that holds it. Where the file system has no locks the process id decides alone.
bool is_locked(int folder, const char* name) {
  const int fd = ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return true;
  const bool locked = ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return locked;
}

}  // namespace

std::string temporary_path(std::string_view path) {
  const std::string_view folder = folder_of(path);
  return concat(folder, '.', path.substr(folder.size()), kMark, ::getpid());
}

void remove_abandoned_files(std::string_view path) noexcept try {
  const std::string folder(folder_of(path));
  DIR* const dir = ::opendir(folder.empty() ? "." : folder.c_str());
  if (dir == nullptr) return;
  const int fd = ::dirfd(dir);
  while (const dirent* const entry = ::readdir(dir)) {
    const pid_t writer = writer_of(entry->d_name);
    if (writer == 0 || ::kill(writer, 0) == 0 || errno != ESRCH || is_locked(fd, entry->d_name)) continue;
    ::unlinkat(fd, entry->d_name, 0);
  }
  ::closedir(dir);
} catch (...) {  // no memory for the folder's name
}

AtomicFile::AtomicFile(std::string_view op, std::string_view path)
    : context_(io_context(op, path)), path_(follow_links(std::string(path))) {
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) refuse("cannot open", EISDIR);
  direct_ = exists && !S_ISREG(status.st_mode);
  buffer_.reserve(kBufferSize);
  if (direct_) {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) refuse("cannot open", errno);
  } else {
    open_temporary(exists ? status.st_mode & 07777u : 0666u, exists);
  }
}

// Appends a number while the name is in use by another writer of this process or by the left-over file of a dead
// process with the same id.
void AtomicFile::open_temporary(unsigned mode, bool keep_mode) {
  remove_abandoned_files(path_);
  const std::string stem = temporary_path(path_);
  for (int i = 0; i < 1000; ++i) {
    temporary_ = i == 0 ? stem : concat(stem, '-', i);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, keep_mode ? 0600u : mode);
    if (fd_ >= 0 || errno != EEXIST) break;
  }
  if (fd_ < 0) {
    const int error = errno;
    temporary_.clear();
    refuse("cannot create a file beside it", error);
  }
  static_cast<void>(::flock(fd_, LOCK_EX | LOCK_NB));  // is_locked()
  // Best effort: a file system without permissions must not make the save fail.
  if (keep_mode) static_cast<void>(::fchmod(fd_, mode) == 0);
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
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
