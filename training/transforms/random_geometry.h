// Random crops, flips, rotations and erased rectangles of images; geometry.h has the functions that they call.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <catena/training/transforms/geometry.h>

namespace training::transforms {

// The limits of a number that is drawn evenly.
using Range = std::pair<double, double>;

struct RandomCropOptions {
  Border padding = 0;          // added before the crop
  bool pad_if_needed = false;  // adds the missing length on both sides of an image that is smaller than the crop
  double fill = 0;             // as of pad
  std::string_view mode = "constant";
  std::optional<std::string_view> padding_mode = {};  // PyTorch's name of mode; takes its place
};
// The options with the size: RandomCrop({.size = 32, .padding = 4}).
struct NamedRandomCropOptions {
  Pair size = 0;
  Border padding = 0;
  bool pad_if_needed = false;
  double fill = 0;
  std::string_view padding_mode = "constant";
};
// A rectangle of the given size, at a place that is drawn evenly. ValueError if the padded image is smaller.
//   RandomCrop(32, {.padding = 4})
class CATENA_EXPORT RandomCrop : public Transform {
 public:
  explicit RandomCrop(Pair size, const RandomCropOptions& options = {});
  template <std::integral I>
  RandomCrop(Pair size, I padding) : RandomCrop(size, RandomCropOptions{.padding = int(padding)}) {}
  template <std::same_as<NamedRandomCropOptions> O = NamedRandomCropOptions>
  explicit RandomCrop(const O& o)
      : RandomCrop(o.size, RandomCropOptions{o.padding, o.pad_if_needed, o.fill, o.padding_mode}) {}

 protected:
  Array apply(const Array& image, Generator& g) const override;

 private:
  Pair size_;
  Border padding_;
  bool pad_if_needed_;
  double fill_;
  std::string mode_;
};

// Mirrors left and right with probability p. ValueError unless p lies in 0..1, here and below.
class CATENA_EXPORT RandomHorizontalFlip : public internal::RandomChange {
 public:
  explicit RandomHorizontalFlip(double p = 0.5) : RandomChange("RandomHorizontalFlip", p) {}
  template <std::same_as<ProbabilityOptions> O = ProbabilityOptions>
  explicit RandomHorizontalFlip(const O& o) : RandomHorizontalFlip(o.p) {}

 protected:
  Array change(const Array& image, Generator&) const override { return horizontal_flip(image); }
};
using RandomFlip = RandomHorizontalFlip;

// Mirrors top and bottom with probability p.
class CATENA_EXPORT RandomVerticalFlip : public internal::RandomChange {
 public:
  explicit RandomVerticalFlip(double p = 0.5) : RandomChange("RandomVerticalFlip", p) {}
  template <std::same_as<ProbabilityOptions> O = ProbabilityOptions>
  explicit RandomVerticalFlip(const O& o) : RandomVerticalFlip(o.p) {}

 protected:
  Array change(const Array& image, Generator&) const override { return vertical_flip(image); }
};

struct RandomResizedCropOptions {
  Range scale = {0.08, 1};                             // of the area of the rectangle, as a part of the image's
  Range ratio = {3.0 / 4, 4.0 / 3};                    // of width to height; its logarithm is drawn evenly
  std::string_view mode = "bilinear";                  // as of resize
  std::optional<std::string_view> interpolation = {};  // PyTorch's name of mode; takes its place
  bool antialias = true;
};
// The options with the size: RandomResizedCrop({.size = 224, .scale = {0.2, 1}}).
struct NamedRandomResizedCropOptions {
  Pair size = 0;
  Range scale = {0.08, 1}, ratio = {3.0 / 4, 4.0 / 3};
  std::string_view interpolation = "bilinear";
  bool antialias = true;
};
// A rectangle of random area and shape, resized (Szegedy et al., "Going deeper with convolutions", 2015). After ten
// rectangles that do not fit, the largest one in the middle with a ratio within the limits. ValueError for limits that
// are not positive and ascending.
class CATENA_EXPORT RandomResizedCrop : public Transform {
 public:
  explicit RandomResizedCrop(Pair size, const RandomResizedCropOptions& options = {});
  template <std::same_as<NamedRandomResizedCropOptions> O = NamedRandomResizedCropOptions>
  explicit RandomResizedCrop(const O& o)
      : RandomResizedCrop(o.size, {o.scale, o.ratio, o.interpolation, {}, o.antialias}) {}

 protected:
  Array apply(const Array& image, Generator& g) const override;

