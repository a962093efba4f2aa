// Zip archives for npz files: members stored or deflated, zip64 if sizes need it, no encryption, one volume.
//
// The reader does not trust its input: the central directory, the local headers and the extents of the members must
// agree; members must not overlap; the claimed size of a member must be possible for deflate with its compressed size;
// and its expanded content must have exactly the claimed size and CRC. The writer is deterministic (every member is
// dated 1980-01-01, as in NumPy): equal content gives equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <catena/kernels/formats/byte_stream.h>

namespace catena {

enum class ZipMethod : std::uint16_t { stored = 0, deflated = 8 };

struct ZipMember {
  std::string name;  // bytes as in the archive; UTF-8 if written by this library or by Python
  std::uint64_t size = 0;
  std::uint64_t compressed_size = 0;
  std::uint64_t header_offset = 0;
  std::uint64_t extent_end = 0;  // offset at which the next member or the central directory begins
  std::uint32_t crc = 0;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
};

// Several threads may read members at the same time.
class CATENA_EXPORT ZipReader {
 public:
  // Opens the file and reads its central directory. IOError if a system call fails; ValueError if the archive is
  // invalid.
  ZipReader(std::string_view op, const std::string& path);
  // As above for an archive accessed through `archive`; `context` starts the error messages, see io_context.
  ZipReader(std::string context, std::unique_ptr<RandomAccess> archive);
  ZipReader(ZipReader&&) noexcept;
  ZipReader& operator=(ZipReader&&) noexcept;
  ~ZipReader();

  const std::string& context() const noexcept { return context_; }
  // Returns the members in the order of the central directory. Of members with the same name, only the last is listed.
  const std::vector<ZipMember>& members() const noexcept { return members_; }
  // Returns the member of that name, or nullptr.
  const ZipMember* find(std::string_view name) const;

  // Returns a stream of the content of a member; it must not outlive the reader. Checks are made while it is read, the
  // CRC check with the last byte.
  std::unique_ptr<ByteSource> open(const ZipMember& member) const;
  std::vector<std::byte> read(const ZipMember& member) const;

 private:
  void read_directory();
  void parse_directory(std::span<const std::byte> directory, std::uint64_t count, std::uint64_t directory_offset);
  void find_extents(std::uint64_t directory_offset);
  void drop_repeated_names();

  std::string context_;
  std::unique_ptr<RandomAccess> archive_;
  std::vector<ZipMember> members_;
  std::unordered_map<std::string_view, std::size_t>
      index_;  // keys view into members_, which does not change after the constructor
};

// Writes one member after the other. A sink that can patch (AtomicFile, MemorySink) receives the bytes as they are
// written; for other sinks the compressed member is held in memory until it ends. The archive starts at the first byte
// of its sink.
//   AtomicFile file("savez", "a.npz");
//   ZipWriter zip(file);
//   write_npy(zip.begin("x.npy", ZipMethod::stored), dtype, shape, bytes);
//   zip.end();
//   zip.finish();
//   file.commit();
class CATENA_EXPORT ZipWriter {
 public:
  explicit ZipWriter(ByteSink& out);
  ~ZipWriter();

  // Returns the sink for the content of the next member, valid until end(). ValueError for a name that is empty, too
  // long, or used before.
  ByteSink& begin(std::string_view name, ZipMethod method);
  void end();
  // Writes the central directory and completes the archive; the sink stays open.
  void finish();

 private:
  class Content;
  std::unique_ptr<Content> content_;
};

}  // namespace catena
