// The modules of GoogLeNet: Inception and InceptionBN.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include <catena/nn/link.h>
#include <catena/nn/links/batch_normalization.h>
#include <catena/nn/links/convolution_2d.h>

namespace nn {

struct InceptionOptions {
  Initializer conv_init = {};   // for all filters; default: HeNormal(1 / sqrt 2)
  Initializer bias_init = 0.0;  // for all biases
};

// relu of the concatenation along the channels of conv1(x), conv3(relu(proj3(x))), conv5(relu(proj5(x))) and
// projp(max_pooling_2d(x, 3, 1, 1)): (n, in, h, w) -> (n, out1 + out3 + out5 + proj_pool, h, w). The children are
// Convolution2D with b; conv3 is 3x3, conv5 is 5x5, the others are 1x1. Without `in`, the first call creates the
// filters that read x. (Szegedy et al.: Going Deeper with Convolutions, 2014.)
class CATENA_EXPORT Inception : public Chain {
 public:
  using Options = InceptionOptions;
  Inception(std::optional<int> in_channels, int out1, int proj3, int out3, int proj5, int out5, int proj_pool,
            const Options& options = {});

  NN_MEMBERS(conv1, proj3, conv3, proj5, conv5, projp)
  Variable operator()(const Variable& x);

  Convolution2D conv1, proj3, conv3, proj5, conv5, projp;
};

struct InceptionBNOptions {
  std::optional<int> proj_pool = {};          // channels of the convolution after the pooling; default: no convolution
  Pair stride = 1;                            // stride of conv3, conv33b and the pooling
  Initializer conv_init = {};                 // for all filters; default: HeNormal(1 / sqrt 2)
  std::optional<autograd::Dtype> dtype = {};  // for the parameters and statistics of the normalizations
};
struct InceptionBNCallOptions {
  std::optional<bool> test = {};  // for the normalizations; default: the opposite of `train`
};

// An Inception module with batch normalization, and with a pair of 3x3 filters instead of 5x5 filters. Its towers are
// concatenated along the channels: conv1 (1x1; none if out1 is 0); proj3 (1x1), conv3 (3x3); proj33 (1x1), conv33a
// (3x3), conv33b (3x3); the maximum ("max") or average ("avg") of 3x3 pixels and, with proj_pool, poolp (1x1).
// Convolutions have no b; each is followed by its BatchNormalization, named with an additional "n" (conv3n), and relu.
// conv1 requires a stride of 1 and proj_pool (AssertionError); NotImplementedError for another pooltype. (Ioffe,
// Szegedy: Batch Normalization, 2015.)
class CATENA_EXPORT InceptionBN : public Chain {
 public:
  using Options = InceptionBNOptions;
  InceptionBN(std::optional<int> in_channels, int out1, int proj3, int out3, int proj33, int out33,
              std::string_view pooltype, const Options& options = {});
  // InceptionBN(192, 64, 64, 64, 64, 96, "avg", 32)
  InceptionBN(std::optional<int> in_channels, int out1, int proj3_, int out3, int proj33_, int out33,
              std::string_view pooltype_, std::optional<int> proj_pool, Pair stride_ = 1)
      : InceptionBN(in_channels, out1, proj3_, out3, proj33_, out33, pooltype_,
                    Options{.proj_pool = proj_pool, .stride = stride_}) {}

  NN_MEMBERS(proj3, conv3, proj33, conv33a, conv33b, proj3n, conv3n, proj33n, conv33an, conv33bn, conv1, conv1n, poolp,
             poolpn)
  Variable operator()(const Variable& x, const InceptionBNCallOptions& options = {});
  template <std::same_as<bool> B> Variable operator()(const Variable& x, B test) {  // link(x, true)
    return (*this)(x, InceptionBNCallOptions{.test = test});
  }

  Convolution2D proj3, conv3, proj33, conv33a, conv33b;
  BatchNormalization proj3n, conv3n, proj33n, conv33an, conv33bn;
  std::optional<Convolution2D> conv1, poolp;
  std::optional<BatchNormalization> conv1n, poolpn;
  std::string pooltype;
  Pair stride;
  std::optional<bool> train;  // default: the thread's train mode
};

}  // namespace nn
