#include <catena/training/param_group.h>

#include <algorithm>

#include <catena/kernels/base/error.h>
#include <catena/nn/path_pattern.h>
#include <catena/training/optimizer.h>
#include <catena/training/optimizer_parts.h>

namespace training {

using catena::check;
using internal::ParamGroupData;

PathPatterns::PathPatterns(const char* pattern) : patterns_{pattern} {}
PathPatterns::PathPatterns(std::string pattern) : patterns_{std::move(pattern)} {}
PathPatterns::PathPatterns(std::initializer_list<std::string> patterns) : patterns_(patterns) {}

bool PathPatterns::match(std::string_view path) const noexcept {
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const std::string& pattern) { return nn::path_matches(pattern, path); });
}

// ---- ParamGroup ---------------------------------------------------------------------------------
const std::string& ParamGroup::name() const noexcept { return data_->name(); }

ParamGroupData& ParamGroup::data() const {
  check<catena::RuntimeError>(
      data_->optimizer != nullptr, "ParamGroup", "the group ", data_->name(),
      " is no longer in its optimizer: setup has started it anew, or it does not exist any more");
  return *data_;
}

Optimizer& ParamGroup::optimizer() const { return *data().optimizer; }

double ParamGroup::get_hyper(std::string_view name) const {
  const ParamGroupData& group = data();
  if (group.is_whole) return group.optimizer->get_hyper(name);
  return group.optimizer->value_of(name, group.optimizer->values_of({&group}), group.optimizer->t_);
}

void ParamGroup::set_hyper(std::string_view name, double value) {
  ParamGroupData& group = data();
  if (group.is_whole) return group.optimizer->set_hyper(name, value);
  group.values[group.optimizer->hyper_index(name)] = value;
}

bool ParamGroup::has_hyper(std::string_view name) const {
  const ParamGroupData& group = data();
  const std::size_t index = group.optimizer->hyper_index(name);
  return !group.is_whole && group.values[index].has_value();
}

std::vector<Variable> ParamGroup::params() const {
  std::vector<Variable> params;
  for (const nn::NamedParam& p : namedparams()) params.push_back(p.param);
  return params;
}

std::vector<nn::NamedParam> ParamGroup::namedparams() const {
  const ParamGroupData& group = data();
  Optimizer& optimizer = *group.optimizer;
  optimizer.refresh_slots();
  std::vector<nn::NamedParam> params;
  for (const Optimizer::Slot& s : optimizer.slots_) {
    const Optimizer::ValueSet& groups = optimizer.value_sets_[s.value_set];
    if (group.is_whole || std::find(groups.begin(), groups.end(), &group) != groups.end()) params.push_back(s.param);
  }
  return params;
}

void ParamGroup::add_hook(Hook hook, const std::string& name, HookTiming timing) {
  ParamGroupData& group = data();
  if (group.is_whole) return group.optimizer->add_hook(std::move(hook), name, timing);
  internal::add_hook_to(group.hooks, {name, std::move(hook), timing});
  ++group.optimizer->changes_;
}

void ParamGroup::add_hook(ParamHook hook, const std::string& name, HookTiming timing) {
  add_hook(Optimizer::for_each_param(std::move(hook)), name, timing);
}

void ParamGroup::remove_hook(const std::string& name) {
  ParamGroupData& group = data();
  if (group.is_whole) return group.optimizer->remove_hook(name);
  internal::remove_hook_from(group.hooks, name);
  ++group.optimizer->changes_;
}

// ---- ParamRule ----------------------------------------------------------------------------------
ParamGroup ParamRule::own_group() const { return ParamGroup(optimizer_->own_group(path_)); }

double ParamRule::get_hyper(std::string_view name) const {
  const Optimizer::Slot& slot = optimizer_->slot_of(path_);
  const Optimizer& o = *optimizer_;
  return o.value_of(name, o.values_of(o.value_sets_[slot.value_set]), o.t_ - slot.skipped_updates);
}

void ParamRule::set_hyper(std::string_view name, double value) {
  static_cast<void>(optimizer_->hyper_index(name));  // before a group is made
  own_group().set_hyper(name, value);
}

std::int64_t ParamRule::t() const {
  const Optimizer::Slot& slot = optimizer_->slot_of(path_);
  return optimizer_->t_ - slot.skipped_updates;
}

bool ParamRule::enabled() const { return optimizer_->slot_of(path_).enabled; }
void ParamRule::set_enabled(bool enabled) { optimizer_->slot_of(path_).enabled = enabled; }

const Array& ParamRule::state(std::string_view name) const {
  const Optimizer::Slot& slot = optimizer_->slot_of(path_);
  const auto& states = optimizer_->rule().states;
  std::string names;
  for (std::size_t k = 0; k < states.size(); ++k) {
    if (name == states[k].name && k < slot.states.size()) return slot.states[k];
    names += (k == 0 ? "" : ", ") + std::string(states[k].name);
  }
  catena::fail<catena::KeyError>("ParamRule", "the parameter ", path_, " has no state ", name, " (states of ",
                                 optimizer_->rule().name, ": ", names.empty() ? "none" : names,
                                 "; they are made by the first update)");
}

void ParamRule::add_hook(Hook hook, const std::string& name, HookTiming timing) {
  own_group().add_hook(std::move(hook), name, timing);
}
void ParamRule::add_hook(ParamHook hook, const std::string& name, HookTiming timing) {
  own_group().add_hook(std::move(hook), name, timing);
}
void ParamRule::remove_hook(const std::string& name) { own_group().remove_hook(name); }

}  // namespace training