 private:
  Pair size_;
  Range scale_, ratio_;
  std::string mode_;
  bool antialias_;
};

// The limits of an angle: -v..v, or two numbers.
struct Degrees {
  double low, high;
  constexpr Degrees(double v) : low(-v), high(v) {}
  constexpr Degrees(double lower, double upper) : low(lower), high(upper) {}
};
struct OptionalDegrees : std::optional<Degrees> {
  using optional::optional;
  constexpr OptionalDegrees(double lower, double upper) : optional(Degrees(lower, upper)) {}
};
struct RandomRotationOptions {
  Degrees degrees = 0;
  std::string_view interpolation = "nearest";
  OptionalPair center = {};  // as of RotateOptions
  double fill = 0;
};
// Rotates by an angle between the limits, in degrees: RandomRotation(15) is RandomRotation({-15, 15}). ValueError for
// limits in descending order.
class CATENA_EXPORT RandomRotation : public Transform {
 public:
  explicit RandomRotation(double degrees, const RotateOptions& options = {})
      : RandomRotation(Range(-degrees, degrees), options) {}
  explicit RandomRotation(Range degrees, const RotateOptions& options = {});
  template <std::same_as<RandomRotationOptions> O = RandomRotationOptions>
  explicit RandomRotation(const O& o)
      : RandomRotation(Range(o.degrees.low, o.degrees.high),
                       {.mode = o.interpolation, .fill = o.fill, .center = o.center}) {}

 protected:
  Array apply(const Array& image, Generator& g) const override;

 private:
  Range degrees_;
  std::string mode_;
  RotateOptions options_;
};

struct RandomAffineOptions {
  Degrees degrees = 0;
  OptionalPair translate = {};  // the greatest parts of width and height; each between 0 and 1
  OptionalPair scale = {};
  OptionalDegrees shear = {};  // along x
  std::string_view interpolation = "nearest";
  double fill = 0;
  OptionalPair center = {};  // as of RotateOptions
};
// Rotates by an angle between the limits, in degrees, and, where they are given, translates by whole pixels, scales and
// shears: RandomAffine(15, {.translate = {0.1, 0.1}, .scale = {0.8, 1.2}}). ValueError for limits in descending
// order, scales that are not positive and parts outside of 0..1.
class CATENA_EXPORT RandomAffine : public Transform {
 public:
  explicit RandomAffine(Degrees degrees) : RandomAffine(RandomAffineOptions{.degrees = degrees}) {}
  template <std::same_as<RandomAffineOptions> O = RandomAffineOptions>
  RandomAffine(Degrees degrees, O o) : RandomAffine((o.degrees = degrees, std::move(o))) {}
  template <std::same_as<RandomAffineOptions> O = RandomAffineOptions>
  explicit RandomAffine(const O& o) : RandomAffine(o, 0) {}

 protected:
  Array apply(const Array& image, Generator& g) const override;

 private:
  RandomAffine(const RandomAffineOptions& options, int);
  RandomAffineOptions options_;
  std::string mode_;
};

struct RandomPerspectiveOptions {
  double distortion_scale = 0.5;  // how far corners move: half a side times this
  double p = 0.5;
  std::string_view interpolation = "bilinear";
  double fill = 0;
};
// With probability p, moves each corner inwards by whole pixels that are drawn evenly, and the image with them, as
// perspective() does. The image stays where three of the drawn corners lie on one line. ValueError for a
// distortion_scale outside of 0..1.
class CATENA_EXPORT RandomPerspective : public internal::RandomChange {
 public:
  explicit RandomPerspective(const RandomPerspectiveOptions& options = {});
  template <class T>
  explicit RandomPerspective(T distortion_scale, double p = 0.5) requires std::is_arithmetic_v<T>
      : RandomPerspective(RandomPerspectiveOptions{.distortion_scale = double(distortion_scale), .p = p}) {}

 protected:
  Array change(const Array& image, Generator& g) const override;

 private:
  RandomPerspectiveOptions options_;
  std::string mode_;
};

struct RandomErasingOptions {
  double p = 0.5;
  Range scale = {0.02, 0.33};  // of the area of the rectangle, as a part of the image's
  Range ratio = {0.3, 3.3};    // of height to width; its logarithm is drawn evenly
  double value = 0;
  bool noise = false;  // standard normal numbers instead of `value`; floating images (TypeError)
};
// Erases a rectangle with probability p (Zhong et al., "Random Erasing Data Augmentation", 2020), usually after
// Normalize. After ten rectangles that are larger than the image, it stays as it is.
class CATENA_EXPORT RandomErasing : public Transform {
 public:
  explicit RandomErasing(const RandomErasingOptions& options = {});
  template <class T>
  explicit RandomErasing(T p) requires std::is_arithmetic_v<T> : RandomErasing(RandomErasingOptions{.p = double(p)}) {}

 protected:
  Array apply(const Array& image, Generator& g) const override;

 private:
  RandomErasingOptions options_;
};

}  // namespace training::transforms
