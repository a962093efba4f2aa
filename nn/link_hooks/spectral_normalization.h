// Spectral normalization of weights (Miyato et al.: Spectral Normalization for Generative Adversarial Networks, 2018).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <catena/nn/link_hooks/weight_hook.h>

namespace nn::link_hooks {

struct SpectralNormalizationOptions {
  int n_power_iteration = 1;
  double eps = 1e-6;                  // the least norm by which vectors are divided
  std::optional<double> factor = {};  // the largest singular value of the result; default: 1
  // Multiplies the result by a parameter of one element, "W_gamma" of the link, which begins with the factor. Add it
  // before the optimizer's setup().
  bool use_gamma = false;
  std::string weight_name = "W";
  std::optional<int> axis = {};  // the axis of the outputs in W; default: 0, and 1 for transposed convolutions
};

// The link computes with W / s, where s = u^T M v approximates the largest singular value of the matrix M of W. Each
// call in training mode improves the vectors by power iterations, u = M v / |M v|, v = M^T u / |M^T u|; calls in test
// mode and repeated calls of autograd::forget use them as they are. Gradients take u and v as constants.
//
// The vectors are persistents "W_u" and "W_v" of the link, which delete_hook leaves there. They begin with 15
// iterations from random numbers, as in PyTorch. Chainer's files have no W_v: load them with strict = false.
class CATENA_EXPORT SpectralNormalization : public WeightHook {
 public:
  using Options = SpectralNormalizationOptions;
  explicit SpectralNormalization(const Options& options = {});  // ValueError for n_power_iteration < 1 and eps < 0
  std::string name() const override { return "SpectralNormalization"; }

 protected:
  Variable weight(Link& link, const Variable& W) const override;
  void prepare(Link& link, const Variable& W) const override;
  std::vector<std::string> added_names() const override;

 private:
  Options options_;
};

}  // namespace nn::link_hooks
