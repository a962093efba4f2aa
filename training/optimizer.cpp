#include <catena/training/optimizer.h>

#include <algorithm>
#include <set>
#include <utility>

#include <catena/autograd/backward.h>
#include <catena/autograd/capture.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/training/gradient_exchange.h>
#include <catena/training/optimizer_parts.h>

namespace training {

using catena::check;
using catena::RuntimeError;
using catena::ValueError;

Optimizer::Optimizer(UpdateRule rule) try : rule_(std::move(rule)) {
  check<ValueError>(rule_.kernel == nullptr || rule_.block != nullptr, rule_.name,
                    "the rule has a kernel, but no function `block` that makes its hyperparameters");
  for (const UpdateRule::HyperParameter& h : rule_.hyper) hyper_.push_back(h.value);
} catch (...) {
  catena::rethrow_standard(rule.name);
}

Optimizer& Optimizer::setup(Link& target) & {
  check_target(target);
  set_target(target, {});
  return *this;
}

Optimizer& Optimizer::setup(const Variables& params) & try {
  check<ValueError>(!params.empty(), rule_.name, "the list of parameters is empty, so there is nothing to train");
  Variables distinct;
  std::set<const void*> known;
  for (const Variable& p : params) {
    check<ValueError>(bool(p), rule_.name, "a variable of the list is null");
    if (known.insert(p.id()).second) distinct.push_back(p);
  }
  const auto list = catena::Shared<internal::ListedParameters>::make(distinct);
  set_target(*list, list);
  return *this;
} catch (...) {
  catena::rethrow_standard(rule_.name);
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
  set_t(0);
  epoch_ = 0;
  loss_ = {};
  hooks_.clear();
  state_hooks_.clear();
  passes_.clear();
  if (exchange_) exchange_->setup();
  forget_groups();  // counts as a change
} catch (...) {
  catena::rethrow_standard(rule_.name);
}

Link& Optimizer::target() const {
  check<RuntimeError>(target_ != nullptr, rule_.name, "setup has not been called, so there is nothing to optimize");
  return *target_;
}

void Optimizer::set_t(std::int64_t t) noexcept {
  t_ = t;
  for (Slot& s : slots_) s.skipped_updates = 0;
}

void Optimizer::refresh_slots() {
  std::size_t known = 0;
  bool same = true;
  target().for_each_param([&](std::string_view path, const Variable& p) {
    same = same && known < slots_.size() && p.is_same(slots_[known].param.param) && path == slots_[known].param.path;
    ++known;
  });
  if (same && known == slots_.size()) return assign_groups();
  std::vector<nn::NamedParam> params = target().namedparams();
  std::vector<Slot> fresh;
  fresh.reserve(params.size());  // so that nothing fails once states are moved
  for (nn::NamedParam& p : params) {
    const auto known =
        std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return s.param.path == p.path; });
    Slot& slot = fresh.emplace_back();
    if (known != slots_.end()) {
      slot = std::move(*known);
    } else {
      slot.skipped_updates = t_;
      slot.owned_by_other_rank = sharded_;
    }
    slot.grouped = slot.grouped && slot.param.param.is_same(p.param);
    slot.param = std::move(p);
    slot.own_grad = {};
  }
  slots_ = std::move(fresh);
  assign_groups();
  for (const Slot& s : slots_) autograd::internal::Access::node(s.param.param)->has_optimizer = true;
}

bool Optimizer::Slot::has_grad() const noexcept {
  return autograd::internal::Access::node(param.param)->graph_node()->grad != nullptr;
}

void Optimizer::reallocate_cleared_grads() {
  for (Slot& s : slots_)
    if (s.takes_part() && !s.owned_by_other_rank && !s.has_grad())
      s.param.param.set_grad(autograd::zeros_like(s.param.param.data()));
}

void Optimizer::update_by(Variable loss) try {
  if (use_cleargrads_) target().cleargrads();
  else target().zerograds();
  UntrainedParameters not_updated;
  const autograd::internal::OnParameter note = [&not_updated](autograd::internal::VariableNode& n,
                                                              autograd::FunctionNode& f) {
    if (!n.has_optimizer && n.requires_grad) not_updated.emplace_back(n.handle(), f.label());
  };
  if (scaling_) seed_scaled(loss);
  internal::run_last_backward(exchange_.get(), loss, {}, &note);
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
  if (!exchange_gradients()) return;
  if (scaling_ && !unscale_gradients()) return;
  // From here on, writes to the parameters, by hooks or by the rule, count as this update.
  catena::SmallVector<autograd::internal::OptimizerWrite, 16> writes;
  writes.reserve(slots_.size());
  for (const Slot& s : slots_)
    if (s.takes_part()) writes.emplace_back(s.param.param.data());
  reallocate_cleared_grads();
  if (has_hooks(HookTiming::pre)) call_hooks();
  prepare_states();
  if (rule_.kernel == nullptr) update_each();
  else if (scaling_ && autograd::is_capturing()) launch_if_finite();
  else launch();
  if (exchange_) exchange_->share_params();
  call_post_hooks();
  if (autograd::is_capturing()) watch();
} catch (...) {
  catena::rethrow_standard(rule_.name);
}

}  // namespace training
