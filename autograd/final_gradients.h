// Which gradients of leaves are final while a backward pass is still running. Internal to autograd and to optimizers
// that communicate gradients during the pass.
//
// A leaf is final when every function of the graph that reads it has been processed. The functions are counted once,
// before the pass. Leaves that autograd::forget captures are in no graph before it is computed again, so no leaf is
// final until the last such function has been processed. Leaves with hooks get their gradients at the end of the pass.
#pragma once

#include <unordered_map>
#include <vector>

#include <catena/autograd/backward.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/variable_node.h>

namespace autograd::internal {

// The record of one pass, which reports each final leaf. The gradient of a leaf is null if no rule gave one. While it
// exists, the passes that rules start themselves on this thread are checked.
class FinalGradients {
 public:
  FinalGradients(const Variables& outputs, const OnFinal& report);
  ~FinalGradients();
  FinalGradients(const FinalGradients&) = delete;
  FinalGradients& operator=(const FinalGradients&) = delete;

  // To be called before a function is processed, which may remove its inputs, and afterwards.
  void begin(const FunctionNode& f);
  void end();

  // To be called with each leaf that gets a gradient. RuntimeError if it was reported as final, because a rule started
  // a pass of its own that reaches it.
  static void check_open(const VariableNode& leaf) {
    if (current != nullptr) [[unlikely]]
      current->fail_if_reported(leaf);
  }

 private:
  void fail_if_reported(const VariableNode& leaf) const;
  void report(VariableNode* leaf);

  static constinit thread_local FinalGradients* current;
  FinalGradients* const outer_;
  const OnFinal& report_;
  struct Leaf {
    std::size_t readers = 0;  // functions that have not been processed, once for each input that is the leaf
    bool reported = false;
  };
  std::unordered_map<VariableNode*, Leaf> leaves_;  // owned nodes
  std::size_t hidden_ = 0;                          // functions of forget that have not been processed
  std::vector<VariableNode*> waiting_;              // leaves without readers, while hidden_ > 0
  std::vector<VariableNode*> inputs_;               // of the function in progress
  bool is_hidden_ = false;
};

// True for the function of autograd::forget. Defined in forget.cpp.
bool computes_again(const FunctionNode& f) noexcept;

}  // namespace autograd::internal
