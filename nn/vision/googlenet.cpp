#include <catena/nn/vision/googlenet.h>

#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/noise.h>
#include <catena/nn/functions/normalization.h>
#include <catena/nn/functions/pooling.h>

namespace nn {

namespace {

GoogLeNet& googlenet(VisionModel& net) { return static_cast<GoogLeNet&>(net); }

Variable normalized(const Variable& x) {
  return local_response_normalization(x, {.n = 5, .k = 1, .alpha = 1e-4 / 5, .beta = 0.75});
}
Variable googlenet_pooled(VisionModel&, const Variable& x, bool) { return max_pooling_2d(x, 3, 2); }
template <Convolution2D GoogLeNet::*conv> Variable googlenet_convolved(VisionModel& net, const Variable& x, bool) {
  return relu((googlenet(net).*conv)(x));
}
template <Inception GoogLeNet::*module> Variable inception(VisionModel& net, const Variable& x, bool) {
  return (googlenet(net).*module)(x);
}
template <Convolution2D GoogLeNet::*conv, Linear GoogLeNet::*fc1, Linear GoogLeNet::*fc2>
Variable classified(VisionModel& net, const Variable& x, bool) {
  GoogLeNet& g = googlenet(net);
  const Variable h = relu((g.*conv)(average_pooling_2d(x, 5, 3)));
  return (g.*fc2)(relu((g.*fc1)(h)));
}

}  // namespace

using G = GoogLeNet;
const VisionModel::Stage GoogLeNet::kStages[21] = {
    {"conv1", googlenet_convolved<&G::conv1>},
    {"pool1",
     [](VisionModel& net, const Variable& x, bool test) { return normalized(googlenet_pooled(net, x, test)); }},
    {"conv2_reduce", googlenet_convolved<&G::conv2_reduce>},
    {"conv2", [](VisionModel& net, const Variable& x, bool) { return normalized(relu(googlenet(net).conv2(x))); }},
    {"pool2", googlenet_pooled},
    {"inception_3a", inception<&G::inc3a>},
    {"inception_3b", inception<&G::inc3b>},
    {"pool3", googlenet_pooled},
    {"inception_4a", inception<&G::inc4a>},
    {"inception_4b", inception<&G::inc4b>},
    {"inception_4c", inception<&G::inc4c>},
    {"inception_4d", inception<&G::inc4d>},
    {"inception_4e", inception<&G::inc4e>},
    {"pool4", googlenet_pooled},
    {"inception_5a", inception<&G::inc5a>},
    {"inception_5b", inception<&G::inc5b>},
    {"pool5", [](VisionModel&, const Variable& x, bool) { return average_pooling_2d(x, 7, 1); }},
    {"loss3_fc", [](VisionModel& net, const Variable& x,
                    bool test) { return googlenet(net).loss3_fc(dropout(x, {.ratio = 0.4, .train = !test})); }},
    {"prob", [](VisionModel&, const Variable& x, bool) { return softmax(x); }},
    {"loss1_fc2", classified<&G::loss1_conv, &G::loss1_fc1, &G::loss1_fc2>, "inception_4a"},
    {"loss2_fc2", classified<&G::loss2_conv, &G::loss2_fc1, &G::loss2_fc2>, "inception_4d"}};

namespace {

// The initial weights: W of the layers outside the modules, and of the modules.
struct GoogLeNetWeights {
  Initializer W, module;

