// Updates in captured work: a replay may not find anything changed that the capture has read.
#include <catena/training/optimizer.h>

#include <bit>
#include <functional>

#include <catena/autograd/capture.h>
#include <catena/kernels/base/error.h>

namespace training {

using catena::check;
using catena::RuntimeError;

void Optimizer::check_capture() const {
  for (const Slot& s : slots_) {
    const Array& p = s.param.param.data();
    if (!s.takes_part()) continue;
    check<RuntimeError>(
        s.seen && (s.fp32_param || !is_in_fp32(s)), rule_.name, "the parameter ", s.param.path,
        " is new to this optimizer; made in captured work, it would be made again in every replay (run the work once "
        "before)");
    for (const Array& state : s.states)
      check<RuntimeError>(state.device() == p.device(), rule_.name, "the parameter ", s.param.path, " is on ",
                          p.device(), ", its states are on ", state.device(),
                          "; captured work would move them in every replay (run the work once "
                          "before)");
  }
}

std::uint64_t Optimizer::frozen_slots() const noexcept {
  std::uint64_t hash = slots_.size();
  for (const Slot& s : slots_) hash = hash * 1099511628211u + (s.is_frozen() || !s.enabled ? 2 : 1);
  return hash;
}

void Optimizer::watch() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto& [path, param] = slots_[i].param;
    autograd::watch_array("parameter " + path, [param = param] { return param.data(); });
    autograd::watch_array("the gradient of parameter " + path, [param = param] { return param.grad(); });
    if (is_in_fp32(slots_[i]))
      autograd::watch_array("the float32 copy of parameter " + path,
                            [this, i] { return i < slots_.size() ? slots_[i].fp32_param : Array(); });
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
  autograd::watch_value(catena::concat("the target, the list of hooks or the parameter groups of ", rule_.name),
                        [this] { return changes_; });
  autograd::watch_value("which parameters are frozen", [this] { return frozen_slots(); });
}

}  // namespace training
