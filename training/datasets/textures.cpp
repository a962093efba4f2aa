#include <catena/training/datasets/textures.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <catena/training/datasets/draw.h>

namespace training::datasets::internal {
namespace {

using Color = std::array<double, 3>;

// Returns the colour of a hue (in turns), at full saturation.
Color of_hue(double hue) {
  const auto channel = [&](double shift) {
    const double t = hue + shift - std::floor(hue + shift);
    return std::clamp(std::fabs(6 * t - 3) - 1, 0.0, 1.0);
  };
  return {channel(0), channel(1.0 / 3), channel(2.0 / 3)};
}

// The common properties of the images of a class.
struct ClassLook {
  Color inside, outside;
  double angle, frequency;
  int shape;
  explicit ClassLook(int label) {
    Draw draw(0x7465787475726573, static_cast<std::uint64_t>(label));
    const double hue = draw.uniform(0, 1);
    inside = of_hue(hue);
    outside = of_hue(hue + draw.uniform(0.25, 0.75));
    angle = draw.uniform(0, 3.141592653589793);
    frequency = draw.uniform(0.3, 1.3);
    shape = int(draw.uniform(0, 3));
  }
};

// True if (x, y), relative to the centre of the object and its size, is inside a disc, a square or a cross.
bool is_inside(int shape, double x, double y) {
  if (shape == 0) return x * x + y * y < 1;
  if (shape == 1) return std::max(std::fabs(x), std::fabs(y)) < 0.9;
  return std::min(std::fabs(x), std::fabs(y)) < 0.35 && std::max(std::fabs(x), std::fabs(y)) < 1.1;
}

}  // namespace

int draw_texture(std::uint64_t seed, std::uint64_t index, int n_classes, std::uint8_t* pixels) {
  Draw draw(seed, index);
  const int label = std::min(n_classes - 1, int(draw.uniform(0, n_classes)));
  const ClassLook look(label);
  const double x0 = 15.5 + draw.uniform(-5, 5), y0 = 15.5 + draw.uniform(-5, 5), radius = draw.uniform(6, 12);
  const double angle = look.angle + draw.uniform(-0.25, 0.25), phase = draw.uniform(0, 6.283185307179586);
  const double light = draw.uniform(0.55, 1.0), noise = draw.uniform(0.0, 0.25);
  const double cosine = std::cos(angle), sine = std::sin(angle);
  for (int y = 0; y < kTextureSide; ++y)
    for (int x = 0; x < kTextureSide; ++x) {
      const double stripes = 0.75 + 0.25 * std::sin(look.frequency * (cosine * x + sine * y) + phase);
      const bool inside = is_inside(look.shape, (x - x0) / radius, (y - y0) / radius);
      for (int c = 0; c < 3; ++c) {
        const double color = (inside ? look.inside : look.outside)[std::size_t(c)];
        const double value = light * (inside ? color : color * stripes * 0.6) + draw.uniform(-noise, noise);
        pixels[(c * kTextureSide + y) * kTextureSide + x] =
            static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
      }
    }
  return label;
}

}  // namespace training::datasets::internal
