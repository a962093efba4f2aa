#include <catena/kernels/formats/record_file.h>

#include <array>
#include <bit>
#include <cstring>

#include <catena/kernels/base/error.h>

namespace catena {

namespace {

constexpr std::uint64_t kLength = 8, kChecksum = 4;

template <class T> std::string little_endian(T value) {
  static_assert(std::endian::native == std::endian::little);
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string masked_crc(std::string_view bytes) {
  return little_endian<std::uint32_t>(std::rotr(crc32c(bytes), 15) + 0xa282ead8u);
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) noexcept {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = (c >> 1) ^ (c & 1 ? 0x82f63b78u : 0);
      t[i] = c;
    }
    return t;
  }();
  std::uint32_t crc = ~0u;
  for (const char b : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<std::uint8_t>(b)) & 0xff];
  return ~crc;
}

std::string framed_record(std::string_view bytes) {
  const std::string length = little_endian<std::uint64_t>(bytes.size());
  return (length + masked_crc(length)).append(bytes) + masked_crc(bytes);
}

RecordReader::RecordReader(std::string_view op, const std::string& path)
    : context_(io_context(op, path)), file_(op, path) {
  for (std::uint64_t at = 0; at < file_.size();) {
    const std::uint64_t left = file_.size() - at;
    check<ValueError>(left >= kLength + kChecksum, context(size()), "the file ends within its length");
    std::string head(kLength + kChecksum, '\0');
    file_.read_at(at, head.data(), head.size());
    check<ValueError>(head.substr(kLength) == masked_crc(std::string_view(head).substr(0, kLength)), context(size()),
                      "its length is damaged, or this is no file of records");
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, head.data(), kLength);
    const std::uint64_t rest = left - kLength - kChecksum;
    check<ValueError>(rest >= kChecksum && bytes <= rest - kChecksum, context(size()), "the file ends within its ",
                      bytes, " bytes");
    records_.push_back({at + kLength + kChecksum, bytes});
    at = records_.back().position + bytes + kChecksum;
  }
}

std::string RecordReader::context(std::int64_t i) const { return concat(context_, ": record ", i); }

std::string RecordReader::read(std::int64_t i) const {
  const Record& record = records_[static_cast<std::size_t>(i)];
  std::string bytes(static_cast<std::size_t>(record.bytes + kChecksum), '\0');
  file_.read_at(record.position, bytes.data(), bytes.size());
  const std::string checksum = bytes.substr(bytes.size() - kChecksum);
  bytes.resize(bytes.size() - kChecksum);
  check<ValueError>(checksum == masked_crc(bytes), context(i), "its bytes are damaged");
  return bytes;
}

}  // namespace catena
