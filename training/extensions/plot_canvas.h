// Surfaces to draw on: lines and text, as a vector graphic or as pixels. Internal to this folder and its tests.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/pointers.h>

namespace training::internal {

struct Color {
  std::uint8_t red, green, blue;
};
// In units of the drawing, from its upper left corner.
struct Point {
  double x, y;
};
enum class Align { left, center, right };

inline constexpr double kCharacterWidth = 8, kCharacterHeight = 11;  // of text, in units of the drawing

class CATENA_EXPORT Canvas {
 public:
  virtual ~Canvas();
  virtual void line(Point from, Point to, Color color, double width) = 0;
  // `at` is in the middle of the height.
  virtual void text(Point at, std::string_view utf8, Align align) = 0;
  virtual std::string file() = 0;  // the bytes of the picture's file
};

// A Scalable Vector Graphic.
CATENA_EXPORT catena::Owned<Canvas> svg_canvas(double width, double height);
// A Portable Network Graphic with 1.5 pixels per unit. Characters beyond ASCII are boxes.
CATENA_EXPORT catena::Owned<Canvas> png_canvas(double width, double height);

// The character's columns from left to right; the lowest bit of a column is its upper pixel of seven.
CATENA_EXPORT std::array<std::uint8_t, 5> glyph(char character) noexcept;

}  // namespace training::internal
