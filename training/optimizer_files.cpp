// The state of optimizers in files.
#include <algorithm>
#include <memory>

#include <catena/autograd/debug.h>
#include <catena/kernels/base/error.h>
#include <catena/training/gradient_exchange.h>
#include <catena/training/optimizer.h>
#include <catena/training/stored_number.h>

namespace training {

using catena::check;
using catena::ValueError;

// States of the same name may mean something else in another rule: v is the velocity of MomentumSGD, and the mean of
// squares of Adam.
void Optimizer::check_rule(const Serializer& s) const {
  std::vector<std::string> others;
  std::string first;
  for (const std::string& key : s.keys()) {
    const std::size_t slash = key.rfind('/');
    if (slash == key.npos) continue;
    const std::string path = "/" + key.substr(0, slash), name = key.substr(slash + 1);
    const auto is_state = [&](const UpdateRule::State& state) { return name == state.name; };
    if (name == "t" || name == "fp32_param" || std::any_of(rule_.states.begin(), rule_.states.end(), is_state))
      continue;
    // "hyper/lr" of state_dict(), if a parameter is named "hyper", too.
    const auto is_hyper = [&](const UpdateRule::HyperParameter& h) { return name == h.name; };
    if (path == "/hyper" && std::any_of(rule_.hyper.begin(), rule_.hyper.end(), is_hyper)) continue;
    if (std::none_of(slots_.begin(), slots_.end(), [&](const Slot& slot) { return slot.param.path == path; })) continue;
    if (first.empty()) first = path;
    if (path == first) others.push_back(name);
  }
  if (others.empty()) return;
  std::string names;
  for (const std::string& name : others) names += (names.empty() ? "" : ", ") + name;
  autograd::warn("UserWarning",
                 catena::concat(rule_.name, ": the file has ", names, " of the parameter ", first,
                                ", which this optimizer does not have; it is of another one, whose states of "
                                "the same name may mean something else"));
}

void Optimizer::serialize(Serializer& s) {
  if (!s.is_writer()) {
    for (const nn::NamedParam& p : target().namedparams())
      check<ValueError>(bool(p.param.data()), rule_.name, "cannot load states: the parameter ", p.path,
                        " has no shape yet (load the model first)");
  }
  prepare();
  if (!s.is_writer()) check_rule(s);
  else check_states_are_here();
  internal::restore_on_rollback(s, t_, epoch_);
  internal::serialize_count(s, "t", t_, rule_.name);
  internal::serialize_count(s, "epoch", epoch_, rule_.name);
  if (scaling_) serialize_scaling(s);
  for (Slot& slot : slots_) {
    const std::unique_ptr<Serializer> child = s[slot.param.path];
    if (slot.states.empty() && !rule_.states.empty() && child->contains(rule_.states[0].name)) {
      Slot* frozen_later[] = {&slot};
      if (rule_.kernel == nullptr) make_own_states(slot);
      else make_states(frozen_later);
      s.on_rollback([this, path = slot.param.path] {
        for (Slot& known : slots_)
          if (known.param.path == path) known.states.clear();
      });
    }
    for (std::size_t k = 0; k < slot.states.size(); ++k) (*child)(rule_.states[k].name, slot.states[k]);
    serialize_fp32_param(*child, slot);
    // The rules of later versions of Chainer have counts of their own.
    if (std::any_of(rule_.states.begin(), rule_.states.end(),
                    [](const auto& state) { return std::string_view(state.name) == "t"; }))
      continue;
    std::int64_t count = t_ - slot.skipped_updates;
    if (s.is_writer() || child->contains("t"))
      internal::serialize_count(*child, "t", count, catena::concat(rule_.name, ", parameter ", slot.param.path));
    else count = t_;
    if (!s.is_writer())
      s.on_rollback([this, path = slot.param.path, before = slot.skipped_updates] {
        for (Slot& known : slots_)
          if (known.param.path == path) known.skipped_updates = before;
      });
    slot.skipped_updates = t_ - count;
  }
  if (exchange_) exchange_->serialize(s);
}

void Optimizer::serialize_hyper(Serializer& s) { serialize_hyper(s, false); }

void Optimizer::serialize_hyper(Serializer& s, bool all) {
  internal::restore_on_rollback(s, hyper_);
  for (std::size_t i = 0; i < hyper_.size(); ++i) {
    const UpdateRule::HyperParameter& given = rule_.hyper[i];
    if (s.is_writer() ? all || hyper_[i] != given.value : s.contains(given.name)) s(given.name, hyper_[i]);
  }
  serialize_groups(s, all);
}

}  // namespace training
