#include <catena/training/transforms/mixing.h>

#include <algorithm>
#include <cmath>

#include <catena/autograd/config.h>
#include <catena/autograd/functions/array.h>
#include <catena/kernels/base/error.h>
#include <catena/training/transforms/images.h>

namespace training::transforms {

using catena::check;
using catena::ValueError;
using internal::rectangle;

namespace {

// Returns x with each example in the place of the next one, and the last one first.
Array rolled(const Array& x) {
  const std::int64_t n = x.shape(0);
  if (n < 2) return x;
  const Array parts[] = {autograd::slice(x, 0, n - 1, n), autograd::slice(x, 0, 0, n - 1)};
  return autograd::concatenate(parts, 0);
}

// Returns labels as probabilities of the classes.
Array probabilities(const char* name, const Array& labels, const Array& images, std::int64_t classes) {
  const autograd::Dtype dtype = catena::is_floating(images.dtype()) ? images.dtype() : autograd::Dtype::float32;
  const bool fits =
      catena::is_integer(labels.dtype()) ? labels.ndim() == 1 : labels.ndim() == 2 && labels.shape(1) == classes;
  check<ValueError>(fits && labels.shape(0) == images.shape(0), name, "labels of the shape ", labels.shape(), " and ",
                    labels.dtype(), " do not fit images of the shape ", images.shape(), " and ", classes,
                    " classes; they are integers (N) or probabilities (N, classes)");
  if (!catena::is_integer(labels.dtype())) return autograd::astype(labels, dtype);
  const auto scope = autograd::using_config({.enable_backprop = false});
  return autograd::one_hot(labels, classes, dtype).data();
}

}  // namespace

Array mixup(const Array& x, double ratio) {
  check<ValueError>(ratio >= 0 && ratio <= 1, "mixup", "the ratio is ", ratio, "; it lies in 0..1");
  check<ValueError>(bool(x) && x.ndim() >= 1, "mixup", "the array has no examples");
  check<catena::TypeError>(catena::is_floating(x.dtype()), "mixup", "the array is ", x.dtype(),
                           "; floating values are mixed (ToFloat makes them of uint8 images)");
  return x * ratio + rolled(x) * (1 - ratio);
}

Array cutmix(const Array& images, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width) {
  check<ValueError>(bool(images) && images.ndim() == 4, "cutmix", "images have the axes (N, C, H, W)",
                    bool(images) ? catena::concat(", not the shape ", images.shape()) : std::string());
  const std::int64_t h = images.shape(-2), w = images.shape(-1);
  check<ValueError>(height >= 0 && width >= 0 && top >= 0 && left >= 0 && top <= h - height && left <= w - width,
                    "cutmix", "the rectangle of ", height, " x ", width, " pixels at row ", top, ", column ", left,
                    " does not lie within images of ", h, " x ", w);
  const Array result = autograd::copy(images);
  if (height > 0 && width > 0)
    autograd::assign(rectangle(result, top, left, height, width), rolled(rectangle(images, top, left, height, width)));
  return result;
}

BatchMix::~BatchMix() = default;

BatchMix::BatchMix(const char* name, const MixOptions& options) : name_(name), options_(options) {
  options_.classes = options.num_classes.value_or(options.classes);
  check<ValueError>(options_.classes >= 1 && options.alpha > 0, name, "there are ", options_.classes,
                    " classes and alpha is ", options.alpha, "; both are positive");
  internal::check_probability(name, options.p);
}

Example BatchMix::operator()(const Example& batch) const { return (*this)(batch, autograd::default_generator()); }

Example BatchMix::operator()(const Example& batch, Generator& g) const {
  check<ValueError>(batch.values.size() == 2, name_, "a batch has ", batch.values.size(),
                    " components; images and labels are mixed");
  const Array &images = batch.values[0], &labels = batch.values[1];
  check<ValueError>(bool(images) && bool(labels) && images.ndim() == 4 && labels.ndim() >= 1, name_,
                    "the batch holds no images (N, C, H, W) with labels");
  Example result = batch;
  result.values[1] = probabilities(name_, labels, images, options_.classes);
  if (!internal::chance(g, options_.p)) return result;
  const double own = mix(result.values[0], internal::beta(g, options_.alpha, options_.alpha), g);
  result.values[1] = mixup(result.values[1], own);
  return result;
}

Example BatchMix::operator()(const Batch& batch, std::optional<Device> device) const {
  return to_device(device, (*this)(concat_examples(batch)));
}

double MixUp::mix(Array& images, double ratio, Generator&) const {
  images = mixup(images, ratio);
  return ratio;
}

double CutMix::mix(Array& images, double ratio, Generator& g) const {
  const std::int64_t h = images.shape(-2), w = images.shape(-1);
  const double half = 0.5 * std::sqrt(1 - ratio);
  const std::int64_t x = internal::integer(g, 0, w - 1), y = internal::integer(g, 0, h - 1);
  const auto dx = std::int64_t(half * double(w)), dy = std::int64_t(half * double(h));
  const std::int64_t left = std::max<std::int64_t>(x - dx, 0), right = std::min(x + dx, w);
  const std::int64_t top = std::max<std::int64_t>(y - dy, 0), bottom = std::min(y + dy, h);
  images = cutmix(images, top, left, bottom - top, right - left);
  return 1 - double((bottom - top) * (right - left)) / double(h * w);
}

}  // namespace training::transforms
