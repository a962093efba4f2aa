// Checks of images, their elements on the host, and random numbers. Internal to this folder.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/training/draws.h>

namespace training::transforms::internal {

using autograd::Array;
using autograd::Generator;

// ValueError unless the array has at least the axes (C, H, W), none of them empty; TypeError unless it is uint8 or
// floating.
void check_image(std::string_view op, const Array& image);
// ValueError unless p is a probability.
void check_probability(std::string_view op, double p);

// Returns a part of the images as a view; the caller has checked that it lies within them.
Array rectangle(const Array& image, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width);

// An image whose elements are read, changed and written on the host. Planes are the channels of all images.
struct Pixels {
  explicit Pixels(const Array& image);
  Pixels(const Array& given, std::vector<float> elements) : image(given), v(std::move(elements)) {}
  // Returns an array of the given shape with the elements `v`. Those of a uint8 image are limited to 0..255 and
  // rounded: to the nearest integer, half to even, or towards zero, as torchvision's functions do in their turn.
  enum class Rounding { nearest, down };
  Array array(const autograd::Shape& shape, Rounding rounding) const;
  std::int64_t channels() const { return image.shape(-3); }
  std::int64_t height() const { return image.shape(-2); }
  std::int64_t width() const { return image.shape(-1); }
  std::int64_t plane() const { return height() * width(); }
  std::int64_t images() const { return image.size() / (channels() * plane()); }
  bool is_integer() const { return image.dtype() == autograd::Dtype::uint8; }
  float max() const { return is_integer() ? 255.0F : 1.0F; }  // the value of white

  Array image;
  std::vector<float> v;
};

using training::internal::integer;
using training::internal::uniform;
bool chance(Generator& g, double p);                   // true with probability p
double beta(Generator& g, double alpha, double beta);  // of the beta distribution

}  // namespace training::transforms::internal
