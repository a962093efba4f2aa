// Files of records, in TensorFlow's framing (tensorflow/core/lib/io/record_writer.h). A record is
//   8 bytes  the number of bytes, little endian
//   4 bytes  the masked CRC-32C of these 8 bytes
//   the bytes
//   4 bytes  the masked CRC-32C of the bytes
// where masked means rotated to the right by 15 bits plus 0xa282ead8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/formats/byte_stream.h>

namespace catena {

// Returns the checksum of Castagnoli, bit-reflected.
CATENA_EXPORT std::uint32_t crc32c(std::string_view bytes) noexcept;

// Returns the bytes of a record.
CATENA_EXPORT std::string framed_record(std::string_view bytes);

// Reads records by their number. The file is not trusted: lengths are checked before anything is allocated. Several
// threads may read at the same time.
class CATENA_EXPORT RecordReader {
 public:
  // Reads the lengths of all records. IOError if a system call fails; ValueError, with the file and the number of the
  // record, if a length is damaged or the file ends within a record.
  RecordReader(std::string_view op, const std::string& path);
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(records_.size()); }
  // Returns the bytes of record i, 0 <= i < size(). ValueError, with the file and the number, for damaged ones.
  std::string read(std::int64_t i) const;
  std::string context(std::int64_t i) const;  // `op: "name": record 3`

 private:
  struct Record {
    std::uint64_t position, bytes;  // of the bytes in the file
  };
  std::string context_;
  FileAccess file_;
  std::vector<Record> records_;
};

}  // namespace catena
