#include <catena/training/optimizer.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include <catena/autograd/capture.h>

namespace training {

using autograd::Device;
using autograd::Dtype;
using autograd::Shape;
using catena::check;
using catena::KeyError;
using catena::RuntimeError;
using catena::TypeError;
using catena::ValueError;

Optimizer::Optimizer(UpdateRule rule) : rule_(std::move(rule)) {
  for (const UpdateRule::HyperParameter& h : rule_.hyper) hyper_.push_back(h.value);
}
Optimizer::~Optimizer() = default;

void Optimizer::setup(Link& target) {
  owned_.reset();
  set_target(target);
}

void Optimizer::set_target(Link& target) {
  target_ = &target;
  t_ = epoch_ = 0;
  hooks_.clear();
  slots_.clear();
  ++changes_;
  prepare();
}

Link& Optimizer::target() const {
  check<RuntimeError>(target_ != nullptr, rule_.name, "setup has not been called, so there is nothing to optimize");
  return *target_;
}

void Optimizer::add_hook(Hook hook, const std::string& name) {
  check<RuntimeError>(target_ != nullptr, "add_hook", "call setup before adding the hook ", name);
  check<TypeError>(bool(hook), "add_hook", "the hook ", name, " is not callable");
  for (const auto& h : hooks_) check<KeyError>(h.first != name, "add_hook", "there is a hook named ", name, " already");
  hooks_.emplace_back(name, std::move(hook));
  ++changes_;
}

void Optimizer::remove_hook(const std::string& name) {
  const auto at = std::find_if(hooks_.begin(), hooks_.end(), [&](const auto& h) { return h.first == name; });
  check<KeyError>(at != hooks_.end(), "remove_hook", "there is no hook named ", name);
  hooks_.erase(at);
  ++changes_;
}

std::vector<std::string> Optimizer::hyper_names() const {
  std::vector<std::string> names;
  for (const UpdateRule::HyperParameter& h : rule_.hyper) names.emplace_back(h.name);
  return names;
}

double Optimizer::get_hyper(std::string_view name) const {
  for (std::size_t i = 0; i < hyper_.size(); ++i)
    if (name == rule_.hyper[i].name) return hyper_[i];
  if (name == "lr" && rule_.lr != nullptr) {
    check<ValueError>(t_ > 0, rule_.name, "lr depends on the number of updates, and there was none yet");
    return rule_.lr(hyper_, t_);
  }
  std::string names;
  for (const std::string& n : hyper_names()) names += (names.empty() ? "" : ", ") + n;
  catena::fail<KeyError>(rule_.name, "there is no hyperparameter ", name, " (there are: ", names, ")");
}

void Optimizer::set_hyper(std::string_view name, double value) {
  for (std::size_t i = 0; i < hyper_.size(); ++i) {
    if (name == rule_.hyper[i].name) {
      hyper_[i] = value;
      return;
    }
  }
  (void)get_hyper(name);  // throws for unknown names
  catena::fail<KeyError>(rule_.name, "the hyperparameter ", name, " follows from others and cannot be set");
}

void Optimizer::refresh_slots() {
  std::vector<nn::NamedParam> params = target().namedparams();
  const bool same =
      params.size() == slots_.size() &&
      std::equal(params.begin(), params.end(), slots_.begin(), [](const nn::NamedParam& p, const Slot& s) {
        return p.path == s.param.path && p.param.is_same(s.param.param);
      });
  if (same) return;
  std::vector<Slot> fresh;
  for (nn::NamedParam& p : params) {
    const auto known =
        std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return s.param.path == p.path; });
    if (known == slots_.end()) fresh.push_back({std::move(p), {}, {}});
    else fresh.push_back({std::move(p), std::move(known->states), {}, known->met});
  }
  slots_ = std::move(fresh);
}

void Optimizer::check_capture() const {
  for (const Slot& s : slots_) {
    const Array& p = s.param.param.data();
    if (!p) continue;
    check<RuntimeError>(
        s.met, rule_.name, "the parameter ", s.param.path,
        " is new to this optimizer; made in captured work, it would be made again in every replay (run the work once "
        "before)");
    for (const Array& state : s.states)
      check<RuntimeError>(state.device() == p.device(), rule_.name, "the parameter ", s.param.path, " is on ",
                          p.device(), ", its states are on ", state.device(),
                          "; captured work would move them in every replay (run the work once "
                          "before)");
  }
}

void Optimizer::prepare() {
  refresh_slots();
  prepare_states();
}

