// Pictures of the programs of this folder, as PNG files.
#pragma once

#include <string>

#include <catena/ndarray/ndarray.h>

// A white area on which points and lines are drawn by the coordinates of its axes. Each pixel of the file is the mean
// of a square of 3 x 3 elements.
struct Picture {
  std::int64_t width, height;
  double left, right, bottom, top;
  nd::Array pixels = nd::full({3 * height, 3 * width, 3}, 255.);

  // Draws a disc at each point.
  void points(const nd::Array& x, const nd::Array& y, const nd::Array& colour, int radius = 9) {
    const nd::Array column = nd::rint((x - left) / (right - left) * (3. * double(width) - 1)).astype(nd::int64);
    const nd::Array row = nd::rint((top - y) / (top - bottom) * (3. * double(height) - 1)).astype(nd::int64);
    for (int i = -radius; i <= radius; ++i)
      for (int j = -radius; j <= radius; ++j)
        if (i * i + j * j <= radius * radius)
          pixels(nd::clip(row + i, 0, 3 * height - 1), nd::clip(column + j, 0, 3 * width - 1)) = colour;
  }
  // Draws lines from each point to the next one.
  void line(const nd::Array& x, const nd::Array& y, const nd::Array& colour, int radius = 3) {
    const nd::Array steps = nd::hypot(nd::diff(x) * (3. * double(width) / (right - left)),
                                      nd::diff(y) * (3. * double(height) / (top - bottom)));
    const nd::Array at = nd::concatenate({nd::zeros(1), nd::cumsum(steps)}), all = nd::arange(0., double(at(-1)) + 1);
    points(nd::interp(all, at, x), nd::interp(all, at, y), colour, radius);
  }
  void write(const std::string& path) const {
    nd::imwrite(path, pixels.reshape(height, 3, width, 3, 3).mean({1, 3}), {.level = 9});
  }
};
