// The functions of images for Variables, whose results are Variables without gradients. The functions of arrays, in the
// other headers of this folder, describe them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <catena/training/transforms/conversion.h>
#include <catena/training/transforms/mixing.h>

namespace training::transforms {

// PARAMETERS and ARGUMENTS are those behind the image, in parentheses, and begin with a comma.
#define CATENA_IMAGE_FUNCTION(name, PARAMETERS, ARGUMENTS)                                      \
  template <VariableImage V> Variable name(const V& image CATENA_STRIP PARAMETERS) {            \
    return autograd::as_variable(transforms::name(Array(image.data()) CATENA_STRIP ARGUMENTS)); \
  }
#define CATENA_STRIP(...) __VA_ARGS__

// Geometry.
CATENA_IMAGE_FUNCTION(crop, (, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width),
                      (, top, left, height, width))
CATENA_IMAGE_FUNCTION(center_crop, (, Pair size), (, size))
CATENA_IMAGE_FUNCTION(pad, (, Border padding, double fill = 0, std::string_view mode = "constant"),
                      (, padding, fill, mode))
CATENA_IMAGE_FUNCTION(horizontal_flip, (), ())
CATENA_IMAGE_FUNCTION(vertical_flip, (), ())
CATENA_IMAGE_FUNCTION(resize, (, ResizeTo size, const ResizeOptions& options = {}), (, size, options))
CATENA_IMAGE_FUNCTION(resized_crop,
                      (, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width, Pair size,
                       const ResizeOptions& options = {}),
                      (, top, left, height, width, size, options))
CATENA_IMAGE_FUNCTION(rotate, (, double angle, const RotateOptions& options = {}), (, angle, options))
CATENA_IMAGE_FUNCTION(affine, (, const AffineOptions& options), (, options))
CATENA_IMAGE_FUNCTION(perspective,
                      (, const std::vector<Point>& startpoints, const std::vector<Point>& endpoints,
                       const PerspectiveOptions& options = {}),
                      (, startpoints, endpoints, options))
CATENA_IMAGE_FUNCTION(erase,
                      (, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width,
                       double value = 0),
                      (, top, left, height, width, value))
// Colours and values.
CATENA_IMAGE_FUNCTION(adjust_brightness, (, double factor), (, factor))
CATENA_IMAGE_FUNCTION(adjust_contrast, (, double factor), (, factor))
CATENA_IMAGE_FUNCTION(adjust_saturation, (, double factor), (, factor))
CATENA_IMAGE_FUNCTION(adjust_hue, (, double turns), (, turns))
CATENA_IMAGE_FUNCTION(rgb_to_grayscale, (, int channels = 1), (, channels))
CATENA_IMAGE_FUNCTION(normalize, (, const std::vector<double>& mean, const std::vector<double>& std), (, mean, std))
CATENA_IMAGE_FUNCTION(to_float, (, autograd::Dtype dtype = autograd::Dtype::float32), (, dtype))
CATENA_IMAGE_FUNCTION(gaussian_blur, (, Pair kernel_size, std::optional<double> sigma = {}), (, kernel_size, sigma))
CATENA_IMAGE_FUNCTION(invert, (), ())
CATENA_IMAGE_FUNCTION(convert_image_dtype, (, autograd::Dtype dtype = autograd::Dtype::float32), (, dtype))
CATENA_IMAGE_FUNCTION(to_pil_image, (), ())
CATENA_IMAGE_FUNCTION(to_image, (), ())
CATENA_IMAGE_FUNCTION(mixup, (, double ratio), (, ratio))
CATENA_IMAGE_FUNCTION(cutmix, (, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width),
                      (, top, left, height, width))
#undef CATENA_STRIP
#undef CATENA_IMAGE_FUNCTION

template <VariableImage V> std::vector<Variable> five_crop(const V& image, Pair size) { return FiveCrop(size)(image); }

}  // namespace training::transforms
