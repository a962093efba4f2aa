#include <catena/autograd/captured.h>

#include <atomic>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include <catena/autograd/function_node.h>
#include <catena/kernels/base/error.h>

namespace autograd::internal {

using catena::check;
using catena::RuntimeError;

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

void for_each_source(const Variables& ys, const Variables& xs, std::uint32_t recomputation,
                     const catena::Function<void(VariableNode&)>& f) {
  std::unordered_set<VariableNode*> seen;
  for (const Variable& x : xs) seen.insert(Access::node(x)->graph_node());
  std::vector<VariableNode*> pending;
  for (const Variable& y : ys) pending.push_back(Access::node(y)->graph_node());
  while (!pending.empty()) {
    VariableNode* const n = pending.back();
    pending.pop_back();
    if (!n->requires_grad || !seen.insert(n).second) continue;
    const FunctionNode* const creator = n->creator;
    if (creator != nullptr && creator->recomputation() == recomputation)
      for (std::size_t i = 0; i < creator->num_inputs(); ++i) pending.push_back(creator->input_node(i));
    else f(*n);
  }
}

Variables captured_variables(const char* op, const Variables& ys, const Variables& xs, const NumberedCall& call) {
  Variables captured;
  for_each_source(ys, xs, call.number(), [&](VariableNode& n) {
    const FunctionNode* const f = n.creator;
    Variable v = n.hold();
    check<RuntimeError>(
        f == nullptr || (v && f->recomputation() == call.outer()), op, "the function reads a variable of ",
        label_of(Shape(std::span<const std::int64_t>(n.shape)), n.dtype), " whose graph is not that of the call");
    if (v) captured.push_back(std::move(v));
  });
  return captured;
}

namespace {

// 1st, 2nd, 3rd, 4th, ... 11th, ... 21st
std::string ordinal(std::size_t n) {
  const bool teen = n / 10 % 10 == 1;
  const char* const ending = teen || n % 10 > 3 || n % 10 == 0 ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : "rd";
  return catena::concat(n, ending);
}

}  // namespace

void check_results(const char* op, const Variables& ys) {
  check<RuntimeError>(!ys.empty(), op, "func returned an empty list");
  for (std::size_t k = 0; k < ys.size(); ++k)
    check<RuntimeError>(bool(ys[k]), op, "the ", ordinal(k + 1), " output of func is a null Variable");
}

GraphScope::GraphScope(std::optional<Dtype> autocast)
    : enable_backprop_(modes().enable_backprop),
      double_backprop_(modes().double_backprop),
      in_backward_rule_(modes().in_backward_rule),
      autocast_(autocast.value_or(Dtype::bfloat16), autocast.has_value()) {
  modes().enable_backprop = modes().double_backprop = true;
  modes().in_backward_rule = false;
}
GraphScope::~GraphScope() {
  modes().enable_backprop = enable_backprop_;
  modes().double_backprop = double_backprop_;
  modes().in_backward_rule = in_backward_rule_;
}

}  // namespace autograd::internal
