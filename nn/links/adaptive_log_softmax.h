// Adaptive softmax (Grave et al.: Efficient softmax approximation for GPUs, 2017), as in PyTorch.
#pragma once

#include <cstdint>
#include <vector>

#include <catena/nn/links/linear.h>
#include <catena/nn/sequential.h>

namespace nn {

struct AdaptiveLogSoftmaxOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double div_value = 4;    // tail k computes with in_features / div_value^(k + 1) units, rounded down
  bool head_bias = false;  // whether the head has a bias
};
// The results of AdaptiveLogSoftmaxWithLoss for N examples.
struct AdaptiveLogSoftmaxResult {
  Variable output;  // (N): the log probabilities of the targets; () for one example
  Variable loss;    // (): minus their mean
};

// Classes, sorted by falling frequency, in a shortlist [0, cutoffs[0]) and clusters [cutoffs[k], cutoffs[k + 1]), of
// which the last ends with n_classes. The head gives the log probabilities of the classes of the shortlist and of the
// clusters, a tail those of the classes within its cluster. Only the tails of clusters with targets are computed, each
// for its examples.
//   nn::AdaptiveLogSoftmaxWithLoss loss(64, 1000, {20, 100});
//   auto [output, mean] = loss(x, t);             // x (N, 64) or (64), t (N) or ()
// ValueError for cutoffs that do not increase from at least 1 to at most n_classes - 1, for tails without units, and
// for targets that are no classes. Reads targets on the host.
class CATENA_EXPORT AdaptiveLogSoftmaxWithLoss : public Link {
 public:
  using Options = AdaptiveLogSoftmaxOptions;
  AdaptiveLogSoftmaxWithLoss(int in_features, int n_classes, const std::vector<std::int64_t>& cutoffs,
                             const Options& options = {});
  AdaptiveLogSoftmaxWithLoss(int in_features, int n_classes, const std::vector<std::int64_t>& cutoffs, double div_value,
                             bool head_bias = false)
      : AdaptiveLogSoftmaxWithLoss(in_features, n_classes, cutoffs,
                                   Options{.div_value = div_value, .head_bias = head_bias}) {}

  NN_MEMBERS(head, tail)
  AdaptiveLogSoftmaxResult operator()(const Variable& x, const Variable& t);
  Variable log_prob(const Variable& x);  // (N, in_features) -> (N, n_classes)
  Variable predict(const Variable& x);   // (N, in_features) -> the most probable classes (N), int64

 private:
  std::vector<std::int64_t> ends_;  // of the shortlist and of the clusters

 public:
  Linear head;
  std::vector<Sequential> tail;
};

}  // namespace nn
