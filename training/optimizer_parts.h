// Parameter groups as the optimizer keeps them, and functions that its sources share. Internal to training.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catena/training/param_group.h>

namespace training::internal {

struct ParamGroupData {
  Optimizer* optimizer = nullptr;  // null once the optimizer has started anew
  ParamGroupOptions options = {};
  bool is_rule = false;   // of a single parameter, whose path is the name
  bool is_whole = false;  // stands for the optimizer
  // For each hyperparameter of the optimizer, the value of the group, and the one that it was made with.
  std::vector<std::optional<double>> values = {}, given = {};
  HookList hooks = {};
  const std::string& name() const noexcept { return options.name; }
};

// The target of an optimizer of parameters without a model. The members are handles of these parameters.
class ListedParameters : public nn::Link {
 public:
  explicit ListedParameters(const Variables& params) : params_(params.size()) {
    for (std::size_t i = 0; i < params.size(); ++i) static_cast<Variable&>(params_[i]) = params[i];
  }
  void append(const Variable& param) {
    for (const nn::Parameter& known : params_)
      if (known.is_same(param)) return;
    static_cast<Variable&>(params_.emplace_back()) = param;
  }
  void shorten(std::size_t size) { params_.resize(size); }  // to the first ones

 private:
  void visit_declared(nn::MemberVisitor& visitor) override {
    for (std::size_t i = 0; i < params_.size(); ++i) visitor.parameter(std::to_string(i), params_[i]);
  }
  std::vector<nn::Parameter> params_;
};

// Copies each first array into the second one, which has its shape and another dtype, in one launch for each pair of
// dtypes.
void convert_tensors(std::span<const std::pair<Array, Array>> from_to);

// Adds a hook to a list, or removes it. Errors of Optimizer::add_hook and remove_hook.
void add_hook_to(HookList& hooks, HookEntry hook);
void remove_hook_from(HookList& hooks, const std::string& name);

}  // namespace training::internal
