// Members of Optimizer by PyTorch's names, and its text.
#include <algorithm>
#include <ostream>
#include <utility>

#include <catena/kernels/base/text.h>
#include <catena/nn/serializers/state_dict.h>
#include <catena/training/optimizer.h>
#include <catena/training/schedules.h>

namespace training {

void Optimizer::set_lr(double value) { set_hyper(internal::hyper_to_set(*this, "", "set_lr"), value); }

std::string internal::own_name(const Optimizer& optimizer, std::string_view name) {
  const auto& hyper = optimizer.rule().hyper;
  const auto has = [&](std::string_view n) {
    return std::any_of(hyper.begin(), hyper.end(), [&](const UpdateRule::HyperParameter& h) { return n == h.name; });
  };
  if (name == "lr" && !has("lr") && has("alpha")) return "alpha";
  if (name == "weight_decay" && !has("weight_decay") && has("weight_decay_rate")) return "weight_decay_rate";
  return std::string(name);
}

std::int64_t internal::number_of_updates(const Optimizer& optimizer) { return optimizer.t(); }

std::ostream& operator<<(std::ostream& out, const Optimizer& optimizer) {
  out << optimizer.rule().name;
  const char* before = "(";
  for (const std::string& name : optimizer.hyper_names()) {
    out << before << name << "=" << catena::shortest_text(optimizer.get_hyper(name));
    before = ", ";
  }
  return out << (*before == '(' ? "()" : ")");
}

// An optimizer and, below "hyper", all of its hyperparameters.
struct Optimizer::WithHyper {
  Optimizer& optimizer;
  void serialize(Serializer& s) {
    optimizer.serialize(s);
    optimizer.serialize_hyper(*s["hyper"], true);
  }
};

// An optimizer belongs to one thread at a time, and so does the handle of a hook.
struct Optimizer::StateHook final : nn::internal::RemovableHook {
  StateHook(StateHookFunction hook, nn::internal::StateMoment at)
      : moment(at), function(catena::Shared<StateHookFunction>::make(std::move(hook))) {}
  void remove() override { function = {}; }
  const nn::internal::StateMoment moment;
  catena::Shared<StateHookFunction> function;  // null once the hook is removed
};

nn::LinkHookHandle Optimizer::add_state_hook(StateHookFunction hook, nn::internal::StateMoment moment) {
  // In the order of the moments.
  constexpr const char* kNames[] = {"register_state_dict_pre_hook", "register_state_dict_post_hook",
                                    "register_load_state_dict_pre_hook", "register_load_state_dict_post_hook"};
  catena::check<catena::RuntimeError>(target_ != nullptr, kNames[static_cast<std::size_t>(moment)],
                                      "call setup before adding a hook of states");
  std::erase_if(state_hooks_, [](const auto& h) { return !h->function; });
  const auto added = catena::Shared<StateHook>::make(std::move(hook), moment);
  state_hooks_.push_back(added);
  return nn::LinkHookHandle(added);
}

void Optimizer::run_state_hooks(nn::internal::StateMoment moment, nn::StateDict* state) {
  const std::vector<catena::Shared<StateHook>> hooks = state_hooks_;  // a hook may add hooks
  for (const auto& hook : hooks)
    if (const catena::Shared<StateHookFunction> f = hook->function; f && hook->moment == moment) (*f)(*this, state);
}

nn::StateDict Optimizer::state_dict() {
  using nn::internal::StateMoment;
  run_state_hooks(StateMoment::before_state);
  WithHyper both{*this};
  nn::StateDict state = nn::state_dict(both);
  run_state_hooks(StateMoment::after_state, &state);
  return state;
}
nn::LoadReport Optimizer::load_state_dict(const nn::StateDict& state) {
  using nn::internal::StateMoment;
  nn::StateDict changed = state;  // by hooks
  run_state_hooks(StateMoment::before_load, &changed);
  WithHyper both{*this};
  const nn::LoadReport report = nn::load_state_dict(both, changed);
  run_state_hooks(StateMoment::after_load);
  return report;
}

}  // namespace training
