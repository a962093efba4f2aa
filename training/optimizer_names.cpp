// Members of Optimizer by PyTorch's names, and its text.
#include <algorithm>
#include <optional>
#include <ostream>
#include <vector>

#include <catena/kernels/base/text.h>
#include <catena/nn/serializers/state_dict.h>
#include <catena/training/optimizer.h>
#include <catena/training/optimizer_parts.h>
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

namespace {
constexpr std::string_view kHyper = "hyper/", kGroups = "hyper/groups/";

// "hyper/lr" and "hyper/groups/0/lr". The key of a state of a link named "hyper" has another number of parts.
bool is_hyper(std::string_view key) {
  const auto slashes = std::count(key.begin(), key.end(), '/');
  return key.starts_with(kGroups) ? slashes == 3 : key.starts_with(kHyper) && slashes == 1;
}
}  // namespace

nn::StateDict Optimizer::state_dict() {
  nn::StateDict state = nn::state_dict(*this);
  const auto store = [&](const std::string& key, double value) {
    state[key] = autograd::full({}, value, autograd::Dtype::float64, autograd::Device{});
  };
  const std::vector<std::string> names = hyper_names();
  for (std::size_t i = 0; i < names.size(); ++i) store(catena::concat(kHyper, names[i]), hyper_[i]);
  for (const auto& group : groups_)
    for (std::size_t i = 0; i < names.size(); ++i)
      if (!group->is_rule && group->values[i])
        store(catena::concat(kGroups, group->name(), "/", names[i]), *group->values[i]);
  return state;
}

nn::LoadReport Optimizer::load_state_dict(const nn::StateDict& state) {
  const std::vector<std::string> names = hyper_names();
  const auto load = [&](const std::string& key, auto& value) {
    if (const auto stored = state.find(key); stored != state.end()) value = autograd::item(stored->second).to<double>();
  };
  std::vector<double> hyper = hyper_;
  for (std::size_t i = 0; i < names.size(); ++i) load(catena::concat(kHyper, names[i]), hyper[i]);
  std::vector<std::vector<std::optional<double>>> of_groups;
  for (const auto& group : groups_) {
    of_groups.push_back(group->values);
    for (std::size_t i = 0; i < names.size() && !group->is_rule; ++i)
      load(catena::concat(kGroups, group->name(), "/", names[i]), of_groups.back()[i]);
  }
  nn::StateDict states = state;
  std::erase_if(states, [](const auto& entry) { return is_hyper(entry.first); });
  const nn::LoadReport report = nn::load_state_dict(*this, states);
  // Nothing fails from here on: the lists keep their lengths.
  hyper_ = hyper;
  for (std::size_t k = 0; k < of_groups.size(); ++k) groups_[k]->values = of_groups[k];
  return report;
}

nn::StateDict Scheduler::state_dict() { return nn::state_dict(*this); }
nn::LoadReport Scheduler::load_state_dict(const nn::StateDict& state) { return nn::load_state_dict(*this, state); }
nn::StateDict PlateauScheduler::state_dict() { return nn::state_dict(*this); }
nn::LoadReport PlateauScheduler::load_state_dict(const nn::StateDict& state) {
  return nn::load_state_dict(*this, state);
}

}  // namespace training
