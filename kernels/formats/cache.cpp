#include <catena/kernels/formats/cache.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>

namespace catena {

namespace fs = std::filesystem;

namespace {

struct Root {
  std::mutex mutex;
  std::string path;  // empty: not set, so the environment variables apply
};
Root& root() {
  static Root r;
  return r;
}

// A folder that is removed with its contents at the end.
struct TemporaryFolder {
  fs::path path;
  TemporaryFolder(std::string_view op, const fs::path& in) {
    std::string name = (in / "tmp-XXXXXX").string();
    check<IOError>(::mkdtemp(name.data()) != nullptr, op, "cannot create a folder in \"", in.string(),
                   "\": ", std::strerror(errno));
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

}  // namespace

std::string cache_root() {
  {
    const std::lock_guard lock(root().mutex);
    if (!root().path.empty()) return root().path;
  }
  for (const char* variable : {"CATENA_DATASET_ROOT", "CHAINER_DATASET_ROOT"})
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0') return value;
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : ".") + "/.chainer/dataset";
}

void set_cache_root(const std::string& path) {
  const std::lock_guard lock(root().mutex);
  root().path = path;
}

FileLock::FileLock(const std::string& path) : fd_(open_descriptor(path.c_str(), O_CREAT | O_RDWR, 0666)) {
  check<RuntimeError>(fd_ >= 0, "FileLock", "cannot open \"", path, "\": ", std::strerror(errno));
  int result = 0;
  do result = ::flock(fd_, LOCK_EX);
  while (result != 0 && errno == EINTR);
  const int error = errno;
  if (result != 0) ::close(fd_);
  check<RuntimeError>(result == 0, "FileLock", "cannot lock \"", path, "\": ", std::strerror(error));
}
FileLock::~FileLock() { ::close(fd_); }

void make_folder(std::string_view op, const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  check<RuntimeError>(fs::is_directory(folder), op, "cannot create the folder \"", folder, "\": ", error.message());
}

bool is_cached(const std::string& path) { return fs::exists(path); }

void create_cached(std::string_view op, const std::string& path, const Function<void(const std::string&)>& create) {
  const fs::path root = cache_root(), to = path;
  make_folder(op, root.string());
  const TemporaryFolder folder(op, root);
  const fs::path temporary = folder.path / to.filename();
  create(temporary.string());
  check<IOError>(fs::exists(temporary), op, "the creator has not written \"", temporary.string(),
                 "\", which is to become \"", path, "\"");
  const FileLock lock((root / "_create_lock").string());
  if (fs::exists(to)) return;
  if (to.has_parent_path()) make_folder(op, to.parent_path().string());
  std::error_code error;
  fs::rename(temporary, to, error);
  if (!error) return;
  // The folder is on another file system: the copy gets its final name when it is complete.
  remove_abandoned_files(to.string());
  const fs::path beside = temporary_path(to.string());
  fs::copy_file(temporary, beside, fs::copy_options::overwrite_existing, error);
  if (!error) fs::rename(beside, to, error);
  std::error_code ignored;
  if (error) fs::remove(beside, ignored);
  check<IOError>(!error, op, "cannot move \"", temporary.string(), "\" to \"", path, "\": ", error.message());
}

}  // namespace catena
