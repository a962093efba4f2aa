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

namespace {
constinit thread_local nn::StateDict* state_of_hook = nullptr;  // of the hooks in progress
}

StepHookHandle Optimizer::add_state_hook(catena::Function<void(Optimizer&, nn::StateDict&)> hook, HookTiming timing) {
  return add_step_hook(Hook([hook = std::move(hook)](Optimizer& o) { hook(o, *state_of_hook); }), timing);
}

void Optimizer::run_state_hooks(HookTiming timing, nn::StateDict* state) {
  struct Restore {
    nn::StateDict* outer;
    ~Restore() { state_of_hook = outer; }
  } const restore{std::exchange(state_of_hook, state)};
  const internal::HookList hooks = hooks_;  // a hook may add hooks
  for (const auto& h : hooks)
    if (h->timing == timing) h->hook(*this);
}

nn::StateDict Optimizer::state_dict() {
  run_state_hooks(HookTiming::before_state);
  WithHyper both{*this};
  nn::StateDict state = nn::state_dict(both);
  run_state_hooks(HookTiming::after_state, &state);
  return state;
}
nn::LoadReport Optimizer::load_state_dict(const nn::StateDict& state) {
  nn::StateDict changed = state;  // by hooks
  run_state_hooks(HookTiming::before_load, &changed);
  WithHyper both{*this};
  const nn::LoadReport report = nn::load_state_dict(both, changed);
  run_state_hooks(HookTiming::after_load);
  return report;
}

}  // namespace training
