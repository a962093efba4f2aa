#include <catena/kernels/formats/byte_stream.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <istream>
#include <ostream>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>

namespace catena {
namespace {

int open_for_reading(const std::string& context, const std::string& path, struct stat& status) {
  const int fd = open_descriptor(path.c_str(), O_RDONLY);
  if (fd < 0) fail<IOError>(context, "cannot open: ", std::strerror(errno));
  if (::fstat(fd, &status) == 0 && !S_ISDIR(status.st_mode)) return fd;
  const int error = S_ISDIR(status.st_mode) ? EISDIR : errno;
  ::close(fd);
  fail<IOError>(context, "cannot open: ", std::strerror(error));
}

}  // namespace

std::string io_context(std::string_view op, std::string_view name) { return concat(op, ": \"", name, '"'); }

ByteSource::~ByteSource() = default;
ByteSink::~ByteSink() = default;
RandomAccess::~RandomAccess() = default;

void ByteSink::patch(std::uint64_t, const void*, std::size_t) {
  fail<RuntimeError>("ByteSink::patch", "this sink cannot replace bytes that were written");
}

std::size_t MemorySource::read(void* to, std::size_t n) {
  n = std::min(n, rest_.size());
  if (n) std::memcpy(to, rest_.data(), n);
  rest_ = rest_.subspan(n);
  return n;
}

FileSource::FileSource(std::string_view op, const std::string& path) : ByteSource(io_context(op, path)) {
  struct stat status {};
  fd_ = open_for_reading(context(), path, status);
  if (S_ISREG(status.st_mode)) remaining_ = static_cast<std::uint64_t>(status.st_size);
}

FileSource::~FileSource() { ::close(fd_); }

std::size_t FileSource::read(void* to, std::size_t n) {
  std::size_t done = 0;
  while (done < n) {
    const ssize_t k = ::read(fd_, static_cast<char*>(to) + done, std::min<std::size_t>(n - done, 1 << 30));
    if (k == 0) break;
    if (k > 0) done += static_cast<std::size_t>(k);
    else if (errno != EINTR) fail<IOError>(context(), "cannot read: ", std::strerror(errno));
  }
  if (remaining_) *remaining_ -= std::min<std::uint64_t>(done, *remaining_);
  return done;
}

std::string read_file(std::string_view op, const std::string& path) {
  FileSource file(op, path);
  const auto size = file.remaining();
  check<IOError>(size.has_value(), file.context(), "it is no regular file");
  std::string content(static_cast<std::size_t>(*size), '\0');
  content.resize(file.read(content.data(), content.size()));
  return content;
}

std::size_t StreamSource::read(void* to, std::size_t n) {
  in_.read(static_cast<char*>(to), static_cast<std::streamsize>(n));
  check<IOError>(!in_.bad(), context(), "cannot read the stream");
  return static_cast<std::size_t>(in_.gcount());
}

void MemorySink::write(const void* from, std::size_t n) {
  const auto* bytes = static_cast<const std::byte*>(from);
  bytes_.insert(bytes_.end(), bytes, bytes + n);
}

void MemorySink::patch(std::uint64_t position, const void* from, std::size_t n) {
  check<IndexError>(position <= bytes_.size() && n <= bytes_.size() - position, "MemorySink::patch", "bytes ", position,
                    " to ", position + n, " are not within the ", bytes_.size(), " written");
  if (n) std::memcpy(bytes_.data() + position, from, n);
}

void StreamSink::write(const void* from, std::size_t n) {
  out_.write(static_cast<const char*>(from), static_cast<std::streamsize>(n));
  check<IOError>(out_.good(), context_, "cannot write ", n, " bytes to the stream");
}

void MemoryAccess::read_at(std::uint64_t position, void* to, std::size_t n) const {
  if (n) std::memcpy(to, bytes_.data() + position, n);
}

FileAccess::FileAccess(std::string_view op, const std::string& path) : context_(io_context(op, path)) {
  struct stat status {};
  fd_ = open_for_reading(context_, path, status);
  if (!S_ISREG(status.st_mode)) {
    ::close(fd_);
    fail<IOError>(context_, "is not a regular file, so it cannot be read at will");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

FileAccess::~FileAccess() { ::close(fd_); }

void FileAccess::read_at(std::uint64_t position, void* to, std::size_t n) const {
  std::size_t done = 0;
  while (done < n) {
    const ssize_t k = ::pread(fd_, static_cast<char*>(to) + done, std::min<std::size_t>(n - done, 1 << 30),
                              static_cast<off_t>(position + done));
    // The file may have been truncated since it was opened.
    check<IOError>(k != 0, context_, "the file ends at byte ", position + done, ", it had ", size_,
                   " bytes when it was opened");
    if (k > 0) done += static_cast<std::size_t>(k);
    else if (errno != EINTR) fail<IOError>(context_, "cannot read: ", std::strerror(errno));
  }
}

}  // namespace catena
