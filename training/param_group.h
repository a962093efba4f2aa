// Parameter groups: parameters of one optimizer that have hyperparameters and hooks of their own. Optimizer has the
// functions that make them: add_param_group for those that a pattern, a predicate or a list selects, update_rule for
// one parameter.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/link.h>
#include <catena/training/hyper_reference.h>

namespace training {

using autograd::Array;
using autograd::Variable;
using autograd::Variables;

class Optimizer;
class ParamGroup;
class ParamRule;
namespace internal {
struct ParamGroupData;
}

// ---- hooks --------------------------------------------------------------------------------------
// A hook: called with the optimizer after the gradients are computed and before they are used.
using Hook = catena::Function<void(Optimizer&)>;
// A hook that is called for each parameter that is updated.
using ParamHook = catena::Function<void(ParamRule& rule, Variable& param)>;
// A class of hooks: callable, and registered under its name.
template <class H>
concept NamedHook = requires(H& h, Optimizer& o) {
  h(o);
  { h.name } -> std::convertible_to<std::string>;
};
template <class H>
concept NamedParamHook = requires(H& h, ParamRule& rule, Variable& param) {
  h(rule, param);
  { h.name } -> std::convertible_to<std::string>;
};
// pre: after the gradients are computed and before they are used. post: after the parameters are updated.
enum class HookTiming { pre, post };
namespace internal {
struct HookEntry {
  std::string name;
  Hook hook;
  HookTiming timing = HookTiming::pre;
};
using HookList = std::vector<catena::Shared<HookEntry>>;

// Adds a hook of a class to an optimizer, a group or the rule of a parameter.
template <class Owner, class H> void add_named_hook(Owner& owner, H hook, HookTiming timing) {
  const std::string name = hook.name;
  if constexpr (NamedHook<H>) owner.add_hook(Hook(std::move(hook)), name, timing);
  else owner.add_hook(ParamHook(std::move(hook)), name, timing);
}
}  // namespace internal

// ---- options ------------------------------------------------------------------------------------
// "*/b", or a list of patterns: {"*/b", "*/gamma"}.
class CATENA_EXPORT PathPatterns {
 public:
  PathPatterns() noexcept = default;
  PathPatterns(const char* pattern);
  PathPatterns(std::string pattern);
  PathPatterns(std::initializer_list<std::string> patterns);
  bool empty() const noexcept { return patterns_.empty(); }
  const std::vector<std::string>& list() const noexcept { return patterns_; }
  bool match(std::string_view path) const noexcept;  // whether any of them does

 private:
  std::vector<std::string> patterns_;
};

// Values by name: {{"lr", 0.01}, {"weight_decay_rate", 0}}.
using Hyperparams = std::vector<std::pair<std::string, double>>;

// Selects the parameters that `match`, `select` and `params` all select; one of the three has to be given.
struct ParamGroupOptions {
  PathPatterns match = {};  // of paths: nn/path_pattern.h
  // Returns whether a parameter belongs to the group; called once, when it has data.
  catena::Function<bool(const std::string& path, const Variable& param)> select = {};
  Variables params = {};          // model.encoder.params()
  std::optional<double> lr = {};  // "lr", or "alpha" if the optimizer has no "lr" to set
  std::optional<double> momentum = {};
  std::optional<double> weight_decay = {};  // "weight_decay", or "weight_decay_rate" if the optimizer has that instead
  Hyperparams hyperparams = {};  // {{"lr", 0.01}, {"weight_decay_rate", 0}}; the others are those of the optimizer
  std::string name = {};         // in snapshots; by default its number, "0", or the next one that is not in use
};

// ---- handles ------------------------------------------------------------------------------------
// A group of an optimizer. A handle refers to the group; RuntimeError once setup() has started the optimizer anew.
class CATENA_EXPORT ParamGroup {
 public:
  // Copies are written out: they make `lr` and the others anew, because these refer to their own object.
  ParamGroup(const ParamGroup& o) noexcept : data_(o.data_) {}
  ParamGroup(ParamGroup&& o) noexcept : data_(std::move(o.data_)) {}
  ParamGroup& operator=(const ParamGroup& o) noexcept {
    data_ = o.data_;
    return *this;
  }
  ParamGroup& operator=(ParamGroup&& o) noexcept {
    data_ = std::move(o.data_);
    return *this;
  }
  ~ParamGroup() = default;

