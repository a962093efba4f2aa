// npz archives: zip files whose members are npy data named "<key>.npy".
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/npy_stream.h>
#include <catena/kernels/formats/zip.h>

namespace catena {

// Each read of a key reads its member from the archive again. Several threads may read at the same time.
class CATENA_EXPORT NpzReader {
 public:
  NpzReader(std::string_view op, const std::string& path) : zip_(op, path) {}
  explicit NpzReader(ZipReader zip) : zip_(std::move(zip)) {}

  const std::string& context() const noexcept { return zip_.context(); }
  // Returns the member names without ".npy", in the order of the archive.
  std::vector<std::string> keys() const;
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  // Reads one array. KeyError if there is no such key.
  NpyArray read(std::string_view key) const;
  // Returns an array whose elements the caller reads into its own memory; it must not outlive the reader. KeyError.
  NpyStream stream(std::string_view key) const;
  // Returns the bytes of the member of a key, for callers that use read_npy_header and read_npy_data to read into their
  // own memory. The caller must end with finish_npy.
  std::unique_ptr<ByteSource> open(std::string_view key) const;

 private:
  const ZipMember* find(std::string_view key) const;
  ZipReader zip_;
};

// Reads the rest of the member after its array, so that its CRC is checked.
CATENA_EXPORT void finish_npy(ByteSource& source);

// Writes one key after the other; see ZipWriter.
class CATENA_EXPORT NpzWriter {
 public:
  NpzWriter(ByteSink& out, bool compressed)
      : zip_(out), method_(compressed ? ZipMethod::deflated : ZipMethod::stored) {}

  // ValueError if the key was added before.
  void add(std::string_view key, Dtype dtype, const Shape& shape, std::span<const std::byte> c_order_bytes);
  void add_text(std::string_view key, std::string_view utf8);
  void finish() { zip_.finish(); }

 private:
  ZipWriter zip_;
  ZipMethod method_;
};

}  // namespace catena
