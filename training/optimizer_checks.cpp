// Warnings about parameters without a gradient, and about gradients of parameters that nothing updates.
#include <catena/training/optimizer.h>

#include <algorithm>

#include <catena/autograd/backward.h>
#include <catena/autograd/debug.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/training/optimizer_parts.h>

namespace training {

using catena::check;
using catena::RuntimeError;
using catena::ValueError;

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
  const nn::Link& model = target();
  // Those that are not in a list were left out on purpose.
  if (dynamic_cast<const internal::ListedParameters*>(&model) != nullptr) return;
  refresh_slots();  // the step may have added parameters to the model
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

}  // namespace training
