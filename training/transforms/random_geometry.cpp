#include <catena/training/transforms/random_geometry.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <catena/kernels/base/error.h>
#include <catena/training/transforms/images.h>

namespace training::transforms {

using catena::check;
using catena::ValueError;
using internal::chance;
using internal::check_image;
using internal::check_probability;
using internal::integer;
using internal::uniform;

namespace {

void check_positive(std::string_view op, std::string_view name, Range limits) {
  check<ValueError>(limits.first > 0 && limits.first <= limits.second, op, name, " has the limits ", limits.first,
                    " and ", limits.second, "; they are positive and ascending");
}

struct Rectangle {
  std::int64_t height, width;
};

// Returns a rectangle that fits into an image: its area is a part of the image's within `scale`, and its ratio is drawn
// from `ratio`, which is of height to width if `tall`, else of width to height. `slack`: by how many pixels it must be
// smaller. Nothing after ten that do not fit.
std::optional<Rectangle> draw_rectangle(Generator& g, const Array& image, Range scale, Range ratio, bool tall,
                                        std::int64_t slack) {
  constexpr int kAttempts = 10;
  const std::int64_t h = image.shape(-2), w = image.shape(-1);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const double area = double(h * w) * uniform(g, scale.first, scale.second);
    const double drawn = std::exp(uniform(g, std::log(ratio.first), std::log(ratio.second)));
    const auto first = std::int64_t(std::nearbyint(std::sqrt(area * drawn)));  // the side that the ratio names first
    const auto second = std::int64_t(std::nearbyint(std::sqrt(area / drawn)));
    const Rectangle r = tall ? Rectangle{first, second} : Rectangle{second, first};
    if (r.height >= 1 && r.width >= 1 && r.height <= h - slack && r.width <= w - slack) return r;
  }
  return {};
}

}  // namespace

RandomCrop::RandomCrop(Pair size, const RandomCropOptions& options)
    : size_(size),
      padding_(options.padding),
      pad_if_needed_(options.pad_if_needed),
      fill_(options.fill),
      mode_(options.padding_mode.value_or(options.mode)) {
  check<ValueError>(size.y >= 1 && size.x >= 1, "RandomCrop", "a crop of ", size.y, " x ", size.x, " pixels is empty");
}

Array RandomCrop::apply(const Array& image, Generator& g) const {
  check_image("RandomCrop", image);
  Border border = padding_;
  if (pad_if_needed_) {
    const std::int64_t rows = size_.y - (image.shape(-2) + border.top + border.bottom);
    const std::int64_t columns = size_.x - (image.shape(-1) + border.left + border.right);
    if (rows > 0) border.top += rows, border.bottom += rows;
    if (columns > 0) border.left += columns, border.right += columns;
  }
  const bool has_border = border.left != 0 || border.top != 0 || border.right != 0 || border.bottom != 0;
  const Array padded = has_border ? pad(image, border, fill_, mode_) : image;
  const std::int64_t h = padded.shape(-2), w = padded.shape(-1);
  check<ValueError>(h >= size_.y && w >= size_.x, "RandomCrop", "an image of ", h, " x ", w, " pixels has no crop of ",
                    size_.y, " x ", size_.x, "; set padding, or pad_if_needed");
  const std::int64_t top = integer(g, 0, h - size_.y), left = integer(g, 0, w - size_.x);
  return crop(padded, top, left, size_.y, size_.x);
}

RandomResizedCrop::RandomResizedCrop(Pair size, const RandomResizedCropOptions& options)
    : size_(size),
      scale_(options.scale),
      ratio_(options.ratio),
      mode_(options.interpolation.value_or(options.mode)),
      antialias_(options.antialias) {
  check_positive("RandomResizedCrop", "scale", scale_);
  check_positive("RandomResizedCrop", "ratio", ratio_);
}

Array RandomResizedCrop::apply(const Array& image, Generator& g) const {
  check_image("RandomResizedCrop", image);
  const ResizeOptions how{.mode = mode_, .antialias = antialias_};
  const std::int64_t h = image.shape(-2), w = image.shape(-1);
  if (const std::optional<Rectangle> r = draw_rectangle(g, image, scale_, ratio_, false, 0)) {
    const std::int64_t top = integer(g, 0, h - r->height), left = integer(g, 0, w - r->width);
    return resized_crop(image, top, left, r->height, r->width, size_, how);
  }
  const double nearest = std::clamp(double(w) / double(h), ratio_.first, ratio_.second);
  const auto fitting = [](double side) { return std::max<std::int64_t>(1, std::int64_t(std::nearbyint(side))); };
  const std::int64_t height = std::min(h, fitting(double(w) / nearest)),
                     width = std::min(w, fitting(double(h) * nearest));
  return resized_crop(image, (h - height) / 2, (w - width) / 2, height, width, size_, how);
}

