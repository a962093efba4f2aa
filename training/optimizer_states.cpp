// The states of the parameters: made when a parameter is new, moved to where the parameter is.
#include <catena/training/optimizer.h>

#include <map>
#include <tuple>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/capture.h>
#include <catena/kernels/base/error.h>

namespace training {

using autograd::Device;
using autograd::Dtype;
using catena::check;
using catena::KeyError;
using catena::ValueError;

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
    s.seen = true;
    if (s.owned_by_other_rank) continue;
    if (is_in_fp32(s) && !s.is_frozen()) refresh_fp32_param(s);
    if (rule_.states.empty()) continue;
    if (s.states.empty()) {
      if (s.is_frozen()) continue;
      if (rule_.kernel == nullptr) make_own_states(s);
      else fresh[{update_dtype(s), p.device().kind, p.device().id}].push_back(&s);
      continue;
    }
    for (Array& state : s.states) {
      check<ValueError>(rule_.kernel == nullptr || (state.shape() == p.shape() && state.dtype() == update_dtype(s)),
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
    const Array arena = first.backend().empty({total}, update_dtype(*slots[0]), first.device());
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
  if (is_in_fp32(s) && !s.fp32_param) refresh_fp32_param(s);
  init_state(is_in_fp32(s) ? Variable(s.fp32_param) : s.param.param, made);
  for (std::size_t k = 0; k < made.size(); ++k)
    check<ValueError>(bool(made[k]), rule_.name, "init_state left the state ", rule_.states[k].name,
                      " of the parameter ", s.param.path, " null");
  s.states = std::move(made);
}

void Optimizer::init_state(const Variable& param, std::span<Array> states) {
  for (std::size_t k = 0; k < states.size(); ++k)
    states[k] = autograd::full_like(param.data(), rule_.states[k].initial);
}

std::vector<Array> Optimizer::states(const std::string& path) const {
  for (const Slot& s : slots_)
    if (s.param.path == path) return s.states;
  catena::fail<KeyError>("Optimizer.states", "there is no parameter ", path);
}

}  // namespace training
