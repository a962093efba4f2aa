// VGG16Layers and VGG19Layers: the networks of 16 and 19 layers of the Visual Geometry Group.
#pragma once

#include <concepts>
#include <span>
#include <string>

#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/linear.h>
#include <catena/nn/vision/pretrained.h>

namespace nn {

// Thirteen convolutions of 3 x 3 pixels and three fully connected layers. (Simonyan, Zisserman: Very Deep Convolutional
// Networks for Large-Scale Image Recognition, 2014.)
//
//   nn::VGG16Layers vgg;                  // "auto": VGG_ILSVRC_16_layers.npz or .caffemodel, see PretrainedModel
//   nn::VGG16Layers random(nullptr);      // N(0, 0.01^2), biases 0
//   vgg(x, {.layers = {"fc7"}})["fc7"];   // x: prepared images (N, 3, 224, 224); (N, 4096)
//
// Stages: conv1_1 to conv5_3, with relu; pool1 to pool5; fc6 and fc7, with relu and, in training mode, dropout; fc8;
// prob. Up to pool5, images may have any size from 32 x 32 on.
class CATENA_EXPORT VGG16Layers : public VisionModel {
 public:
  explicit VGG16Layers(const PretrainedModel& pretrained_model = "auto");
  template <std::same_as<PretrainedOptions> O = PretrainedOptions>
  explicit VGG16Layers(const O& options) : VGG16Layers(options.pretrained_model) {}

  NN_MEMBERS(conv1_1, conv1_2, conv2_1, conv2_2, conv3_1, conv3_2, conv3_3, conv4_1, conv4_2, conv4_3, conv5_1, conv5_2,
             conv5_3, fc6, fc7, fc8)

  static constexpr MeanColor kMean = {103.939f, 116.779f, 123.68f};
  // The image as input of the network: (3, H, W), see prepare_image.
  static Array prepare(const Array& image, const PrepareOptions& options = {});
  // Writes the weights of VGG_ILSVRC_16_layers.caffemodel, or of another network of Caffe with these names, as an npz
  // file.
  static void convert_caffemodel_to_npz(const std::string& path_caffemodel, const std::string& path_npz);
  // The weights of torchvision's vgg16. The first convolution is changed so that the input is that of prepare;
  // `mean` becomes torchvision's.
  void load_torchvision(const std::string& path) override;

  Convolution2D conv1_1, conv1_2, conv2_1, conv2_2, conv3_1, conv3_2, conv3_3, conv4_1, conv4_2, conv4_3, conv5_1,
      conv5_2, conv5_3;
  Linear fc6, fc7, fc8;

 protected:
  VGG16Layers(int n_layers, bool random);  // 16 or 19 layers, without weights from files

 private:
  static std::span<const Stage> stages(int n_layers);
};

// VGG16Layers with a fourth convolution in conv3, conv4 and conv5: 143,667,240 parameters. "auto" are
// VGG_ILSVRC_19_layers.npz and .caffemodel; torchvision's network is vgg19.
class CATENA_EXPORT VGG19Layers : public VGG16Layers {
 public:
  explicit VGG19Layers(const PretrainedModel& pretrained_model = "auto");
  template <std::same_as<PretrainedOptions> O = PretrainedOptions>
  explicit VGG19Layers(const O& options) : VGG19Layers(options.pretrained_model) {}

  NN_MEMBERS_OF(VGG16Layers, conv3_4, conv4_4, conv5_4)
  void load_torchvision(const std::string& path) override;

  Convolution2D conv3_4, conv4_4, conv5_4;
};

}  // namespace nn
