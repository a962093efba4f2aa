#include <catena/training/transforms/geometry.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <catena/autograd/config.h>
#include <catena/kernels/base/error.h>
#include <catena/nn/functions/array.h>
#include <catena/training/transforms/images.h>

namespace training::transforms {

using autograd::Dtype;
using autograd::Shape;
using catena::check;
using catena::ValueError;
using internal::check_image;
using internal::Pixels;
using internal::rectangle;

namespace {

void check_rectangle(std::string_view op, const Array& image, std::int64_t top, std::int64_t left, std::int64_t height,
                     std::int64_t width) {
  check_image(op, image);
  const std::int64_t h = image.shape(-2), w = image.shape(-1);
  check<ValueError>(height >= 1 && width >= 1 && top >= 0 && left >= 0 && top <= h - height && left <= w - width, op,
                    "the rectangle of ", height, " x ", width, " pixels at row ", top, ", column ", left,
                    " does not lie within an image of ", h, " x ", w);
}

Array mirrored(const Array& image, int axis) {
  const std::int64_t n = image.shape(axis);
  return autograd::slice(image, axis, n - 1, -n - 1, -1);
}

// Returns the rows or columns of the image that those of the padded one show.
std::vector<std::int64_t> sources(std::int64_t before, std::int64_t n, std::int64_t after, std::string_view mode) {
  const std::int64_t widest = mode == "edge" ? INT64_MAX : mode == "reflect" ? n - 1 : n;
  check<ValueError>(before <= widest && after <= widest, "pad", "a border of ", std::max(before, after),
                    " pixels is too wide for the mode \"", mode, "\" and a side of ", n);
  std::vector<std::int64_t> from;
  for (std::int64_t i = -before; i < n + after; ++i) {
    std::int64_t at = std::clamp<std::int64_t>(i, 0, n - 1);
    if (mode == "reflect") at = i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
    if (mode == "symmetric") at = i < 0 ? -i - 1 : i >= n ? 2 * n - 1 - i : i;
    from.push_back(at);
  }
  return from;
}

Array take_along(const Array& image, int axis, const std::vector<std::int64_t>& indices) {
  const Array at = autograd::from_host(indices.data(), {std::int64_t(indices.size())}, Dtype::int64, image.device());
  return autograd::take(image, at, axis);
}

}  // namespace

Array crop(const Array& image, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width) {
  check_rectangle("crop", image, top, left, height, width);
  return rectangle(image, top, left, height, width);
}

Array center_crop(const Array& image, Pair size) {
  check_image("center_crop", image);
  const std::int64_t h = image.shape(-2), w = image.shape(-1);
  check<ValueError>(size.y >= 1 && size.x >= 1 && size.y <= h && size.x <= w, "center_crop", "an image of ", h, " x ",
                    w, " has no middle of ", size.y, " x ", size.x, " pixels; resize or pad it before");
  const auto middle = [](std::int64_t left_over) { return std::int64_t(std::nearbyint(double(left_over) / 2)); };
  return rectangle(image, middle(h - size.y), middle(w - size.x), size.y, size.x);
}

Array pad(const Array& image, Border p, double fill, std::string_view mode) {
  check_image("pad", image);
  check<ValueError>(p.left >= 0 && p.top >= 0 && p.right >= 0 && p.bottom >= 0, "pad", "a border of ", p.left, ", ",
                    p.top, ", ", p.right, " and ", p.bottom, " pixels has a negative length; crop removes pixels");
  const std::int64_t h = image.shape(-2), w = image.shape(-1);
  if (mode == "constant") {
    Shape shape = image.shape();
    shape[shape.size() - 2] += p.top + p.bottom;
    shape[shape.size() - 1] += p.left + p.right;
    const Array result = autograd::arrays::full(shape, fill, image.dtype(), image.device());
    autograd::assign(rectangle(result, p.top, p.left, h, w), image);
    return result;
  }
  check<ValueError>(mode == "edge" || mode == "reflect" || mode == "symmetric", "pad", "the mode is \"", mode,
                    "\"; it is \"constant\", \"edge\", \"reflect\" or \"symmetric\"");
  const Array rows = take_along(image, -2, sources(p.top, h, p.bottom, mode));
  return take_along(rows, -1, sources(p.left, w, p.right, mode));
}

Array horizontal_flip(const Array& image) {
  check_image("horizontal_flip", image);
  return mirrored(image, -1);
}

Array vertical_flip(const Array& image) {
  check_image("vertical_flip", image);
  return mirrored(image, -2);
}

Array resize(const Array& image, ResizeTo size, const ResizeOptions& options) {
  check_image("resize", image);
  const std::int64_t h = image.shape(-2), w = image.shape(-1);
  std::int64_t height = size.height, width = size.width.value_or(size.height);
  if (!size.width) {  // the longer side is rounded towards zero, as torchvision does
    std::int64_t& longer = h <= w ? width : height;
    longer = longer * std::max(h, w) / std::min(h, w);
  }
  check<ValueError>(height >= 1 && width >= 1, "resize", "an image of ", height, " x ", width, " pixels is empty");
  if (height == h && width == w) return image;
  const std::string_view mode = options.interpolation.value_or(options.mode);
  const bool smooth = mode == "bilinear" || mode == "bicubic";
  const bool is_integer = image.dtype() == Dtype::uint8;
  const auto scope = autograd::using_config({.enable_backprop = false});
  const Array planes = autograd::reshape(image, {1, image.size() / (h * w), h, w});
  const Array resized = nn::interpolate(is_integer ? autograd::astype(planes, Dtype::float32) : planes,
                                        catena::Dims{height, width}, mode, {.antialias = smooth && options.antialias})
                            .data();
  Shape shape = image.shape();
  shape[shape.size() - 2] = height;
  shape[shape.size() - 1] = width;
  if (!is_integer) return autograd::reshape(resized, shape);
  return Pixels(image, autograd::to_vector<float>(resized)).array(shape, Pixels::Rounding::nearest);
}

Array resized_crop(const Array& image, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width,
                   Pair size, const ResizeOptions& options) {
  check_rectangle("resized_crop", image, top, left, height, width);
  return resize(rectangle(image, top, left, height, width), {size.y, size.x}, options);
}

namespace {

// The point of the image that a pixel of the rotated one shows: with a center (cx, cy) and the coordinates of pixels'
// middles, p -> c + R (p - c), where R rotates back.
struct Rotation {
  double cosine, sine, cx, cy;
  double x(double px, double py) const { return cosine * (px - cx) - sine * (py - cy) + cx; }
  double y(double px, double py) const { return sine * (px - cx) + cosine * (py - cy) + cy; }
};

// Reads a plane of h x w pixels between and outside of them.
struct Plane {
  const float* pixels;
  std::int64_t h, w;
  float fill;
  // y and x are whole numbers, but far from the image they may not fit into an integer type.
  float at(double y, double x) const {
    const bool inside = y >= 0 && x >= 0 && y < double(h) && x < double(w);
    return inside ? pixels[std::int64_t(y) * w + std::int64_t(x)] : fill;
  }
  float nearest(double y, double x) const { return at(std::nearbyint(y), std::nearbyint(x)); }
  float bilinear(double y, double x) const {
    const double top = std::floor(y), left = std::floor(x), down = y - top, right = x - left;
    const double upper = at(top, left) * (1 - right) + at(top, left + 1) * right;
    const double lower = at(top + 1, left) * (1 - right) + at(top + 1, left + 1) * right;
    return float(upper * (1 - down) + lower * down);
  }
};

// An image of the same size, each pixel of which shows the point of the image that source(x, y) gives for its middle.
template <class Source> Array sampled(const Array& image, bool nearest, float fill, Source source_of) {
  const Pixels source(image);
  Pixels result = source;
  const std::int64_t h = source.height(), w = source.width();
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0; x < w; ++x) {
      const auto [px, py] = source_of(double(x) + 0.5, double(y) + 0.5);
      for (std::int64_t plane = 0; plane < image.size() / (h * w); ++plane) {
        const Plane from{source.v.data() + plane * h * w, h, w, fill};
        result.v[std::size_t((plane * h + y) * w + x)] =
            nearest ? from.nearest(py - 0.5, px - 0.5) : from.bilinear(py - 0.5, px - 0.5);
      }
    }
  return result.array(image.shape(), Pixels::Rounding::nearest);
}

}  // namespace

