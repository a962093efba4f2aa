// Files that are made once and kept: the root folder of data sets and models, and files that appear in it complete.
#pragma once

#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/function.h>

namespace catena {

// The root folder: that of set_cache_root, else $CATENA_DATASET_ROOT, else $CHAINER_DATASET_ROOT, else
// ~/.chainer/dataset. An empty path takes back what set_cache_root has set.
CATENA_EXPORT std::string cache_root();
CATENA_EXPORT void set_cache_root(const std::string& path);

// A lock that one process holds at a time; the lock file is not removed. RuntimeError if it cannot be locked.
class CATENA_EXPORT FileLock {
 public:
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

// RuntimeError, which begins with `op`, if the folder does not exist and cannot be created.
CATENA_EXPORT void make_folder(std::string_view op, const std::string& folder);

CATENA_EXPORT bool is_cached(const std::string& path);
// Calls create(temporary path with the same file name), and moves the file to `path` unless another process has done
// so. Errors begin with `op`.
CATENA_EXPORT void create_cached(std::string_view op, const std::string& path,
                                 const Function<void(const std::string& temporary)>& create);

}  // namespace catena