void Optimizer::prepare_states() {
  if (autograd::is_capturing()) check_capture();
  // One arena per dtype and device for everything that is new.
  std::map<std::tuple<Dtype, Device::Kind, int>, std::vector<Slot*>> fresh;
  for (Slot& s : slots_) {
    const Array& p = s.param.param.data();
    if (!p) continue;
    s.met = true;
    if (rule_.states.empty()) continue;
    if (s.states.empty()) {
      fresh[{p.dtype(), p.device().kind, p.device().id}].push_back(&s);
      continue;
    }
    for (Array& state : s.states) {
      check<ValueError>(state.shape() == p.shape() && state.dtype() == p.dtype(), rule_.name, "the parameter ",
                        s.param.path, " became an array of ", p.dtype(), " and shape ", p.shape(),
                        ", but its states are of ", state.dtype(), " and shape ", state.shape(),
                        " (setup starts anew)");
      if (state->owner == p->owner) {
        if (!(state.device() == p.device())) state = autograd::to_device(state, p.device());
      } else {  // the model moved to another array library
        const Array moved = autograd::empty_like(p);
        autograd::copy_across(moved, state);
        state = moved;
      }
    }
  }
  for (auto& [key, slots] : fresh) make_states(slots);
}

void Optimizer::make_states(std::span<Slot*> slots) {
  const Array& first = slots[0]->param.param.data();
  std::int64_t total = 0;
  for (const Slot* s : slots) total += s->param.param.size();
  for (const UpdateRule::State& rule : rule_.states) {
    const Array arena = first.backend().empty({total}, first.dtype(), first.device());
    autograd::fill(arena, rule.initial);
    std::int64_t at = 0;
    for (Slot* s : slots) {
      const std::int64_t n = s->param.param.size();
      s->states.push_back(autograd::reshape(autograd::slice(arena, 0, at, at + n), s->param.param.shape()));
      at += n;
    }
  }
}

std::vector<Array> Optimizer::states(const std::string& path) const {
  for (const Slot& s : slots_)
    if (s.param.path == path) return s.states;
  catena::fail<KeyError>("Optimizer.states", "there is no parameter ", path);
}

void Optimizer::fill_missing_grads() {
  for (Slot& s : slots_) {
    Variable& p = s.param.param;
    if (p.data() && !p.grad()) p.set_grad(autograd::zeros_like(p.data()));
  }
}

void Optimizer::step(const Variable& loss) {
  target().cleargrads();
  Variable start = loss;
  start.backward();
  start.unchain_backward();  // whoever keeps the loss keeps its value and not the memory behind it
  update();
}

void Optimizer::update() {
  // Gradient arrays that hooks make are known for the time of one update, however it ends.
  struct Forget {
    std::vector<Slot>& slots;
    ~Forget() {
      for (Slot& s : slots) s.own_grad = {};
    }
  };
  refresh_slots();
  const Forget forget{slots_};
  fill_missing_grads();
  for (auto& [name, hook] : hooks_) {
    hook(*this);
    refresh_slots();
    fill_missing_grads();
  }
  prepare_states();
  launch();
  if (autograd::is_capturing()) watch();
}

void Optimizer::watch() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto& [path, param] = slots_[i].param;
    autograd::watch_array("parameter " + path, [param] { return param.data(); });
    autograd::watch_array("the gradient of parameter " + path, [param] { return param.grad(); });
    for (std::size_t k = 0; k < slots_[i].states.size(); ++k)
      autograd::watch_array(catena::concat("state ", rule_.states[k].name, " of parameter ", path), [this, i, k] {
        return i < slots_.size() && k < slots_[i].states.size() ? slots_[i].states[k] : Array();
      });
  }
  struct Persistents final : nn::MemberVisitor {
    std::string path;
    void persistent(std::string_view name, nn::Persistent& a) override {
      autograd::watch_array("persistent " + path + "/" + std::string(name), [&a] { return a.array(); });
    }
    // A graph holds the values of the capture.
    void persistent(std::string_view name, bool& v) override {
      value(name, [&v] { return std::uint64_t(v); });
    }
    void persistent(std::string_view name, std::int64_t& v) override {
      value(name, [&v] { return std::uint64_t(v); });
    }
    void persistent(std::string_view name, double& v) override {
      value(name, [&v] { return std::bit_cast<std::uint64_t>(v); });
    }
    void value(std::string_view name, std::function<std::uint64_t()> current) const {
      autograd::watch_value("persistent " + path + "/" + std::string(name), std::move(current));
    }
    void link(std::string_view name, Link& child) override {
      Persistents of_child;
      of_child.path = path + "/" + std::string(name);
      child.visit_members(of_child);
    }
  } persistents;
  target().visit_members(persistents);
  autograd::watch_value(catena::concat("the target or the list of hooks of ", rule_.name), [this] { return changes_; });
}

