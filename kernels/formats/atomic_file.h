// A file that appears whole or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/formats/byte_stream.h>

namespace catena {

// Writes `<path>.tmp-<process id>` beside the destination; commit() makes it durable and gives it its name in one step.
// Without a commit (an exception, a failed write) the destructor removes the temporary, and a file of that name stays
// what it was.
//
//   AtomicFile file("save_npz", "model.npz");
//   file.write(text.data(), text.size());
//   file.commit();
//
// A symbolic link is followed; an existing file keeps its permissions. What is no regular file (a pipe, /dev/null) is
// written to directly. One object belongs to one thread; several objects may write the same path, the last commit wins.
class CATENA_EXPORT AtomicFile final : public ByteSink {
 public:
  AtomicFile(std::string_view op, std::string_view path);
  ~AtomicFile() override;

  void write(const void* from, std::size_t n) override;
  bool can_patch() const override { return !direct_; }
  void patch(std::uint64_t position, const void* from, std::size_t n) override;
  // Flush, fsync, rename, fsync of the folder. Called once, as the last thing.
  void commit();
  // `save_npz: "model.npz"`
  const std::string& context() const noexcept { return context_; }

 private:
  void open_temporary(unsigned mode, bool keep_mode);
  void flush();
  void write_at(std::uint64_t position, const char* from, std::size_t n);
  void sync_folder() const;
  [[noreturn]] void refuse(const char* what, int error) const;

  std::string context_, path_, temporary_;
  int fd_ = -1;
  bool direct_ = false;
  std::uint64_t flushed_ = 0;  // bytes in the file; those after it are in buffer_
  std::vector<char> buffer_;
};

// The whole of `content` as the file `path`.
CATENA_EXPORT void write_file_atomically(std::string_view op, std::string_view path, std::string_view content);

}  // namespace catena
