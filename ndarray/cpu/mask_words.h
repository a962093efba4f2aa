// Bytes of masks. Internal to ndarray/cpu.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nd::cpu {

// Sets bit j if byte j of the word is not 0.
inline unsigned nonzero_bytes(std::uint64_t word) {
  constexpr std::uint64_t high_bits = 0x8080808080808080u;
  const std::uint64_t high = (((word & ~high_bits) + ~high_bits) | word) & high_bits;
  return static_cast<unsigned>(((high >> 7) * 0x0102040810204080u) >> 56);
}

// Returns the number of bytes that are not 0.
std::int64_t count_bytes(const std::byte* p, std::int64_t n);

}  // namespace nd::cpu
