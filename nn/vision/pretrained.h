// The base of the networks for images: stages with names, weights from files, images as input.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>
#include <catena/nn/link.h>
#include <catena/nn/vision/preparation.h>

namespace nn {

// The weights that a network begins with:
//   "auto"     The file of the network in the folder of the models, <root>/pfnet/chainer/models, which Chainer shares;
//              <root> is $CATENA_DATASET_ROOT, else $CHAINER_DATASET_ROOT, else ~/.chainer/dataset. If there is none,
//              it is made from the caffemodel of the network in that folder. Nothing is downloaded: without both, an
//              IOError says which file belongs where and where it comes from.
//   nullptr    random weights
//   a path     a file that save_npz or Chainer wrote, a .caffemodel (a relative name is one in the folder of the
//   models;
//              the converted weights are kept beside it), or a .safetensors file: of save_safetensors, or, for
//              VGG16Layers and ResNetLayers, of torchvision's network (see load_torchvision)
class CATENA_EXPORT PretrainedModel {
 public:
  PretrainedModel(std::nullptr_t = nullptr) {}
  PretrainedModel(std::nullopt_t) {}
  PretrainedModel(const char* path) : PretrainedModel(std::string(path == nullptr ? "" : path)) {}
  PretrainedModel(std::string path) : path_(std::move(path)) {}
  const std::string& path() const noexcept { return path_; }  // empty: random weights
  bool is_random() const noexcept { return path_.empty(); }

 private:
  std::string path_;
};

// The argument by name: VGG16Layers({.pretrained_model = "vgg16.npz"}).
struct PretrainedOptions {
  PretrainedModel pretrained_model = "auto";
};

// Results of stages by name, in the order of the network: maps["fc7"], for (const auto& [name, y] : maps).
class CATENA_EXPORT FeatureMaps {
 public:
  using Item = std::pair<std::string, autograd::Variable>;
  autograd::Variable operator[](std::string_view name) const;  // the KeyError lists the names
  bool contains(std::string_view name) const noexcept;
  std::size_t size() const noexcept { return items_.size(); }
  auto begin() const noexcept { return items_.begin(); }
  auto end() const noexcept { return items_.end(); }
  void add(std::string name, autograd::Variable y) { items_.emplace_back(std::move(name), std::move(y)); }

 private:
  std::vector<Item> items_;
};

struct VisionCallOptions {
  std::vector<std::string> layers = {"prob"};
  bool test = true;    // false: dropout and batch normalization as in training
  bool train = false;  // true: the same as `test` = false
};
struct VisionExtractOptions {
  std::vector<std::string> layers = {};            // default: fc7 of VGG16Layers, pool5 of the others
  std::optional<ImageSize> size = ImageSize(224);  // std::nullopt: images of one size, which stay as they are
  bool test = true;
  bool train = false;
  autograd::Flag volatile_ = autograd::OFF;  // of the input
  Resample resample = Resample::nearest;
};
struct VisionPredictOptions {
  bool oversample = true;  // false: the centre of an image instead of the mean of ten crops
  Resample resample = Resample::nearest;
};

// The base class of the networks. A network is a chain of stages with names; a call computes them in order, up to the
// last one that is asked for.
class CATENA_EXPORT VisionModel : public Chain {
 public:
  // Returns the names of the stages, in order.
  std::vector<std::string> available_layers() const;

  // Returns results of stages for prepared images (N, 3, H, W), by default the probabilities of the classes: net(x),
  // net(x, {.layers = {"pool5", "fc6"}, .test = false}). KeyError for a name that no stage has.
  FeatureMaps operator()(const Variable& x, const VisionCallOptions& options = {});
  // net(x, {"pool5", "fc6"}). Templates, because {.layers = ...} would also match a list of texts.
  template <std::convertible_to<std::string> Name>
  FeatureMaps operator()(const Variable& x, std::initializer_list<Name> layers, bool test = true) {
    return (*this)(x, VisionCallOptions{.layers = {layers.begin(), layers.end()}, .test = test});
  }
  template <std::same_as<std::vector<std::string>> Names>
  FeatureMaps operator()(const Variable& x, const Names& layers, bool test = true) {
    return (*this)(x, VisionCallOptions{.layers = layers, .test = test});
  }
  // The same for images, which are prepared first. ValueError for images that differ in size if `size` is nullopt.
  FeatureMaps extract(const ImageList& images, const VisionExtractOptions& options = {});
  // net.extract(images, {"fc6"}, std::nullopt)
  template <std::convertible_to<std::string> Name>
  FeatureMaps extract(const ImageList& images, std::initializer_list<Name> layers,
                      std::optional<ImageSize> size = ImageSize(224)) {
    return extract(images, VisionExtractOptions{.layers = {layers.begin(), layers.end()}, .size = size});
  }
  template <std::same_as<std::vector<std::string>> Names>
  FeatureMaps extract(const ImageList& images, const Names& layers, std::optional<ImageSize> size = ImageSize(224)) {
    return extract(images, VisionExtractOptions{.layers = layers, .size = size});
  }
  // Returns the probabilities of the classes (N, 1000), without a graph. Images are resized to 256 x 256; the result is
  // the mean over ten crops of 224 x 224 (see oversample), or, without oversampling, that of the centre.
  Variable predict(const ImageList& images, const VisionPredictOptions& options = {});
  template <std::same_as<bool> B> Variable predict(const ImageList& images, B oversample_images) {
    return predict(images, VisionPredictOptions{.oversample = oversample_images});
  }

  // Loads a safetensors file of the state dict of torchvision's network of the same name. NotImplementedError for a
  // network that differs from torchvision's.
  virtual void load_torchvision(const std::string& path);

  MeanColor mean;  // of the training images; extract and predict subtract it

 protected:
  struct Stage {
    std::string_view name;
    Variable (*compute)(VisionModel& net, const Variable& x, bool test);
    std::string_view from = {};  // the stage whose result is x; default: the previous one
  };
  // Where the weights of a class come from.
  struct Files {
    std::string_view npz, caffemodel;  // names in the folder of the models
    std::string_view origin;           // where the caffemodel comes from, for messages
  };

  VisionModel(std::span<const Stage> stages, std::string_view default_layer, const MeanColor& mean_color)
      : mean(mean_color), stages_(stages), default_layer_(default_layer) {}

  // Loads the weights, as PretrainedModel says. To be called at the end of the constructor of a class that has a
  // function convert_caffemodel_to_npz.
  void load(const PretrainedModel& pretrained, const Files& files,
            const catena::Function<void(const std::string& caffemodel, const std::string& npz)>& convert);

 private:
  void check_names(const std::vector<std::string>& layers) const;
  Variable input_of(const ImageList& images, const PrepareOptions& options, autograd::Flag flag) const;

  std::span<const Stage> stages_;
  std::string_view default_layer_;
};

namespace internal {
// Writes an npz file of the network `net`, whose weights are those of a caffemodel. `names`: {path in the network, path
// in the network of Caffe}. The keys `left_out` keep their values.
CATENA_EXPORT void convert_caffemodel(const std::string& path_caffemodel, const std::string& path_npz, Chain& net,
                                      const std::vector<std::pair<std::string, std::string>>& names,
                                      const std::vector<std::string>& left_out = {});
}  // namespace internal

}  // namespace nn
