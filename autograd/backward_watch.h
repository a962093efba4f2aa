// A record of the gradients that a backward pass writes. It finds two silent mistakes of training: a pass that repeats
// an earlier one, and parameters that no optimizer updates. Internal to autograd.
#pragma once

#include <catena/autograd/function_node.h>
#include <catena/autograd/variable_node.h>

namespace autograd::internal {

// Of one run of the engine.
class BackwardWatch {
 public:
  BackwardWatch() = default;
  ~BackwardWatch();
  BackwardWatch(const BackwardWatch&) = delete;
  BackwardWatch& operator=(const BackwardWatch&) = delete;

  // x, which no function made, gets a gradient from f.
  void note(VariableNode* x, FunctionNode& f);
  // At the end of a run from an output of `start` (null: one that check_repeated() is not to know): for
  // check_repeated() and, unless an optimizer looks for untrained parameters itself, for take_untrained().
  void remember(FunctionNode* start, bool keeps_untrained);

  // Before a run from an output of `start`. RuntimeError when an optimizer has updated parameters since the last one, a
  // warning when the gradients of the last one are still there.
  static void check_repeated(const FunctionNode& start);
  static void warn_of_no_graph(const Variable& v);

 private:
  VariableNode* leaf_ = nullptr;            // owned: a variable that gets a gradient, a parameter if there is one
  bool trained_ = false;                    // a parameter that an optimizer updates gets a gradient
  VariableNode* untrained_ = nullptr;       // owned: a parameter that gets one although no optimizer updates it
  FunctionNode* untrained_user_ = nullptr;  // owned: the function that used it
};

}  // namespace autograd::internal
