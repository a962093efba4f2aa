#include <catena/ndarray/compile/private_files.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>

namespace nd::compile {
namespace {

using catena::concat;

bool is_trusted_owner(uid_t owner) { return owner == ::geteuid() || owner == 0; }

std::string failure(const char* what, const std::string& path) {
  const int error = errno;
  return concat(what, " \"", path, "\" (", std::strerror(error), ")");
}

// Writes everything and closes the file. `fd` is -1 if the file could not be opened.
std::string write_and_close(int fd, std::string_view content, bool durable, const std::string& path, mode_t mode) {
  if (fd < 0) return failure("cannot create", path);
  const catena::FileLimitScope limited;
  static_cast<void>(::fchmod(fd, mode));  // the umask may have taken more
  std::string problem;
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      problem = failure("cannot write", path);
      break;
    }
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  if (problem.empty() && durable && ::fsync(fd) != 0) problem = failure("cannot write", path);
  if (::close(fd) != 0 && problem.empty()) problem = failure("cannot write", path);
  return problem;
}

}  // namespace

bool is_private(const struct stat& status) {
  return is_trusted_owner(status.st_uid) && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string check_private_folder(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return failure("cannot use", path);
  if (S_ISLNK(status.st_mode) && is_trusted_owner(status.st_uid) && ::stat(path.c_str(), &status) != 0)
    return failure("cannot use", path);
  if (!S_ISDIR(status.st_mode)) return concat("\"", path, "\" is no folder of this user");
  if (!is_trusted_owner(status.st_uid)) return concat("\"", path, "\" belongs to another user");
  if (!is_private(status))
    return concat("other users may write \"", path, "\", and so determine what is executed (chmod 700 \"", path, "\")");
  return {};
}

std::string make_private_folder(const std::string& path, Readers readers) {
  std::string problem = check_private_folder(path);
  struct stat status {};
  if (problem.empty() || ::lstat(path.c_str(), &status) == 0) return problem;
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    const mode_t mode = readers == Readers::all ? 0755 : 0700;
    if (::mkdir(part.c_str(), mode) == 0) static_cast<void>(::chmod(part.c_str(), mode));
    if (slash == std::string::npos) break;
  }
  return check_private_folder(path);
}

std::string write_private_file(const std::string& path, std::string_view content, Readers readers) {
  std::string temporary = path + ".tmp-XXXXXX";
  catena::reserve_standard_descriptors();
  const mode_t mode = readers == Readers::all ? 0644 : 0600;
  std::string problem = write_and_close(::mkostemp(temporary.data(), O_CLOEXEC), content, true, path, mode);
  if (problem.empty() && ::rename(temporary.c_str(), path.c_str()) != 0) problem = failure("cannot rename to", path);
  if (!problem.empty()) ::unlink(temporary.c_str());
  return problem;
}

std::string write_private_file_once(const std::string& path, std::string_view content) {
  const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;
  return write_and_close(catena::open_descriptor(path.c_str(), flags, 0600), content, false, path, 0600);
}

std::string private_temporary_folder() {
  const char* chosen = ::getenv("TMPDIR");
  std::error_code error;
  const bool is_folder = chosen != nullptr && *chosen == '/' && std::filesystem::is_directory(chosen, error);
  return concat(is_folder ? chosen : "/tmp", "/catena-", std::to_string(::geteuid()));
}

std::string absolute(const std::string& path) {
  static const std::string& start = *new std::string([] {
    std::error_code error;  // a folder that has been removed
    const std::filesystem::path current = std::filesystem::current_path(error);
    return error ? std::string("/") : current.string();
  }());
  if (path.starts_with('/')) return path;
  return (std::filesystem::path(start) / path).lexically_normal().string();
}

}  // namespace nd::compile
