#include <catena/training/optimizer.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <memory>
#include <tuple>

#include <catena/autograd/backward.h>
#include <catena/autograd/capture.h>
#include <catena/autograd/debug.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/registry/tensor_table.h>

namespace training {

using autograd::Device;
using autograd::Dtype;
using autograd::Shape;
using catena::check;
using catena::KeyError;
using catena::RuntimeError;
using catena::TypeError;
using catena::ValueError;

// ---- passes of a kernel -------------------------------------------------------------------------
namespace {

// Returns the loop for parameters of `dtype`, the type of the last operand.
int loop_for(const catena::KernelDef& kernel, Dtype dtype) {
  for (int i = 0; i < int(kernel.num_loops); ++i)
    if (kernel.loop_table[i].type[std::size_t(kernel.num_operands() - 1)] == dtype) return i;
  catena::fail<TypeError>(kernel.name, "there is no update for parameters of ", dtype);
}

// The tensors of one dtype, device and array library, updated in one launch.
struct Launch {
  Launch(const catena::KernelDef& kernel, const Array& parameter)
      : dtype(parameter.dtype()),
        device(parameter.device()),
        owner(parameter->owner),
        backend(parameter.backend()),
        kernel(kernel),
        loop(loop_for(kernel, dtype)) {}
  bool takes(const Array& parameter) const {
    return parameter.dtype() == dtype && parameter.device() == device && parameter->owner == owner;
  }

  // Arrays of parameters, gradients and states are borrowed, because they outlive the step; `held` owns the others.
  void read(const Array& a) {
    if (a.is_c_contiguous()) operands.push_back(a.get());
    else operands.push_back(held.emplace_back(autograd::copy(a)).get());
  }
  void write(const Array& a) {
    if (a.is_c_contiguous()) return operands.push_back(a.get());
    read(a);
    stand_ins.emplace_back(a, held.back());
  }

  catena::call::MultiTensor call(const catena::Hyper& hyper, const autograd::HyperRefresh* refresh = nullptr) {
    return {&kernel, loop, operands, {&hyper, 1}, {}, refresh, &table};
  }
  void run(const catena::call::MultiTensor& update) {
    backend.multi_tensor(update);
    for (const auto& [original, stand_in] : stand_ins) autograd::assign(original, stand_in);
  }
  void clear() {
    operands.clear();
    held.clear();
    stand_ins.clear();
    shared.clear();
  }

  const Dtype dtype;
  const Device device;
  const catena::ArrayOwner* const owner;
  autograd::Backend& backend;
  const catena::KernelDef& kernel;
  const int loop;
  catena::TensorTable table;
  // Used only during one step.
  std::vector<catena::ArrayHeader*> operands;
  std::vector<Array> held;
  std::vector<std::pair<Array, Array>>
      stand_ins;              // pairs of an array that is not contiguous and the one that the kernel writes instead
  std::vector<Array> shared;  // operands used by all tensors
};

}  // namespace

struct Optimizer::Pass {
  explicit Pass(const catena::KernelDef& of) : kernel(of) {}

  // Neighbouring parameters mostly belong to the same launch.
  Launch& launch_of(const Array& parameter) {
    if (last != nullptr && last->takes(parameter)) return *last;
    const auto at = std::find_if(launches.begin(), launches.end(), [&](const auto& l) { return l->takes(parameter); });
    last = at != launches.end() ? at->get() : launches.emplace_back(std::make_unique<Launch>(kernel, parameter)).get();
    return *last;
  }
  // Called after all tensors were added. Removes launches without a tensor. If there are several launches, checks the
  // later ones before the first one runs.
  void complete(const catena::Hyper& hyper) {
    last = nullptr;
    std::erase_if(launches, [](const auto& l) { return l->operands.empty(); });
    if (launches.size() < 2) return;
    for (const auto& l : launches) l->table.update(l->call(hyper));
  }

  const catena::KernelDef& kernel;
  std::vector<std::unique_ptr<Launch>> launches;
  Launch* last = nullptr;

