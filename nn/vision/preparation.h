// The preparation of images for networks: sizes, crops, mean colours.
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/nn/functions/lengths.h>

namespace nn {

using autograd::Array;

// Width and height in pixels, in this order, as in the Python library Pillow: {320, 240}, or one number for both.
struct ImageSize {
  int width, height;
  constexpr ImageSize(int both) : width(both), height(both) {}
  template <std::same_as<bool> B> ImageSize(B) = delete;
  constexpr ImageSize(int w, int h) : width(w), height(h) {}
  friend constexpr bool operator==(const ImageSize&, const ImageSize&) = default;
};

// How resize_image computes a pixel: from the nearest one, or from 2 or 4 neighbours per axis, which are more if the
// image becomes smaller.
enum class Resample { nearest, bilinear, bicubic };

// Returns the image (C, H, W), of C = 1 or 3 channels, at another size, as uint8 on the CPU. The forms of `image` are
// those of prepare_image. The values are those of Image.resize in Pillow. ValueError for a size below 1.
CATENA_EXPORT Array resize_image(const Array& image, const ImageSize& size, Resample resample = Resample::nearest);

// Mean values of the channels of an image: blue, green, red.
using MeanColor = std::array<float, 3>;

struct PrepareOptions {
  std::optional<ImageSize> size = ImageSize(224);  // std::nullopt: the size of the image
  Resample resample = Resample::nearest;
};

// Returns the image as the input of a network: at `size`, in the order blue, green, red, minus the mean, float32 (3, H,
// W) on the CPU. `image` has values 0..255 (fractions are cut off) and one of the shapes (H, W), (C, H, W), (H, W, C)
// with C = 1 (grey) or C = 3 (red, green, blue), as read_image gives it. ValueError for other shapes, as those of
// images with opacity, whose first channels image(Slice(0, 3)) are the colours.
CATENA_EXPORT Array prepare_image(const Array& image, const MeanColor& mean, const PrepareOptions& options = {});

// A list of images: {a, b}, a vector, a batch (N, C, H, W), or one image (2 or 3 axes).
class CATENA_EXPORT ImageList {
 public:
  ImageList(std::initializer_list<Array> images) : images_(images) {}
  ImageList(std::vector<Array> images) : images_(std::move(images)) {}
  template <autograd::ForeignArray T> ImageList(const std::vector<T>& images) : images_(images.begin(), images.end()) {}
  ImageList(const Array& images);
  template <autograd::ForeignArray T> ImageList(const T& images) : ImageList(Array(images)) {}

  std::size_t size() const noexcept { return images_.size(); }
  const Array& operator[](std::size_t i) const noexcept { return images_[i]; }
  auto begin() const noexcept { return images_.begin(); }
  auto end() const noexcept { return images_.end(); }

 private:
  std::vector<Array> images_;
};

// Returns, for every image (C, H, W), the crops of a size (height, width) at the four corners (top left, top right,
// bottom left, bottom right) and in the centre, and then these five mirrored: (10 N, C, height, width), in the dtype of
// the images, on the CPU. ValueError if there is no image, if images differ in shape or dtype, and for crops larger
// than the images.
CATENA_EXPORT Array oversample(const ImageList& images, Pair crop_dims);

}  // namespace nn
