// Functions as hooks of a link, and the handle that removes one.
#pragma once

#include <string>
#include <utility>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>

namespace nn {

using autograd::Variables;

class Link;
class StateDict;
struct LoadReport;

namespace internal {
using LinkHookFunction = catena::Function<void(Link& link, const Variables& args, const Variables& outputs)>;
// When a hook of states is called.
enum class StateMoment { before_state, after_state, before_load, after_load };
// Its arguments beside the link; null where there is none.
struct StateOfHook {
  StateDict* state;
  const std::string* prefix;
  const LoadReport* report;
};
using StateHookFunction = catena::Function<void(Link& link, const StateOfHook& state)>;
// A hook that is a function.
class CATENA_EXPORT RemovableHook {
 public:
  virtual ~RemovableHook();
  virtual void remove() = 0;  // see LinkHookHandle
};
}  // namespace internal

// The handle of a hook that register_forward_hook or a function beside it made, or of a hook of states of an optimizer.
// The hook exists as long as the link and its copies, or the optimizer, also without the handle.
class CATENA_EXPORT LinkHookHandle {
 public:
  explicit LinkHookHandle(catena::Shared<internal::RemovableHook> hook) noexcept : hook_(std::move(hook)) {}
  // Ends the calls, also those by copies of the link, and destroys the function. A second call has no effect.
  void remove();

 private:
  catena::Shared<internal::RemovableHook> hook_;
};

}  // namespace nn
