// Folder ndarray/compile/: the disk cache for the output of run-time compilers. It knows neither kernels nor
// compilers; those are in ndarray/cuda/compiler/ and ndarray/cpu/host_compiler.h. May use kernels/base/ and
// kernels/formats/.
//
// This header: records that outlive the process: a folder of files, each found by its key. A file is written under a
// temporary name and renamed when it is complete, so processes share a folder without locks. It contains the full key
// (so keys with equal hashes are not confused) and a hash of its content: a damaged record is deleted and counted, and
// the caller creates the value again. Errors of the file system do not throw: they are counted, and reported on stderr
// once per process.
//
// Kept kernels are executed later. A folder or a record that users other than this one and root may write is therefore
// not used (private_files.h); the value of such a record is created again.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
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

class CATENA_EXPORT DiskCache {
 public:
  // With an empty directory the cache finds and stores nothing. The folder is created by the first write. A record
  // that cannot be written there (no space, no rights) goes to the folder `fallback`, if there is one; records are
  // looked for in both.
  DiskCache(std::string directory, std::uint64_t limit_bytes, std::string fallback = {});

  bool enabled() const noexcept { return !folders_.empty(); }
  const std::string& directory() const noexcept { return directory_; }
  // Both, in the order in which they are tried.
  std::vector<std::string> directories() const;

  // The value last stored for exactly this key, or nothing.
  std::optional<std::string> find(std::string_view key);
  // False if the record could not be written. If the files exceed the limit, the least recently used ones are deleted.
  bool store(std::string_view key, std::string_view value) { return store(key, value, folders_); }
  // The same without the fallback: for who prepares the folder.
  bool store_in_first(std::string_view key, std::string_view value) {
    return store(key, value, std::span(folders_).first(folders_.empty() ? 0 : 1));
  }
  std::string last_folder() const;  // in which a record was stored; empty before that
  // Deletes a record whose value turned out to be unusable, and counts it as bad.
  void discard(std::string_view key);

  DiskCacheStatistics statistics() const noexcept;

  // The path of the record of a key, whether it exists or not.
  std::string path(std::string_view key) const;

 private:
  struct Folder {
    std::string path;
    std::optional<std::uint64_t> bytes_at_scan = {};  // sum of all file sizes at the last scan
    std::uint64_t written_since = 0;
  };
  bool store(std::string_view key, std::string_view value, std::span<Folder> folders);
  std::optional<std::string> find_in(const Folder& folder, std::string_view key);
  void keep_limit(Folder& folder, std::uint64_t written);
  void failed(const std::string& why);

  const std::string directory_;
  const std::uint64_t limit_;
  std::vector<Folder> folders_;
  std::atomic<std::uint64_t> hits_{0}, misses_{0}, bad_records_{0}, write_failures_{0};
  mutable std::mutex mutex_;  // guards the numbers of the folders, and the next one
  std::string last_folder_;
};

// Folders and limit from the environment. The folder is $CATENA_CACHE_DIR/kernels ("" or "off": none, and no fallback),
// else $CUPY_CACHE_DIR, $XDG_CACHE_HOME/catena/kernels or ~/.cache/catena/kernels, whichever variable is set first;
// the fallback is the folder kernels of private_temporary_folder(). ValueError for a limit that is not a number.
struct DiskCacheSettings {
  std::string directory;
  std::uint64_t limit_bytes;
  std::string fallback = {};
};
CATENA_EXPORT DiskCacheSettings disk_cache_settings();

}  // namespace nd::cuda