  // The scope of one step: at the end, also after an exception, keeps the tables and releases the arrays.
  struct Step {
    explicit Step(Pass& p) : pass(p) {}
    ~Step() {
      for (const auto& l : pass.launches) l->clear();
    }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    Pass& pass;
  };
};

// ---- the optimizer ------------------------------------------------------------------------------
Optimizer::Optimizer(UpdateRule rule) try : rule_(std::move(rule)) {
  check<ValueError>(rule_.kernel == nullptr || rule_.block != nullptr, rule_.name,
                    "the rule has a kernel, but no function `block` that makes its hyperparameters");
  for (const UpdateRule::HyperParameter& h : rule_.hyper) hyper_.push_back(h.value);
} catch (...) {
  catena::rethrow_standard("Optimizer");
}
Optimizer::~Optimizer() = default;

void Optimizer::check_target(const Link& target) const try {
  bool any = false;
  target.for_each_param([&](std::string_view, const Variable&) { any = true; });
  check<ValueError>(
      any, rule_.name, "the link ", autograd::internal::class_name(typeid(target)),
      " has no parameters, so there is nothing to train: list its members in NN_MEMBERS, or add them before "
      "setup");
} catch (...) {
  catena::rethrow_standard(rule_.name);
}

void Optimizer::setup(Link& target) {
  check_target(target);
  set_target(target, {});
}

// After an error, everything is as before.
void Optimizer::set_target(Link& target, catena::Shared<Link> owner) try {
  Link* const target_before = std::exchange(target_, &target);
  std::vector<Slot> slots_before = std::exchange(slots_, {});
  try {
    prepare();
  } catch (...) {
    target_ = target_before;
    slots_ = std::move(slots_before);
    throw;
  }
  owned_ = std::move(owner);
  t_ = epoch_ = 0;
  loss_ = {};
  hooks_.clear();
  passes_.clear();
  ++changes_;
} catch (...) {
  catena::rethrow_standard(rule_.name);
}

Link& Optimizer::target() const {
  check<RuntimeError>(target_ != nullptr, rule_.name, "setup has not been called, so there is nothing to optimize");
  return *target_;
}

void Optimizer::add_hook(Hook hook, const std::string& name) try {
  check<RuntimeError>(target_ != nullptr, "add_hook", "call setup before adding the hook ", name);
  check<TypeError>(bool(hook), "add_hook", "the hook ", name, " is not callable");
  for (const auto& h : hooks_) check<KeyError>(h.first != name, "add_hook", "there is a hook named ", name, " already");
  hooks_.emplace_back(name, std::move(hook));
  ++changes_;
} catch (...) {
  catena::rethrow_standard("add_hook");
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
  check<KeyError>(name != "lr" || rule_.lr == nullptr, rule_.name, "the hyperparameter lr follows from others and the ",
                  "number of updates; it cannot be set");
  (void)get_hyper(name);  // throws: the name is unknown
}

void Optimizer::refresh_slots() {
  std::size_t known = 0;
  bool same = true;
  target().for_each_param([&](std::string_view path, const Variable& p) {
    same = same && known < slots_.size() && p.is_same(slots_[known].param.param) && path == slots_[known].param.path;
    ++known;
  });
  if (same && known == slots_.size()) return;
  std::vector<nn::NamedParam> params = target().namedparams();
  std::vector<Slot> fresh;
  fresh.reserve(params.size());  // so that nothing fails once states are moved
  for (nn::NamedParam& p : params) {
    const auto known =
        std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return s.param.path == p.path; });
    if (known == slots_.end()) fresh.push_back({std::move(p), {}, {}});
    else fresh.push_back({std::move(p), std::move(known->states), {}, known->met});
  }
  slots_ = std::move(fresh);
  for (const Slot& s : slots_) autograd::internal::Access::node(s.param.param)->has_optimizer = true;
}

