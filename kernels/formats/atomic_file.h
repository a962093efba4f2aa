// A file that is written completely or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/formats/byte_stream.h>

namespace catena {

// Writes a temporary file beside the destination; commit() makes it durable and renames it to the destination. Without
// a commit (an exception, a failed write) the destructor removes the temporary file and an existing destination stays
// unchanged. A process that is killed leaves its temporary file, which the next AtomicFile in that folder removes if it
// is certainly abandoned (see remove_abandoned_files).
//
//   AtomicFile file("save_npz", "model.npz");
//   file.write(text.data(), text.size());
//   file.commit();
//
// A symbolic link is followed; an existing file keeps its permissions. A path that is not a regular file (a pipe,
// /dev/null) is written directly. An object must be used by one thread; several objects may write the same path, and
// the last commit wins.
class CATENA_EXPORT AtomicFile final : public ByteSink {
 public:
  AtomicFile(std::string_view op, std::string_view path);
  ~AtomicFile() override;

  void write(const void* from, std::size_t n) override;
  bool can_patch() const override { return !direct_; }
  void patch(std::uint64_t position, const void* from, std::size_t n) override;
  // Flushes, calls fsync, renames, and calls fsync for the folder. Must be called once, after the last write.
  void commit();
  // `save_npz: "model.npz"`
  const std::string& context() const noexcept { return context_; }

 private:
  void open_temporary(unsigned mode, bool keep_mode);
  bool keeps_its_name() const;
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

// Returns a new name beside the file `path`: ".<name>.tmp-<machine>-<namespace>-<process>-<number>", which no pattern
// such as "snapshot*" matches and no other process uses. For files that are not written by AtomicFile.
CATENA_EXPORT std::string temporary_path(std::string_view path);
// Removes the temporary files (of temporary_path and AtomicFile) in the folder of `path` whose writer is certainly
// gone: the writer is a process of this PID namespace that does not exist, or it is in another container on this
// machine and wrote an AtomicFile that is not locked. Files of other machines, of this machine before its last start,
// and with names of another pattern are kept. Best effort: no errors.
CATENA_EXPORT void remove_abandoned_files(std::string_view path) noexcept;

// Writes `content` as the complete content of the file `path`.
CATENA_EXPORT void write_file_atomically(std::string_view op, std::string_view path, std::string_view content);

}  // namespace catena
