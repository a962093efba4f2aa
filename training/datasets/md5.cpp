#include <catena/training/datasets/md5.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace training::datasets::internal {

namespace {

using State = std::array<std::uint32_t, 4>;

void add_block(State& state, std::string_view block) {
  constexpr int kShifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  std::array<std::uint32_t, 16> words{};
  for (std::size_t i = 0; i < 64; ++i)
    words[i / 4] |= std::uint32_t(static_cast<unsigned char>(block[i])) << (8 * (i % 4));
  auto [a, b, c, d] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    std::uint32_t f = 0;
    std::size_t word = 0;
    switch (i / 16) {
      case 0: f = (b & c) | (~b & d), word = i; break;
      case 1: f = (d & b) | (~d & c), word = 5 * i + 1; break;
      case 2: f = b ^ c ^ d, word = 3 * i + 5; break;
      default: f = c ^ (b | ~d), word = 7 * i;
    }
    const auto sine = static_cast<std::uint32_t>(std::fabs(std::sin(double(i + 1))) * 4294967296.0);
    const std::uint32_t rotated = std::rotl(a + f + sine + words[word % 16], kShifts[i / 16][i % 4]);
    a = d, d = c, c = b;
    b += rotated;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

}  // namespace

std::string md5_hex(std::string_view text) {
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  const std::uint64_t bits = std::uint64_t(text.size()) * 8;
  for (int i = 0; i < 8; ++i) padded += static_cast<char>(bits >> (8 * i));
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for (std::size_t at = 0; at < padded.size(); at += 64) add_block(state, std::string_view(padded).substr(at, 64));
  std::string hex;
  for (const std::uint32_t word : state)
    for (int i = 0; i < 8; ++i) hex += "0123456789abcdef"[(word >> (8 * (i / 2) + (i % 2 == 0 ? 4 : 0))) & 15];
  return hex;
}

}  // namespace training::datasets::internal
