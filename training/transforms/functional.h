// torchvision's modules transforms.functional and transforms.v2: the functions of this folder, and their names there.
#pragma once

#include <catena/training/transforms/conversion.h>
#include <catena/training/transforms/of_variables.h>

namespace training::transforms {

namespace functional {
using namespace training::transforms;
// torchvision's names of functions and transforms of this folder.
inline Array hflip(const Array& image) { return horizontal_flip(image); }
inline Array vflip(const Array& image) { return vertical_flip(image); }
inline Array to_grayscale(const Array& image, int num_output_channels = 1) {
  return rgb_to_grayscale(image, num_output_channels);
}
inline Array to_tensor(const Array& picture) { return ToTensor()(picture); }
template <VariableImage V> Variable hflip(const V& image) { return horizontal_flip(image); }
template <VariableImage V> Variable vflip(const V& image) { return vertical_flip(image); }
template <VariableImage V> Variable to_grayscale(const V& image, int num_output_channels = 1) {
  return rgb_to_grayscale(image, num_output_channels);
}
template <VariableImage V> Variable to_tensor(const V& picture) { return ToTensor()(picture); }
}  // namespace functional

namespace v2 {
using namespace training::transforms;
}  // namespace v2

}  // namespace training::transforms
