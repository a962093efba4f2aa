// The room ndarray/compile/: the disk cache for the output of run-time compilers. It knows neither kernels nor
// compilers; those are in ndarray/cuda/compiler/ and ndarray/cpu/host_compiler.h. May use kernels/base/ and
// kernels/formats/.
//
// This header: records that outlive the process: a folder of files, each found by its key. A file is written under a
// temporary name and renamed when it is complete, so processes share a folder without locks. It contains the full key
// (so keys with equal hashes are not confused) and a hash of its content: a damaged record is deleted and counted, and
// the caller creates the value again. Errors of the file system do not throw: they are counted, and reported on stderr
// once per process.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>

namespace nd::cuda {

struct DiskCacheStatistics {
  std::uint64_t hits = 0, misses = 0;  // of find(); a damaged record counts as a miss too
  std::uint64_t bad_records = 0, write_failures = 0;
};

class CATENA_EXPORT DiskCache {
 public:
  // With an empty directory the cache finds and stores nothing. The folder is created by the first write.
  DiskCache(std::string directory, std::uint64_t limit_bytes);

  bool enabled() const noexcept { return !directory_.empty(); }
  const std::string& directory() const noexcept { return directory_; }

  // The value last stored for exactly this key, or nothing.
  std::optional<std::string> find(std::string_view key);
  // False if the record could not be written. If the files exceed the limit, the least recently used ones are deleted.
  bool store(std::string_view key, std::string_view value);
  // Deletes a record whose value turned out to be unusable, and counts it as bad.
  void discard(std::string_view key);

  DiskCacheStatistics statistics() const noexcept;

  // The path of the record of a key, whether it exists or not.
  std::string path(std::string_view key) const;

 private:
  bool write(const std::string& path, const std::string& record);
  void keep_limit(std::uint64_t written);
  void failed(const std::string& why);

  const std::string directory_;
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> hits_{0}, misses_{0}, bad_records_{0}, write_failures_{0};
  std::mutex mutex_;                            // guards the next two
  std::optional<std::uint64_t> bytes_at_scan_;  // sum of all file sizes at the last scan
  std::uint64_t written_since_ = 0;
};

// Directory and limit from the environment, see kernel_cache.h. ValueError for a limit that is not a number.
struct DiskCacheSettings {
  std::string directory;
  std::uint64_t limit_bytes;
};
CATENA_EXPORT DiskCacheSettings disk_cache_settings();

}  // namespace nd::cuda