Array rotate(const Array& image, double angle, const RotateOptions& options) {
  check_image("rotate", image);
  const std::string_view mode = options.interpolation.value_or(options.mode);
  check<ValueError>(mode == "nearest" || mode == "bilinear", "rotate", "the mode is \"", mode,
                    "\"; it is \"nearest\" or \"bilinear\"");
  check<ValueError>(std::isfinite(angle), "rotate", "the angle is ", angle);
  const double h = double(image.shape(-2)), w = double(image.shape(-1));
  const double radians = angle * 0.017453292519943295;
  const auto [cx, cy] = options.center.value_or(std::pair(w / 2, h / 2));
  check<ValueError>(std::isfinite(cx) && std::isfinite(cy), "rotate", "the center is (", cx, ", ", cy,
                    "); give a column and a row");
  const Rotation back{std::cos(radians), std::sin(radians), cx, cy};
  return sampled(image, mode == "nearest", float(options.fill),
                 [&](double x, double y) { return std::pair(back.x(x, y), back.y(x, y)); });
}

Array affine(const Array& image, const AffineOptions& o) {
  check_image("affine", image);
  const std::string_view mode = o.interpolation.value_or(o.mode);
  check<ValueError>(mode == "nearest" || mode == "bilinear", "affine", "the mode is \"", mode,
                    "\"; it is \"nearest\" or \"bilinear\"");
  check<ValueError>(o.scale > 0, "affine", "the scale is ", o.scale, "; it is positive");
  constexpr double kRadians = 0.017453292519943295;
  const double angle = o.angle * kRadians, sx = o.shear.first * kRadians, sy = o.shear.second * kRadians;
  const double a = std::cos(angle - sy) / std::cos(sy), c = std::sin(angle - sy) / std::cos(sy);
  const double b = -a * std::tan(sx) - std::sin(angle), d = -c * std::tan(sx) + std::cos(angle);
  check<ValueError>(std::isfinite(a + b + c + d + o.translate.first + o.translate.second), "affine",
                    "the angle, the shear and the translation are finite");
  const auto [cx, cy] = o.center.value_or(std::pair(double(image.shape(-1)) / 2, double(image.shape(-2)) / 2));
  return sampled(image, mode == "nearest", float(o.fill), [&, cx = cx, cy = cy](double x, double y) {
    const double dx = x - cx - o.translate.first, dy = y - cy - o.translate.second;
    return std::pair((d * dx - b * dy) / o.scale + cx, (a * dy - c * dx) / o.scale + cy);
  });
}

