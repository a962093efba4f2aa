// torchvision's module models: networks with its structure and its keys, so that its state dicts load.
//
//   nn::models::ResNet net = nn::models::resnet18();                          // new weights
//   auto net = nn::models::resnet50({.weights = "resnet50-11ad3fa6.pth"});    // of a file; nothing is downloaded
//   net.fc = nn::Linear(512, 10);                                             // another last layer
//
// Input: images (N, 3, H, W), normalized as the weights need; result: the scores (N, num_classes). (ResNet50Layers and
// VGG16Layers have Chainer's structure.)
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <catena/nn/links/linear.h>
#include <catena/nn/links/torch_convolution.h>
#include <catena/nn/links/torch_normalization.h>
#include <catena/nn/links/torch_pooling.h>
#include <catena/nn/sequential.h>

namespace nn::models {

// The file of a state dict (nn::load), or none.
struct Weights {
  std::string file;
  Weights() = default;
  Weights(std::nullptr_t) {}
  Weights(std::nullopt_t) {}
  template <class T> Weights(const T& path) requires std::is_convertible_v<const T&, std::string> : file(path) {}
};
struct ModelOptions {
  Weights weights = {};
  bool progress = true;  // has no effect: nothing is downloaded
  int num_classes = 1000;
  double dropout = 0.5;  // of VGG and AlexNet
};

// The blocks of the smaller and of the larger networks: the sum of x, or downsample(x), and of two convolutions 3 x 3,
// or of three, 1 x 1, 3 x 3 and 1 x 1 with four times as many channels. The convolution 3 x 3 has the stride.
class CATENA_EXPORT BasicBlock : public Link {
 public:
  static constexpr int expansion = 1;
  BasicBlock(int inplanes, int planes, int stride = 1);
  NN_MEMBERS(conv1, bn1, conv2, bn2, downsample)
  Variable operator()(const Variable& x);

  Conv2d conv1;
  BatchNorm2d bn1;
  Conv2d conv2;
  BatchNorm2d bn2;
  std::optional<Sequential> downsample;  // where the sizes of x and of the result differ
};
class CATENA_EXPORT Bottleneck : public Link {
 public:
  static constexpr int expansion = 4;
  Bottleneck(int inplanes, int planes, int stride = 1);
  NN_MEMBERS(conv1, bn1, conv2, bn2, conv3, bn3, downsample)
  Variable operator()(const Variable& x);

  Conv2d conv1;
  BatchNorm2d bn1;
  Conv2d conv2;
  BatchNorm2d bn2;
  Conv2d conv3;
  BatchNorm2d bn3;
  std::optional<Sequential> downsample;
};

// Residual networks. (He et al.: Deep Residual Learning for Image Recognition.)
class CATENA_EXPORT ResNet : public Link {
 public:
  // layers: the number of blocks of layer1 to layer4; `bottleneck`: their kind. ValueError for other than four numbers.
  ResNet(bool bottleneck, const std::vector<int>& layers, const ModelOptions& options = {});
  NN_MEMBERS(conv1, bn1, layer1, layer2, layer3, layer4, fc)
  Variable operator()(const Variable& x);

  Conv2d conv1;
  BatchNorm2d bn1;
  Sequential layer1, layer2, layer3, layer4;
  Linear fc;
};
CATENA_EXPORT ResNet resnet18(const ModelOptions& options = {});
CATENA_EXPORT ResNet resnet34(const ModelOptions& options = {});
CATENA_EXPORT ResNet resnet50(const ModelOptions& options = {});
CATENA_EXPORT ResNet resnet101(const ModelOptions& options = {});
CATENA_EXPORT ResNet resnet152(const ModelOptions& options = {});

// Networks of convolutions and three linear layers: classifier(avgpool(features(x))).
class CATENA_EXPORT FeatureClassifier : public Link {
 public:
  NN_MEMBERS(features, classifier)
  Variable operator()(const Variable& x);

  Sequential features;
  AdaptiveAvgPool2d avgpool;
  Sequential classifier;

 protected:
  explicit FeatureClassifier(int pooled) : avgpool(pooled) {}
};
// Simonyan, Zisserman: Very Deep Convolutional Networks for Large-Scale Image Recognition.
class CATENA_EXPORT VGG : public FeatureClassifier {
 public:
  // layers: the number of convolutions before each of the five poolings (else ValueError).
  VGG(const std::vector<int>& layers, bool batch_norm, const ModelOptions& options = {});
};
CATENA_EXPORT VGG vgg11(const ModelOptions& options = {});
CATENA_EXPORT VGG vgg11_bn(const ModelOptions& options = {});
CATENA_EXPORT VGG vgg13(const ModelOptions& options = {});
CATENA_EXPORT VGG vgg13_bn(const ModelOptions& options = {});
CATENA_EXPORT VGG vgg16(const ModelOptions& options = {});
CATENA_EXPORT VGG vgg16_bn(const ModelOptions& options = {});
CATENA_EXPORT VGG vgg19(const ModelOptions& options = {});
CATENA_EXPORT VGG vgg19_bn(const ModelOptions& options = {});
// Krizhevsky: One weird trick for parallelizing convolutional neural networks.
class CATENA_EXPORT AlexNet : public FeatureClassifier {
 public:
  explicit AlexNet(const ModelOptions& options = {});
};
CATENA_EXPORT AlexNet alexnet(const ModelOptions& options = {});

}  // namespace nn::models