namespace {

// The tensors of one dtype and device, operand by operand.
struct Group {
  std::vector<std::vector<Array>> operands;
  std::vector<std::pair<Array, Array>> copies;  // (the array itself, its contiguous stand-in that the kernel writes)
};

Array contiguous_for_write(Group& g, const Array& a) {
  if (a.is_c_contiguous()) return a;
  const Array stand_in = autograd::copy(a);
  g.copies.emplace_back(a, stand_in);
  return stand_in;
}

// The loop for parameters of `dtype`, which is the type of the last operand.
int loop_for(const catena::KernelDef& kernel, Dtype dtype) {
  for (int i = 0; i < int(kernel.num_loops); ++i)
    if (kernel.loop_table[i].type[std::size_t(kernel.num_operands() - 1)] == dtype) return i;
  catena::fail<TypeError>(kernel.name, "there is no update for parameters of ", dtype);
}

void run_group(const catena::KernelDef& kernel, int loop, const Group& g, const catena::Hyper& hyper,
               const autograd::HyperRefresh* refresh = nullptr) {
  const std::vector<std::span<const Array>> spans(g.operands.begin(), g.operands.end());
  const std::vector<std::int32_t> hyper_of(g.operands.back().size(), 0);
  g.operands.back()[0].backend().multi_tensor(kernel, loop, spans, {&hyper, 1}, hyper_of, refresh);
  for (const auto& [original, stand_in] : g.copies) autograd::assign(original, stand_in);
}

std::tuple<Dtype, Device::Kind, int> group_key(const Array& a) { return {a.dtype(), a.device().kind, a.device().id}; }

// The groups of one launch over at most `most` parameters. Neighbours are mostly of the same group.
class Groups {
 public:
  using Map = std::map<std::tuple<Dtype, Device::Kind, int>, Group>;
  explicit Groups(std::size_t most) : most_(most) {}
  Group& of(const Array& parameter, std::size_t operands) {
    const auto key = group_key(parameter);
    if (last_ != map_.end() && last_->first == key) return last_->second;
    last_ = map_.try_emplace(key).first;
    last_->second.operands.resize(operands);
    for (std::vector<Array>& list : last_->second.operands) list.reserve(most_);
    return last_->second;
  }
  const Map& all() const { return map_; }

 private:
  std::size_t most_;
  Map map_;
  Map::iterator last_ = map_.end();
};

}  // namespace

// Everything that can fail without a kernel having run comes first: then neither parameters, states nor t have changed.
void Optimizer::launch() {
  const catena::KernelDef& kernel = *rule_.kernel;
  Groups groups(slots_.size());
  for (Slot& s : slots_) {
    Variable& p = s.param.param;
    if (!p.data() || p.size() == 0) continue;
    loop_for(kernel, p.dtype());
    Group& g = groups.of(p.data(), 2 + s.states.size());
    g.operands[0].push_back(autograd::contiguous(p.grad()));
    g.operands[1].push_back(contiguous_for_write(g, p.data()));
    for (std::size_t k = 0; k < s.states.size(); ++k) g.operands[2 + k].push_back(s.states[k]);
  }
  const catena::Hyper hyper = rule_.block(hyper_, t_ + 1);
  ++t_;
  // Where this update is captured, a replay is an update of its own: the first group counts it, all of them see the new
  // values.
  bool first = true;
  for (const auto& [key, group] : groups.all()) {
    const autograd::HyperRefresh next = [this, first](std::span<catena::Hyper> block) {
      if (first) ++t_;
      block[0] = rule_.block(hyper_, t_);
    };
    try {
      run_group(kernel, loop_for(kernel, std::get<Dtype>(key)), group, hyper, &next);
    } catch (...) {
      if (first) --t_;  // nothing has been updated
      throw;
    }
    first = false;
  }
}

void Optimizer::transform_grads(const catena::KernelDef& kernel, const catena::Hyper& hyper,
                                std::span<const Array> shared) {
  const bool takes_parameter = kernel.nin > shared.size();
  Groups groups(slots_.size());
  for (Slot& s : slots_) {
    Variable& p = s.param.param;
    if (!p.data() || p.size() == 0) continue;
    const int loop = loop_for(kernel, p.dtype());
    Group& g = groups.of(p.data(), shared.size() + std::size_t(takes_parameter) + 1);
    for (std::size_t k = 0; k < shared.size(); ++k) {
      std::vector<Array>& same = g.operands[k];
      if (same.empty())
        same.push_back(autograd::to_device(autograd::astype(shared[k], kernel.loop_table[loop].type[k]), p.device()));
      else same.push_back(same[0]);
    }
    if (takes_parameter) g.operands[shared.size()].push_back(autograd::contiguous(p.data()));
    if (!s.own_grad || p.grad().get() != s.own_grad.get()) {
      s.own_grad = autograd::copy(p.grad());
      p.set_grad(s.own_grad);
    }
    g.operands.back().push_back(s.own_grad);
  }
  for (const auto& [key, group] : groups.all()) run_group(kernel, loop_for(kernel, std::get<Dtype>(key)), group, hyper);
}

void Optimizer::serialize(Serializer& s) {
  if (!s.is_writer()) {
    for (const nn::NamedParam& p : target().namedparams())
      check<ValueError>(bool(p.param.data()), rule_.name, "cannot load states: the parameter ", p.path,
                        " has no shape yet (load the model first)");
  }
  prepare();
  s("t", t_);
  s("epoch", epoch_);
  for (Slot& slot : slots_) {
    const std::unique_ptr<Serializer> child = s[slot.param.path];
    for (std::size_t k = 0; k < slot.states.size(); ++k) (*child)(rule_.states[k].name, slot.states[k]);
  }
}

}  // namespace training
