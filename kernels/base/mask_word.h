// Bytes of a mask as numbers: words of eight, and blocks of 64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace catena {

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

// The functions of a block read its words from the mask. A copy of the block would be written by one vector and read
// word by word, and each of these reads would wait for the vector.
inline constexpr int kMaskWord = 8, kMaskBlock = 64;

// True if a byte of the block is not 0.
inline bool any_in_block(const std::byte* mask) {
  std::uint64_t any = 0;
  for (int k = 0; k < kMaskBlock; k += kMaskWord) any |= mask_word(mask + k);
  return any != 0;
}
// Sets bit j if byte j of the block is not 0.
inline std::uint64_t nonzero_in_block(const std::byte* mask) {
  std::uint64_t bits = 0;
  for (int k = 0; k < kMaskBlock; k += kMaskWord) bits |= std::uint64_t(nonzero_bytes(mask_word(mask + k))) << k;
  return bits;
}

}  // namespace catena
