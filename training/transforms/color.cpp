#include <catena/training/transforms/color.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <catena/kernels/base/error.h>
#include <catena/training/transforms/images.h>

namespace training::transforms {

using autograd::Dtype;
using catena::check;
using catena::TypeError;
using catena::ValueError;
using internal::check_image;
using internal::Pixels;
using internal::uniform;

namespace {

void check_colors(std::string_view op, const Array& image) {
  check_image(op, image);
  const std::int64_t c = image.shape(-3);
  check<ValueError>(c == 1 || c == 3, op, "an image has 1 or 3 channels for this, not ", c);
}

void check_values(std::string_view op, const Pixels& p) {
  const float greatest = *std::max_element(p.v.begin(), p.v.end());
  check<ValueError>(p.is_integer() || !(greatest > 2), op, "the floating image has the value ", greatest,
                    "; its values lie in 0..1 (ToFloat makes them of a uint8 image)");
}

void check_factor(std::string_view op, double factor) {
  check<ValueError>(factor >= 0 && std::isfinite(factor), op, "the factor is ", factor, "; it is not negative");
}

float grey(float r, float g, float b) { return 0.2989F * r + 0.587F * g + 0.114F * b; }

// Returns the grey level of each pixel of all images; those of bytes are integers.
std::vector<float> grey_levels(const Pixels& p) {
  const std::int64_t n = p.plane();
  std::vector<float> levels(std::size_t(p.images() * n));
  for (std::int64_t image = 0; image < p.images(); ++image) {
    const float* const first = p.v.data() + image * p.channels() * n;
    for (std::int64_t i = 0; i < n; ++i) {
      const float level = p.channels() == 1 ? first[i] : grey(first[i], first[n + i], first[2 * n + i]);
      levels[std::size_t(image * n + i)] = p.is_integer() ? std::floor(level) : level;
    }
  }
  return levels;
}

// Returns factor * x + (1 - factor) * other within the values of the dtype.
float blend(const Pixels& p, float x, float other, double factor) {
  const float mixed = float(factor) * x + float(1 - factor) * other;
  return std::fmin(std::fmax(mixed, 0.0F), p.max());
}

// The hue, in turns, the saturation and the value of a colour; Smith, "Color gamut transform pairs", 1978.
struct Hsv {
  float h, s, v;
};
Hsv hsv_of(float r, float g, float b) {
  const float most = std::max({r, g, b}), least = std::min({r, g, b}), range = most - least;
  const bool is_grey = most == least;
  const float divisor = is_grey ? 1 : range, saturation = range / (is_grey ? 1 : most);
  const float rc = (most - r) / divisor, gc = (most - g) / divisor, bc = (most - b) / divisor;
  const float h = most == r ? bc - gc : most == g ? 2 + rc - bc : 4 + gc - rc;
  return {std::fmod(h * float(1.0 / 6) + 1, 1.0F), saturation, most};
}
std::array<float, 3> rgb_of(const Hsv& c) {
  const float sixth = std::floor(c.h * 6), f = c.h * 6 - sixth;
  const auto limited = [](float x) { return std::fmin(std::fmax(x, 0.0F), 1.0F); };
  const float p = limited(c.v * (1 - c.s)), q = limited(c.v * (1 - c.s * f)), t = limited(c.v * (c.s * f + (1 - c.s)));
  switch (int(sixth) % 6) {
    case 0: return {c.v, t, p};
    case 1: return {q, c.v, p};
    case 2: return {p, c.v, t};
    case 3: return {p, q, c.v};
    case 4: return {t, p, c.v};
    default: return {c.v, p, q};
  }
}

}  // namespace

Array adjust_brightness(const Array& image, double factor) {
  check_image("adjust_brightness", image);
  check_factor("adjust_brightness", factor);
  Pixels p(image);
  check_values("adjust_brightness", p);
  for (float& x : p.v) x = blend(p, x, 0, factor);
  return p.array(image.shape(), Pixels::Rounding::down);
}

Array adjust_contrast(const Array& image, double factor) {
  check_colors("adjust_contrast", image);
  check_factor("adjust_contrast", factor);
  Pixels p(image);
  check_values("adjust_contrast", p);
  const std::vector<float> levels = grey_levels(p);
  const auto n = std::size_t(p.plane()), all = n * std::size_t(p.channels());
  for (std::size_t i = 0; i < std::size_t(p.images()); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum += double(levels[i * n + k]);
    const auto mean = float(sum / double(n));
    for (std::size_t k = i * all; k < (i + 1) * all; ++k) p.v[k] = blend(p, p.v[k], mean, factor);
  }
  return p.array(image.shape(), Pixels::Rounding::down);
}

Array adjust_saturation(const Array& image, double factor) {
  check_colors("adjust_saturation", image);
  check_factor("adjust_saturation", factor);
  if (image.shape(-3) == 1) return image;
  Pixels p(image);
  check_values("adjust_saturation", p);
  const std::vector<float> levels = grey_levels(p);
  const auto n = std::size_t(p.plane()), channels = std::size_t(p.channels());
  for (std::size_t k = 0; k < p.v.size(); ++k)
    p.v[k] = blend(p, p.v[k], levels[k / (n * channels) * n + k % n], factor);
  return p.array(image.shape(), Pixels::Rounding::down);
}

Array adjust_hue(const Array& image, double turns) {
  check_colors("adjust_hue", image);
  check<ValueError>(turns >= -0.5 && turns <= 0.5, "adjust_hue", "the hue is turned by ", turns,
                    "; -0.5 to 0.5 turns are all there are");
  if (image.shape(-3) == 1) return image;
  Pixels p(image);
  check_values("adjust_hue", p);
  const auto n = std::size_t(p.plane());
  const float white = p.max();
  for (std::size_t i = 0; i < std::size_t(p.images()); ++i)
    for (std::size_t k = 0; k < n; ++k) {
      float* const pixel = p.v.data() + i * 3 * n + k;
      Hsv color = hsv_of(pixel[0] / white, pixel[n] / white, pixel[2 * n] / white);
      color.h += float(turns);
      color.h -= std::floor(color.h);
      const std::array<float, 3> rgb = rgb_of(color);
      // As torchvision, values of bytes are parts of equal length of 0..1.
      for (std::size_t c = 0; c < 3; ++c) pixel[c * n] = p.is_integer() ? rgb[c] * 255.999F : rgb[c];
    }
  return p.array(image.shape(), Pixels::Rounding::down);
}

Array rgb_to_grayscale(const Array& image, int channels) {
  check_colors("rgb_to_grayscale", image);
  check<ValueError>(channels == 1 || channels == 3, "rgb_to_grayscale", "a grey image has 1 or 3 channels, not ",
                    channels);
  autograd::Shape shape = image.shape();
  const int axis = shape.size() - 3;
  Array result = image;
  if (shape[axis] == 3) {
    Pixels p(image);
    p.v = grey_levels(p);
    shape[axis] = 1;
    result = p.array(shape, Pixels::Rounding::down);
  }
  if (channels == 1) return result;
  shape[axis] = 3;
  return autograd::copy(autograd::broadcast_to(result, shape));
}

Array normalize(const Array& image, const std::vector<double>& mean, const std::vector<double>& std) {
  check_image("normalize", image);
  check<TypeError>(catena::is_floating(image.dtype()), "normalize", "the image is ", image.dtype(),
                   "; put ToFloat before Normalize");
  const auto c = std::size_t(image.shape(-3));
  check<ValueError>((mean.size() == 1 || mean.size() == c) && (std.size() == 1 || std.size() == c), "normalize",
                    mean.size(), " means and ", std.size(), " standard deviations do not fit ", c, " channels");
  for (const double s : std) check<ValueError>(s > 0, "normalize", "a standard deviation is ", s, "; it is positive");
  const auto of_channels = [&](const std::vector<double>& values) {
    const Array numbers = autograd::array(values, {std::int64_t(values.size()), 1, 1}, image.device());
    return autograd::astype(numbers, image.dtype());
  };
  return (image - of_channels(mean)) / of_channels(std);
}

Array to_float(const Array& image, Dtype dtype) {
  check_image("to_float", image);
  check<TypeError>(catena::is_floating(dtype), "to_float", "the dtype is ", dtype, ", which is not floating");
  const Array converted = autograd::astype(image, dtype);
  return image.dtype() == Dtype::uint8 ? converted / 255.0 : converted;
}

ColorJitter::ColorJitter(const ColorJitterOptions& o) : options_(o) {
  for (const auto& [name, range] :
       {std::pair("brightness", o.brightness), {"contrast", o.contrast}, {"saturation", o.saturation}})
    check<ValueError>(range.low >= 0 && range.low <= range.high, "ColorJitter", name, " has the limits ", range.low,
                      " and ", range.high, "; they are not negative, and ascending");
  check<ValueError>(o.hue.low >= -0.5 && o.hue.low <= o.hue.high && o.hue.high <= 0.5, "ColorJitter",
                    "hue has the limits ", o.hue.low, " and ", o.hue.high, "; they ascend within -0.5..0.5");
}

Array ColorJitter::apply(const Array& image, Generator& g) const {
  check_colors("ColorJitter", image);
  Array result = image;
  const auto factor = [&](Jitter range) { return uniform(g, range.low, range.high); };
  const auto changes = [](Jitter range) { return range.low != 1 || range.high != 1; };
  for (const std::int64_t which : permutation(4, g)) {
    if (which == 0 && changes(options_.brightness)) result = adjust_brightness(result, factor(options_.brightness));
    if (which == 1 && changes(options_.contrast)) result = adjust_contrast(result, factor(options_.contrast));
    if (which == 2 && changes(options_.saturation)) result = adjust_saturation(result, factor(options_.saturation));
    if (which == 3 && (options_.hue.low != 0 || options_.hue.high != 0))
      result = adjust_hue(result, uniform(g, options_.hue.low, options_.hue.high));
  }
  return result;
}

Grayscale::Grayscale(int channels) : channels_(channels) {
  check<ValueError>(channels == 1 || channels == 3, "Grayscale", "a grey image has 1 or 3 channels, not ", channels);
}

Array ToTensor::apply(const Array& image, Generator&) const {
  check<ValueError>(image.shape().size() == 3, "ToTensor", "the shape of the image is ",
                    catena::to_string(image.shape()), "; it has the axes height, width and channels");
  const auto may_be_channels = [](std::int64_t n) { return n == 1 || n == 3 || n == 4; };
  if (may_be_channels(image.shape(0)) && !may_be_channels(image.shape(2))) return to_float(image);
  return to_float(autograd::transpose(image, {2, 0, 1}));
}

Array RandomGrayscale::change(const Array& image, Generator&) const {
  check_colors("RandomGrayscale", image);
  return rgb_to_grayscale(image, int(image.shape(-3)));
}

}  // namespace training::transforms
