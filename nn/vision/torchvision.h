// Weights of torchvision's networks. Internal.
#pragma once

#include <string>
#include <vector>

#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/vision/preparation.h>

namespace nn::internal {

// Loads the safetensors file of a state dict. `names`: {path of a link, its name in torchvision}. The keys `left_out`
// keep their values.
void load_torchvision(const std::string& path, Chain& net,
                      const std::vector<std::pair<std::string, std::string>>& names,
                      const std::vector<std::string>& left_out = {});

// Changes the first convolution, whose input are the colours red, green and blue in units of their deviation, so that
// its input are prepared images: blue, green and red as differences from `mean`, which becomes torchvision's.
void take_prepared_images(Convolution2D& first, MeanColor& mean);

}  // namespace nn::internal
