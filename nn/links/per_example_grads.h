// Gradients of single examples in one pass over the batch.
#pragma once

#include <catena/nn/functional_call.h>

namespace nn {

struct PerExampleOptions {
  // false: autograd::vmap of the gradient of one example. true: losses(batch) is called once with the whole batch and
  // returns one loss for each example, (N,), which must not depend on the other examples. The gradients of the
  // parameters are then products over the examples, by a rule for each link.
  bool vectorized = false;
};

// per_example_grads() of functional_call.h, with options:
//
//   const auto losses = [&](const Variables& b) {
//     return nn::softmax_cross_entropy(model(b[0]), b[1], {.reduce = "no"});
//   };
//   const Variables g = nn::per_example_grads(model, losses, {x, t}, {.vectorized = true});
//
// There are rules for Linear, ConvolutionND, Convolution2D and their transposed forms, DepthwiseConvolution2D, EmbedID
// without padding_idx, LayerNormalization, RMSNorm, GroupNormalization and InstanceNormalization, and so for every
// network whose parameters all belong to these links, among them LSTM, GRU and MultiHeadAttention with one projection
// of queries, keys and values. Each is called by its operator(), with the examples along axis 0. For other networks,
// and if the gradients of the examples do not add up to that of the batch, as where a weight is also used outside of
// its link, the function computes as without the option. ValueError if losses(batch) has another shape than (N,).
CATENA_EXPORT Variables per_example_grads(Link& link, const catena::Function<Variable(const Variables&)>& losses,
                                          const Variables& batch, const PerExampleOptions& options);

}  // namespace nn