RandomRotation::RandomRotation(Range degrees, const RotateOptions& options)
    : degrees_(degrees), mode_(options.interpolation.value_or(options.mode)), options_(options) {
  check<ValueError>(degrees.first <= degrees.second, "RandomRotation", "the limits ", degrees.first, " and ",
                    degrees.second, " are not ascending");
}

Array RandomRotation::apply(const Array& image, Generator& g) const {
  RotateOptions options = options_;
  options.interpolation = mode_;
  return rotate(image, uniform(g, degrees_.first, degrees_.second), options);
}

RandomAffine::RandomAffine(const RandomAffineOptions& options, int) : options_(options), mode_(options.interpolation) {
  const char* const who = "RandomAffine";
  const auto ascending = [&](const char* name, double low, double high) {
    check<ValueError>(low <= high, who, name, " has the limits ", low, " and ", high, ", which are not ascending");
  };
  ascending("degrees", options.degrees.low, options.degrees.high);
  if (options.shear) ascending("shear", options.shear->low, options.shear->high);
  if (options.scale) check_positive(who, "scale", *options.scale);
  if (options.translate) {
    const auto [x, y] = *options.translate;
    check<ValueError>(x >= 0 && x <= 1 && y >= 0 && y <= 1, who, "translate is ", x, ", ", y,
                      "; these are parts of width and height");
  }
}

Array RandomAffine::apply(const Array& image, Generator& g) const {
  check_image("RandomAffine", image);
  const RandomAffineOptions& o = options_;
  AffineOptions drawn{.angle = uniform(g, o.degrees.low, o.degrees.high)};
  if (o.translate) {
    const double x = o.translate->first * double(image.shape(-1)), y = o.translate->second * double(image.shape(-2));
    drawn.translate = {std::nearbyint(uniform(g, -x, x)), std::nearbyint(uniform(g, -y, y))};
  }
  if (o.scale) drawn.scale = uniform(g, o.scale->first, o.scale->second);
  if (o.shear) drawn.shear = {uniform(g, o.shear->low, o.shear->high), 0};
  drawn.interpolation = mode_;
  drawn.fill = o.fill;
  drawn.center = o.center;
  return affine(image, drawn);
}

RandomPerspective::RandomPerspective(const RandomPerspectiveOptions& options)
    : RandomChange("RandomPerspective", options.p), options_(options), mode_(options.interpolation) {
  check<ValueError>(options.distortion_scale >= 0 && options.distortion_scale <= 1, "RandomPerspective",
                    "distortion_scale is ", options.distortion_scale, "; it lies in 0..1");
}

Array RandomPerspective::change(const Array& image, Generator& g) const {
  check_image("RandomPerspective", image);
  const std::int64_t right = image.shape(-1) - 1, bottom = image.shape(-2) - 1;
  const auto step = [&](std::int64_t length) {
    return double(integer(g, 0, std::int64_t(options_.distortion_scale * double(length / 2))));
  };
  const auto corner = [&](bool is_right, bool is_bottom) {
    const double x = step(right + 1), y = step(bottom + 1);
    return Point(is_right ? double(right) - x : x, is_bottom ? double(bottom) - y : y);
  };
  std::vector<Point> ends;
  for (const auto& [is_right, is_bottom] : {std::pair(false, false), {true, false}, {true, true}, {false, true}})
    ends.push_back(corner(is_right, is_bottom));
  const double r = double(right), b = double(bottom);
  const std::vector<Point> starts = {{0, 0}, {r, 0}, {r, b}, {0, b}};
  if (!internal::has_projection(ends, starts)) return image;
  return perspective(image, starts, ends, {.interpolation = mode_, .fill = options_.fill});
}

RandomErasing::RandomErasing(const RandomErasingOptions& options) : options_(options) {
  check_probability("RandomErasing", options.p);
  check_positive("RandomErasing", "scale", options.scale);
  check_positive("RandomErasing", "ratio", options.ratio);
}

Array RandomErasing::apply(const Array& image, Generator& g) const {
  check_image("RandomErasing", image);
  check<catena::TypeError>(!options_.noise || catena::is_floating(image.dtype()), "RandomErasing",
                           "noise needs a floating image, not ", image.dtype(), "; put ToFloat before");
  if (!chance(g, options_.p)) return image;
  const std::optional<Rectangle> r = draw_rectangle(g, image, options_.scale, options_.ratio, true, 1);
  if (!r) return image;
  const std::int64_t top = integer(g, 0, image.shape(-2) - r->height), left = integer(g, 0, image.shape(-1) - r->width);
  const Array result = erase(image, top, left, r->height, r->width, options_.value);
  if (options_.noise) {
    const Array hole = crop(result, top, left, r->height, r->width);
    autograd::assign(hole, autograd::random_normal(hole.shape(), 0, 1, image.dtype(), g, image.device()));
  }
  return result;
}

}  // namespace training::transforms
