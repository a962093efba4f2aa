#include <catena/training/optimizer.h>

#include <algorithm>
#include <utility>

#include <catena/autograd/backward.h>
#include <catena/autograd/capture.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/small_vector.h>

namespace training {

using catena::check;
using catena::KeyError;
using catena::RuntimeError;
using catena::TypeError;
using catena::ValueError;

Optimizer::Optimizer(UpdateRule rule) try : rule_(std::move(rule)) {
  check<ValueError>(rule_.kernel == nullptr || rule_.block != nullptr, rule_.name,
                    "the rule has a kernel, but no function `block` that makes its hyperparameters");
  for (const UpdateRule::HyperParameter& h : rule_.hyper) hyper_.push_back(h.value);
} catch (...) {
  catena::rethrow_standard(rule.name);
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
  if (scaling_) seed_scaled(loss);
  autograd::internal::run_backward({loss}, {}, &note);
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

void Optimizer::release_graph() {
  if (loss_) loss_.unchain_backward();
  loss_ = {};
}

void Optimizer::update() try {
  refresh_slots();
  if (!in_step_ && !autograd::is_capturing()) check_own_loop();
  if (scaling_ && !unscale_gradients()) return;
  // From here on, writes to the parameters, by hooks or by the rule, count as this update.
  catena::SmallVector<autograd::internal::OptimizerWrite, 16> writes;
  writes.reserve(slots_.size());
  for (const Slot& s : slots_)
    if (s.takes_part()) writes.emplace_back(s.param.param.data());
  reallocate_cleared_grads();
  if (!hooks_.empty()) call_hooks();
  prepare_states();
  if (rule_.kernel == nullptr) update_each();
  else if (scaling_ && autograd::is_capturing()) launch_if_finite();
  else launch();
  if (autograd::is_capturing()) watch();
} catch (...) {
  catena::rethrow_standard(rule_.name);
}

}  // namespace training
