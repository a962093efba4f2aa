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
  std::vector<std::pair<double, double>> points = {};  // a point that is not finite interrupts the curve
};

// A picture with its curves, texts and ranges.
struct PlotFigure {
  std::vector<PlotSeries> series = {};
  std::string title = {}, x_label = {}, y_label = {};
  std::string marker = "x";  // at each point: x, +, o, s (a square), "." (a dot), or "" (none)
  bool grid = true;
  // Default: the range of the points, with a margin. Curves are cut at given limits; {low, high} with low < high.
  std::optional<std::pair<double, double>> x_range = {}, y_range = {};
  double width = 480, height = 360;  // size of the area within the axes; PNG pictures have 1.5 pixels per unit
};

// Return the bytes of the picture as PNG or SVG. ValueError for an invalid range or an unknown marker.
CATENA_EXPORT std::string to_png(const PlotFigure& figure);
CATENA_EXPORT std::string to_svg(const PlotFigure& figure);

// Returns about 5 round numbers between low and high, at a distance of 1, 2 or 5 times a power of 10.
CATENA_EXPORT std::vector<double> plot_ticks(double low, double high);

}  // namespace training
