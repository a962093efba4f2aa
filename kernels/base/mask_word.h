// Eight bytes of a mask as one number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace catena {

// Loops read the words of a block from the mask whenever they need them. A copy of the block would be written by one
// vector and read word by word, and each of these reads would wait for the vector.
inline std::uint64_t mask_word(const std::byte* mask) {
  std::uint64_t word;
  std::memcpy(&word, mask, sizeof word);
  return word;
}

// Sets bit j if byte j of the word is not 0.
inline unsigned nonzero_bytes(std::uint64_t word) {
  constexpr std::uint64_t high_bits = 0x8080808080808080u;
  const std::uint64_t high = (((word & ~high_bits) + ~high_bits) | word) & high_bits;
  return static_cast<unsigned>(((high >> 7) * 0x0102040810204080u) >> 56);
}

}  // namespace catena