void Optimizer::check_capture() const {
  for (const Slot& s : slots_) {
    const Array& p = s.param.param.data();
    if (!s.takes_part()) continue;
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
  // Allocates one arena per dtype and device for everything that is new.
  std::map<std::tuple<Dtype, Device::Kind, int>, std::vector<Slot*>> fresh;
  for (Slot& s : slots_) {
    const Array& p = s.param.param.data();
    if (!p) continue;
    s.met = true;
    if (rule_.states.empty()) continue;
    if (s.states.empty()) {
      if (s.is_frozen()) continue;
      if (rule_.kernel == nullptr) make_own_states(s);
      else fresh[{p.dtype(), p.device().kind, p.device().id}].push_back(&s);
      continue;
    }
    for (Array& state : s.states) {
      check<ValueError>(rule_.kernel == nullptr || (state.shape() == p.shape() && state.dtype() == p.dtype()),
                        rule_.name, "the parameter ", s.param.path, " became an array of ", p.dtype(), " and shape ",
                        p.shape(), ", but its states are of ", state.dtype(), " and shape ", state.shape(),
                        " (setup starts anew)");
      if (state->owner == p->owner) {
        if (!(state.device() == p.device())) state = autograd::to_device(state, p.device());
      } else {  // the model was moved to another array library
        const Array moved = p.backend().empty(state.shape(), state.dtype(), p.device());
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
  std::vector<std::vector<Array>> made(slots.size());
  for (const UpdateRule::State& rule : rule_.states) {
    const Array arena = first.backend().empty({total}, first.dtype(), first.device());
    autograd::fill(arena, rule.initial);
    std::int64_t at = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const Variable& p = slots[i]->param.param;
      made[i].push_back(autograd::reshape(autograd::slice(arena, 0, at, at + p.size()), p.shape()));
      at += p.size();
    }
  }
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i]->states = std::move(made[i]);
}

void Optimizer::make_own_states(Slot& s) {
  std::vector<Array> made(rule_.states.size());
  init_state(s.param.param, made);
  for (std::size_t k = 0; k < made.size(); ++k)
    check<ValueError>(bool(made[k]), rule_.name, "init_state left the state ", rule_.states[k].name,
                      " of the parameter ", s.param.path, " null");
  s.states = std::move(made);
}

void Optimizer::init_state(const Variable& param, std::span<Array> states) {
  for (std::size_t k = 0; k < states.size(); ++k)
    states[k] = autograd::full_like(param.data(), rule_.states[k].initial);
}

void Optimizer::update_one(Variable&, std::span<Array>) {
  catena::fail<catena::NotImplementedError>(rule_.name,
                                            "the rule has no kernel, and the class does not override update_one");
}

std::vector<Array> Optimizer::states(const std::string& path) const {
  for (const Slot& s : slots_)
    if (s.param.path == path) return s.states;
  catena::fail<KeyError>("Optimizer.states", "there is no parameter ", path);
}

bool Optimizer::Slot::has_grad() const noexcept {
  return autograd::internal::Access::node(param.param)->root()->grad != nullptr;
}

void Optimizer::reallocate_cleared_grads() {
  for (Slot& s : slots_)
    if (s.takes_part() && !s.has_grad()) s.param.param.set_grad(autograd::zeros_like(s.param.param.data()));
}

// While an object exists, the gradient arrays that hooks make are recorded.
struct Optimizer::HookScope {
  std::vector<Slot>& slots;
  ~HookScope() {
    for (Slot& s : slots) s.own_grad = {};
  }
};

void Optimizer::call_hooks() {
  const HookScope scope{slots_};
  for (auto& [name, hook] : hooks_) {
    hook(*this);
    refresh_slots();
    reallocate_cleared_grads();
  }
}

void Optimizer::run_hook(const Hook& hook) {
  refresh_slots();
  const HookScope scope{slots_};
  hook(*this);
}

void Optimizer::step(Variable loss) try {
  if (use_cleargrads_) target().cleargrads();
  else target().zerograds();
  UntrainedParameters not_updated;
  const autograd::internal::OnParameter note = [&not_updated](autograd::internal::VariableNode& n,
                                                              autograd::FunctionNode& f) {
    if (!n.has_optimizer && n.requires_grad) not_updated.emplace_back(n.handle(), f.label());
  };
  autograd::internal::run_backward(loss, {}, &note);
  loss_ = std::move(loss);
  if (autograd::is_capturing()) release_graph();  // the memory of a captured graph belongs to its replays
  if (!not_updated.empty()) check_untrained(not_updated);
  if (use_cleargrads_) check_reached();  // if gradients were set to zero, they contain no information
  static_cast<void>(autograd::internal::take_untrained());  // results of earlier calls of Variable::backward
  struct Step {
    bool& in_step;
    explicit Step(bool& flag) : in_step(flag) { in_step = true; }
    ~Step() { in_step = false; }
  } const scope(in_step_);
  update();
} catch (...) {
  catena::rethrow_standard(rule_.name);
}

void Optimizer::check_own_loop() {
  if (const autograd::internal::Untrained untrained = autograd::internal::take_untrained(); untrained.parameter)
    check_untrained({{untrained.parameter, untrained.user}});
  const auto takes_part = [](const Slot& s) { return s.takes_part(); };
  if (std::none_of(slots_.begin(), slots_.end(), takes_part) ||
      std::any_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.takes_part() && s.has_grad(); }))
    return;
  const nn::Link& model = target();
  autograd::warn(
      "UserWarning",
      catena::concat(rule_.name, ": no parameter of the model ", autograd::internal::class_name(typeid(model)),
                     " has a gradient: was backward called, and on a loss of the model that setup() was given, "
                     "not of a copy of it?"));
}

