#include <catena/training/append_file.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>

namespace training::internal {

AppendFile::AppendFile(std::string_view op, std::string path)
    : op_(op),
      path_(std::move(path)),
      descriptor_(catena::open_descriptor(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0666)) {
  catena::check<catena::IOError>(descriptor_ >= 0, op_, "cannot open \"", path_, "\": ", std::strerror(errno));
}

AppendFile::~AppendFile() { ::close(descriptor_); }

void AppendFile::write(std::string_view text) {
  const catena::FileLimitScope limit;
  while (!text.empty()) {
    const ssize_t n = ::write(descriptor_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    catena::check<catena::IOError>(n >= 0, op_, "cannot write \"", path_, "\": ", std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace training::internal