  HyperReference lr{*this, "lr"};  // group.lr *= 0.1
  HyperReference weight_decay{*this, "weight_decay"}, momentum{*this, "momentum"};
  HyperReference operator[](std::string_view hyper) { return {*this, hyper}; }
  const std::string& name() const noexcept;
  // Returns the group's value, or that of the optimizer if the group has none. KeyError as for Optimizer::get_hyper.
  double get_hyper(std::string_view name) const;
  void set_hyper(std::string_view name, double value);  // KeyError as for Optimizer::set_hyper
  bool has_hyper(std::string_view name) const;          // whether the group has a value of its own
  // Its parameters, in the order of the model.
  std::vector<Variable> params() const;
  std::vector<nn::NamedParam> namedparams() const;
  Optimizer& optimizer() const;

  // Hooks of the group run after those of the optimizer, for its parameters alone: with
  // group.add_hook(training::WeightDecay(0.01)) no other parameter decays, and GradientClipping takes their norm. Names
  // and errors as for Optimizer::add_hook.
  void add_hook(Hook hook, const std::string& name, HookTiming timing = HookTiming::pre);
  void add_hook(ParamHook hook, const std::string& name, HookTiming timing = HookTiming::pre);
  template <class H>
  requires(NamedHook<H> || NamedParamHook<H>) void add_hook(H hook, HookTiming timing = HookTiming::pre) {
    internal::add_named_hook(*this, std::move(hook), timing);
  }
  void remove_hook(const std::string& name);

 private:
  friend class Optimizer;
  friend class ParamRule;
  explicit ParamGroup(catena::Shared<internal::ParamGroupData> data) noexcept : data_(std::move(data)) {}
  internal::ParamGroupData& data() const;
  catena::Shared<internal::ParamGroupData> data_;
};

// The update of one parameter, Chainer's UpdateRule: its hyperparameters, hooks, states and number of updates. Its
// own values come before those of the groups of the parameter. It refers to a parameter of the optimizer by its path;
// KeyError when the model has none at the path any more.
class CATENA_EXPORT ParamRule {
 public:
  const std::string& path() const noexcept { return path_; }
  // Returns the value with which the parameter is updated: its own, that of the last of its groups that has one, or the
  // optimizer's.
  double get_hyper(std::string_view name) const;
  void set_hyper(std::string_view name, double value);
  ParamRule(const ParamRule& o) : optimizer_(o.optimizer_), path_(o.path_) {}
  ParamRule& operator=(const ParamRule& o) {
    optimizer_ = o.optimizer_;
    path_ = o.path_;
    return *this;
  }
  ~ParamRule() = default;
  HyperReference lr{*this, "lr"};
  HyperReference operator[](std::string_view hyper) { return {*this, hyper}; }
  // Number of updates of this parameter. Smaller than Optimizer::t() if it was frozen, disabled or not there in some.
  std::int64_t t() const;
  // A parameter that is not enabled gets gradients, and hooks of the optimizer see them, but nothing updates it.
  // (Link::disable_update saves the computation of gradients as well.)
  bool enabled() const;
  void set_enabled(bool enabled);
  // Returns a state, such as "m" of Adam. KeyError with the names that there are.
  const Array& state(std::string_view name) const;
  Optimizer& optimizer() const noexcept { return *optimizer_; }

  // As for ParamGroup.
  void add_hook(Hook hook, const std::string& name, HookTiming timing = HookTiming::pre);
  void add_hook(ParamHook hook, const std::string& name, HookTiming timing = HookTiming::pre);
  template <class H>
  requires(NamedHook<H> || NamedParamHook<H>) void add_hook(H hook, HookTiming timing = HookTiming::pre) {
    internal::add_named_hook(*this, std::move(hook), timing);
  }
  void remove_hook(const std::string& name);

 private:
  friend class Optimizer;
  ParamRule(Optimizer& optimizer, std::string path) noexcept : optimizer_(&optimizer), path_(std::move(path)) {}
  ParamGroup own_group() const;  // makes it if there is none
  Optimizer* optimizer_;
  std::string path_;
};

}  // namespace training
