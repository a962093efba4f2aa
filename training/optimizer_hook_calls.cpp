// The hooks of an optimizer, of its groups and of single parameters: their lists, and when they run.
#include <algorithm>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/training/optimizer.h>
#include <catena/training/optimizer_parts.h>

namespace training {

using catena::check;
using catena::KeyError;
using catena::RuntimeError;
using catena::TypeError;

void internal::add_hook_to(HookList& hooks, HookEntry hook) {
  check<TypeError>(bool(hook.hook), "add_hook", "the hook ", hook.name, " is not callable");
  for (const auto& h : hooks)
    check<KeyError>(h->name != hook.name, "add_hook", "there is a hook named ", hook.name, " already");
  hooks.push_back(catena::Shared<HookEntry>::make(std::move(hook)));
}

void internal::remove_hook_from(HookList& hooks, const std::string& name) {
  const auto at = std::find_if(hooks.begin(), hooks.end(), [&](const auto& h) { return h->name == name; });
  check<KeyError>(at != hooks.end(), "remove_hook", "there is no hook named ", name);
  hooks.erase(at);
}

void Optimizer::add_hook(Hook hook, const std::string& name, HookTiming timing) try {
  check<RuntimeError>(target_ != nullptr, "add_hook", "call setup before adding the hook ", name);
  internal::add_hook_to(hooks_, {name, std::move(hook), timing});
  ++changes_;
} catch (...) {
  catena::rethrow_standard("add_hook");
}

void Optimizer::add_hook(ParamHook hook, const std::string& name, HookTiming timing) {
  add_hook(for_each_param(std::move(hook)), name, timing);
}

StepHookHandle Optimizer::add_step_hook(Hook hook, HookTiming timing) {
  std::string name = catena::concat("step hook ", changes_);
  add_hook(std::move(hook), name, timing);
  return {*this, std::move(name)};
}

void StepHookHandle::remove() {
  if (optimizer_ == nullptr) return;
  Optimizer* const optimizer = std::exchange(optimizer_, nullptr);
  try {
    optimizer->remove_hook(name_);
  } catch (const KeyError&) {  // setup() has forgotten it
  }
}

void Optimizer::remove_hook(const std::string& name) {
  internal::remove_hook_from(hooks_, name);
  ++changes_;
}

// The parameters are listed first, because a hook may add some to the model.
Hook Optimizer::for_each_param(ParamHook hook) {
  if (hook == nullptr) return {};
  return [hook = std::move(hook)](Optimizer& o) {
    std::vector<nn::NamedParam> params;
    for (const Slot& s : o.slots_)
      if (o.is_hooked(s) && (s.is_updated() || s.is_updated_by_other_rank())) params.push_back(s.param);
    for (nn::NamedParam& p : params) {
      ParamRule rule(o, p.path);
      hook(rule, p.param);
    }
  };
}

// At its end, no hook of a group is in progress, and the gradient arrays that hooks made may no longer be written in
// place.
struct Optimizer::HookScope {
  Optimizer& optimizer;
  ~HookScope() {
    for (Slot& s : optimizer.slots_) s.own_grad = {};
    optimizer.hook_group_ = nullptr;
  }
};

// A copy of the list, because a hook may add hooks and remove itself.
void Optimizer::run_hooks(internal::HookList hooks, HookTiming timing) {
  for (const auto& h : hooks) {
    if (h->timing != timing) continue;
    h->hook(*this);
    refresh_slots();
    if (timing == HookTiming::pre) reallocate_cleared_grads();
  }
}

void Optimizer::run_hooks(HookTiming timing) {
  const HookScope scope{*this};
  run_hooks(hooks_, timing);
  const std::vector<catena::Shared<internal::ParamGroupData>> groups = groups_;  // a hook may add some
  for (const auto& group : groups) {
    hook_group_ = group.get();
    run_hooks(group->hooks, timing);
  }
}

bool Optimizer::has_hooks(HookTiming timing) const noexcept {
  const auto any = [&](const internal::HookList& hooks) {
    return std::any_of(hooks.begin(), hooks.end(), [&](const auto& h) { return h->timing == timing; });
  };
  return any(hooks_) || std::any_of(groups_.begin(), groups_.end(), [&](const auto& g) { return any(g->hooks); });
}

void Optimizer::call_hooks() { run_hooks(HookTiming::pre); }

void Optimizer::call_post_hooks() {
  if (has_hooks(HookTiming::post)) run_hooks(HookTiming::post);
}

void Optimizer::run_hook(const Hook& hook) {
  refresh_slots();
  const HookScope scope{*this};
  hook(*this);
}

}  // namespace training
