// Files that gzip has compressed, or that are plain. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace training::datasets::internal {

// Reads from the beginning to the end. The file is not trusted: no more than limit() bytes should be read from it,
// 16 MiB or 100 times the file's size, whichever is greater. IOError when it cannot be read, ValueError when its
// compressed data are damaged or cut off; both begin with context().
class GzipSource {
 public:
  GzipSource(std::string_view op, const std::string& path);
  ~GzipSource();

  const std::string& context() const noexcept { return context_; }  // `read_idx: "images.gz"`
  std::uint64_t limit() const noexcept { return limit_; }
  // Up to n bytes (n < 2^31); fewer only at the end of the file.
  std::size_t read(void* to, std::size_t n);
  // Exactly n bytes; ValueError saying that the file ends within `what`.
  void fill(void* to, std::size_t n, std::string_view what);

 private:
  struct Content;
  std::string context_;
  std::unique_ptr<Content> content_;
  std::uint64_t limit_ = 0;
};

}  // namespace training::datasets::internal
