// Crops, borders, flips, sizes and rotations of images (..., C, H, W); transform.h states the dtypes.
//
// The functions take all numbers as arguments; the classes of the same names are transforms for Compose and datasets.
// Classes that draw random numbers are in random_geometry.h. The results are those of torchvision's functions for
// tensors.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/nn/functions/lengths.h>
#include <catena/training/transforms/transform.h>

namespace training::transforms {

using nn::Pair;

// Returns the rectangle of the given height and width whose upper left corner is (top, left), as a view. ValueError if
// it is empty or does not lie within the image; pad adds a border.
CATENA_EXPORT Array crop(const Array& image, std::int64_t top, std::int64_t left, std::int64_t height,
                         std::int64_t width);
// Returns the middle, as a view: the corner is at half of what is left over, half to even. ValueError if the image is
// smaller.
CATENA_EXPORT Array center_crop(const Array& image, Pair size);

// Pixels of a border: on all sides, or {vertical, horizontal}, or each of the four.
struct Border {
  std::int64_t left, top, right, bottom;
  constexpr Border(int all) : left(all), top(all), right(all), bottom(all) {}
  constexpr Border(int vertical, int horizontal)
      : left(horizontal), top(vertical), right(horizontal), bottom(vertical) {}
  constexpr Border(int left_side, int top_side, int right_side, int bottom_side)
      : left(left_side), top(top_side), right(right_side), bottom(bottom_side) {}
};
// Adds a border. Modes: "constant", with the value `fill`; "edge", the nearest pixel; "reflect", mirrored without the
// edge; "symmetric", mirrored with it. ValueError for other modes, negative lengths, and a border that is too wide for
// the mirrored image.
CATENA_EXPORT Array pad(const Array& image, Border padding, double fill = 0, std::string_view mode = "constant");

// Mirror the image: left and right, top and bottom. Views.
CATENA_EXPORT Array horizontal_flip(const Array& image);
CATENA_EXPORT Array vertical_flip(const Array& image);

// The size of a result: {height, width}, or one length for the shorter side, to which the longer one keeps its ratio.
struct ResizeTo {
  std::int64_t height;
  std::optional<std::int64_t> width;  // empty: `height` is the length of the shorter side
  constexpr ResizeTo(int shorter_side) : height(shorter_side) {}
  constexpr ResizeTo(int new_height, int new_width) : height(new_height), width(new_width) {}
};
struct ResizeOptions {
  std::string_view mode = "bilinear";                  // a mode of nn::interpolate
  std::optional<std::string_view> interpolation = {};  // PyTorch's name of mode; takes its place
  bool antialias = true;                               // "bilinear" and "bicubic": shrinking averages over all pixels
};
// Resizes by nn::interpolate. Values of uint8 images are rounded. ValueError for lengths below 1.
//   resize(image, 256)   resize(image, {224, 224}, {.mode = "nearest"})
CATENA_EXPORT Array resize(const Array& image, ResizeTo size, const ResizeOptions& options = {});
// resize(crop(image, top, left, height, width), size)
CATENA_EXPORT Array resized_crop(const Array& image, std::int64_t top, std::int64_t left, std::int64_t height,
                                 std::int64_t width, Pair size, const ResizeOptions& options = {});

// Two numbers, {0.1, 0.2}, or none.
struct OptionalPair : std::optional<std::pair<double, double>> {
  using optional::optional;
  constexpr OptionalPair(double first, double second) : optional(std::pair(first, second)) {}
};
struct RotateOptions {
  std::string_view mode = "nearest";                   // or "bilinear"
  std::optional<std::string_view> interpolation = {};  // PyTorch's name of mode; takes its place
  double fill = 0;                                     // value of pixels from outside of the image
  // Column and row of the point that stays, from the upper left corner; empty: the middle of the image.
  OptionalPair center = {};
};
// Rotates by `angle` degrees counterclockwise, within the size of the image. ValueError for other modes, and for an
// angle or a center that is not finite.
CATENA_EXPORT Array rotate(const Array& image, double angle, const RotateOptions& options = {});

struct AffineOptions {
  double angle = 0;                          // degrees, clockwise
  std::pair<double, double> translate = {};  // pixels to the right, and down
  double scale = 1;
  std::pair<double, double> shear = {};                // degrees, along x and along y
  std::string_view mode = "nearest";                   // or "bilinear"
  std::optional<std::string_view> interpolation = {};  // PyTorch's name of mode; takes its place
  double fill = 0;                                     // value of pixels from outside of the image
  OptionalPair center = {};                            // as of RotateOptions
};
// Shears, scales, rotates and translates, within the size of the image. ValueError for other modes, a scale that is not
// positive, and numbers that are not finite.
CATENA_EXPORT Array affine(const Array& image, const AffineOptions& options);

// The column and the row of a point of an image, from the upper left corner.
using Point = std::pair<double, double>;
struct PerspectiveOptions {
  std::string_view interpolation = "bilinear";  // or "nearest"
  double fill = 0;                              // value of pixels from outside of the image
};
// Moves four points of the image, the corners of a quadrilateral, to four others, and with them all points, by the map
// that keeps lines straight; within the size of the image. The result is sampled where the inverse map leads.
// ValueError for other modes, other numbers of points, and points of which three lie on one line or one is not finite.
CATENA_EXPORT Array perspective(const Array& image, const std::vector<Point>& startpoints,
                                const std::vector<Point>& endpoints, const PerspectiveOptions& options = {});
namespace internal {
// Whether a projection moves four points to four others; none does where three of them lie on one line.
bool has_projection(const std::vector<Point>& from, const std::vector<Point>& to);
}  // namespace internal

// Returns the four corners (upper left, upper right, lower left, lower right) and the middle, as views. ValueError if
// the image is smaller.
CATENA_EXPORT std::vector<Array> five_crop(const Array& image, Pair size);

// Sets a rectangle to a value, in a copy. ValueError if it does not lie within the image.
CATENA_EXPORT Array erase(const Array& image, std::int64_t top, std::int64_t left, std::int64_t height,
                          std::int64_t width, double value = 0);

// ---- transforms without random numbers ----
// The size by name: CenterCrop({.size = 224}).
struct SizeOptions {
  Pair size = 0;
};
// The middle of the given {height, width}, as a view (..., C, height, width). ValueError if the image is smaller.
class CATENA_EXPORT CenterCrop : public Transform {
 public:
  explicit CenterCrop(Pair size) : size_(size) {}
  template <std::same_as<SizeOptions> O = SizeOptions> explicit CenterCrop(const O& o) : CenterCrop(o.size) {}

