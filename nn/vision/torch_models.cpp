#include <catena/nn/vision/torch_models.h>

#include <utility>

#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/math.h>
#include <catena/nn/functions/pooling.h>
#include <catena/nn/init.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/torch_activation.h>
#include <catena/nn/serializers/state_dict.h>

namespace nn::models {

using catena::check;
using catena::ValueError;

namespace {

Conv2d filters(int in, int out, int kernel, int stride, int padding, bool bias = false) {
  Conv2d conv(in, out, kernel, {.stride = stride, .padding = padding, .bias = bias});
  init::kaiming_normal_(conv.W, {.mode = "fan_out", .nonlinearity = "relu"});
  return conv;
}
Conv2d filters3(int in, int out, int stride = 1) { return filters(in, out, 3, stride, 1); }
Conv2d filters1(int in, int out, int stride = 1) { return filters(in, out, 1, stride, 0); }

std::optional<Sequential> shortcut(int in, int out, int stride) {
  if (in == out && stride == 1) return {};
  return Sequential(filters1(in, out, stride), BatchNorm2d(out));
}
// A block may have no layer for x.
Variable with_shortcut(std::optional<Sequential>& downsample, const Variable& x, const Variable& h) {
  return relu(h + (downsample ? (*downsample)(x) : x));
}

template <class Block> Sequential blocks(int n, int& in, int planes, int stride) {
  Sequential layer;
  for (int i = 0; i < n; ++i) {
    layer.append(Block(in, planes, i == 0 ? stride : 1));
    in = planes * Block::expansion;
  }
  return layer;
}
template <class Block> void make_layers(ResNet& net, const std::vector<int>& layers) {
  int in = 64;
  Sequential* const all[] = {&net.layer1, &net.layer2, &net.layer3, &net.layer4};
  for (int i = 0; i < 4; ++i) *all[i] = blocks<Block>(layers[std::size_t(i)], in, 64 << i, i == 0 ? 1 : 2);
}

template <class Net> Net loaded(Net net, const ModelOptions& options) {
  if (!options.weights.file.empty()) net.load_state_dict(load(options.weights.file));
  return net;
}

Linear normal_linear(int in, int out) {
  Linear linear(in, out);
  init::normal_(linear.W, 0, 0.01);
  return linear;
}

}  // namespace

BasicBlock::BasicBlock(int inplanes, int planes, int stride)
    : conv1(filters3(inplanes, planes, stride)),
      bn1(planes),
      conv2(filters3(planes, planes)),
      bn2(planes),
      downsample(shortcut(inplanes, planes, stride)) {}
Variable BasicBlock::operator()(const Variable& x) {
  LinkCall called(*this, x);
  return called(with_shortcut(downsample, x, bn2(conv2(relu(bn1(conv1(x)))))));
}

Bottleneck::Bottleneck(int inplanes, int planes, int stride)
    : conv1(filters1(inplanes, planes)),
      bn1(planes),
      conv2(filters3(planes, planes, stride)),
      bn2(planes),
      conv3(filters1(planes, planes * expansion)),
      bn3(planes * expansion),
      downsample(shortcut(inplanes, planes * expansion, stride)) {}
Variable Bottleneck::operator()(const Variable& x) {
  LinkCall called(*this, x);
  return called(with_shortcut(downsample, x, bn3(conv3(relu(bn2(conv2(relu(bn1(conv1(x))))))))));
}

ResNet::ResNet(bool bottleneck, const std::vector<int>& layers, const ModelOptions& options)
    : conv1(filters(3, 64, 7, 2, 3)), bn1(64), fc(bottleneck ? 2048 : 512, options.num_classes) {
  check<ValueError>(layers.size() == 4, "ResNet", "the numbers of blocks are four, not ", layers.size());
  if (bottleneck) make_layers<Bottleneck>(*this, layers);
  else make_layers<BasicBlock>(*this, layers);
}
Variable ResNet::operator()(const Variable& x) {
  LinkCall called(*this, x);
  const Variable h = max_pooling_2d(relu(bn1(conv1(x))), 3, {.stride = 2, .pad = 1, .cover_all = false});
  return called(fc(autograd::mean(layer4(layer3(layer2(layer1(h)))), {2, 3})));
}

ResNet resnet18(const ModelOptions& o) { return loaded(ResNet(false, {2, 2, 2, 2}, o), o); }
ResNet resnet34(const ModelOptions& o) { return loaded(ResNet(false, {3, 4, 6, 3}, o), o); }
ResNet resnet50(const ModelOptions& o) { return loaded(ResNet(true, {3, 4, 6, 3}, o), o); }
ResNet resnet101(const ModelOptions& o) { return loaded(ResNet(true, {3, 4, 23, 3}, o), o); }
ResNet resnet152(const ModelOptions& o) { return loaded(ResNet(true, {3, 8, 36, 3}, o), o); }

Variable FeatureClassifier::operator()(const Variable& x) {
  LinkCall called(*this, x);
  const Variable h = avgpool(features(x));
  return called(classifier(autograd::reshape(h, {h.shape(0), -1})));
}

VGG::VGG(const std::vector<int>& layers, bool batch_norm, const ModelOptions& options) : FeatureClassifier(7) {
  check<ValueError>(layers.size() == 5, "VGG", "the numbers of convolutions are five, not ", layers.size());
  int in = 3;
  for (std::size_t i = 0; i < 5; ++i) {
    const int out = i < 4 ? 64 << i : 512;
    for (int k = 0; k < layers[i]; ++k) {
      features.append(filters(in, out, 3, 1, 1, true));
      if (batch_norm) features.append(BatchNorm2d(out));
      features.append(ReLU());
      in = out;
    }
    features.append(MaxPool2d(2, 2));
  }
  for (const int size : {in * 7 * 7, 4096}) {
    classifier.append(normal_linear(size, 4096));
    classifier.append(ReLU());
    classifier.append(Dropout(options.dropout));
  }
  classifier.append(normal_linear(4096, options.num_classes));
}

VGG vgg11(const ModelOptions& o) { return loaded(VGG({1, 1, 2, 2, 2}, false, o), o); }
VGG vgg11_bn(const ModelOptions& o) { return loaded(VGG({1, 1, 2, 2, 2}, true, o), o); }
VGG vgg13(const ModelOptions& o) { return loaded(VGG({2, 2, 2, 2, 2}, false, o), o); }
VGG vgg13_bn(const ModelOptions& o) { return loaded(VGG({2, 2, 2, 2, 2}, true, o), o); }
VGG vgg16(const ModelOptions& o) { return loaded(VGG({2, 2, 3, 3, 3}, false, o), o); }
VGG vgg16_bn(const ModelOptions& o) { return loaded(VGG({2, 2, 3, 3, 3}, true, o), o); }
VGG vgg19(const ModelOptions& o) { return loaded(VGG({2, 2, 4, 4, 4}, false, o), o); }
VGG vgg19_bn(const ModelOptions& o) { return loaded(VGG({2, 2, 4, 4, 4}, true, o), o); }

AlexNet::AlexNet(const ModelOptions& options) : FeatureClassifier(6) {
  struct Layer {
    int in, out, kernel, stride, padding;
    bool pools;
  };
  for (const Layer& l : {Layer{3, 64, 11, 4, 2, true}, Layer{64, 192, 5, 1, 2, true}, Layer{192, 384, 3, 1, 1, false},
                         Layer{384, 256, 3, 1, 1, false}, Layer{256, 256, 3, 1, 1, true}}) {
    features.append(Conv2d(l.in, l.out, l.kernel, {.stride = l.stride, .padding = l.padding}));
    features.append(ReLU());
    if (l.pools) features.append(MaxPool2d(3, 2));
  }
  for (const int size : {256 * 6 * 6, 4096}) {
    classifier.append(Dropout(options.dropout));
    classifier.append(Linear(size, 4096));
    classifier.append(ReLU());
  }
  classifier.append(Linear(4096, options.num_classes));
}
AlexNet alexnet(const ModelOptions& o) { return loaded(AlexNet(o), o); }

}  // namespace nn::models