void Optimizer::release_graph() {
  if (loss_) loss_.unchain_backward();
  loss_ = {};
}

// Warns unless at least one parameter that this step may update has a gradient.
void Optimizer::check_reached() {
  const auto reached = [this] {
    return std::any_of(slots_.begin(), slots_.end(), [](const Slot& s) {
      return s.takes_part() && autograd::internal::Access::node(s.param.param)->grad != nullptr;
    });
  };
  if (reached()) return;
  refresh_slots();
  if (reached() || std::none_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.takes_part(); })) return;
  const nn::Link& model = target();
  autograd::warn("UserWarning",
                 catena::concat(rule_.name, ": the loss does not depend on any parameter of the model ",
                                autograd::internal::class_name(typeid(model)),
                                " (was it computed from arrays, in no_backprop_mode, or by another model?)"));
}

void Optimizer::check_untrained(const UntrainedParameters& not_updated) {
  refresh_slots();  // the step may have added parameters to the model
  const nn::Link& model = target();
  for (const auto& [p, user] : not_updated) {
    if (!p || autograd::internal::Access::node(p)->has_optimizer) continue;
    const std::string message = catena::concat(
        rule_.name, ": ", user, " used a parameter ", p.name(), p.name().empty() ? "" : " ", "of shape ", p.shape(),
        " that is in no member of the model ", autograd::internal::class_name(typeid(model)),
        ": it got a gradient, but nothing updates it (list it in NN_MEMBERS; set_requires_grad(false) if "
        "it is a constant)");
    check<RuntimeError>(!autograd::is_debug(), "update", message);
    autograd::warn("UserWarning", message);
  }
}

std::uint64_t Optimizer::frozen_slots() const noexcept {
  std::uint64_t hash = slots_.size();
  for (const Slot& s : slots_) hash = hash * 1099511628211u + (s.is_frozen() ? 2 : 1);
  return hash;
}

void Optimizer::update() try {
  refresh_slots();
  if (!in_step_ && !autograd::is_capturing()) check_own_loop();
  // From here on, writes to the parameters, by hooks or by the rule, count as this update.
  std::vector<autograd::internal::OptimizerWrite> writes;
  writes.reserve(slots_.size());
  for (const Slot& s : slots_)
    if (s.takes_part()) writes.emplace_back(s.param.param.data());
  reallocate_cleared_grads();
  if (!hooks_.empty()) call_hooks();
  prepare_states();
  if (rule_.kernel == nullptr) update_each();
  else launch();
  if (autograd::is_capturing()) watch();
} catch (...) {
  catena::rethrow_standard(rule_.name);
}

