#include <catena/training/datasets/digits.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <catena/training/datasets/draw.h>

namespace training::datasets::internal {
namespace {

struct Point {
  double x, y;
};
using Stroke = std::vector<Point>;

// Returns an arc of an ellipse around (x, y) between two angles in degrees; 0 is to the right, 90 is down.
Stroke arc(double x, double y, double rx, double ry, double from, double to) {
  Stroke points;
  const int n = std::max(4, int(std::fabs(to - from) / 24));
  for (int i = 0; i <= n; ++i) {
    const double angle = (from + (to - from) * i / n) * 0.017453292519943295;
    points.push_back({x + rx * std::cos(angle), y + ry * std::sin(angle)});
  }
  return points;
}

// Returns the strokes of the digits in a unit square, y downwards.
const std::array<std::vector<Stroke>, 10>& glyphs() {
  static const std::array<std::vector<Stroke>, 10> all = {{
      {arc(0.5, 0.5, 0.24, 0.38, 0, 360)},
      {{{0.36, 0.27}, {0.54, 0.12}, {0.54, 0.88}}},
      {arc(0.5, 0.34, 0.23, 0.22, 180, 390), {{0.70, 0.45}, {0.26, 0.88}, {0.76, 0.88}}},
      {arc(0.46, 0.31, 0.23, 0.19, 200, 450), arc(0.46, 0.68, 0.26, 0.2, 270, 520)},
      {{{0.62, 0.88}, {0.62, 0.12}, {0.24, 0.62}, {0.80, 0.62}}},
      {{{0.74, 0.13}, {0.34, 0.13}, {0.30, 0.46}}, arc(0.48, 0.65, 0.25, 0.23, 230, 510)},
      {{{0.66, 0.12}, {0.40, 0.34}, {0.28, 0.62}}, arc(0.5, 0.67, 0.22, 0.21, 0, 360)},
      {{{0.24, 0.14}, {0.76, 0.14}, {0.44, 0.88}}},
      {arc(0.5, 0.31, 0.19, 0.19, 0, 360), arc(0.5, 0.69, 0.23, 0.19, 0, 360)},
      {arc(0.5, 0.33, 0.21, 0.21, 0, 360), {{0.71, 0.35}, {0.68, 0.62}, {0.56, 0.88}}},
  }};
  return all;
}

// Maps the unit square to pixels: shear, scale and rotation about the centre, then a shift.
struct Placement {
  double a, b, c, d, x, y;
  explicit Placement(Draw& draw) {
    const double angle = draw.uniform(-0.3, 0.3), shear = draw.uniform(-0.3, 0.3);
    const double sx = draw.uniform(17, 25), sy = draw.uniform(19, 26);
    a = sx * std::cos(angle), b = sy * (shear * std::cos(angle) - std::sin(angle));
    c = sx * std::sin(angle), d = sy * (shear * std::sin(angle) + std::cos(angle));
    x = 13.5 + draw.uniform(-2.5, 2.5), y = 13.5 + draw.uniform(-2.5, 2.5);
  }
  Point operator()(Point p) const {
    const double u = p.x - 0.5, v = p.y - 0.5;
    return {a * u + b * v + x, c * u + d * v + y};
  }
};

using Canvas = std::array<double, kDigitSide * kDigitSide>;

double distance(Point p, Point from, Point to) {
  const double dx = to.x - from.x, dy = to.y - from.y, length2 = dx * dx + dy * dy;
  const double t = length2 > 0 ? std::clamp(((p.x - from.x) * dx + (p.y - from.y) * dy) / length2, 0.0, 1.0) : 0.0;
  return std::hypot(p.x - from.x - t * dx, p.y - from.y - t * dy);
}

// Draws a line with a soft edge of one pixel; where lines cross, the larger value is used.
void draw_line(Canvas& canvas, Point from, Point to, double radius, double ink) {
  const double reach = radius + 1;
  const auto bound = [](double v) { return std::clamp(int(std::floor(v)), 0, kDigitSide - 1); };
  for (int y = bound(std::min(from.y, to.y) - reach); y <= bound(std::max(from.y, to.y) + reach); ++y) {
    for (int x = bound(std::min(from.x, to.x) - reach); x <= bound(std::max(from.x, to.x) + reach); ++x) {
      const double inside = std::clamp(radius + 0.5 - distance({double(x), double(y)}, from, to), 0.0, 1.0);
      double& pixel = canvas[std::size_t(y * kDigitSide + x)];
      pixel = std::max(pixel, ink * inside);
    }
  }
}

}  // namespace

int draw_digit(std::uint64_t seed, std::uint64_t index, std::uint8_t* pixels) {
  Draw draw(seed, index);
  const int label = std::min(9, int(draw.uniform(0, 10)));
  const Placement place(draw);
  const double radius = draw.uniform(0.6, 1.6), ink = draw.uniform(0.65, 1.0), wobble = draw.uniform(0.0, 0.045);
  Canvas canvas{};
  for (const Stroke& stroke : glyphs()[std::size_t(label)]) {
    Stroke placed;
    for (const Point& p : stroke)
      placed.push_back(place({p.x + draw.uniform(-wobble, wobble), p.y + draw.uniform(-wobble, wobble)}));
    for (std::size_t i = 0; i + 1 < placed.size(); ++i) draw_line(canvas, placed[i], placed[i + 1], radius, ink);
  }
  // A speck that is not part of the digit, and noise.
  const Point speck{draw.uniform(0, 27), draw.uniform(0, 27)};
  draw_line(canvas, speck, {speck.x + draw.uniform(-4, 4), speck.y + draw.uniform(-4, 4)}, 0.5, draw.uniform(0.0, 0.8));
  const double noise = draw.uniform(0.0, 0.2);
  for (std::size_t i = 0; i < canvas.size(); ++i) {
    const double value = canvas[i] + draw.uniform(-noise, noise);
    pixels[i] = static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
  }
  return label;
}

}  // namespace training::datasets::internal
