// Colours and values of images (..., C, H, W); transform.h states the dtypes. The results are those of torchvision's
// functions for tensors.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/training/transforms/random_geometry.h>

namespace training::transforms {

// The factors are not negative (ValueError); 1 changes nothing. Values are limited to those of the dtype, 0..255 or
// 0..1, and those of uint8 images are rounded down. ValueError for a floating image with a value above 2, because its
// values are then not those of 0..1: ToFloat makes them of bytes.
CATENA_EXPORT Array adjust_brightness(const Array& image, double factor);  // multiplies
// Mixes with the mean grey level; images of 1 or 3 channels, here and below (ValueError).
CATENA_EXPORT Array adjust_contrast(const Array& image, double factor);
CATENA_EXPORT Array adjust_saturation(const Array& image, double factor);  // mixes with the grey image
// Turns the hue by `turns` of the colour circle, -0.5 to 0.5 (ValueError). Grey images stay.
CATENA_EXPORT Array adjust_hue(const Array& image, double turns);

// Returns 0.2989 R + 0.587 G + 0.114 B in 1 or 3 equal channels, rounded down for uint8. An image of one channel is
// grey already.
CATENA_EXPORT Array rgb_to_grayscale(const Array& image, int channels = 1);

// Returns (image - mean) / std, with one number for each channel or one for all. TypeError for a uint8 image;
// ValueError for other numbers of channels and a std that is not positive.
CATENA_EXPORT Array normalize(const Array& image, const std::vector<double>& mean, const std::vector<double>& std);

// Returns the values 0..255 of a uint8 image as 0..1. A floating image is only converted to the dtype. TypeError for
// other dtypes of images, and a dtype that is not floating.
CATENA_EXPORT Array to_float(const Array& image, autograd::Dtype dtype = autograd::Dtype::float32);

// By how much ColorJitter changes a property: a factor within 1 - v..1 + v, and at least 0, or within limits.
struct Jitter {
  double low = 1, high = 1;
  constexpr Jitter() = default;
  constexpr Jitter(double v) : low(v > 1 ? 0 : 1 - v), high(1 + v) {}
  constexpr Jitter(double lower, double upper) : low(lower), high(upper) {}
};
// A turn of the hue: within -v..v, or within limits.
struct HueJitter {
  double low = 0, high = 0;
  constexpr HueJitter() = default;
  constexpr HueJitter(double v) : low(-v), high(v) {}
  constexpr HueJitter(double lower, double upper) : low(lower), high(upper) {}
};
struct ColorJitterOptions {
  Jitter brightness = {}, contrast = {}, saturation = {};
  HueJitter hue = {};
};
// Changes brightness, contrast, saturation and hue by factors that are drawn evenly, in random order. ValueError for
// limits that are negative, in descending order, or beyond half a turn.
//   ColorJitter({.brightness = 0.4, .contrast = 0.4, .saturation = {0.5, 1.5}, .hue = 0.1})
class CATENA_EXPORT ColorJitter : public Transform {
 public:
  explicit ColorJitter(const ColorJitterOptions& options);
  template <class T>
  explicit ColorJitter(T brightness, double contrast = 0, double saturation = 0,
                       double hue = 0) requires std::is_arithmetic_v<T>
      : ColorJitter(ColorJitterOptions{double(brightness), contrast, saturation, hue}) {}

 protected:
  Array apply(const Array& image, Generator& g) const override;

 private:
  ColorJitterOptions options_;
};

struct GrayscaleOptions {
  int num_output_channels = 1;
};
// Makes the image grey, with 1 channel or 3 equal ones: (..., channels, H, W). ValueError for other numbers of them.
class CATENA_EXPORT Grayscale : public Transform {
 public:
  explicit Grayscale(int channels = 1);
  template <std::same_as<GrayscaleOptions> O = GrayscaleOptions>
  explicit Grayscale(const O& o) : Grayscale(o.num_output_channels) {}

 protected:
  Array apply(const Array& image, Generator&) const override { return rgb_to_grayscale(image, channels_); }

 private:
  int channels_;
};

// Makes the image grey, with the channels that it has, with probability p.
class CATENA_EXPORT RandomGrayscale : public internal::RandomChange {
 public:
  explicit RandomGrayscale(double p = 0.1) : RandomChange("RandomGrayscale", p) {}
  template <std::same_as<ProbabilityOptions> O = ProbabilityOptions>
  explicit RandomGrayscale(const O& o) : RandomGrayscale(o.p) {}

 protected:
  Array change(const Array& image, Generator& g) const override;
};

struct NormalizeOptions {
  std::vector<double> mean = {}, std = {};
};
// Normalize({0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}), Normalize(0.5, 0.5); after ToFloat.
class CATENA_EXPORT Normalize : public Transform {
 public:
  Normalize(std::vector<double> mean, std::vector<double> std) : mean_(std::move(mean)), std_(std::move(std)) {}
  Normalize(double mean, double std) : mean_{mean}, std_{std} {}
  template <std::same_as<NormalizeOptions> O = NormalizeOptions>
  explicit Normalize(const O& o) : Normalize(o.mean, o.std) {}

 protected:
  Array apply(const Array& image, Generator&) const override { return normalize(image, mean_, std_); }

 private:
  std::vector<double> mean_, std_;
};

// The name of torchvision, whose images are (H, W, C): returns to_float() of the image with the axes (C, H, W). An
// image that has these already, as those of ImageFolder have, keeps them: one whose first axis has 1, 3 or 4 elements
// and whose last one does not. ValueError unless there are three axes.
struct CATENA_EXPORT ToTensor : Transform {
 protected:
  Array apply(const Array& image, Generator& g) const override;
};

// Converts to a floating dtype, in the same shape: the values 0..255 of a uint8 image become 0..1. Errors of to_float.
class CATENA_EXPORT ToFloat : public Transform {
 public:
  explicit ToFloat(autograd::Dtype dtype = autograd::Dtype::float32) : dtype_(dtype) {}

 protected:
  Array apply(const Array& image, Generator&) const override { return to_float(image, dtype_); }

 private:
  autograd::Dtype dtype_;
};

}  // namespace training::transforms