  Convolution2DOptions filters(Pair stride = 1, Pair pad = 0) const {
    return {.stride = stride, .pad = pad, .initialW = W};
  }
  LinearOptions units() const { return {.initialW = W}; }
  InceptionOptions modules() const { return {.conv_init = module}; }
};

GoogLeNetWeights googlenet_weights(bool random) {
  if (random) return {initializers::LeCunUniform(), {}};
  return {0.0, 0.0};
}

}  // namespace

GoogLeNet::GoogLeNet(Weights weights)
    : VisionModel(kStages, "pool5", kMean),
      conv1(3, 64, 7, googlenet_weights(weights == Weights::random).filters(2, 3)),
      conv2_reduce(64, 64, 1, googlenet_weights(weights == Weights::random).filters()),
      conv2(64, 192, 3, googlenet_weights(weights == Weights::random).filters(1, 1)),
      inc3a(192, 64, 96, 128, 16, 32, 32, googlenet_weights(weights == Weights::random).modules()),
      inc3b(256, 128, 128, 192, 32, 96, 64, googlenet_weights(weights == Weights::random).modules()),
      inc4a(480, 192, 96, 208, 16, 48, 64, googlenet_weights(weights == Weights::random).modules()),
      inc4b(512, 160, 112, 224, 24, 64, 64, googlenet_weights(weights == Weights::random).modules()),
      inc4c(512, 128, 128, 256, 24, 64, 64, googlenet_weights(weights == Weights::random).modules()),
      inc4d(512, 112, 144, 288, 32, 64, 64, googlenet_weights(weights == Weights::random).modules()),
      inc4e(528, 256, 160, 320, 32, 128, 128, googlenet_weights(weights == Weights::random).modules()),
      inc5a(832, 256, 160, 320, 32, 128, 128, googlenet_weights(weights == Weights::random).modules()),
      inc5b(832, 384, 192, 384, 48, 128, 128, googlenet_weights(weights == Weights::random).modules()),
      loss3_fc(1024, 1000, googlenet_weights(weights == Weights::random).units()),
      loss1_conv(512, 128, 1, googlenet_weights(weights == Weights::random).filters()),
      loss1_fc1(2048, 1024, googlenet_weights(weights == Weights::random).units()),
      loss1_fc2(1024, 1000, googlenet_weights(weights == Weights::random).units()),
      loss2_conv(528, 128, 1, googlenet_weights(weights == Weights::random).filters()),
      loss2_fc1(2048, 1024, googlenet_weights(weights == Weights::random).units()),
      loss2_fc2(1024, 1000, googlenet_weights(weights == Weights::random).units()) {
  name_params();
}

GoogLeNet::GoogLeNet(const PretrainedModel& from) : GoogLeNet(from.is_random() ? Weights::random : Weights::zero) {
  load(from,
       {"bvlc_googlenet.npz", "bvlc_googlenet.caffemodel",
        "http://dl.caffe.berkeleyvision.org/bvlc_googlenet.caffemodel"},
       convert_caffemodel_to_npz);
}

Array GoogLeNet::prepare(const Array& image, const PrepareOptions& options) {
  return prepare_image(image, kMean, options);
}

void GoogLeNet::convert_caffemodel_to_npz(const std::string& path_caffemodel, const std::string& path_npz) {
  std::vector<std::pair<std::string, std::string>> names = {{"conv1", "conv1/7x7_s2"},
                                                            {"conv2_reduce", "conv2/3x3_reduce"},
                                                            {"conv2", "conv2/3x3"},
                                                            {"loss3_fc", "loss3/classifier"}};
  for (const std::string module : {"3a", "3b", "4a", "4b", "4c", "4d", "4e", "5a", "5b"})
    for (const auto& [ours, theirs] : {std::pair{"conv1", "1x1"},
                                       {"proj3", "3x3_reduce"},
                                       {"conv3", "3x3"},
                                       {"proj5", "5x5_reduce"},
                                       {"conv5", "5x5"},
                                       {"projp", "pool_proj"}})
      names.emplace_back("inc" + module + "/" + ours, "inception_" + module + "/" + theirs);
  for (const std::string loss : {"loss1", "loss2"})
    for (const auto& [ours, theirs] : {std::pair{"_conv", "/conv"}, {"_fc1", "/fc"}, {"_fc2", "/classifier"}})
      names.emplace_back(loss + ours, loss + theirs);
  GoogLeNet net(Weights::zero);
  internal::convert_caffemodel(path_caffemodel, path_npz, net, names);
}

}  // namespace nn
