// Synthetic colour images. Internal to this folder.
#pragma once

#include <cstdint>

namespace training::datasets::internal {

inline constexpr int kTextureSide = 32;

// Draws image number `index` of the stream of `seed`, 3 planes (red, green, blue) of 32 x 32 bytes, and returns its
// label, 0 to n_classes - 1. A class has a shape, two colours and a direction of stripes.
int draw_texture(std::uint64_t seed, std::uint64_t index, int n_classes, std::uint8_t* pixels);

}  // namespace training::datasets::internal
