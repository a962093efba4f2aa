#include <catena/training/extensions/plot_figure.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include <catena/kernels/base/error.h>
#include <catena/training/extensions/plot_canvas.h>
#include <catena/training/format.h>

namespace training {

using catena::check;
using catena::ValueError;
using internal::Align;
using internal::Canvas;
using internal::Color;
using internal::Point;

std::vector<double> plot_ticks(double low, double high) {
  const double rough = (high - low) / 5, power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough * 0.6) step = factor * power;
  std::vector<double> ticks;
  const double slack = step * 1e-9;
  for (double k = std::ceil((low - slack) / step); k * step <= high + slack; ++k)
    ticks.push_back(k == 0 ? 0.0 : k * step);
  return ticks;
}

std::vector<double> plot_log_ticks(double low, double high) {
  constexpr std::size_t kFew = 3, kMany = 8;
  const double slack = 1e-9;
  const auto first = int(std::floor(std::log10(low) - slack)), last = int(std::ceil(std::log10(high) + slack));
  const auto between = [&](std::initializer_list<double> factors, int step) {
    std::vector<double> ticks;
    for (int power = first; power <= last; ++power)
      for (const double factor : factors) {
        const double tick = factor * std::pow(10.0, power);
        if (power % step == 0 && tick >= low * (1 - slack) && tick <= high * (1 + slack)) ticks.push_back(tick);
      }
    return ticks;
  };
  std::vector<double> ticks = between({1}, std::max(1, int(std::ceil(double(last - first) / kMany))));
  if (ticks.size() < kFew) ticks = between({1, 2, 5}, 1);
  if (ticks.size() < kFew) ticks = plot_ticks(low, high);
  return ticks;
}

namespace {

using Range = std::pair<double, double>;

constexpr Color kBlack{0, 0, 0}, kGridColor{216, 216, 216};
constexpr Color kColors[] = {{31, 119, 180}, {255, 127, 14},  {44, 160, 44},   {214, 39, 40},  {148, 103, 189},
                             {140, 86, 75},  {227, 119, 194}, {127, 127, 127}, {188, 189, 34}, {23, 190, 207}};

// The scale of an axis. `low` and `high` are its ends, as values or, with `log`, as their decadic logarithms.
struct Scale {
  bool log = false;
  double low = 0, high = 1;

  bool shows(double value) const { return std::isfinite(value) && (!log || value > 0); }
  double place(double value) const { return log ? std::log10(value) : value; }
  double part(double value) const { return (place(value) - low) / (high - low); }  // of the length of the axis
  std::vector<double> ticks() const {
    return log ? plot_log_ticks(std::pow(10.0, low), std::pow(10.0, high)) : plot_ticks(low, high);
  }
};

Scale scale_named(const std::string& name) {
  check<ValueError>(name == "linear" || name == "log", "PlotFigure", "there is no scale \"", name,
                    "\" (there are: linear, log)");
  return {.log = name == "log"};
}

void take_limits(Scale& scale, const Range& given) {
  check<ValueError>(scale.shows(given.first) && scale.shows(given.second) && given.first < given.second, "PlotFigure",
                    "the limits ", given.first, " and ", given.second, " are no range",
                    scale.log ? " of a logarithmic scale, on which both are positive" : "");
  scale.low = scale.place(given.first);
  scale.high = scale.place(given.second);
}

using Get = double (*)(const Range&);

// Sets the ends to those of the points that both scales show, with a margin.
void take_points(Scale& scale, const Scale& other, const PlotFigure& figure, Get get, Get get_other) {
  bool any = false;
  for (const PlotSeries& s : figure.series)
    for (const auto& p : s.points) {
      if (!scale.shows(get(p)) || !other.shows(get_other(p))) continue;
      const double place = scale.place(get(p));
      scale.low = any ? std::min(scale.low, place) : place;
      scale.high = any ? std::max(scale.high, place) : place;
      any = true;
    }
  if (!any) return;
  const double half = std::max(std::fabs(scale.low) * 0.05, 0.5);
  const double margin = scale.low < scale.high ? (scale.high - scale.low) * 0.05 : half;
  scale.low -= margin;
  scale.high += margin;
}

std::pair<Scale, Scale> scales_of(const PlotFigure& figure) {
  constexpr Get first = [](const Range&p) { return p.first; }, second = [](const Range&p) { return p.second; };
  Scale x = scale_named(figure.x_scale), y = scale_named(figure.y_scale);
  if (figure.x_range) take_limits(x, *figure.x_range);
  else take_points(x, y, figure, first, second);
  if (figure.y_range) take_limits(y, *figure.y_range);
  else take_points(y, x, figure, second, first);
  return {x, y};
}

// Cuts a line to its part inside the area (Liang and Barsky); returns false if there is none.
bool cut(Point& a, Point& b, Point low, Point high) {
  double begin = 0, end = 1;
  const double dx = b.x - a.x, dy = b.y - a.y;
  const std::pair<double, double> sides[] = {
      {-dx, a.x - low.x}, {dx, high.x - a.x}, {-dy, a.y - low.y}, {dy, high.y - a.y}};
  for (const auto& [direction, distance] : sides) {
    if (direction == 0 && distance < 0) return false;
    if (direction < 0) begin = std::max(begin, distance / direction);
    if (direction > 0) end = std::min(end, distance / direction);
  }
  if (begin > end) return false;
  const Point start = a;
  a = {start.x + begin * dx, start.y + begin * dy};
  b = {start.x + end * dx, start.y + end * dy};
  return true;
}

// Draws a figure on a canvas. The area within the axes begins at `origin`.
class Painter {
 public:
  Painter(const PlotFigure& figure, Canvas& canvas, Point origin)
      : figure_(figure), canvas_(canvas), origin_(origin), corner_{origin.x + figure.width, origin.y + figure.height} {
    std::tie(x_, y_) = scales_of(figure);
  }

