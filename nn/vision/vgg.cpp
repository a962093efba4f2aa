#include <catena/nn/vision/vgg.h>

#include <algorithm>
#include <array>
#include <iterator>

#include <catena/nn/caffe/caffe_function.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/noise.h>
#include <catena/nn/functions/pooling.h>
#include <catena/nn/serializers/npz.h>
#include <catena/nn/vision/torchvision.h>

namespace nn {

namespace {

VGG16Layers& vgg(VisionModel& net) { return static_cast<VGG16Layers&>(net); }

template <class Net, Convolution2D Net::*conv> Variable vgg_convolved(VisionModel& net, const Variable& x, bool) {
  return relu((static_cast<Net&>(net).*conv)(x));
}
template <Linear VGG16Layers::*fc> Variable vgg_connected(VisionModel& net, const Variable& x, bool test) {
  return dropout(relu((vgg(net).*fc)(x)), {.train = !test});
}
Variable vgg_pooled(VisionModel&, const Variable& x, bool) { return max_pooling_2d(x, 2); }

Convolution2DOptions filters(bool random) {
  return {.pad = 1, .initialW = random ? initializers::Normal(0.01) : Initializer(0.0), .initial_bias = 0.0};
}
LinearOptions units(bool random) { return {.initialW = filters(random).initialW, .initial_bias = 0.0}; }

}  // namespace

std::span<const VisionModel::Stage> VGG16Layers::stages(int n_layers) {
  using V = VGG16Layers;
  using W = VGG19Layers;
  static constexpr Stage kOf19[] = {{"conv1_1", vgg_convolved<V, &V::conv1_1>},
                                    {"conv1_2", vgg_convolved<V, &V::conv1_2>},
                                    {"pool1", vgg_pooled},
                                    {"conv2_1", vgg_convolved<V, &V::conv2_1>},
                                    {"conv2_2", vgg_convolved<V, &V::conv2_2>},
                                    {"pool2", vgg_pooled},
                                    {"conv3_1", vgg_convolved<V, &V::conv3_1>},
                                    {"conv3_2", vgg_convolved<V, &V::conv3_2>},
                                    {"conv3_3", vgg_convolved<V, &V::conv3_3>},
                                    {"conv3_4", vgg_convolved<W, &W::conv3_4>},
                                    {"pool3", vgg_pooled},
                                    {"conv4_1", vgg_convolved<V, &V::conv4_1>},
                                    {"conv4_2", vgg_convolved<V, &V::conv4_2>},
                                    {"conv4_3", vgg_convolved<V, &V::conv4_3>},
                                    {"conv4_4", vgg_convolved<W, &W::conv4_4>},
                                    {"pool4", vgg_pooled},
                                    {"conv5_1", vgg_convolved<V, &V::conv5_1>},
                                    {"conv5_2", vgg_convolved<V, &V::conv5_2>},
                                    {"conv5_3", vgg_convolved<V, &V::conv5_3>},
                                    {"conv5_4", vgg_convolved<W, &W::conv5_4>},
                                    {"pool5", vgg_pooled},
                                    {"fc6", vgg_connected<&V::fc6>},
                                    {"fc7", vgg_connected<&V::fc7>},
                                    {"fc8", [](VisionModel& net, const Variable& x, bool) { return vgg(net).fc8(x); }},
                                    {"prob", [](VisionModel&, const Variable& x, bool) { return softmax(x); }}};
  // The same without the fourth convolutions.
  static constexpr auto kOf16 = [] {
    std::array<Stage, std::size(kOf19) - 3> result;
    std::remove_copy_if(std::begin(kOf19), std::end(kOf19), result.begin(),
                        [](const Stage& stage) { return stage.name.ends_with("_4"); });
    return result;
  }();
  if (n_layers == 19) return kOf19;
  return kOf16;
}

VGG16Layers::VGG16Layers(int n_layers, bool random)
    : VisionModel(stages(n_layers), "fc7", kMean),
      conv1_1(3, 64, 3, filters(random)),
      conv1_2(64, 64, 3, filters(random)),
      conv2_1(64, 128, 3, filters(random)),
      conv2_2(128, 128, 3, filters(random)),
      conv3_1(128, 256, 3, filters(random)),
      conv3_2(256, 256, 3, filters(random)),
      conv3_3(256, 256, 3, filters(random)),
      conv4_1(256, 512, 3, filters(random)),
      conv4_2(512, 512, 3, filters(random)),
      conv4_3(512, 512, 3, filters(random)),
      conv5_1(512, 512, 3, filters(random)),
      conv5_2(512, 512, 3, filters(random)),
      conv5_3(512, 512, 3, filters(random)),
      fc6(512 * 7 * 7, 4096, units(random)),
      fc7(4096, 4096, units(random)),
      fc8(4096, 1000, units(random)) {
  name_params();
}

VGG16Layers::VGG16Layers(const PretrainedModel& from) : VGG16Layers(16, from.is_random()) {
  load(from,
       {"VGG_ILSVRC_16_layers.npz", "VGG_ILSVRC_16_layers.caffemodel",
        "http://www.robots.ox.ac.uk/%7Evgg/software/very_deep/caffe/VGG_ILSVRC_16_layers.caffemodel"},
       convert_caffemodel_to_npz);
}

VGG19Layers::VGG19Layers(const PretrainedModel& from)
    : VGG16Layers(19, from.is_random()),
      conv3_4(256, 256, 3, filters(from.is_random())),
      conv4_4(512, 512, 3, filters(from.is_random())),
      conv5_4(512, 512, 3, filters(from.is_random())) {
  name_params();
  load(from,
       {"VGG_ILSVRC_19_layers.npz", "VGG_ILSVRC_19_layers.caffemodel",
        "http://www.robots.ox.ac.uk/%7Evgg/software/very_deep/caffe/VGG_ILSVRC_19_layers.caffemodel"},
       convert_caffemodel_to_npz);
}

Array VGG16Layers::prepare(const Array& image, const PrepareOptions& options) {
  return prepare_image(image, kMean, options);
}

void VGG16Layers::convert_caffemodel_to_npz(const std::string& path_caffemodel, const std::string& path_npz) {
  links::caffe::CaffeFunction caffe(path_caffemodel);
  serializers::save_npz(path_npz, caffe, false);
}

namespace {

// The names of torchvision: convolutions, relu and pooling count in "features". `depth`: the convolutions of a stage.
std::vector<std::pair<std::string, std::string>> torchvision_names(const int (&depth)[5]) {
  std::vector<std::pair<std::string, std::string>> names;
  int feature = 0;
  for (int stage = 0; stage < 5; ++stage, ++feature)
    for (int i = 0; i < depth[stage]; ++i, feature += 2)
      names.emplace_back(catena::concat("conv", stage + 1, "_", i + 1), catena::concat("features.", feature));
  names.insert(names.end(), {{"fc6", "classifier.0"}, {"fc7", "classifier.3"}, {"fc8", "classifier.6"}});
  return names;
}

}  // namespace

void VGG16Layers::load_torchvision(const std::string& path) {
  internal::load_torchvision(path, *this, torchvision_names({2, 2, 3, 3, 3}));
  internal::take_prepared_images(conv1_1, mean);
}

void VGG19Layers::load_torchvision(const std::string& path) {
  internal::load_torchvision(path, *this, torchvision_names({2, 2, 4, 4, 4}));
  internal::take_prepared_images(conv1_1, mean);
}

}  // namespace nn
