// The multi-node part of optimizers: where an update communicates.
#include <algorithm>

#include <catena/autograd/debug.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/training/gradient_exchange.h>

namespace training {

using catena::check;
using catena::RuntimeError;

internal::GradientExchange::~GradientExchange() = default;

void internal::run_last_backward(GradientExchange* exchange, const Variable& loss,
                                 const autograd::BackwardOptions& options,
                                 const autograd::internal::OnParameter* on_parameter) {
  if (exchange == nullptr) return autograd::internal::run_backward({loss}, options, on_parameter);
  try {
    autograd::internal::run_backward({loss}, options, on_parameter, exchange->begin_backward());
    exchange->end_backward();
  } catch (...) {
    exchange->fail();
    throw;
  }
}

void Optimizer::backward(const Variable& loss) {
  internal::run_last_backward(exchange_.get(), loss, {.loss_scale = loss_scale()}, nullptr);
}

bool Optimizer::exchange_gradients() { return !exchange_ || exchange_->mean_gradients(); }

void Optimizer::check_states_are_here() const {
  if (rule_.states.empty() && !fp32_update_) return;
  for (const Slot& s : slots_) {
    if (!s.owned_by_other_rank || !s.takes_part()) continue;
    const bool are_here = (rule_.states.empty() || !s.states.empty()) && (!is_in_fp32(s) || s.fp32_param);
    check<RuntimeError>(are_here, rule_.name, "the states of ", s.param.path,
                        " are on another rank: call training::consolidate_states(optimizer) on all ranks "
                        "before one of them saves");
  }
}

void internal::ExchangeAccess::check_single(const Optimizer& o) {
  check<catena::ValueError>(!o.exchange_, o.rule_.name, "it is a multi-node optimizer already");
}

void internal::ExchangeAccess::attach(Optimizer& o, catena::Shared<GradientExchange> exchange, bool sharded) {
  o.exchange_ = std::move(exchange);
  o.sharded_ = sharded;
  if (sharded) set_owned_by_other_rank(o, [](const std::string&) { return true; });
}

bool internal::ExchangeAccess::reads_all_gradients(const Optimizer& o) noexcept {
  return o.scaling_ || o.has_hooks(HookTiming::pre) || o.has_hooks(HookTiming::post);
}

void internal::ExchangeAccess::for_each_param(const Optimizer& o, const catena::Function<void(const Variable&)>& f) {
  for (const Optimizer::Slot& s : o.slots_) f(s.param.param);
}

void internal::ExchangeAccess::set_owned_by_other_rank(
    Optimizer& o, const catena::Function<bool(const std::string&)>& is_owned_by_other_rank) {
  if (o.target_ != nullptr) o.refresh_slots();
  for (Optimizer::Slot& s : o.slots_) {
    s.owned_by_other_rank = is_owned_by_other_rank(s.param.path);
    if (!s.owned_by_other_rank) continue;
    s.states.clear();
    s.fp32_param = s.fp32_source = {};
  }
}

std::vector<Array> internal::ExchangeAccess::states(const Optimizer& o, const std::string& path) {
  const auto at = std::find_if(o.slots_.begin(), o.slots_.end(), [&](const auto& s) { return s.param.path == path; });
  if (at == o.slots_.end()) return {};
  std::vector<Array> all = at->states;
  all.push_back(at->fp32_param);
  return all;
}

void internal::ExchangeAccess::set_states(Optimizer& o, const std::string& path, std::vector<Array> states) {
  Optimizer::Slot& slot = o.slot_of(path);
  slot.fp32_param = states.back();
  states.pop_back();
  slot.states = std::move(states);
}

}  // namespace training
