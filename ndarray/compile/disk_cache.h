// Records that outlive the process: a folder of files, each found by its key. Knows nothing of what they hold.
//
// A file is written under another name and renamed when it is whole, so processes share a folder without waiting for
// each other. It holds the full key (two keys of one hash never give each other's value) and a hash of everything: what
// is damaged is deleted and counted, and the caller makes it again. Whatever goes wrong with the folder, work goes on:
// it is counted, and told once per process on stderr.
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
  std::uint64_t hits = 0, misses = 0;  // of find(); a bad record is a miss, too
  std::uint64_t bad_records = 0, write_failures = 0;
};

class CATENA_EXPORT DiskCache {
 public:
  // An empty directory: nothing is ever found or written. The folder is made by the first write.
  DiskCache(std::string directory, std::uint64_t limit_bytes);

  bool enabled() const noexcept { return !directory_.empty(); }
  const std::string& directory() const noexcept { return directory_; }

  // What store() wrote last for exactly this key, or nothing.
  std::optional<std::string> find(std::string_view key);
  // False when it could not be written. When the files exceed the limit, those go that were not used for longest.
  bool store(std::string_view key, std::string_view value);
  // What find() gave is of no use after all: the record is deleted and counted as bad.
  void discard(std::string_view key);

  DiskCacheStatistics statistics() const noexcept;

  // Where the record of a key lies, if there is one.
  std::string path(std::string_view key) const;

 private:
  bool write(const std::string& path, const std::string& record);
  void keep_limit(std::uint64_t written);
  void failed(const std::string& why);

  const std::string directory_;
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> hits_{0}, misses_{0}, bad_records_{0}, write_failures_{0};
  std::mutex mutex_;                            // guards the two below
  std::optional<std::uint64_t> bytes_at_scan_;  // of all files, when they were last counted
  std::uint64_t written_since_ = 0;
};

// Folder and limit of the environment, as kernel_cache.h says. ValueError for a limit that is no number.
struct DiskCacheSettings {
  std::string directory;
  std::uint64_t limit_bytes;
};
CATENA_EXPORT DiskCacheSettings disk_cache_settings();

}  // namespace nd::cuda
