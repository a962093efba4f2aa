#include <catena/autograd/captured.h>

#include <atomic>
#include <unordered_set>
#include <vector>

#include <catena/autograd/function_node.h>
#include <catena/autograd/variable_node.h>

namespace autograd::internal {

std::uint32_t next_recomputation() noexcept {
  static std::atomic<std::uint32_t> count{0};
  std::uint32_t next = 0;
  while (next == 0) next = count.fetch_add(1, std::memory_order_relaxed) + 1;
  return next;
}

NumberedCall::NumberedCall() noexcept : outer_(modes().recomputation), number_(next_recomputation()) {
  modes().recomputation = number_;
}
NumberedCall::~NumberedCall() { modes().recomputation = outer_; }

Variables captured_variables(const char* op, const Variables& ys, const Variables& xs, const NumberedCall& call) {
  std::unordered_set<VariableNode*> seen;
  for (const Variable& x : xs) seen.insert(Access::node(x)->root());
  Variables captured;
  std::vector<VariableNode*> pending;
  for (const Variable& y : ys) pending.push_back(Access::node(y)->root());
  while (!pending.empty()) {
    VariableNode* const n = pending.back();
    pending.pop_back();
    if (!n->requires_grad || !seen.insert(n).second) continue;
    const FunctionNode* const f = n->creator;
    if (f != nullptr && f->recomputation() == call.number()) {
      for (std::size_t i = 0; i < f->num_inputs(); ++i) pending.push_back(f->input_node(i));
      continue;
    }
    Variable v = n->hold();
    catena::check<catena::RuntimeError>(
        f == nullptr || (v && f->recomputation() == call.outer()), op, "the function reads a variable of ",
        label_of(Shape(std::span<const std::int64_t>(n->shape)), n->dtype), " whose graph is not that of the call");
    if (v) captured.push_back(std::move(v));
  }
  return captured;
}

}  // namespace autograd::internal
