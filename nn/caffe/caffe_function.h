// Folder nn/caffe: networks of Caffe. CaffeFunction (this file) is the link; caffe_model.h has the messages of a file.
// This folder may use nn and, in sources, nn/functions, nn/links and the formats of kernels/formats.
//
// CaffeFunction: networks trained with Caffe.
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
  // Whether average pooling rounds the number of windows up, as Caffe does; Chainer's import rounds down.
  bool ceil_average_pooling = false;
};

// A network from a binary file of Caffe (a caffemodel, a NetParameter of caffe.proto), as a chain. Its children have
// the names of the layers with weights: Convolution2D, Linear, BatchNormalization and Scale. They are float32.
//
//   nn::links::caffe::CaffeFunction net("bvlc_reference_caffenet.caffemodel");
//   const auto y = net({{"data", x}}, {"fc8"}, {}, false);                       // x (N, 3, 227, 227), y[0] (N, 1000)
//   nn::serializers::save_npz("caffenet.npz", net);                              // conv1/W, conv1/b, ...
//
// Supports layers of the types Concat, Convolution, Data (skipped), Dropout, InnerProduct, LRN, Pooling, ReLU,
// BatchNorm, Eltwise, Scale, Slice, Softmax, SoftmaxWithLoss and Split; others are skipped with a warning that has the
// name and type of the layer. Reads files of both forms (`layers` of V1, and `layer`). Behaves like Chainer 1.24,
// except that
//   - average pooling of the whole image (global_pooling) and dilated convolutions are computed,
//   - running statistics are divided by Caffe's scale factor; without use_global_stats they are used when not training,
//   - a pooling window that covers only padding is omitted, as in Caffe,
//   - a Split of a Split refers to the first source, and ends where a later layer writes its blob.
//
// IOError if the file cannot be read; ValueError, with the position, for a file that is truncated or no caffemodel, and
// for weights that do not fit a layer; RuntimeError for unsupported features: stochastic pooling, LRN within channels,
// InnerProduct and Softmax along axes other than 1, axes of Scale counted from the end; AttributeError for two layers
// with weights and the same name, and for names that cannot be parts of keys.
class CATENA_EXPORT CaffeFunction : public Chain {
 public:
  using Options = CaffeFunctionOptions;
  // Computes the tops of a layer from its bottoms.
  using Forward = catena::Function<Variables(CaffeFunction& net, const Variables& bottoms)>;
  struct Layer {
    std::string name;
    std::vector<std::string> bottoms, tops;
  };
  using Blobs = std::vector<std::pair<std::string, Variable>>;  // {{"data", x}, {"label", t}}
  using Names = std::vector<std::string>;

  explicit CaffeFunction(const std::string& model_path, const Options& options = {});

  // Returns the blobs `outputs`, computed from the blobs `inputs` (name and variable). Calls the layers in the order of
  // the file, except layers that are disabled, have no forward function or no value for a bottom; tops replace blobs of
  // the same name. `in_training` is Caffe's phase TRAIN, for Dropout and BatchNorm. KeyError for an output that no
  // layer computes, TypeError for a layer with a wrong number of bottoms.
  Variables operator()(const Blobs& inputs, const Names& outputs, const Names& disable = {}, bool in_training = true);

  std::map<std::string, Forward> forwards;       // by the names of layers; an entry may be replaced
  std::vector<Layer> layers;                     // in the order of the file
  std::map<std::string, std::string> split_map;  // top of a Split layer -> its source blob
  std::map<std::string, Variable> variables;     // all blobs of the last successful call
  bool train = true;                             // mode of the last call

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
