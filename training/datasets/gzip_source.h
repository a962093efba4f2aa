// Files that are compressed by gzip or uncompressed. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace training::datasets::internal {

// Reads a file from the beginning to the end. The file is not trusted: the caller should read at most limit() bytes, 16
// MiB or 100 times the size of the file, whichever is greater. IOError if the file cannot be read, ValueError if its
// compressed data are damaged or truncated; both begin with context().
class GzipSource {
 public:
  GzipSource(std::string_view op, const std::string& path);
  ~GzipSource();

  const std::string& context() const noexcept { return context_; }  // `read_idx: "images.gz"`
  std::uint64_t limit() const noexcept { return limit_; }
  // Reads up to n bytes (n < 2^31); fewer only at the end of the file.
  std::size_t read(void* to, std::size_t n);
  // Reads exactly n bytes; ValueError if the file ends before that, within `what`.
  void fill(void* to, std::size_t n, std::string_view what);

 private:
  struct Content;
  std::string context_;
  std::unique_ptr<Content> content_;
  std::uint64_t limit_ = 0;
};

}  // namespace training::datasets::internal
