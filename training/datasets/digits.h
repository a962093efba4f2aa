// Synthetic digit images. Internal to this folder.
#pragma once

#include <cstdint>

namespace training::datasets::internal {

inline constexpr int kDigitSide = 28;

// Draws image number `index` of the stream of `seed` (28 x 28 bytes) and returns its label.
int draw_digit(std::uint64_t seed, std::uint64_t index, std::uint8_t* pixels);

}  // namespace training::datasets::internal
