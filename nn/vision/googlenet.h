// GoogLeNet: the network of Inception modules.
#pragma once

#include <concepts>
#include <string>

#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/inception.h>
#include <catena/nn/links/linear.h>
#include <catena/nn/vision/pretrained.h>

namespace nn {

// Nine Inception modules, and two more classifiers in the middle, which help to train it. (Szegedy et al.: Going Deeper
// with Convolutions, 2014.)
//
//   nn::GoogLeNet net;                        // "auto": bvlc_googlenet.npz or .caffemodel, see PretrainedModel
//   nn::GoogLeNet random(nullptr);            // LeCunUniform; modules: the default of Inception
//   net(x, {.layers = {"pool5"}})["pool5"];   // x: prepared images (N, 3, 224, 224); (N, 1024, 1, 1)
//
// Stages: conv1, pool1, conv2_reduce, conv2, pool2, inception_3a, inception_3b, pool3, inception_4a to inception_4e,
// pool4, inception_5a, inception_5b, pool5, loss3_fc (in training mode after dropout), prob; after these, the
// classifiers loss1_fc2 (of inception_4a) and loss2_fc2 (of inception_4d).
class CATENA_EXPORT GoogLeNet : public VisionModel {
 public:
  explicit GoogLeNet(const PretrainedModel& pretrained_model = "auto");
  template <std::same_as<PretrainedOptions> O = PretrainedOptions>
  explicit GoogLeNet(const O& options) : GoogLeNet(options.pretrained_model) {}

  NN_MEMBERS(conv1, conv2_reduce, conv2, inc3a, inc3b, inc4a, inc4b, inc4c, inc4d, inc4e, inc5a, inc5b, loss3_fc,
             loss1_conv, loss1_fc1, loss1_fc2, loss2_conv, loss2_fc1, loss2_fc2)

  static constexpr MeanColor kMean = {104, 117, 123};
  // The image as input of the network: (3, H, W), see prepare_image.
  static Array prepare(const Array& image, const PrepareOptions& options = {});
  // Writes the weights of bvlc_googlenet.caffemodel, or of another network of Caffe with these names, as an npz file.
  static void convert_caffemodel_to_npz(const std::string& path_caffemodel, const std::string& path_npz);

  Convolution2D conv1, conv2_reduce, conv2;
  Inception inc3a, inc3b, inc4a, inc4b, inc4c, inc4d, inc4e, inc5a, inc5b;
  Linear loss3_fc;
  Convolution2D loss1_conv;
  Linear loss1_fc1, loss1_fc2;
  Convolution2D loss2_conv;
  Linear loss2_fc1, loss2_fc2;

 private:
  enum class Weights { random, zero };
  explicit GoogLeNet(Weights weights);

  static const Stage kStages[21];
};

}  // namespace nn
