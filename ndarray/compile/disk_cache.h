// Folder ndarray/compile/: the disk cache for the output of run-time compilers. It does not depend on kernels or on the
// compilers (ndarray/cuda/compiler/ and ndarray/cpu/host_compiler.h). May use kernels/base/ and kernels/formats/.
//
// This header: records that outlive the process, in a folder with one file per key. A file is written under a temporary
// name and renamed when it is complete, so processes share a folder without locks. It contains the full key (so keys
// with equal hashes are not confused) and a hash of its content: a damaged record is deleted and counted, and the
// caller creates the value again. Errors of the file system do not throw: they are counted, and reported on stderr once
// per process.
//
// Cached kernels are executed later. A folder or a record that users other than this one and root may write is
// therefore not used (private_files.h); the caller creates the value of such a record again.
//
// Shared folders have records that a package or an administrator has made in advance. They are searched after the
// folders of the user and are never changed: no record is written, deleted or marked as used there.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/export.h>

namespace nd::cuda {

struct DiskCacheStatistics {
  std::uint64_t hits = 0, misses = 0;  // of find(); a damaged record counts as a miss too
  std::uint64_t bad_records = 0, write_failures = 0;
};

struct DiskCacheSettings {
  std::string directory;
  std::uint64_t limit_bytes;
  std::string fallback = {};
  std::vector<std::string> shared = {};
  // All users may read the folders and files that store() creates (modes 0755 and 0644 instead of 0700 and 0600).
  bool for_all_users = false;
};

class CATENA_EXPORT DiskCache {
 public:
  // With an empty directory the cache stores nothing, and finds records of shared folders only. The first write creates
  // the folder. A record that cannot be written there (no space, no rights) goes to the folder `fallback`, if there is
  // one; records are searched for in both.
  explicit DiskCache(DiskCacheSettings settings);
  DiskCache(std::string directory, std::uint64_t limit_bytes, std::string fallback = {})
      : DiskCache(DiskCacheSettings{std::move(directory), limit_bytes, std::move(fallback)}) {}

  // True if the cache stores records.
  bool enabled() const noexcept { return !folders_.empty(); }
  const std::string& directory() const noexcept { return settings_.directory; }
  // Returns the folders for writing, in the order in which they are tried.
  std::vector<std::string> directories() const;

  // Returns the value last stored for exactly this key, or nothing.
  std::optional<std::string> find(std::string_view key);
  // Returns false if the record could not be written. If the files exceed the limit, deletes the least recently used
  // ones.
  bool store(std::string_view key, std::string_view value) { return store(key, value, folders_); }
  // As store(), without the fallback: for callers that have prepared the folder.
  bool store_in_first(std::string_view key, std::string_view value) {
    return store(key, value, std::span(folders_).first(folders_.empty() ? 0 : 1));
  }
  std::string last_folder() const;  // the folder in which the last record was stored; empty before the first one
  // Deletes a record whose value turned out to be unusable, except in shared folders, and counts it as bad.
  void discard(std::string_view key);

  DiskCacheStatistics statistics() const noexcept;

  // Returns the path of the record of a key, whether it exists or not.
  std::string path(std::string_view key) const;

 private:
  struct Folder {
    std::string path;
    std::optional<std::uint64_t> bytes_at_scan = {};  // sum of all file sizes at the last scan
    std::uint64_t written_since = 0;
  };
  bool store(std::string_view key, std::string_view value, std::span<Folder> folders);
  std::optional<std::string> find_in(const std::string& folder, std::string_view key, bool shared);
  void keep_limit(Folder& folder, std::uint64_t written);
  void failed(const std::string& why);

  const DiskCacheSettings settings_;
  std::vector<Folder> folders_;
  std::atomic<std::uint64_t> hits_{0}, misses_{0}, bad_records_{0}, write_failures_{0};
  mutable std::mutex mutex_;  // guards the numbers of the folders, and last_folder_
  std::string last_folder_;
};

// Folders and limit from the environment. The folder is $CATENA_CACHE_DIR/kernels ("" or "off": none, and no fallback),
// else $CUPY_CACHE_DIR, $XDG_CACHE_HOME/catena/kernels or ~/.cache/catena/kernels, whichever variable is set first;
// the fallback is the folder kernels of private_temporary_folder(). The shared folders are shared_folders(), also where
// nothing is stored. ValueError for a limit that is not a number.
CATENA_EXPORT DiskCacheSettings disk_cache_settings();

// Calls `use` with key and value of every record of a folder that is in order and that only this user and root may
// write. RuntimeError if the folder cannot be used.
CATENA_EXPORT void for_each_record(const std::string& folder,
                                   const std::function<void(std::string_view, std::string_view)>& use);

// Returns the folders in $CATENA_SHARED_KERNELS, which are separated by ':' ("off": none), else the folder
// share/catena/kernels of the prefix in which the shared library lies; whether they exist or not.
CATENA_EXPORT std::vector<std::string> shared_folders();

}  // namespace nd::cuda