namespace {

// The map (x, y) -> ((a x + b y + c) / (g x + h y + 1), (d x + e y + f) / (g x + h y + 1)) with the numbers a ... h.
struct Projection {
  std::array<double, 8> v;
  Point operator()(double x, double y) const {
    const double w = v[6] * x + v[7] * y + 1;
    return {(v[0] * x + v[1] * y + v[2]) / w, (v[3] * x + v[4] * y + v[5]) / w};
  }
};

// The map of four points to four others: eight linear equations, solved by Gaussian elimination. Nothing if they have
// no solution, or several.
std::optional<Projection> projection(const std::vector<Point>& from, const std::vector<Point>& to) {
  std::array<std::array<double, 9>, 8> m{};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto [x, y] = from[i];
    const auto [u, v] = to[i];
    m[2 * i] = {x, y, 1, 0, 0, 0, -u * x, -u * y, u};
    m[2 * i + 1] = {0, 0, 0, x, y, 1, -v * x, -v * y, v};
  }
  double greatest = 0;
  for (const auto& row : m)
    for (const double element : row) greatest = std::max(greatest, std::abs(element));
  for (std::size_t k = 0; k < 8; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < 8; ++i)
      if (std::abs(m[i][k]) > std::abs(m[pivot][k])) pivot = i;
    std::swap(m[k], m[pivot]);
    if (!(std::abs(m[k][k]) > 1e-12 * greatest)) return {};
    for (std::size_t i = 0; i < 8; ++i) {
      if (i == k) continue;
      const double factor = m[i][k] / m[k][k];
      for (std::size_t j = k; j < 9; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  Projection result{};
  for (std::size_t k = 0; k < 8; ++k) result.v[k] = m[k][8] / m[k][k];
  return result;
}

}  // namespace

bool internal::has_projection(const std::vector<Point>& from, const std::vector<Point>& to) {
  return projection(from, to).has_value();
}

Array perspective(const Array& image, const std::vector<Point>& startpoints, const std::vector<Point>& endpoints,
                  const PerspectiveOptions& o) {
  check_image("perspective", image);
  check<ValueError>(o.interpolation == "nearest" || o.interpolation == "bilinear", "perspective", "the mode is \"",
                    o.interpolation, "\"; it is \"nearest\" or \"bilinear\"");
  check<ValueError>(startpoints.size() == 4 && endpoints.size() == 4, "perspective", startpoints.size(),
                    " points are moved to ", endpoints.size(), "; give the four corners of each quadrilateral");
  const std::optional<Projection> map = projection(endpoints, startpoints);
  check<ValueError>(map.has_value(), "perspective", "three of the points lie on one line, or one is not finite");
  return sampled(image, o.interpolation == "nearest", float(o.fill), *map);
}

std::vector<Array> five_crop(const Array& image, Pair size) {
  check_image("five_crop", image);
  const std::int64_t h = image.shape(-2), w = image.shape(-1);
  check<ValueError>(size.y >= 1 && size.x >= 1 && size.y <= h && size.x <= w, "five_crop", "an image of ", h, " x ", w,
                    " has no crops of ", size.y, " x ", size.x, " pixels; resize or pad it before");
  return {rectangle(image, 0, 0, size.y, size.x), rectangle(image, 0, w - size.x, size.y, size.x),
          rectangle(image, h - size.y, 0, size.y, size.x), rectangle(image, h - size.y, w - size.x, size.y, size.x),
          center_crop(image, size)};
}

Array erase(const Array& image, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width,
            double value) {
  check_rectangle("erase", image, top, left, height, width);
  const Array result = autograd::copy(image);
  autograd::fill(rectangle(result, top, left, height, width), value);
  return result;
}

}  // namespace training::transforms
