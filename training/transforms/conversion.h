// Blurred and inverted images, and conversions between dtypes and orders of axes. transform.h states the dtypes; the
// results are those of torchvision's functions for tensors.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <catena/nn/functions/lengths.h>
#include <catena/training/transforms/color.h>

namespace training::transforms {

// Limits of the standard deviation of a blur, in pixels: one number, or two.
struct Sigma {
  double low, high;
  constexpr Sigma(double v) : low(v), high(v) {}
  constexpr Sigma(double lower, double upper) : low(lower), high(upper) {}
};

// Returns the image convolved with a normal distribution over kernel_size = {rows, columns} pixels, which are odd; the
// border is mirrored without the edge. Without `sigma` it is 0.3 ((k - 1) / 2 - 1) + 0.8 for each length k. Values of
// uint8 images are rounded. ValueError for even lengths, a sigma that is not positive, and an image that is not larger
// than half of the kernel.
CATENA_EXPORT Array gaussian_blur(const Array& image, nn::Pair kernel_size, std::optional<double> sigma = {});
// Returns 255 - image, or 1 - image of a floating one.
CATENA_EXPORT Array invert(const Array& image);
// Converts between uint8 with values 0..255 and floating dtypes with values 0..1: to uint8, the integer below 255.999
// times the value. TypeError for other dtypes.
CATENA_EXPORT Array convert_image_dtype(const Array& image, autograd::Dtype dtype = autograd::Dtype::float32);
// An image (C, H, W) as the uint8 array (H, W, C) of a picture, as image files have it: floating values are multiplied
// by 255 and rounded towards zero. ValueError unless there are three axes.
CATENA_EXPORT Array to_pil_image(const Array& image);
// A picture (H, W, C) as an image (C, H, W), with its values. ValueError unless there are three axes.
CATENA_EXPORT Array to_image(const Array& picture);

struct GaussianBlurOptions {
  Sigma sigma = {0.1, 2.0};
};
// Blurs with a standard deviation that is drawn evenly between the limits: GaussianBlur(5, {0.1, 2.0}),
// GaussianBlur(5, {.sigma = 1.5}). Errors of gaussian_blur, and ValueError for limits in descending order.
class CATENA_EXPORT GaussianBlur : public Transform {
 public:
  explicit GaussianBlur(nn::Pair kernel_size, Sigma sigma = {0.1, 2.0});
  template <std::same_as<GaussianBlurOptions> O = GaussianBlurOptions>
  GaussianBlur(nn::Pair kernel_size, const O& o) : GaussianBlur(kernel_size, o.sigma) {}

 protected:
  Array apply(const Array& image, Generator& g) const override;

 private:
  nn::Pair kernel_size_;
  Sigma sigma_;
};

// Inverts the colours with probability p.
class CATENA_EXPORT RandomInvert : public internal::RandomChange {
 public:
  explicit RandomInvert(double p = 0.5) : RandomChange("RandomInvert", p) {}
  template <std::same_as<ProbabilityOptions> O = ProbabilityOptions>
  explicit RandomInvert(const O& o) : RandomInvert(o.p) {}

 protected:
  Array change(const Array& image, Generator&) const override { return invert(image); }
};

// convert_image_dtype as a transform.
class CATENA_EXPORT ConvertImageDtype : public Transform {
 public:
  explicit ConvertImageDtype(autograd::Dtype dtype = autograd::Dtype::float32) : dtype_(dtype) {}

 protected:
  Array apply(const Array& image, Generator&) const override { return convert_image_dtype(image, dtype_); }

 private:
  autograd::Dtype dtype_;
};

struct ToDtypeOptions {
  bool scale = false;
};
// Converts to a dtype: with `scale` as ConvertImageDtype, else the values as they are.
class CATENA_EXPORT ToDtype : public Transform {
 public:
  explicit ToDtype(autograd::Dtype dtype, bool scale = false) : dtype_(dtype), scale_(scale) {}
  template <std::same_as<ToDtypeOptions> O = ToDtypeOptions>
  ToDtype(autograd::Dtype dtype, const O& o) : ToDtype(dtype, o.scale) {}

 protected:
  Array apply(const Array& image, Generator&) const override {
    return scale_ ? convert_image_dtype(image, dtype_) : autograd::astype(image, dtype_);
  }

 private:
  autograd::Dtype dtype_;
  bool scale_;
};

// to_pil_image and to_image as transforms. A picture is an array here.
struct CATENA_EXPORT ToPILImage : Transform {
 protected:
  Array apply(const Array& image, Generator&) const override { return to_pil_image(image); }
};
struct CATENA_EXPORT ToImage : Transform {
 protected:
  Array apply(const Array& image, Generator&) const override { return to_image(image); }
};
using PILToTensor = ToImage;

}  // namespace training::transforms
