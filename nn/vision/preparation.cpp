#include <catena/nn/vision/preparation.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace nn {

using autograd::Device;
using autograd::Dtype;
using autograd::Shape;
using catena::check;
using catena::ValueError;

namespace {

// Samples in the order of channels, rows and columns.
struct Samples {
  std::int64_t channels = 0, height = 0, width = 0;
  std::vector<std::uint8_t> values;
};

Array plane_first(const Array& image) {
  const auto is_color = [](std::int64_t n) { return n == 1 || n == 3; };
  check<ValueError>(bool(image), "prepare", "the image is a null array");
  const Shape& shape = image.shape();
  if (image.ndim() == 2) return autograd::reshape(image, {1, shape[0], shape[1]});
  if (image.ndim() == 3 && is_color(shape[0])) return image;
  if (image.ndim() == 3 && is_color(shape[2])) return autograd::transpose(image, {2, 0, 1});
  catena::fail<ValueError>("prepare", "the image has the shape ", shape,
                           "; an image is (height, width), (channels, height, width) or (height, width, channels) with "
                           "1 or 3 channels. Of an image with opacity, take the colours: image(Slice(0, 3))");
}

Samples samples_of(const Array& image) {
  const Array planes = plane_first(image);
  check<ValueError>(planes.size() > 0, "prepare", "the image of shape ", image.shape(), " has no pixels");
  return {planes.shape(0), planes.shape(1), planes.shape(2), autograd::to_vector<std::uint8_t>(planes)};
}

// ---- resizing -----------------------------------------------------------------------------------
// Returns the position in the source for every pixel of an axis. The steps are added one by one, as in Pillow, whose
// rounding they have.
std::vector<std::int64_t> nearest_positions(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> positions;
  const double step = double(from) / double(to);
  double at = 0.5 * step;
  for (std::int64_t i = 0; i < to; ++i, at += step) positions.push_back(std::min(std::int64_t(at), from - 1));
  return positions;
}

Samples resized_nearest(const Samples& image, const ImageSize& size) {
  const std::vector<std::int64_t> rows = nearest_positions(image.height, size.height);
  const std::vector<std::int64_t> columns = nearest_positions(image.width, size.width);
  Samples result{image.channels, size.height, size.width, {}};
  result.values.reserve(std::size_t(image.channels * size.height * size.width));
  for (std::int64_t c = 0; c < image.channels; ++c)
    for (const std::int64_t y : rows) {
      const std::uint8_t* const row = image.values.data() + (c * image.height + y) * image.width;
      for (const std::int64_t x : columns) result.values.push_back(row[x]);
    }
  return result;
}

double triangle(double x) { return std::max(0.0, 1 - std::fabs(x)); }
double cubic(double x) {
  constexpr double a = -0.5;
  x = std::fabs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

// The weighted pixels of the source for one pixel of the result. Weights are integers that stand for multiples of
// 2^-kFraction.
constexpr int kFraction = 32 - 8 - 2;
struct Window {
  std::int64_t start = 0;
  std::vector<std::int32_t> weights;
};

std::vector<Window> windows_of(std::int64_t from, std::int64_t to, Resample resample) {
  const auto filter = resample == Resample::bilinear ? triangle : cubic;
  const double scale = double(from) / double(to), stretch = std::max(scale, 1.0);
  const double support = (resample == Resample::bilinear ? 1.0 : 2.0) * stretch;
  std::vector<Window> windows;
  for (std::int64_t i = 0; i < to; ++i) {
    const double center = (double(i) + 0.5) * scale;
    const std::int64_t start = std::max<std::int64_t>(std::int64_t(center - support + 0.5), 0);
    const std::int64_t stop = std::min(std::int64_t(center + support + 0.5), from);
    std::vector<double> weights;
    double total = 0;
    for (std::int64_t k = start; k < stop; ++k) {
      weights.push_back(filter((double(k) - center + 0.5) / stretch));
      total += weights.back();
    }
    Window window{start, {}};
    for (const double w : weights) {
      const double exact = (total != 0 ? w / total : w) * (1 << kFraction);
      window.weights.push_back(std::int32_t(exact < 0 ? exact - 0.5 : exact + 0.5));
    }
    windows.push_back(std::move(window));
  }
  return windows;
}

// Computes the weighted sums of pixels `step` apart, beginning at `source`.
std::uint8_t weighted(const Window& window, const std::uint8_t* source, std::int64_t step) {
  std::int32_t sum = 1 << (kFraction - 1);
  const std::uint8_t* at = source + window.start * step;
  for (const std::int32_t w : window.weights) {
    sum += w * *at;
    at += step;
  }
  return std::uint8_t(std::clamp(sum >> kFraction, 0, 255));
}

// First along the rows and then along the columns, with rounding in between.
Samples resized_smoothly(const Samples& image, const ImageSize& size, Resample resample) {
  Samples wide{image.channels, image.height, size.width, {}};
  if (size.width == image.width) {
    wide.values = image.values;
  } else {
    const std::vector<Window> columns = windows_of(image.width, size.width, resample);
    for (std::int64_t row = 0; row < image.channels * image.height; ++row)
      for (const Window& w : columns) wide.values.push_back(weighted(w, image.values.data() + row * image.width, 1));
  }
  if (size.height == image.height) return wide;
  const std::vector<Window> rows = windows_of(image.height, size.height, resample);
  Samples result{image.channels, size.height, size.width, {}};
  for (std::int64_t c = 0; c < image.channels; ++c)
    for (const Window& w : rows)
      for (std::int64_t x = 0; x < size.width; ++x)
        result.values.push_back(weighted(w, wide.values.data() + c * image.height * size.width + x, size.width));
  return result;
}

Samples resized(Samples image, const ImageSize& size, Resample resample) {
  check<ValueError>(size.width > 0 && size.height > 0, "prepare", "the size ", size.width, " x ", size.height,
                    " (width x height) has no pixels");
  if (size == ImageSize(int(image.width), int(image.height))) return image;
  return resample == Resample::nearest ? resized_nearest(image, size) : resized_smoothly(image, size, resample);
}

}  // namespace

Array resize_image(const Array& image, const ImageSize& size, Resample resample) {
  const Samples result = resized(samples_of(image), size, resample);
  return autograd::array(result.values, {result.channels, result.height, result.width}, Device{});
}

Array prepare_image(const Array& image, const MeanColor& mean, const PrepareOptions& options) {
  Samples samples = samples_of(image);
  if (options.size) samples = resized(std::move(samples), *options.size, options.resample);
  const std::int64_t plane = samples.height * samples.width;
  std::vector<float> values(std::size_t(3 * plane));
  for (std::int64_t c = 0; c < 3; ++c) {
    const std::uint8_t* const from = samples.values.data() + (samples.channels == 3 ? 2 - c : 0) * plane;
    std::transform(from, from + plane, values.begin() + c * plane,
                   [m = mean[std::size_t(c)]](std::uint8_t v) { return float(v) - m; });
  }
  return autograd::array(values, {3, samples.height, samples.width}, Device{});
}

ImageList::ImageList(const Array& images) {
  if (!images || images.ndim() != 4) {
    images_.push_back(images);
    return;
  }
  for (std::int64_t i = 0; i < images.shape(0); ++i)
    images_.push_back(autograd::squeeze(autograd::slice(images, 0, i, i + 1), 0));
}

Array oversample(const ImageList& images, Pair crop_dims) {
  constexpr const char* op = "oversample";
  check<ValueError>(images.size() > 0, op, "there are no images");
  const Array& first = images[0];
  check<ValueError>(bool(first) && first.ndim() == 3, op, "an image is an array (channels, height, width)");
  const std::int64_t h = first.shape(1), w = first.shape(2);
  check<ValueError>(crop_dims.y > 0 && crop_dims.x > 0 && crop_dims.y <= h && crop_dims.x <= w, op, "crops of ",
                    crop_dims.y, " x ", crop_dims.x, " pixels do not fit into images of ", h, " x ", w);
  const std::int64_t bottom = h - crop_dims.y, right = w - crop_dims.x;
  const std::int64_t corners[][2] = {{0, 0}, {0, right}, {bottom, 0}, {bottom, right}, {bottom / 2, right / 2}};
  std::vector<Array> crops;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const Array& image = images[i];
    check<ValueError>(bool(image) && image.shape() == first.shape() && image.dtype() == first.dtype(), op, "image ", i,
                      " differs in shape or dtype from the first one, which is ", first.shape(), " of ", first.dtype());
    const Array host = autograd::to_device(image, Device{});
    for (const bool mirrored : {false, true})
      for (const auto& [y, x] : corners) {
        const Array rows = autograd::slice(host, 1, y, y + crop_dims.y);
        const Array crop = autograd::slice(rows, 2, x, x + crop_dims.x);
        const Array turned = mirrored ? autograd::slice(crop, 2, crop_dims.x - 1, -crop_dims.x - 1, -1) : crop;
        crops.push_back(autograd::expand_dims(turned, 0));
      }
  }
  return autograd::concatenate(crops, 0);
}

}  // namespace nn
