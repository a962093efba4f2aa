// Folder nn/link_hooks: hooks of links (nn/link_hook.h) that change weights or measure. This folder may use nn,
// nn/links, nn/functions and autograd.
//
// WeightHook: the base of hooks that compute a link's weight from a parameter in every call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/nn/link_hook.h>

namespace nn::link_hooks {

// During a call, the parameter `weight_name` of the link is weight(), through which gradients flow to the parameter.
// A parameter without a shape gets it from a call of the link without this hook and without a graph, in test mode,
// before the first call.
class CATENA_EXPORT WeightHook : public LinkHook {
 public:
  void added(Link& link) override;  // KeyError, listing the parameters, unless the link has one of this name
  void forward_preprocess(Link& link, const Variables& args) override;
  void forward_postprocess(Link& link, const Variables& args, const Variables& outputs) override;
  void failed(Link& link) noexcept override;
  // Writes the weight of a call in test mode into the parameter, and removes what the hook has added to the link. For a
  // link that has the hook; the next step is delete_hook().
  void make_permanent(Link& link) const;
  const std::string& weight_name() const noexcept { return weight_name_; }

 protected:
  WeightHook(std::string weight_name, std::optional<int> axis) : weight_name_(std::move(weight_name)), axis_(axis) {}
  // Returns the weight for a call, of the shape of the parameter W.
  virtual Variable weight(Link& link, const Variable& W) const = 0;
  // Called once W has a shape.
  virtual void prepare(Link& link, const Variable& W) const;
  // The names of the members that prepare() adds to the link.
  virtual std::vector<std::string> added_names() const;

  // W as a matrix: row k has the elements at index k of the axis of the outputs, which is 0, and 1 for transposed
  // convolutions, unless `axis` was given. ValueError for an axis that W does not have.
  Variable matrix(const Link& link, const Variable& W) const;
  // The other way round: a matrix in the shape of W.
  Variable as_weight(const Link& link, const Variable& rows, const Variable& W) const;
  int axis_of(const Link& link, const Variable& W) const;  // ValueError as for matrix()
  static bool has_param(const Link& link, std::string_view name);

 private:
  std::string weight_name_;
  std::optional<int> axis_;
};

}  // namespace nn::link_hooks
