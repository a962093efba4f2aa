#include <catena/nn/vision/resnet.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/pooling.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/vision/torchvision.h>

namespace nn {

using catena::concat;

// ---- blocks -------------------------------------------------------------------------------------
namespace {

Convolution2DOptions filters(const ResNetBlockOptions& o, Pair stride = 1, Pair pad = 0) {
  return {.stride = stride, .pad = pad, .nobias = true, .initialW = o.initialW};
}
constexpr double kInitialVariance = 1;
BatchNormalizationLinkOptions statistics() { return {.initial_avg_var = kInitialVariance}; }

}  // namespace

BottleneckA::BottleneckA(int in, int mid, int out, Pair stride, const Options& o)
    : conv1(in, mid, 1, filters(o, o.downsample_fb ? Pair(1) : stride)),
      conv2(mid, mid, 3, filters(o, o.downsample_fb ? stride : Pair(1), 1)),
      conv3(mid, out, 1, filters(o)),
      conv4(in, out, 1, filters(o, stride)),
      bn1(mid, statistics()),
      bn2(mid, statistics()),
      bn3(out, statistics()),
      bn4(out, statistics()) {}

Variable BottleneckA::operator()(const Variable& x, const ResNetCallOptions& o) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  Variable h = relu(bn1(conv1(x), {.test = o.test}));
  h = relu(bn2(conv2(h), {.test = o.test}));
  return called(relu(bn3(conv3(h), {.test = o.test}) + bn4(conv4(x), {.test = o.test})));
}

BottleneckB::BottleneckB(int in, int mid, const Options& o)
    : conv1(in, mid, 1, filters(o)),
      conv2(mid, mid, 3, filters(o, 1, 1)),
      conv3(mid, in, 1, filters(o)),
      bn1(mid, statistics()),
      bn2(mid, statistics()),
      bn3(in, statistics()) {}

Variable BottleneckB::operator()(const Variable& x, const ResNetCallOptions& o) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  Variable h = relu(bn1(conv1(x), {.test = o.test}));
  h = relu(bn2(conv2(h), {.test = o.test}));
  return called(relu(bn3(conv3(h), {.test = o.test}) + x));
}

BuildingBlock::BuildingBlock(int n_layer, int in, int mid, int out, Pair stride, const Options& o)
    : a(in, mid, out, stride, o) {
  for (int i = 1; i < n_layer; ++i) add_link(concat("b", i), BottleneckB(out, mid, o));
}

Variable BuildingBlock::operator()(const Variable& x, const ResNetCallOptions& o) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  Variable h = a(x, o);
  for (Link& child : *this)
    if (&child != &a) h = static_cast<BottleneckB&>(child)(h, o);
  return called(h);
}

// ---- the network --------------------------------------------------------------------------------
namespace {

// The layers of res2, res3, res4 and res5.
std::array<int, 4> layers_of_blocks(int n_layers) {
  switch (n_layers) {
    case 50: return {3, 4, 6, 3};
    case 101: return {3, 4, 23, 3};
    case 152: return {3, 8, 36, 3};
    default: catena::fail<catena::ValueError>("ResNetLayers", "n_layers is ", n_layers, "; it must be 50, 101 or 152");
  }
}

ResNetLayers& resnet(VisionModel& net) { return static_cast<ResNetLayers&>(net); }
template <BuildingBlock ResNetLayers::*block> Variable residual(VisionModel& net, const Variable& x, bool test) {
  return (resnet(net).*block)(x, {.test = test});
}

}  // namespace

using R = ResNetLayers;
const VisionModel::Stage ResNetLayers::kStages[9] = {
    {"conv1", [](VisionModel& net, const Variable& x,
                 bool test) { return relu(resnet(net).bn1(resnet(net).conv1(x), {.test = test})); }},
    {"pool1",
     [](VisionModel& net, const Variable& x, bool) {
       const bool pads = resnet(net).pool1_pads;
       return max_pooling_2d(x, 3, {.stride = 2, .pad = pads ? 1 : 0, .cover_all = !pads});
     }},
    {"res2", residual<&R::res2>},
    {"res3", residual<&R::res3>},
    {"res4", residual<&R::res4>},
    {"res5", residual<&R::res5>},
    {"pool5",
     [](VisionModel&, const Variable& x, bool) {
       return x.mean({2, 3});
     }},
    {"fc6", [](VisionModel& net, const Variable& x, bool) { return resnet(net).fc6(x); }},
    {"prob", [](VisionModel&, const Variable& x, bool) { return softmax(x); }}};

namespace {

Initializer resnet_filters(bool random) { return random ? initializers::HeNormal(1.0) : Initializer(0.0); }

}  // namespace

