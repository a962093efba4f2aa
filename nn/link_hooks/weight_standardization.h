// Standardization of weights (Qiao et al.: Weight Standardization, 2019).
#pragma once

#include <optional>
#include <string>

#include <catena/nn/link_hooks/weight_hook.h>

namespace nn::link_hooks {

struct WeightStandardizationOptions {
  double eps = 1e-5;
  std::string weight_name = "W";
  std::optional<int> axis = {};  // the axis of the outputs in W; default: 0, and 1 for transposed convolutions
};

// The link computes with (W - mean) / sqrt(var + eps), where mean and var (divided by their number) are those of the
// elements of W for each output.
class CATENA_EXPORT WeightStandardization : public WeightHook {
 public:
  using Options = WeightStandardizationOptions;
  explicit WeightStandardization(const Options& options = {})
      : WeightHook(options.weight_name, options.axis), eps_(options.eps) {}
  std::string name() const override { return "WeightStandardization"; }

 protected:
  Variable weight(Link& link, const Variable& W) const override;

 private:
  double eps_;
};

}  // namespace nn::link_hooks
