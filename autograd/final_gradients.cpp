#include <catena/autograd/final_gradients.h>

#include <unordered_set>

#include <catena/kernels/base/error.h>

namespace autograd::internal {

constinit thread_local FinalGradients* FinalGradients::current = nullptr;

FinalGradients::FinalGradients(const Variables& outputs, const OnFinal& report) : outer_(current), report_(report) {
  std::unordered_set<const FunctionNode*> seen;
  std::vector<const FunctionNode*> open;
  const auto enter = [&](const FunctionNode* f) {
    if (f != nullptr && seen.insert(f).second) open.push_back(f);
  };
  for (const Variable& output : outputs) enter(output.creator());
  while (!open.empty()) {
    const FunctionNode* const f = open.back();
    open.pop_back();
    if (computes_again(*f)) ++hidden_;
    for (std::size_t i = 0; i < f->num_inputs(); ++i) {
      VariableNode* const x = f->input_node(i);
      if (!x->requires_grad) continue;
      enter(x->creator);
      if (x->creator != nullptr || !x->has_optimizer || x->grad_hooks) continue;
      const auto [at, is_new] = leaves_.try_emplace(x);
      if (is_new) retain(x);
      ++at->second.readers;
    }
  }
  current = this;
}

FinalGradients::~FinalGradients() {
  current = outer_;
  for (const auto& [node, leaf] : leaves_) release(node);
}

void FinalGradients::begin(const FunctionNode& f) {
  inputs_.clear();
  is_hidden_ = hidden_ > 0 && computes_again(f);
  for (std::size_t i = 0; i < f.num_inputs(); ++i)
    if (VariableNode* const x = f.input_node(i); x->creator == nullptr && leaves_.contains(x)) inputs_.push_back(x);
}

void FinalGradients::end() {
  for (VariableNode* const x : inputs_)
    if (--leaves_.at(x).readers == 0) waiting_.push_back(x);
  if (is_hidden_) --hidden_;
  if (hidden_ > 0) return;
  for (VariableNode* const x : waiting_) report(x);
  waiting_.clear();
}

void FinalGradients::report(VariableNode* leaf) {
  leaves_.at(leaf).reported = true;
  report_(*leaf);
}

void FinalGradients::fail_if_reported(const VariableNode& leaf) const {
  const auto at = leaves_.find(const_cast<VariableNode*>(&leaf));
  catena::check<catena::RuntimeError>(at == leaves_.end() || !at->second.reported, "backward",
                                      "a rule that runs backward itself adds to the gradient of ",
                                      leaf.name ? *leaf.name + " of " : std::string(), "shape ",
                                      Shape(std::span<const std::int64_t>(leaf.shape)),
                                      ", which is being communicated already: create_multi_node_optimizer(optimizer, "
                                      "communicator, {.overlap = false})");
}

}  // namespace autograd::internal
