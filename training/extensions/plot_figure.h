// A picture of curves: axes with ticks, a grid, markers and a legend.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catena/kernels/base/export.h>

namespace training {

// One curve of a picture.
struct PlotSeries {
  std::string label = {};
  // A point that is not finite, or not positive on an axis with scale "log", interrupts the curve.
  std::vector<std::pair<double, double>> points = {};
};

// A picture with its curves, texts and ranges.
struct PlotFigure {
  std::vector<PlotSeries> series = {};
  std::string title = {}, x_label = {}, y_label = {};
  std::string marker = "x";  // at each point: x, +, o, s (a square), "." (a dot), or "" (none)
  bool grid = true;
  // Default: the range of the points, with a margin. Curves are cut at given limits; {low, high} with low < high.
  // With scale "log" both must be positive.
  std::optional<std::pair<double, double>> x_range = {}, y_range = {};
  std::string x_scale = "linear", y_scale = "linear";  // or "log": equal factors have equal distances
  double width = 480, height = 360;  // size of the area within the axes; PNG pictures have 1.5 pixels per unit
};

// Return the bytes of the picture as PNG or SVG. ValueError for an invalid range, an unknown scale or marker.
CATENA_EXPORT std::string to_png(const PlotFigure& figure);
CATENA_EXPORT std::string to_svg(const PlotFigure& figure);

// Returns about 5 round numbers between low and high, at a distance of 1, 2 or 5 times a power of 10.
CATENA_EXPORT std::vector<double> plot_ticks(double low, double high);
// The same for a logarithmic scale, 0 < low < high: powers of ten, also their products with 2 and 5 if there are few of
// them, and the numbers of plot_ticks if these are few, too.
CATENA_EXPORT std::vector<double> plot_log_ticks(double low, double high);

}  // namespace training
