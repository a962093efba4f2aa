// CaffeFunction: networks that Caffe has trained.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/nn/link.h>

namespace nn::links::caffe {

namespace internal {
struct ChildLinks;
}

struct CaffeFunctionOptions {
  // Average pooling rounds the number of windows up, as Caffe does and Chainer's import does not.
  bool ceil_average_pooling = false;
};

// A network in a binary file of Caffe (a caffemodel, a NetParameter of caffe.proto), as a chain whose children have the
// names of the layers with weights: Convolution2D, Linear, BatchNormalization and Scale. They are float32.
//
//   nn::links::caffe::CaffeFunction net("bvlc_reference_caffenet.caffemodel");
//   const auto y = net({{"data", x}}, {"fc8"}, {}, false);                       // x (N, 3, 227, 227), y[0] (N, 1000)
//   nn::serializers::save_npz("caffenet.npz", net);                              // conv1/W, conv1/b, ...
//
// Layers of the types Concat, Convolution, Data (skipped), Dropout, InnerProduct, LRN, Pooling, ReLU, BatchNorm,
// Eltwise, Scale, Slice, Softmax, SoftmaxWithLoss and Split; others are skipped with a warning that names layer and
// type. Files of both forms (`layers` of V1, and `layer`). As in Chainer 1.24, except that
//   - average pooling of the whole image (global_pooling) and dilated convolutions are computed,
//   - running statistics are divided by Caffe's scale factor; without use_global_stats they are used when not training,
//   - a window of pooling that lies wholly in the padding is left out, as Caffe does,
//   - a Split of a Split leads to its source, and ends where a later layer writes its blob.
//
// IOError when the file cannot be read; ValueError, with the position, for a file that is truncated or no caffemodel,
// and for weights that do not fit a layer; RuntimeError for what is not supported: stochastic pooling, LRN within
// channels, InnerProduct and Softmax along other axes than 1, axes of Scale from the end; AttributeError for two layers
// with weights that have one name, and for names that cannot be parts of keys.
class CATENA_EXPORT CaffeFunction : public Chain {
 public:
  using Options = CaffeFunctionOptions;
  // Computes a layer: bottoms -> tops.
  using Forward = catena::Function<Variables(CaffeFunction& net, const Variables& bottoms)>;
  struct Layer {
    std::string name;
    std::vector<std::string> bottoms, tops;
  };
  using Blobs = std::vector<std::pair<std::string, Variable>>;  // {{"data", x}, {"label", t}}
  using Names = std::vector<std::string>;

  explicit CaffeFunction(const std::string& model_path, const Options& options = {});

  // The blobs `outputs`, computed from the blobs `inputs` (name and variable). The layers are called in the order of
  // the file, without those that are disabled, have no forward or lack a bottom; tops replace blobs of their names.
  // `in_training` is TRAIN of Caffe's phases: it drives Dropout and BatchNorm. KeyError for an output that no layer
  // gives, TypeError for a layer with another number of bottoms than it takes.
  Variables operator()(const Blobs& inputs, const Names& outputs, const Names& disable = {}, bool in_training = true);

  std::map<std::string, Forward> forwards;       // by the names of layers; an entry may be replaced
  std::vector<Layer> layers;                     // in the order of the file
  std::map<std::string, std::string> split_map;  // the tops of Split layers, and the blobs that they stand for
  std::map<std::string, Variable> variables;     // all blobs of the last call that succeeded
  bool train = true;                             // of the last call

 protected:
  void visit_declared(MemberVisitor& v) override;

 private:
  friend struct internal::ChildLinks;
  struct Child {
    std::string name;  // may have slashes: "conv1/7x7_s2"
    nn::internal::AnyLink link;
  };
  std::vector<Child> children_;
};

}  // namespace nn::links::caffe
