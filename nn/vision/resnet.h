// ResNetLayers: residual networks of 50, 101 and 152 layers.
#pragma once

#include <concepts>
#include <string>

#include <catena/nn/links/batch_normalization.h>
#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/linear.h>
#include <catena/nn/vision/pretrained.h>

namespace nn {

struct ResNetBlockOptions {
  Initializer initialW = {};  // of the filters; default: HeNormal(1 / sqrt 2)
  // The stride is that of the 3 x 3 convolution, as in torchvision and in later networks of Facebook (ResNet v1.5),
  // instead of that of the 1 x 1 convolution before it.
  bool downsample_fb = false;
};
// The arguments of the networks by name: ResNet50Layers({.pretrained_model = nullptr, .downsample_fb = true}).
struct ResNetOptions {
  PretrainedModel pretrained_model = "auto";
  bool downsample_fb = false;
};
struct ResNetCallOptions {
  bool test = true;  // whether batch normalization uses its running statistics
};

// The first layer of a block: relu(bn3(conv3(relu(bn2(conv2(relu(bn1(conv1(x)))))))) + bn4(conv4(x))). conv1 and conv4
// (1 x 1) have the stride, conv2 is 3 x 3, conv3 1 x 1; no convolution has a b. With downsample_fb, conv2 has the
// stride of conv1.
class CATENA_EXPORT BottleneckA : public Chain {
 public:
  using Options = ResNetBlockOptions;
  BottleneckA(int in_channels, int mid_channels, int out_channels, Pair stride = 2, const Options& options = {});

  NN_MEMBERS(conv1, bn1, conv2, bn2, conv3, bn3, conv4, bn4)
  Variable operator()(const Variable& x, const ResNetCallOptions& options = {});
  template <std::same_as<bool> B> Variable operator()(const Variable& x, B test) { return (*this)(x, {.test = test}); }

  Convolution2D conv1, conv2, conv3, conv4;
  BatchNormalization bn1, bn2, bn3, bn4;
};

// The other layers of a block: relu(bn3(conv3(relu(bn2(conv2(relu(bn1(conv1(x)))))))) + x).
class CATENA_EXPORT BottleneckB : public Chain {
 public:
  using Options = ResNetBlockOptions;
  BottleneckB(int in_channels, int mid_channels, const Options& options = {});

  NN_MEMBERS(conv1, bn1, conv2, bn2, conv3, bn3)
  Variable operator()(const Variable& x, const ResNetCallOptions& options = {});
  template <std::same_as<bool> B> Variable operator()(const Variable& x, B test) { return (*this)(x, {.test = test}); }

  Convolution2D conv1, conv2, conv3;
  BatchNormalization bn1, bn2, bn3;
};

// A block of n_layer layers: a BottleneckA "a" and BottleneckBs "b1", "b2", ...
//   nn::BuildingBlock res3(4, 256, 128, 512, 2);   // (N, 256, H, W) -> (N, 512, H / 2, W / 2)
class CATENA_EXPORT BuildingBlock : public Chain {
 public:
  using Options = ResNetBlockOptions;
  BuildingBlock(int n_layer, int in_channels, int mid_channels, int out_channels, Pair stride,
                const Options& options = {});

  NN_MEMBERS(a)
  Variable operator()(const Variable& x, const ResNetCallOptions& options = {});
  template <std::same_as<bool> B> Variable operator()(const Variable& x, B test) { return (*this)(x, {.test = test}); }

  BottleneckA a;
};

// A network of 50, 101 or 152 layers (else ValueError). (He et al.: Deep Residual Learning for Image Recognition,
// 2015.)
//
//   nn::ResNet50Layers net;                   // "auto": ResNet-50-model.npz or .caffemodel, see PretrainedModel
//   nn::ResNet50Layers random(nullptr);       // HeNormal(1)
//   net(x, {.layers = {"pool5"}})["pool5"];   // x: prepared images (N, 3, 224, 224); (N, 2048)
//
// Stages: conv1 (with bn1 and relu), pool1, res2, res3, res4, res5, pool5 (the mean over all pixels, so that images may
// have any size from 32 x 32 on), fc6, prob.
//
// With downsample_fb, the stride of res3, res4 and res5 is that of their 3 x 3 convolution. Weights that were
// trained in one form give other results in the other form.
//
// The running variances of a network with random weights are 1, as in later versions of Chainer; 1.24 has 0, with which
// the results in test mode overflow before training.
class CATENA_EXPORT ResNetLayers : public VisionModel {
 public:
  ResNetLayers(const PretrainedModel& pretrained_model, int n_layers, bool downsample_fb = false);

  NN_MEMBERS(conv1, bn1, res2, res3, res4, res5, fc6)

  static constexpr MeanColor kMean = {103.063f, 115.903f, 123.152f};
  // The image as input of the network: (3, H, W), see prepare_image.
  static Array prepare(const Array& image, const PrepareOptions& options = {});
  // Writes the weights of ResNet-50-model.caffemodel, or of another network of Caffe with these names, as an npz file.
  static void convert_caffemodel_to_npz(const std::string& path_caffemodel, const std::string& path_npz,
                                        int n_layers = 50);
  // The weights of torchvision's resnet50, resnet101 or resnet152. These networks compute differently: the stride is in
  // conv2 instead of conv1, pool1 pads, and eps is 1e-5. This network is changed accordingly, which files do not note:
  // load an npz file that save_npz wrote of it into a network after use_torchvision_layers(). The first convolution is
  // changed so that the input is that of prepare; `mean` becomes torchvision's.
  void load_torchvision(const std::string& path) override;
  void use_torchvision_layers();

  int n_layers;
  Convolution2D conv1;
  BatchNormalization bn1;
  BuildingBlock res2, res3, res4, res5;
  Linear fc6;
  bool pool1_pads = false;  // whether pool1 is max_pooling_2d(x, 3, 2, 1, false)

 private:
  enum class Weights { random, zero };
  ResNetLayers(Weights weights, int n_layers, bool downsample_fb);

  static const Stage kStages[9];
};

// ResNetLayers of 50 layers and 25,557,096 parameters.
class CATENA_EXPORT ResNet50Layers : public ResNetLayers {
 public:
  explicit ResNet50Layers(const PretrainedModel& pretrained_model = "auto", bool downsample_fb = false)
      : ResNetLayers(pretrained_model, 50, downsample_fb) {}
  template <std::same_as<ResNetOptions> O = ResNetOptions>
  explicit ResNet50Layers(const O& options) : ResNet50Layers(options.pretrained_model, options.downsample_fb) {}
};
// ResNetLayers of 101 layers and 44,549,224 parameters.
class CATENA_EXPORT ResNet101Layers : public ResNetLayers {
 public:
  explicit ResNet101Layers(const PretrainedModel& pretrained_model = "auto", bool downsample_fb = false)
      : ResNetLayers(pretrained_model, 101, downsample_fb) {}
  template <std::same_as<ResNetOptions> O = ResNetOptions>
  explicit ResNet101Layers(const O& options) : ResNet101Layers(options.pretrained_model, options.downsample_fb) {}
};
// ResNetLayers of 152 layers and 60,192,872 parameters.
class CATENA_EXPORT ResNet152Layers : public ResNetLayers {
 public:
  explicit ResNet152Layers(const PretrainedModel& pretrained_model = "auto", bool downsample_fb = false)
      : ResNetLayers(pretrained_model, 152, downsample_fb) {}
  template <std::same_as<ResNetOptions> O = ResNetOptions>
  explicit ResNet152Layers(const O& options) : ResNet152Layers(options.pretrained_model, options.downsample_fb) {}
};

}  // namespace nn
