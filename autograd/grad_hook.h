// Hooks on the gradients of variables: Variable::register_hook.
#pragma once

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>

namespace autograd {

class Variable;
namespace internal {
class GradHooks;
}

// The handle of a registered hook. The hook exists as long as the variable, also without the handle.
class CATENA_EXPORT GradHook {
 public:
  using Function = catena::Function<Variable(const Variable&)>;
  GradHook() noexcept = default;
  void remove();  // no further calls; has no effect a second time

 private:
  friend class Variable;
  friend class internal::GradHooks;
  struct Entry;
  catena::Shared<Entry> entry_;
};

}  // namespace autograd
