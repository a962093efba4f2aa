#include <catena/autograd/grad_hooks.h>

#include <catena/autograd/variable_node.h>

namespace autograd {

struct GradHook::Entry {
  Function function;
  bool removed = false;
};

void GradHook::remove() {
  if (entry_) entry_->removed = true;
}

GradHook Variable::add_hook(GradHook::Function hook) const {
  catena::check<catena::TypeError>(bool(hook), "register_hook", "the hook is not callable");
  catena::Owned<internal::GradHooks>& hooks = checked().graph_node()->grad_hooks;
  if (!hooks) hooks = catena::Owned<internal::GradHooks>(new internal::GradHooks);
  return hooks->add(std::move(hook));
}

namespace internal {

GradHook GradHooks::add(GradHook::Function hook) {
  GradHook handle;
  handle.entry_ = catena::Shared<GradHook::Entry>::make(GradHook::Entry{std::move(hook)});
  hooks_.push_back(handle);
  return handle;
}

Variable GradHooks::call(Variable g) {
  std::erase_if(hooks_, [](const GradHook& h) { return h.entry_->removed; });
  const std::vector<GradHook> hooks = hooks_;  // a hook may register or remove hooks
  for (const GradHook& h : hooks) {
    if (h.entry_->removed) continue;
    const Variable replaced = h.entry_->function(g);
    if (!replaced) continue;
    check_grad(nullptr, g.data(), g.dtype(), g.shape(), g.device(), replaced.data());
    g = replaced;
  }
  return g;
}

}  // namespace internal
}  // namespace autograd