  void paint() {
    axes();
    for (std::size_t i = 0; i < figure_.series.size(); ++i) curve(figure_.series[i], kColors[i % std::size(kColors)]);
    legend();
  }

 private:
  double x_at(double value) const { return origin_.x + x_.part(value) * figure_.width; }
  double y_at(double value) const { return corner_.y - y_.part(value) * figure_.height; }
  Point place(const std::pair<double, double>& p) const { return {x_at(p.first), y_at(p.second)}; }

  void axes() {
    for (const double tick : x_.ticks()) {
      const double x = x_at(tick);
      if (figure_.grid) canvas_.line({x, origin_.y}, {x, corner_.y}, kGridColor, 1);
      canvas_.line({x, corner_.y}, {x, corner_.y + 4}, kBlack, 1);
      canvas_.text({x, corner_.y + 14}, format_value(tick, "g"), Align::center);
    }
    for (const double tick : y_.ticks()) {
      const double y = y_at(tick);
      if (figure_.grid) canvas_.line({origin_.x, y}, {corner_.x, y}, kGridColor, 1);
      canvas_.line({origin_.x - 4, y}, {origin_.x, y}, kBlack, 1);
      canvas_.text({origin_.x - 8, y}, format_value(tick, "g"), Align::right);
    }
    const Point corners[] = {origin_, {corner_.x, origin_.y}, corner_, {origin_.x, corner_.y}};
    for (int i = 0; i < 4; ++i) canvas_.line(corners[i], corners[(i + 1) % 4], kBlack, 1);
    const double middle = (origin_.x + corner_.x) / 2;
    canvas_.text({middle, origin_.y - 14}, figure_.title, Align::center);
    canvas_.text({middle, corner_.y + 34}, figure_.x_label, Align::center);
    canvas_.text({origin_.x - 8, origin_.y - 14}, figure_.y_label, Align::center);
  }

  void curve(const PlotSeries& series, Color color) {
    const std::pair<double, double>* last = nullptr;
    for (const auto& p : series.points) {
      if (!x_.shows(p.first) || !y_.shows(p.second)) {
        last = nullptr;
        continue;
      }
      if (last != nullptr) {
        Point a = place(*last), b = place(p);
        if (cut(a, b, origin_, corner_)) canvas_.line(a, b, color, 1.5);
      }
      Point at = place(p), same = at;
      if (cut(at, same, origin_, corner_)) mark(at, color);
      last = &p;
    }
  }

  void mark(Point at, Color color) {
    constexpr double r = 3.5;
    const auto stroke = [&](double x0, double y0, double x1, double y1) {
      canvas_.line({at.x + x0 * r, at.y + y0 * r}, {at.x + x1 * r, at.y + y1 * r}, color, 1.2);
    };
    const std::string& m = figure_.marker;
    if (m == "x") {
      stroke(-1, -1, 1, 1);
      stroke(-1, 1, 1, -1);
    } else if (m == "+") {
      stroke(-1, 0, 1, 0);
      stroke(0, -1, 0, 1);
    } else if (m == ".") {
      canvas_.line(at, at, color, r);
    } else if (m == "o") {
      canvas_.line(at, at, color, 2 * r);
    } else if (m == "s") {
      for (int i = -2; i <= 2; ++i) stroke(-1, i / 2.0, 1, i / 2.0);
    }
  }

  void legend() {
    const double left = corner_.x + 16;
    double y = origin_.y + 8;
    for (std::size_t i = 0; i < figure_.series.size(); ++i, y += 18) {
      const Color color = kColors[i % std::size(kColors)];
      canvas_.line({left, y}, {left + 24, y}, color, 1.5);
      mark({left + 12, y}, color);
      canvas_.text({left + 32, y}, figure_.series[i].label, Align::left);
    }
  }

  const PlotFigure& figure_;
  Canvas& canvas_;
  Point origin_, corner_;
  Scale x_, y_;
};

std::string painted(const PlotFigure& figure, catena::Owned<Canvas> (*make)(double, double)) {
  const std::string& m = figure.marker;
  check<ValueError>(m.empty() || (m.size() == 1 && std::string_view("x+.os").find(m[0]) != std::string_view::npos),
                    "PlotFigure", "there is no marker \"", m, "\" (there are: x, +, o, s, . and none)");
  check<ValueError>(figure.width >= 1 && figure.height >= 1 && figure.width <= 10000 && figure.height <= 10000,
                    "PlotFigure", "the size ", figure.width, " x ", figure.height, " is not within 1 to 10000");
  std::size_t longest = 0;
  for (const PlotSeries& s : figure.series) longest = std::max(longest, s.label.size());
  constexpr Point kOrigin{96, 36};
  const double legend = figure.series.empty() ? 16 : 64 + double(longest) * internal::kCharacterWidth;
  const auto canvas = make(kOrigin.x + figure.width + legend, kOrigin.y + figure.height + 48);
  Painter(figure, *canvas, kOrigin).paint();
  return canvas->file();
}

}  // namespace

std::string to_png(const PlotFigure& figure) { return painted(figure, internal::png_canvas); }
std::string to_svg(const PlotFigure& figure) { return painted(figure, internal::svg_canvas); }

}  // namespace training