ResNetLayers::ResNetLayers(Weights weights, int n, bool fb)
    : VisionModel(kStages, "pool5", kMean),
      n_layers(n),
      conv1(3, 64, 7, {.stride = 2, .pad = 3, .initialW = resnet_filters(weights == Weights::random)}),
      bn1(64, statistics()),
      res2(layers_of_blocks(n)[0], 64, 64, 256, 1, {resnet_filters(weights == Weights::random), fb}),
      res3(layers_of_blocks(n)[1], 256, 128, 512, 2, {resnet_filters(weights == Weights::random), fb}),
      res4(layers_of_blocks(n)[2], 512, 256, 1024, 2, {resnet_filters(weights == Weights::random), fb}),
      res5(layers_of_blocks(n)[3], 1024, 512, 2048, 2, {resnet_filters(weights == Weights::random), fb}),
      fc6(2048, 1000, {.initialW = weights == Weights::random ? Initializer() : Initializer(0.0)}) {
  name_params();
}

ResNetLayers::ResNetLayers(const PretrainedModel& from, int n, bool fb)
    : ResNetLayers(from.is_random() ? Weights::random : Weights::zero, n, fb) {
  const std::string name = concat("ResNet-", n, "-model");
  load(from, {name + ".npz", name + ".caffemodel", "https://github.com/KaimingHe/deep-residual-networks"},
       [n](const std::string& path_caffemodel, const std::string& path_npz) {
         convert_caffemodel_to_npz(path_caffemodel, path_npz, n);
       });
}

Array ResNetLayers::prepare(const Array& image, const PrepareOptions& options) {
  return prepare_image(image, kMean, options);
}

namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

// Calls f(name of a block, number of a layer in it, number of layers) for all layers.
template <class F> void for_each_layer(int n_layers, F f) {
  const std::array<int, 4> counts = layers_of_blocks(n_layers);
  for (int block = 0; block < 4; ++block)
    for (int i = 0; i < counts[std::size_t(block)]; ++i) f(block + 2, i);
}
std::string path_of(int block, int i) { return concat("res", block, i == 0 ? std::string("/a") : concat("/b", i)); }

// The convolution and the normalization of a layer of Caffe, which has a layer for gamma and beta.
void add_caffe_names(Names& names, const std::string& conv, const std::string& bn, const std::string& layer) {
  names.emplace_back(conv, "res" + layer);
  names.emplace_back(bn + "/gamma", "scale" + layer + "/W");
  names.emplace_back(bn + "/beta", "scale" + layer + "/bias/b");
  names.emplace_back(bn, "bn" + layer);
}

Names caffe_names(int n_layers) {
  Names names = {{"conv1", "conv1"},
                 {"bn1/gamma", "scale_conv1/W"},
                 {"bn1/beta", "scale_conv1/bias/b"},
                 {"bn1", "bn_conv1"},
                 {"fc6", "fc1000"}};
  for_each_layer(n_layers, [&](int block, int i) {
    // The layers of a block are "a", "b", "c", ..., those of the middle blocks of larger networks "a", "b1", "b2", ...
    const bool letters = n_layers == 50 || block == 2 || block == 5;
    const std::string layer = letters  ? concat(block, std::string(1, char('a' + i)), "_branch")
                              : i == 0 ? concat(block, "a_branch")
                                       : concat(block, "b", i, "_branch");
    const std::string path = path_of(block, i) + "/";
    for (const int k : {1, 2, 3})
      add_caffe_names(names, concat(path, "conv", k), concat(path, "bn", k),
                      layer + "2" + std::string(1, char('a' + k - 1)));
    if (i == 0) add_caffe_names(names, path + "conv4", path + "bn4", layer + "1");
  });
  return names;
}

Names torchvision_names(int n_layers) {
  Names names = {{"fc6", "fc"}};
  for_each_layer(n_layers, [&](int block, int i) {
    const std::string layer = concat("layer", block - 1, ".", i, ".");
    names.emplace_back(path_of(block, i) + "/conv4", layer + "downsample.0");
    names.emplace_back(path_of(block, i) + "/bn4", layer + "downsample.1");
    names.emplace_back(path_of(block, i), layer.substr(0, layer.size() - 1));
  });
  return names;
}

}  // namespace

void ResNetLayers::convert_caffemodel_to_npz(const std::string& path_caffemodel, const std::string& path_npz,
                                             int n_layers) {
  ResNetLayers net(Weights::zero, n_layers, false);
  // Only the network of 50 layers has this bias in Caffe.
  std::vector<std::string> left_out;
  if (n_layers != 50) left_out.emplace_back("conv1/b");
  internal::convert_caffemodel(path_caffemodel, path_npz, net, caffe_names(n_layers), left_out);
}

void ResNetLayers::load_torchvision(const std::string& path) {
  internal::load_torchvision(path, *this, torchvision_names(n_layers), {"conv1/b"});
  autograd::fill(conv1.b->data(), 0);
  internal::take_prepared_images(conv1, mean);
  use_torchvision_layers();
}

void ResNetLayers::use_torchvision_layers() {
  if (std::exchange(pool1_pads, true)) return;
  for (BuildingBlock* block : {&res3, &res4, &res5})
    if (block->a.conv2.geometry.stride.y == 1)
      std::swap(block->a.conv1.geometry.stride, block->a.conv2.geometry.stride);
  for (Link* link : links())
    if (auto* bn = dynamic_cast<BatchNormalization*>(link)) bn->eps = 1e-5;
}

}  // namespace nn
