#include <catena/training/datasets/cache.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/training/datasets/download.h>
#include <catena/training/datasets/md5.h>

namespace training {

namespace fs = std::filesystem;
using catena::check;

namespace {

// A lock that one process holds at a time; the lock file is not removed.
class FileLock {
 public:
  explicit FileLock(const fs::path& path) : fd_(catena::open_descriptor(path.c_str(), O_CREAT | O_RDWR, 0666)) {
    check<catena::RuntimeError>(fd_ >= 0, "FileLock", "cannot open \"", path.string(), "\": ", std::strerror(errno));
    int result = 0;
    do result = ::flock(fd_, LOCK_EX);
    while (result != 0 && errno == EINTR);
    const int error = errno;
    if (result != 0) ::close(fd_);
    check<catena::RuntimeError>(result == 0, "FileLock", "cannot lock \"", path.string(), "\": ", std::strerror(error));
  }
  ~FileLock() { ::close(fd_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

void make_folder(const fs::path& folder, const char* op) {
  std::error_code error;
  fs::create_directories(folder, error);
  check<catena::RuntimeError>(fs::is_directory(folder), op, "cannot create the folder \"", folder.string(),
                              "\": ", error.message());
}

// A folder that is removed with its contents at the end.
struct TemporaryFolder {
  fs::path path;
  explicit TemporaryFolder(const fs::path& in) {
    std::string name = (in / "tmp-XXXXXX").string();
    check<catena::IOError>(::mkdtemp(name.data()) != nullptr, "cache_or_load_file", "cannot create a folder in \"",
                           in.string(), "\": ", std::strerror(errno));
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

std::string datasets::internal::cached_download(const std::string& url, const std::vector<std::string>& mirrors,
                                                const catena::Function<void(const std::string& path)>& verify) {
  const fs::path folder = fs::path(get_dataset_root()) / "_dl_cache";
  make_folder(folder, "cached_download");
  const std::string path = (folder / md5_hex(url)).string();
  {
    const FileLock lock(folder / "_dl_lock");
    if (fs::exists(path)) return path;
  }
  std::string why;
  for (const std::string& mirror : mirrors) {
    std::optional<FileLock> lock;  // held from the end of the transfer until the file has its final name
    const auto take = [&](const std::string& temporary) {
      if (verify) verify(temporary);
      lock.emplace(folder / "_dl_lock");
    };
    if (download(mirror, path, std::numeric_limits<std::size_t>::max(), take, why)) return path;
  }
  catena::fail<catena::IOError>("cached_download", "cannot download ", mirrors.back(), ": ", why,
                                " (get the file elsewhere and put ", "it at \"", path, "\")");
}

std::string cached_download(const std::string& url) { return datasets::internal::cached_download(url, {url}, {}); }

bool internal::is_cached(const std::string& path) { return fs::exists(path); }

void internal::create_cached(const std::string& path, const catena::Function<void(const std::string&)>& create) {
  const fs::path root = get_dataset_root(), to = path;
  make_folder(root, "cache_or_load_file");
  const TemporaryFolder folder(root);
  const fs::path temporary = folder.path / to.filename();
  create(temporary.string());
  check<catena::IOError>(fs::exists(temporary), "cache_or_load_file", "the creator has not written \"",
                         temporary.string(), "\", which is to become \"", path, "\"");
  const FileLock lock(root / "_create_lock");
  if (fs::exists(to)) return;
  if (to.has_parent_path()) make_folder(to.parent_path(), "cache_or_load_file");
  std::error_code error;
  fs::rename(temporary, to, error);
  if (!error) return;
  // The folder is on another file system: the copy gets its final name when it is complete.
  catena::remove_abandoned_files(to.string());
  const fs::path beside = catena::temporary_path(to.string());
  fs::copy_file(temporary, beside, fs::copy_options::overwrite_existing, error);
  if (!error) fs::rename(beside, to, error);
  std::error_code ignored;
  if (error) fs::remove(beside, ignored);
  check<catena::IOError>(!error, "cache_or_load_file", "cannot move \"", temporary.string(), "\" to \"", path,
                         "\": ", error.message());
}

}  // namespace training
