// The engine that runs backward rules. Internal to autograd; backward.h states the order.
#pragma once

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include <catena/autograd/backward.h>
#include <catena/autograd/backward_watch.h>
#include <catena/autograd/final_gradients.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/variable_node.h>

namespace autograd {

using internal::Access;
using internal::VariableNode;

// Modes during a backward rule. The rule builds a graph only if its gradients will be differentiated again.
class RuleModes {
 public:
  explicit RuleModes(bool double_backprop) : RuleModes(internal::modes(), double_backprop) {}

 private:
  RuleModes(internal::Modes& modes, bool double_backprop)
      : enable_backprop_(modes.enable_backprop, double_backprop),
        double_backprop_(modes.double_backprop, double_backprop),
        in_backward_rule_(modes.in_backward_rule, !double_backprop),
        autocast_(modes.autocast, nullptr) {}
  ModeScope enable_backprop_, double_backprop_, in_backward_rule_;
  catena::ScopedValue<internal::Autocast*> autocast_;  // rules compute in the dtypes of the forward pass
};

// One backward run. Gradients are stored in VariableNode::grad. For an intermediate variable, VariableNode::run is the
// id of the run that wrote the gradient, or 0.
class BackwardEngine {
 public:
  BackwardEngine(bool double_backprop, bool retain_grad);
  ~BackwardEngine() {
    if (!queue_.empty()) abandon();
  }

  // State of grad(): only the functions in `functions` are processed, gradients that variables already have are
  // ignored, and all gradients are restored at the end, also those of an outer run that is in progress.
  struct GradCall {
    std::unordered_set<const FunctionNode*> functions;
    std::unordered_set<const VariableNode*> wanted;
    struct Saved {
      VariableNode* node;
      Variable grad;
      bool shared;
      std::uint64_t run;
      Variable held;
    };
    std::vector<Saved> saved;
    std::vector<std::pair<Variable, Variable>> retained;  // variables and their gradients, if these are retained
  };
  void run_for(GradCall* call) { grad_call_ = call; }

  // Adds a variable on which backward was called, which has its gradient. several: backward was called on several
  // variables. If one of them depends on another one, the gradient that reaches the other one is added to the gradient
  // that it had at the start.
  void start_at(VariableNode* y, bool several) {
    y->run = several ? id_ : 0;
    if (several) y->grad_shared = true;
    start_nodes_.push_back(y);
    enqueue(y);
  }
  void report_parameters(const internal::OnParameter* to) { on_parameter_ = to; }
  void report_final(internal::FinalGradients* to) { final_ = to; }

  void enqueue(VariableNode* n) {
    FunctionNode* f = n->creator;
    if (f == nullptr || (grad_call_ && !grad_call_->functions.contains(f))) return;
    if (!f->lists_output(n)) [[unlikely]]
      catena::fail<catena::RuntimeError>(
          "backward", f->label(), " was applied again after it made this variable; make one function object per call");
    if (f->run_ == id_) return;
    queue_.push_back({f->rank(), order_++, f});
    retain(f);
    f->run_ = id_;
    std::push_heap(queue_.begin(), queue_.end());
  }

  void run() {
    while (!queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end());
      const NodePtr<FunctionNode> f(queue_.back().function);
      queue_.pop_back();
      if (final_ != nullptr) final_->begin(*f);
      process(*f);
      if (final_ != nullptr) final_->end();
    }
    finish_leaves();
  }
  // Returns the gradient of x after the hooks of x.
  Variable hooked(VariableNode& x, const Variable& g) const;

  internal::BackwardWatch& watch() noexcept { return watch_; }

  // The caller passes a handle of x in `held`. The run moves from it if it needs the gradient later: the last other
  // handle may be destroyed meanwhile, and the gradient must remain. `held` may be null only if the run takes the
  // gradient out of x again, that is, if x has a creator or grad() restores the gradients. With double backprop the
  // graph of the gradient refers to x, so a gradient that stayed in a variable without handles would never be freed.
  void accumulate(VariableNode* x, const Variable& gx, Variable& held);

 private:
  struct Item {
    int rank;
    std::uint32_t order;
    FunctionNode* function;  // owned
    friend bool operator<(const Item& a, const Item& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.order > b.order;
    }
  };

  // True if the gradient of x can be read after this run.
  bool kept(const VariableNode* x) const {
    return x->requires_grad && (x->creator == nullptr || retain_grad_ || x->retains_grad) &&
           x->handles.load(catena::MemoryOrder::relaxed) != 0;
  }
  bool wanted(const VariableNode* x) {
    if (grad_call_)
      return grad_call_->wanted.contains(x) || (x->creator != nullptr && grad_call_->functions.contains(x->creator));
    return kept(x) || (x->requires_grad && x->creator != nullptr && leads_to_kept(x->creator));
  }
  bool is_start_node(const VariableNode* y) const {
    return std::find(start_nodes_.begin(), start_nodes_.end(), y) != start_nodes_.end();
  }
  bool leads_to_kept(FunctionNode* f);
  void add_to_leaf(const Variable& leaf, const Variable& g);
  void process(FunctionNode& f);
  Variables call_rule(FunctionNode& f, const Targets& targets, const Variables& gy);
  Variable hold_output(VariableNode* y);
  Variables take_output_grads(FunctionNode& f);
  void finish_leaves();
  void drop_output_grads(FunctionNode& f) noexcept;
  void abandon() noexcept;

  std::uint64_t id_;
  bool double_backprop_, retain_grad_;
  bool grad_from_this_run_ = false;  // the current function has one output, and this run made its gradient
  GradCall* grad_call_ = nullptr;
  const internal::OnParameter* on_parameter_ = nullptr;
  internal::FinalGradients* final_ = nullptr;
  internal::BackwardWatch watch_;
  // The nodes of the variables on which backward was called; they keep their gradients.
  catena::SmallVector<VariableNode*, 2> start_nodes_;
  // Leaves with hooks, and the sums of the gradients that this run computed for them; the hooks are called with these
  // sums at the end of the run.
  struct HookedLeaf {
    Variable leaf, grad;
  };
  std::vector<HookedLeaf> hooked_leaves_;
  std::uint32_t order_ = 0;
  catena::SmallVector<Item, 16> queue_;
};

}  // namespace autograd
