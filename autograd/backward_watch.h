// Records the gradients that a backward pass writes, to find two silent mistakes in training: a pass that repeats an
// earlier one, and parameters that no optimizer updates. Internal to autograd.
#pragma once

#include <catena/autograd/function_node.h>
#include <catena/autograd/variable_node.h>

namespace autograd::internal {

// The record of one run of the engine.
class BackwardWatch {
 public:
  BackwardWatch() = default;
  ~BackwardWatch();
  BackwardWatch(const BackwardWatch&) = delete;
  BackwardWatch& operator=(const BackwardWatch&) = delete;

  // Records that x, a leaf, gets a gradient from f.
  void note(VariableNode* x, FunctionNode& f);
  // Stores the record at the end of a run from an output of `start`, for check_repeated() and, if `keeps_untrained`,
  // for take_untrained(). `start` is null if check_repeated() must ignore the run.
  void remember(FunctionNode* start, bool keeps_untrained);

  // Called before a run from an output of `start`. Throws a RuntimeError if an optimizer has updated parameters since
  // the previous run, and warns if the gradients of the previous run are still present.
  static void check_repeated(const FunctionNode& start);
  static void warn_of_no_graph(const Variable& v);

 private:
  VariableNode* leaf_ = nullptr;            // owned: a variable that gets a gradient, if possible a parameter
  bool trained_ = false;                    // a parameter that an optimizer updates gets a gradient
  VariableNode* untrained_ = nullptr;       // owned: a parameter that gets a gradient but that no optimizer updates
  FunctionNode* untrained_user_ = nullptr;  // owned: the function that used it
};

}  // namespace autograd::internal
