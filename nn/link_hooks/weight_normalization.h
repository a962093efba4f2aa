// Normalization of weights (Salimans, Kingma: Weight Normalization, 2016).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <catena/nn/link_hooks/weight_hook.h>

namespace nn::link_hooks {

struct WeightNormalizationOptions {
  std::string weight_name = "W";
  // The axis whose indices have a norm each; none: one norm of all elements.
  std::optional<int> axis = 0;
};

// The link computes with g W / |W|, where |W| are the norms of the parts of W at each index of the axis, and g is a
// parameter "W_g" of the link, which begins with these norms: (n, 1, ...) for an axis of length n, () without an axis.
// Gradients flow to both. Add the hook before the optimizer's setup(); delete_hook leaves "W_g" in the link.
// ValueError for an axis that W does not have.
class CATENA_EXPORT WeightNormalization : public WeightHook {
 public:
  using Options = WeightNormalizationOptions;
  explicit WeightNormalization(const Options& options = {});
  std::string name() const override { return "WeightNormalization"; }

 protected:
  Variable weight(Link& link, const Variable& W) const override;
  void prepare(Link& link, const Variable& W) const override;
  std::vector<std::string> added_names() const override;

 private:
  Variable norm(const Link& link, const Variable& W) const;

  std::optional<int> axis_;
};

}  // namespace nn::link_hooks