 protected:
  Array apply(const Array& image, Generator&) const override { return center_crop(image, size_); }

 private:
  Pair size_;
};

struct PadOptions {
  double fill = 0;
  std::string_view mode = "constant";
  std::optional<std::string_view> padding_mode = {};  // PyTorch's name of mode; takes its place
};
// Adds a border: (..., C, top + H + bottom, left + W + right). Modes and errors of pad.
class CATENA_EXPORT Pad : public Transform {
 public:
  explicit Pad(Border padding, const PadOptions& options = {})
      : padding_(padding), fill_(options.fill), mode_(options.padding_mode.value_or(options.mode)) {}
  template <class T>
  Pad(Border padding, T fill, std::string_view mode = "constant") requires std::is_arithmetic_v<T>
      : Pad(padding, PadOptions{.fill = double(fill), .mode = mode}) {}

 protected:
  Array apply(const Array& image, Generator&) const override { return pad(image, padding_, fill_, mode_); }

 private:
  Border padding_;
  double fill_;
  std::string mode_;
};

// The options with the size: Resize({.size = 256, .interpolation = "bicubic"}).
struct NamedResizeOptions {
  ResizeTo size = 0;
  std::string_view interpolation = "bilinear";
  bool antialias = true;
};
// Resizes to {height, width}, or its shorter side to one length: (..., C, height, width). Errors of resize.
class CATENA_EXPORT Resize : public Transform {
 public:
  explicit Resize(ResizeTo size, const ResizeOptions& options = {})
      : size_(size), mode_(options.interpolation.value_or(options.mode)), antialias_(options.antialias) {}
  template <std::same_as<NamedResizeOptions> O = NamedResizeOptions>
  explicit Resize(const O& o) : Resize(o.size, {.mode = o.interpolation, .antialias = o.antialias}) {}

 protected:
  Array apply(const Array& image, Generator&) const override {
    return resize(image, size_, {.mode = mode_, .antialias = antialias_});
  }

 private:
  ResizeTo size_;
  std::string mode_;
  bool antialias_;
};

// The list of five_crop, for a function that stacks it or calls a model for each: FiveCrop(224)(image).
class FiveCrop {
 public:
  explicit FiveCrop(Pair size) : size_(size) {}
  template <std::same_as<SizeOptions> O = SizeOptions> explicit FiveCrop(const O& o) : FiveCrop(o.size) {}
  std::vector<Array> operator()(const Array& image) const { return five_crop(image, size_); }
  template <VariableImage V> std::vector<Variable> operator()(const V& image) const {
    std::vector<Variable> crops;
    for (const Array& crop : five_crop(image.data(), size_)) crops.push_back(autograd::as_variable(crop));
    return crops;
  }

 private:
  Pair size_;
};

}  // namespace training::transforms
