// The records of the zip format (APPNOTE 6.3) for reader and writer. Internal to zip_reader.cpp and zip_writer.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace catena::zip_format {

inline constexpr std::uint32_t kLocalSignature = 0x04034b50;
inline constexpr std::uint32_t kCentralSignature = 0x02014b50;
inline constexpr std::uint32_t kEndSignature = 0x06054b50;
inline constexpr std::uint32_t kEnd64Signature = 0x06064b50;
inline constexpr std::uint32_t kLocator64Signature = 0x07064b50;

inline constexpr std::size_t kLocalSize = 30;
inline constexpr std::size_t kCentralSize = 46;
inline constexpr std::size_t kEndSize = 22;
inline constexpr std::size_t kEnd64Size = 56;
inline constexpr std::size_t kLocator64Size = 20;

inline constexpr std::uint16_t kExtra64 = 0x0001;
inline constexpr std::uint16_t kFlagEncrypted = 1;
inline constexpr std::uint16_t kFlagUtf8 = 1 << 11;
inline constexpr std::uint32_t kIn64 = 0xffffffff;  // marks a value that is in the zip64 field
inline constexpr std::uint16_t kIn64Short = 0xffff;

// Little-endian fields of 2, 4 or 8 bytes.
template <class T> T get(const std::byte* p) {
  std::uint64_t v = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) v |= static_cast<std::uint64_t>(p[i]) << (8 * i);
  return static_cast<T>(v);
}
template <class T> void put(std::string& s, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    s += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
}

}  // namespace catena::zip_format
