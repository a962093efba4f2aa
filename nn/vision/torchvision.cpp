#include <catena/nn/vision/torchvision.h>

#include <catena/nn/serializers/safetensors.h>

namespace nn::internal {

void load_torchvision(const std::string& path, Chain& net,
                      const std::vector<std::pair<std::string, std::string>>& names,
                      const std::vector<std::string>& left_out) {
  serializers::load_safetensors(path, net, {.ignore_names = left_out, .style = KeyStyle::pytorch, .rename = names});
}

void take_prepared_images(Convolution2D& first, MeanColor& mean) {
  // Of red, green and blue in units of 1/255, as torchvision documents them for all its networks of ImageNet.
  constexpr float kMean[] = {0.485f, 0.456f, 0.406f}, kDeviation[] = {0.229f, 0.224f, 0.225f};
  const Array W = first.W.data();
  const Array mirrored = autograd::copy(autograd::slice(W, 1, 2, -4, -1));
  std::vector<float> factors;
  for (std::size_t c = 0; c < 3; ++c) {
    mean[c] = 255 * kMean[2 - c];
    factors.push_back(1 / (255 * kDeviation[2 - c]));
  }
  autograd::assign(W, mirrored * autograd::array(factors, {1, 3, 1, 1}, W.device()));
}

}  // namespace nn::internal
