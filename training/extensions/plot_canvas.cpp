#include <catena/training/extensions/plot_canvas.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <catena/kernels/formats/png.h>

namespace training::internal {

Canvas::~Canvas() = default;

namespace {

// ---- SVG ----------------------------------------------------------------------------------------
class SvgCanvas final : public Canvas {
 public:
  SvgCanvas(double width, double height)
      : text_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 "
                          "{0:g} {1:g}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
                          width, height)) {}

  void line(Point from, Point to, Color color, double width) override {
    text_ += fmt::format(
        "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"#{:02x}{:02x}{:02x}\" "
        "stroke-width=\"{:g}\" stroke-linecap=\"round\"/>\n",
        from.x, from.y, to.x, to.y, color.red, color.green, color.blue, width);
  }

  void text(Point at, std::string_view utf8, Align align) override {
    constexpr const char* kAnchors[] = {"start", "middle", "end"};
    std::string escaped;
    for (const char c : utf8) {
      if (c == '&') escaped += "&amp;";
      else if (c == '<') escaped += "&lt;";
      else if (c == '>') escaped += "&gt;";
      else if (static_cast<unsigned char>(c) >= ' ') escaped += c;  // XML does not allow control characters
    }
    text_ += fmt::format(
        "<text x=\"{:.2f}\" y=\"{:.2f}\" font-family=\"monospace\" font-size=\"13\" text-anchor=\"{}\">{}</text>\n",
        at.x, at.y + 4, kAnchors[int(align)], escaped);
  }

  std::string file() override { return text_ + "</svg>\n"; }

 private:
  std::string text_;
};

// ---- PNG ----------------------------------------------------------------------------------------
class PngCanvas final : public Canvas {
 public:
  PngCanvas(double width, double height)
      : width_(int(std::ceil(width * kPixels))),
        height_(int(std::ceil(height * kPixels))),
        pixels_(std::size_t(width_) * std::size_t(height_) * 3, 255) {}

  // Each pixel is covered according to the distance of its centre from the line, which gives smooth edges.
  void line(Point from, Point to, Color color, double width) override {
    const double x0 = from.x * kPixels, y0 = from.y * kPixels, dx = to.x * kPixels - x0, dy = to.y * kPixels - y0;
    const double radius = std::max(width * kPixels, 1.0) / 2, length2 = dx * dx + dy * dy;
    const auto low = [&](double a, double d) { return int(std::floor(std::min(a, a + d) - radius - 1)); };
    const auto high = [&](double a, double d) { return int(std::ceil(std::max(a, a + d) + radius + 1)); };
    for (int y = std::max(low(y0, dy), 0); y < std::min(high(y0, dy), height_); ++y)
      for (int x = std::max(low(x0, dx), 0); x < std::min(high(x0, dx), width_); ++x) {
        const double px = x + 0.5 - x0, py = y + 0.5 - y0;
        const double along = length2 > 0 ? std::clamp((px * dx + py * dy) / length2, 0.0, 1.0) : 0;
        blend(x, y, color, std::clamp(radius + 0.5 - std::hypot(px - along * dx, py - along * dy), 0.0, 1.0));
      }
  }

  void text(Point at, std::string_view utf8, Align align) override {
    std::string shown;  // one character per code point
    for (const char c : utf8)
      if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) shown += c;
    const double width = double(shown.size()) * kCharacterWidth;
    int left = int(std::lround((at.x - width * (align == Align::left     ? 0
                                                : align == Align::center ? 0.5
                                                                         : 1)) *
                               kPixels));
    const int top = int(std::lround(at.y * kPixels)) - 7;
    for (const char c : shown) {
      const auto columns = glyph(c);
      for (int x = 0; x < 5; ++x)
        for (int y = 0; y < 7; ++y)
          if (columns[std::size_t(x)] >> y & 1)
            for (int part = 0; part < 4; ++part) blend(left + 2 * x + part % 2, top + 2 * y + part / 2, {}, 1);
      left += int(kCharacterWidth * kPixels);
    }
  }

  std::string file() override {
    std::string rows;  // each row begins with the number of its filter: none
    const std::size_t stride = std::size_t(width_) * 3;
    for (int y = 0; y < height_; ++y) {
      rows += '\0';
      rows.append(reinterpret_cast<const char*>(pixels_.data()) + std::size_t(y) * stride, stride);
    }
    return catena::png_file(width_, height_, rows, 9);
  }

 private:
  static constexpr double kPixels = 1.5;  // per unit

  void blend(int x, int y, Color color, double part) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_ || part <= 0) return;
    std::uint8_t* const p = &pixels_[(std::size_t(y) * std::size_t(width_) + std::size_t(x)) * 3];
    const std::uint8_t channels[] = {color.red, color.green, color.blue};
    for (int i = 0; i < 3; ++i) p[i] = std::uint8_t(std::lround(p[i] + (channels[i] - p[i]) * part));
  }

  int width_, height_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

catena::Owned<Canvas> svg_canvas(double width, double height) {
  return catena::Owned<Canvas>(new SvgCanvas(width, height));
}
catena::Owned<Canvas> png_canvas(double width, double height) {
  return catena::Owned<Canvas>(new PngCanvas(width, height));
}

}  // namespace training::internal
