#include <catena/autograd/backward_watch.h>

#include <utility>

#include <catena/autograd/backward.h>
#include <catena/autograd/debug.h>

namespace autograd::internal {

BackwardWatch::~BackwardWatch() {
  for (VariableNode* n : {leaf_, untrained_})
    if (n != nullptr) release(n);
  if (untrained_user_ != nullptr) release(untrained_user_);
}

void BackwardWatch::note(VariableNode* x, FunctionNode& f) {
  if (leaf_ == nullptr || (x->is_parameter && !leaf_->is_parameter)) {
    retain(x);
    if (VariableNode* const before = std::exchange(leaf_, x)) release(before);
  }
  if (!x->is_parameter) return;
  trained_ = trained_ || x->has_optimizer;
  if (x->has_optimizer || untrained_ != nullptr) return;
  retain(untrained_ = x);
  retain(untrained_user_ = &f);
}

namespace {

// The result of the next take_untrained() on this thread.
struct LastUntrained {
  VariableNode* parameter = nullptr;  // owned
  std::string user;
  ~LastUntrained() { reset(nullptr); }
  void reset(VariableNode* n) {
    if (n != nullptr) retain(n);
    if (VariableNode* const before = std::exchange(parameter, n)) release(before);
  }
};
thread_local LastUntrained last_untrained;

std::string described(const Variable& v) {
  return catena::concat("the variable ", v.name(), v.name().empty() ? "" : " ", "of shape ", v.shape());
}

}  // namespace

Untrained take_untrained() {
  Untrained untrained;
  if (last_untrained.parameter == nullptr) return untrained;
  untrained = {last_untrained.parameter->hold(), std::move(last_untrained.user)};
  last_untrained.reset(nullptr);
  return untrained;
}

void BackwardWatch::remember(FunctionNode* start, bool keeps_untrained) {
  if (keeps_untrained && untrained_ != nullptr && trained_) {
    last_untrained.reset(untrained_);
    last_untrained.user = untrained_user_->label();
  }
  if (start == nullptr || leaf_ == nullptr) return;
  const Variable held = leaf_->hold();
  // A gradient with a graph may refer back to the start.
  if (!held || leaf_->grad == nullptr || leaf_->grad->creator != nullptr) return start->last_pass_.reset();
  start->last_pass_ = catena::Owned<FunctionNode::Pass>(new FunctionNode::Pass);
  FunctionNode::Pass& pass = *start->last_pass_;
  retain(pass.leaf = leaf_);
  retain(pass.grad = leaf_->grad);
  pass.grad_version = version_of(leaf_->grad->data);
  pass.memory = leaf_->data->storage;
  pass.updates = updates_of(leaf_->data);
}

void BackwardWatch::check_repeated(const FunctionNode& start) {
  const FunctionNode::Pass* const last = start.last_pass_.get();
  if (last == nullptr) return;
  const Variable leaf = last->leaf->hold();
  if (!leaf || !leaf.data()) return;
  catena::check<catena::RuntimeError>(
      InPlaceChanges::are_allowed() || leaf.data()->storage != last->memory || updates_of(leaf.data()) <= last->updates,
      "backward", "this loss was backpropagated before, and an optimizer has updated ", described(leaf),
      " since: compute the loss anew in every step (within autograd::allow_in_place_changes() the old graph is used "
      "with the new values)");
  if (last->leaf->grad == last->grad && version_of(last->grad->data) == last->grad_version)
    warn("UserWarning",
         catena::concat("backward: it was called on this loss before, and ", described(leaf),
                        " still has the gradient of then, to which the same is added: gradients are doubled. Call "
                        "cleargrads() before, or compute the loss anew"));
}

void BackwardWatch::warn_of_no_graph(const Variable& v) {
  warn("UserWarning",
       catena::concat("backward: ", described(v),
                      v.volatile_flag() == ON ? " is volatile, so it has no graph" : " has no graph",
                      ", and nothing gets a gradient: was it computed from volatile variables or such as require no "
                      "gradient (integers do not), in no_backprop_mode or from the arrays of variables (v.data()), or "
                      "unchained?"));
}

}  // namespace autograd::internal
