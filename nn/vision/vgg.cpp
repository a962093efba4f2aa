#include <catena/nn/vision/vgg.h>

#include <catena/nn/caffe/caffe_function.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/noise.h>
#include <catena/nn/functions/pooling.h>
#include <catena/nn/serializers/npz.h>
#include <catena/nn/vision/torchvision.h>

namespace nn {

namespace {

VGG16Layers& vgg(VisionModel& net) { return static_cast<VGG16Layers&>(net); }

template <Convolution2D VGG16Layers::*conv> Variable vgg_convolved(VisionModel& net, const Variable& x, bool) {
  return relu((vgg(net).*conv)(x));
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

using V = VGG16Layers;
const VisionModel::Stage VGG16Layers::kStages[22] = {
    {"conv1_1", vgg_convolved<&V::conv1_1>},
    {"conv1_2", vgg_convolved<&V::conv1_2>},
    {"pool1", vgg_pooled},
    {"conv2_1", vgg_convolved<&V::conv2_1>},
    {"conv2_2", vgg_convolved<&V::conv2_2>},
    {"pool2", vgg_pooled},
    {"conv3_1", vgg_convolved<&V::conv3_1>},
    {"conv3_2", vgg_convolved<&V::conv3_2>},
    {"conv3_3", vgg_convolved<&V::conv3_3>},
    {"pool3", vgg_pooled},
    {"conv4_1", vgg_convolved<&V::conv4_1>},
    {"conv4_2", vgg_convolved<&V::conv4_2>},
    {"conv4_3", vgg_convolved<&V::conv4_3>},
    {"pool4", vgg_pooled},
    {"conv5_1", vgg_convolved<&V::conv5_1>},
    {"conv5_2", vgg_convolved<&V::conv5_2>},
    {"conv5_3", vgg_convolved<&V::conv5_3>},
    {"pool5", vgg_pooled},
    {"fc6", vgg_connected<&V::fc6>},
    {"fc7", vgg_connected<&V::fc7>},
    {"fc8", [](VisionModel& net, const Variable& x, bool) { return vgg(net).fc8(x); }},
    {"prob", [](VisionModel&, const Variable& x, bool) { return softmax(x); }}};

VGG16Layers::VGG16Layers(const PretrainedModel& from)
    : VisionModel(kStages, "fc7", kMean),
      conv1_1(3, 64, 3, filters(from.is_random())),
      conv1_2(64, 64, 3, filters(from.is_random())),
      conv2_1(64, 128, 3, filters(from.is_random())),
      conv2_2(128, 128, 3, filters(from.is_random())),
      conv3_1(128, 256, 3, filters(from.is_random())),
      conv3_2(256, 256, 3, filters(from.is_random())),
      conv3_3(256, 256, 3, filters(from.is_random())),
      conv4_1(256, 512, 3, filters(from.is_random())),
      conv4_2(512, 512, 3, filters(from.is_random())),
      conv4_3(512, 512, 3, filters(from.is_random())),
      conv5_1(512, 512, 3, filters(from.is_random())),
      conv5_2(512, 512, 3, filters(from.is_random())),
      conv5_3(512, 512, 3, filters(from.is_random())),
      fc6(512 * 7 * 7, 4096, units(from.is_random())),
      fc7(4096, 4096, units(from.is_random())),
      fc8(4096, 1000, units(from.is_random())) {
  name_params();
  load(from,
       {"VGG_ILSVRC_16_layers.npz", "VGG_ILSVRC_16_layers.caffemodel",
        "http://www.robots.ox.ac.uk/%7Evgg/software/very_deep/caffe/VGG_ILSVRC_16_layers.caffemodel"},
       convert_caffemodel_to_npz);
}

Array VGG16Layers::prepare(const Array& image, const PrepareOptions& options) {
  return prepare_image(image, kMean, options);
}

void VGG16Layers::convert_caffemodel_to_npz(const std::string& path_caffemodel, const std::string& path_npz) {
  links::caffe::CaffeFunction caffe(path_caffemodel);
  serializers::save_npz(path_npz, caffe, false);
}

void VGG16Layers::load_torchvision(const std::string& path) {
  internal::load_torchvision(path, *this,
                             {{"conv1_1", "features.0"},
                              {"conv1_2", "features.2"},
                              {"conv2_1", "features.5"},
                              {"conv2_2", "features.7"},
                              {"conv3_1", "features.10"},
                              {"conv3_2", "features.12"},
                              {"conv3_3", "features.14"},
                              {"conv4_1", "features.17"},
                              {"conv4_2", "features.19"},
                              {"conv4_3", "features.21"},
                              {"conv5_1", "features.24"},
                              {"conv5_2", "features.26"},
                              {"conv5_3", "features.28"},
                              {"fc6", "classifier.0"},
                              {"fc7", "classifier.3"},
                              {"fc8", "classifier.6"}});
  internal::take_prepared_images(conv1_1, mean);
}

}  // namespace nn
