// Surfaces for drawing lines and text, as a vector graphic or as pixels. Internal to this folder and its tests.
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
// A point in units of the drawing, from its upper left corner.
struct Point {
  double x, y;
};
enum class Align { left, center, right };

inline constexpr double kCharacterWidth = 8, kCharacterHeight = 11;  // size of a character in units of the drawing

class CATENA_EXPORT Canvas {
 public:
  virtual ~Canvas();
  virtual void line(Point from, Point to, Color color, double width) = 0;
  // `at` is at half the height of the text.
  virtual void text(Point at, std::string_view utf8, Align align) = 0;
  virtual std::string file() = 0;  // the bytes of the picture's file
};

// Returns a canvas for an SVG file (Scalable Vector Graphics).
CATENA_EXPORT catena::Owned<Canvas> svg_canvas(double width, double height);
// Returns a canvas for a PNG file (Portable Network Graphics) with 1.5 pixels per unit. Characters beyond ASCII are
// drawn as boxes.
CATENA_EXPORT catena::Owned<Canvas> png_canvas(double width, double height);

// Returns the columns of a character from left to right; the lowest bit of a column is the uppermost of seven pixels.
CATENA_EXPORT std::array<std::uint8_t, 5> glyph(char character) noexcept;

}  // namespace training::internal