void Optimizer::watch() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto& [path, param] = slots_[i].param;
    autograd::watch_array("parameter " + path, [param = param] { return param.data(); });
    autograd::watch_array("the gradient of parameter " + path, [param = param] { return param.grad(); });
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
    // A captured graph uses the values at the time of the capture.
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
  autograd::watch_value("which parameters are frozen", [this] { return frozen_slots(); });
}

Optimizer::Pass& Optimizer::pass_of(const catena::KernelDef& kernel) {
  for (const auto& p : passes_)
    if (&p->kernel == &kernel) return *p;
  return *passes_.emplace_back(std::make_unique<Pass>(kernel));
}

// Everything that can fail runs before the first kernel: after an error, parameters, states and t are unchanged.
void Optimizer::launch() {
  Pass& pass = pass_of(*rule_.kernel);
  const Pass::Step step(pass);
  for (Slot& s : slots_) {
    if (!s.takes_part() || !s.has_grad()) continue;
    const Array& p = s.param.param.data();
    const Array g = s.param.param.grad();
    if (p.size() == 0) continue;
    Launch& launch = pass.launch_of(p);
    launch.read(g);
    launch.write(p);
    for (const Array& state : s.states) launch.operands.push_back(state.get());
  }
  const catena::Hyper hyper = rule_.block(hyper_, t_ + 1);
  pass.complete(hyper);
  ++t_;
  // In captured work, a replay is another update: the first launch increments the counter, and all launches read the
  // new values.
  bool first = true;
  for (const auto& launch : pass.launches) {
    const autograd::HyperRefresh next = [this, first](std::span<catena::Hyper> block) {
      if (first) ++t_;
      block[0] = rule_.block(hyper_, t_);
    };
    try {
      launch->run(launch->call(hyper, &next));
    } catch (...) {
      if (first) --t_;  // no parameter has been updated
      throw;
    }
    first = false;
  }
}

void Optimizer::update_each() {
  check<RuntimeError>(!autograd::is_capturing(), rule_.name,
                      "update_one cannot be captured: replays would see neither the number of the update nor the "
                      "hyperparameters of their time");
  ++t_;
  bool first = true;
  for (Slot& s : slots_) {
    if (!s.takes_part() || !s.has_grad() || s.param.param.size() == 0) continue;
    try {
      update_one(s.param.param, s.states);
    } catch (...) {
      if (first) --t_;  // no parameter has been updated
      catena::rethrow_from(catena::concat(rule_.name, ", parameter ", s.param.path));
    }
    first = false;
  }
}

void Optimizer::transform_grads(const catena::KernelDef& kernel, const catena::Hyper& hyper,
                                std::span<const Array> shared) {
  const bool takes_parameter = kernel.nin > shared.size();
  Pass& pass = pass_of(kernel);
  const Pass::Step step(pass);
  for (Slot& s : slots_) {
    Variable& p = s.param.param;
    if (!s.takes_part() || !s.has_grad() || p.size() == 0) continue;
    Launch& launch = pass.launch_of(p.data());
    if (launch.shared.size() != shared.size())
      for (std::size_t k = 0; k < shared.size(); ++k)
        launch.shared.push_back(
            autograd::to_device(autograd::astype(shared[k], kernel.loop_table[launch.loop].type[k]), p.device()));
    for (const Array& a : launch.shared) launch.read(a);
    if (takes_parameter) launch.read(p.data());
    if (!s.own_grad || p.grad().get() != s.own_grad.get()) {
      s.own_grad = autograd::copy(p.grad());
      p.set_grad(s.own_grad);
    }
    launch.operands.push_back(s.own_grad.get());
  }
  pass.complete(hyper);
  for (const auto& launch : pass.launches) launch->run(launch->call(hyper));
}

}  // namespace training
