// Zip archives as npz files are: members stored or deflated, zip64 where sizes need it, no encryption, one volume.
//
// The reader trusts nothing: the central directory, the local headers and the extents of the members must agree and may
// not overlap, a member cannot claim to expand beyond what deflate can do with its compressed size, and what it expands
// to must have exactly that size and its CRC. The writer is deterministic (every member is dated 1980-01-01, as NumPy
// does it): equal content, equal bytes.
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
  std::string name;  // bytes as in the archive; UTF-8 when written here or by Python
  std::uint64_t size = 0;
  std::uint64_t compressed_size = 0;
  std::uint64_t header_offset = 0;
  std::uint64_t extent_end = 0;  // where the next member or the central directory begins
  std::uint32_t crc = 0;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
};

// Members may be read from several threads at once.
class CATENA_EXPORT ZipReader {
 public:
  // Opens the file and reads its central directory. IOError if the system refuses; ValueError if it is no sound
  // archive.
  ZipReader(std::string_view op, const std::string& path);
  // The same for an archive that lies elsewhere; `context` begins the error messages, see io_context.
  ZipReader(std::string context, std::unique_ptr<RandomAccess> archive);
  ZipReader(ZipReader&&) noexcept;
  ZipReader& operator=(ZipReader&&) noexcept;
  ~ZipReader();

  const std::string& context() const noexcept { return context_; }
  // In the order of the central directory. Of members with one name only the last is there.
  const std::vector<ZipMember>& members() const noexcept { return members_; }
  // The member of that name, or null.
  const ZipMember* find(std::string_view name) const;

  // The content of a member, as a stream that must not outlive the reader. Checks are made on the way; the CRC with the
  // last byte.
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
  std::unordered_map<std::string_view, std::size_t> index_;  // views into members_, which no longer changes
};

// Writes members one after the other. A sink that can patch (AtomicFile, MemorySink) gets the bytes as they come; for
// others a member is held in memory, compressed, until it ends. The archive begins with the first byte of its sink.
//
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

  // The sink of the next member's content, valid until end(). ValueError for a name that is empty, too long, or was
  // used before.
  ByteSink& begin(std::string_view name, ZipMethod method);
  void end();
  // The central directory. Afterwards the archive is complete; the sink stays open.
  void finish();

 private:
  class Content;
  std::unique_ptr<Content> content_;
};

}  // namespace catena
